"""Extracts a sentence from a doc comment that a programmer could send as a question."""

import re

TAG = re.compile(
    r"^\s*(@|\\(param|return|brief\s*$|note|see)|:param|:return|:rtype|:type|Args:|Arguments:|Parameters|Returns|Raises|Example|# Example|```|>>>|Note:|\.\. |# Panics|# Errors|# Safety)"
)
NOT_PROSE = re.compile(
    r"copyright|licen[sc]e|eslint|istanbul|deprecated|TODO|FIXME|@internal|DO NOT EDIT|generated|Undocumented|override|inheritdoc|clang-format|noinspection|rubocop|SPDX", re.I
)
MARKERS = re.compile(r"^(/\*\*?!?<?|\*/|\*|///?!?<?|//!?|#+!?|---?)\s?")


def description_tag(comment: str) -> str:
    """Returns the text of JSDoc's `@description` or `@summary` if the comment has one."""
    summary = re.search(r"@summary\s+(.*?)(?=\n\s*\*\s*(@|\n)|\Z)", comment, re.S)
    description = re.search(r"@description\s+(.*?)(?=\n\s*\*\s*(@|\n)|\Z)", comment, re.S)
    if description and (not summary or len(description.group(1)) > 20):
        return description.group(1)
    return summary.group(1) if summary else comment


def first_paragraph(comment: str) -> str:
    lines = []
    for line in comment.split("\n"):
        line = MARKERS.sub("", line.strip()).replace("*/", "").strip()
        line = re.sub(r"^[\\@](brief|short|details?)\s+", "", line)
        if TAG.match(line) or re.match(r"^[-=~_*]{3,}$", line):
            break
        if line:
            lines.append(line)
        elif lines:
            break
    return " ".join(lines)


def without_markup(text: str) -> str:
    text = re.sub(r"\{@(?:link|code|linkplain|literal)\s+([^}|]*)[^}]*\}", r"\1", text)
    text = re.sub(r"`+([^`]*)`+", r"\1", text)
    text = re.sub(r":\w+:", "", text)
    text = re.sub(r"<[^>]+>", "", text)
    return re.sub(r"\[([^\]]+)\](\([^)]*\)|\[[^\]]*\])?", r"\1", text)


def first_sentence(comment: str) -> str:
    """Returns the first sentence if it has 20 to 260 characters, without comment markers and markup."""
    text = without_markup(first_paragraph(description_tag(comment)))
    sentence = re.match(r"(.{20,260}?[.!?])(\s|$)", text)
    return (sentence.group(1) if sentence else text[:260]).strip()


def is_prose(sentence: str) -> bool:
    """Returns whether a sentence has at least four words, is nearly all ASCII, and is about the code rather
    than about tools or rights."""
    if len(sentence) < 20 or len(re.findall(r"[A-Za-z]{2,}", sentence)) < 4:
        return False
    return sum(character.isascii() for character in sentence) / len(sentence) >= 0.95 and not NOT_PROSE.search(sentence)

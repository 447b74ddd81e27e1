"""Splits a text into words in exactly the same way as the Rust tokenizer."""

import re

WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


def words(text: str) -> list[str]:
    """Returns the words in lower case: sequences of ASCII letters, split where the case changes, and
    sequences of digits."""
    return [word.lower() for word in WORD.findall(text)]


# The head of a passage is searched within this number of bytes.
HEAD_BYTES = 320
NOT_HEAD = (b"//", b"/*", b"*", b"#", b"@", b"--", b'"""', b"'''")
ENDS_AT_LINE = (b"def", b"class", b"module")


def head(code: bytes) -> tuple[int, int]:
    """Returns the range of the head of a definition. The head is the signature; it starts at the first line
    that is not a comment, decorator or attribute.

    It ends at the first `{` or `=>`, or at the end of a line outside of parentheses; a line without any
    parenthesis (`static int`) goes on, unless it ends in a colon or begins with `def`, `class` or `module`.
    """
    limit = min(len(code), HEAD_BYTES)
    start = 0
    while start < limit:
        end = code.find(b"\n", start, limit)
        end = limit if end < 0 else end
        line = code[start:end].strip(b" \t\r")
        if line and not line.startswith(NOT_HEAD):
            break
        start = end + 1
    start = min(start, limit)
    depth, seen = 0, False
    ends_at_line = code[start:limit].lstrip(b" \t\r").startswith(ENDS_AT_LINE)
    for position in range(start, limit):
        byte = code[position]
        if byte in b"([":
            depth, seen = depth + 1, seen or byte == 0x28
        elif byte in b")]":
            depth -= 1
        elif byte == 0x7B or (byte == 0x3E and position > start and code[position - 1] == 0x3D):
            return start, position
        elif byte == 0x0A and depth <= 0 and (seen or ends_at_line or code[start:position].rstrip(b" \t\r").endswith(b":")):
            return start, position
    return start, limit

"""The words of a text, exactly as the Rust tokenizer cuts them."""

import re

WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


def words(text: str) -> list[str]:
    """Runs of ASCII letters cut at changes of case, and runs of digits; lower case."""
    return [word.lower() for word in WORD.findall(text)]


# The head is searched in this many bytes.
HEAD_BYTES = 320
NOT_HEAD = (b"//", b"/*", b"*", b"#", b"@", b"--", b'"""', b"'''")
ENDS_AT_LINE = (b"def", b"class", b"module")


def head(code: bytes) -> tuple[int, int]:
    """Where the head of a definition is: its signature, from the first line that is no comment, decorator or attribute.

    It ends at the first `{` or `=>`, or at the end of a line outside of parentheses; a line without any parenthesis
    (`static int`) goes on, unless it ends in a colon or begins with `def`, `class` or `module`.
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

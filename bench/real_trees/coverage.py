"""Compares the files that git or `find` lists with those that `cairn coverage` lists."""

import os
import re
import subprocess
import unicodedata
from pathlib import Path

from .program import Cairn, Run
from .sources import Form, git


def escaped(name: bytes) -> str:
    """Returns a path as text, in which bytes that are not UTF-8, control characters and backslashes are
    escaped."""
    text = []
    for character in name.decode("utf8", "surrogateescape"):
        if character == "\\":
            text.append("\\\\")
        elif 0xDC80 <= ord(character) <= 0xDCFF:
            text.append(f"\\x{ord(character) - 0xDC00:02X}")
        elif unicodedata.category(character) == "Cc":
            text.extend(f"\\x{byte:02X}" for byte in character.encode())
        else:
            text.append(character)
    return "".join(text)


def found_on_disk(root: Path) -> list[bytes]:
    """Lists files with `find -L`, and adds the links that `find` reports as loops."""
    command = ["find", "-L", ".", "!", "-type", "d", "-print0"]
    found = subprocess.run(command, cwd=root, env={**os.environ, "LC_ALL": "C"}, capture_output=True, check=False)
    loops = re.findall(rb"File system loop detected; '(.*?)' is part", found.stderr)
    broken = re.findall(rb"find: '(.*?)': Too many levels of symbolic links", found.stderr)
    return [name.removeprefix(b"./") for name in [*found.stdout.split(b"\0"), *loops, *broken] if name]


def listed(form: Form) -> set[str]:
    if form.kind == "plain directory":
        names = found_on_disk(form.path)
    elif form.kind == "bare repository":
        names = git(form.path, "ls-tree", "-r", "-z", "--name-only", "HEAD").split(b"\0")
    else:
        tracked = git(form.path, "ls-tree", "-r", "-z", "--name-only", "HEAD").split(b"\0")
        names = [*tracked, *git(form.path, "ls-files", "-z", "--others", "--exclude-standard").split(b"\0")]
    # For an untracked inner repository, git lists only the folder.
    return {escaped(name.removesuffix(b"/")) for name in names if name}


def compare(cairn: Cairn, form: Form, run: Run) -> list[str]:
    """Prints the paths that are only in one of the two lists; each of them is a fault."""
    expected = listed(form)
    entries = cairn.ask("coverage", "tree")["entries"]
    covered = {entry["path"] for entry in entries}
    faults = [f"{form.name}: {path} is not in the coverage" for path in sorted(expected - covered)]
    faults += [f"{form.name}: {path} is only in the coverage" for path in sorted(covered - expected)]
    faults += [f"{form.name}: {len(entries) - len(covered)} paths are listed twice"] * (len(entries) != len(covered))
    if run.answer["state"] not in ("published", "partial", "unchanged"):
        faults.append(f"{form.name}: the run is {run.answer['state']}")
    print(f"   {len(expected)} paths listed, {len(covered)} covered, difference: {len(faults)}")
    for fault in faults[:20]:
        print(f"   {fault}")
    return faults

"""Builds the odd tree from parts of the real trees: files that could break tree walks, decoders or
parsers."""

import os
import random
import shutil
import subprocess
from pathlib import Path

from .program import Cairn
from .sources import Form, folder, git, tree

SEED = 20240101
# Number of files per real tree that are copied and damaged.
NUM_BROKEN = 150
NUM_WIDE = 3_000
DEPTH = 150
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"


def forms() -> list[Form]:
    """Builds the odd tree again, as a working tree, a bare repository and a plain directory."""
    work, bare, plain = (folder() / name for name in ("odd", "odd.git", "odd-plain"))
    library = folder() / "odd-library"
    for path in (work, bare, plain, library):
        shutil.rmtree(path, ignore_errors=True)
    build(work, library)
    subprocess.run(["git", "clone", "-q", "--bare", work, bare], check=True)
    untracked(work)
    shutil.copytree(work, plain, symlinks=True, ignore=shutil.ignore_patterns(".git"), copy_function=copy)
    os.symlink(plain / "src", plain / "links" / "absolute-within")
    os.mkfifo(plain / "pipe")
    return [Form("odd", work, "work tree"), Form("odd", bare, "bare repository"), Form("odd", plain, "plain directory")]


def copy(source: str, target: str) -> None:
    if not Path(source).is_fifo():
        shutil.copy2(source, target, follow_symlinks=False)


def build(root: Path, library: Path) -> None:
    chance = random.Random(SEED)
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    for make in (broken, giant_lines, encodings, deep, wide, names, links, attributes):
        make(root, chance)
    for path, text in planted(chance).items():
        write(root, path, text)
    library.mkdir()
    git(library, "init", "-q", "-b", "main")
    write(library, "lib.c", b"int library(void) { return 1; }\n")
    git(library, "add", "-A")
    git(library, "commit", "-q", "-m", "library")
    for place in ("modules/one", "modules/deep/er/two"):
        git(root, "submodule", "--quiet", "add", str(library), place)
    git(root, "add", "-A", "-f")
    git(root, "commit", "-q", "-m", "everything odd")


def write(root: Path, path: str | bytes, data: bytes) -> None:
    target = os.path.join(os.fsencode(root), os.fsencode(path))
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as file:
        file.write(data)


def broken(root: Path, chance: random.Random) -> None:
    """Writes damaged copies of real sources: truncated, with changed bytes, with repeated lines, or without
    brackets."""
    for name, extension in (("cargo", "rs"), ("guava", "java"), ("three", "js"), ("openssl", "c"), ("django", "py")):
        sources = sorted(tree(name).path.rglob(f"*.{extension}"))
        for number, source in enumerate(chance.sample(sources, min(NUM_BROKEN, len(sources)))):
            data = bytearray(source.read_bytes()) or bytearray(b"x")
            for _ in range(chance.randrange(1, 30)):
                data[chance.randrange(len(data))] = chance.choice(b"(){}[]\"'`\\<>;\n\xff\x80")
            if number % 3 == 0:
                del data[chance.randrange(len(data)) :]
            if number % 5 == 0:
                data = bytearray(byte for byte in data if byte not in b")}]")
            write(root, f"src/{name}/{number}-{source.name}", bytes(data))


def giant_lines(root: Path, _: random.Random) -> None:
    write(root, "giant/list.js", b"var x = [" + b"1," * 400_000 + b"];\n")
    write(root, "giant/data.json", b'{"a": [' + b'{"b": 1}, ' * 90_000 + b"0]}\n")
    write(root, "giant/prose.md", b"word " * 200_000 + b"\n")
    write(root, "giant/above-the-limit.py", b"x = 1\n" * 1_000_000)
    write(root, "giant/one-in-many.py", b"def f():\n    return 1\n" * 20_000 + b"x = '" + b"y" * 300_000 + b"'\n")
    write(root, "giant/table.csv", b"a,b,c\n" * 150_000)
    write(root, "giant/brackets.go", b"(" * 200_000)


def encodings(root: Path, _: random.Random) -> None:
    text = "# Größe, naïve café, déjà vu\nname = 'Ünïcödé'\n\n\ndef größe():\n    return name\n"
    russian, japanese = "# Привет, мир. Это файл.\nx = 'строка'\n" * 5, "# これは日本語のコメントです。\nx = '文字列'\n" * 5
    for encoding in ("latin-1", "utf-16", "utf-16-be", "utf-16-le", "utf-32", "utf-8-sig", "cp1252"):
        write(root, f"encodings/{encoding}.py", text.encode(encoding))
    for encoding in ("cp1251", "koi8-r", "iso8859-5"):
        write(root, f"encodings/{encoding}.py", russian.encode(encoding))
    for encoding in ("shift_jis", "euc_jp", "iso2022_jp"):
        write(root, f"encodings/{encoding}.py", japanese.encode(encoding))
    write(root, "encodings/invalid.py", b"x = '\xff\xfe\xc0\x80\xed\xa0\x80'\n" * 50)
    write(root, "encodings/nuls.py", b"x = 1\n\0\0\0y = 2\n")
    write(root, "encodings/late-nul.py", b"x = 1\n" * 50_000 + b"\0")
    write(root, "encodings/carriage-returns.py", b"def f():\r    return 1\r" * 100)
    write(root, "encodings/mixed-ends.py", b"a = 1\r\nb = 2\nc = 3\r" * 50)
    for number, data in enumerate((b"", b"\n", b"\xef\xbb\xbf", b"\xff\xfe", b" ", b"\r", b"\0")):
        write(root, f"encodings/almost-empty-{number}.txt", data)


def deep(root: Path, _: random.Random) -> None:
    write(root, "/".join(f"d{level}" for level in range(DEPTH)) + "/leaf.rs", b"pub fn leaf_of_the_deepest_folder() {}\n")
    write(root, "/".join("x" * 200 for _ in range(15)) + "/long.py", b"x = 1\n")


def wide(root: Path, _: random.Random) -> None:
    for number in range(NUM_WIDE):
        write(root, f"wide/module_{number}.py", f"def function_{number}():\n    return {number}\n".encode())


def names(root: Path, _: random.Random) -> None:
    odd = [b"new\nline.py", b"tab\t.py", b"back\\slash.py", b"quote'\".py", b"-dash.py", b" space .py ", b"na\xefve.py", b"\xff\xfe\xfd.py", b"esc\x1b[31m.py"]
    odd += ["émoji-🎉.py".encode(), "é.py".encode(), "e\u0301.py".encode(), b"Case.py", b"case.py", b"l" * 250 + b".py", b"*.py", b"[a].py", b"?.py", b"..py", b"...", b"a:b.py", b"%2e%2e%2f.py", b"$(x).py", b"\xc2\x85.py", b"\xe2\x80\xae.py"]
    for number, name in enumerate(odd):
        write(root, b"names/" + name, f"def named_{number}():\n    return {number}\n".encode())
    for name in (b"\xff folder/\xfe.py", b"fold\ner/x.py", b".hidden/.x.py", b"con/aux.py", b"a b/c d/e f.py"):
        write(root, b"names/" + name, b"x = 1\n")


def links(root: Path, _: random.Random) -> None:
    places = {"loop-a": "loop-b", "loop-b": "loop-a", "self": "self", "up": "..", "here": ".", "down/up": "../../links", "dangling": "nowhere/at/all", "file": "../wide/module_1.py", "folder": "../encodings", "outside": "/etc/hostname", "long": "x" * 250}
    for name, target in places.items():
        link = root / "links" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)


def attributes(root: Path, _: random.Random) -> None:
    """Writes files to which git filters apply, and tracked files that ignore rules match."""
    write(root, ".gitattributes", b"*.crlf text eol=crlf\n*.lfs filter=none -text\n*.id ident\n")
    write(root, "filters/a.crlf", b"x\ny\n")
    write(root, "filters/pointer.lfs", b"version 1\noid sha256:00\nsize 12345\n")
    write(root, "filters/b.id", b"$Id$\n")
    write(root, ".gitignore", b"*.ignored\n/ignored/\n")
    write(root, "tracked.ignored", b"tracked all the same\n")
    write(root, "node_modules/x/index.js", b"module.exports = 1\n")
    write(root, ".env", b"KEY=1\n")


def untracked(root: Path) -> None:
    write(root, "untracked/new.py", b"def untracked_function():\n    return 1\n")
    write(root, "ignored/never.py", b"x = 1\n")
    git(root, "init", "-q", str(root / "nested"))
    write(root, "nested/inner.py", b"x = 1\n")
    os.mkfifo(root / "untracked" / "pipe")


def noise(chance: random.Random, length: int) -> str:
    return "".join(chance.choice(LETTERS) for _ in range(length))


def secrets(chance: random.Random) -> dict[str, str]:
    """Returns secrets by the line that contains them. They are joined at run time, so that scanners of this
    source do not report them."""
    return {
        "token = \"{}\"": "gh" + "p_" + noise(chance, 36),
        "remote = https://oauth2:{}@git.example.org/a.git": "glp" + "at-" + noise(chance, 20),
        "aws_access_key_id = {}": "AK" + "IA" + noise(chance, 16).upper().replace("1", "2"),
        "stripe.api_key = '{}'": "sk_" + "live_" + noise(chance, 24),
        "SLACK_TOKEN={}": "xox" + "b-123456789012-" + noise(chance, 24),
        "password = \"{}\"": noise(chance, 22),
        "db = connect(\"postgres://app:{}@db.example.org/main\")": noise(chance, 24),
        "\"client_secret\": \"{}\",": noise(chance, 24),
        "Authorization: Bearer {}": noise(chance, 32),
        "Server=db;User Id=sa;Password={};Database=x": noise(chance, 24),
        "export DB_PASSWORD='{}'": noise(chance, 24),
        "api_key: {}": noise(chance, 32),
    }


def planted(chance: random.Random) -> dict[str, bytes]:
    files = {}
    for extension in ("py", "md", "yaml", "js", "txt", "toml", "ipynb"):
        for number, (line, secret) in enumerate(secrets(chance).items()):
            files[f"planted/{extension}/{number}.{extension}"] = f"first line\n{line.format(secret)}\nlast line\n".encode()
            SECRETS[f"planted/{extension}/{number}.{extension}"] = secret
    return files


# Path and text of each planted secret; filled when the tree is built.
SECRETS: dict[str, str] = {}


def secrets_shown(cairn: Cairn) -> list[str]:
    """Returns the planted secrets that the program shows in any output, and the planted secrets that its list
    of secrets does not contain."""
    shown = [cairn.run("show", "tree", path)[1] for path in SECRETS]
    shown += [cairn.run("search", words, "--repo", "tree", "--limit", "100", "--max-tokens", "100000")[1] for words in ("password", "token", "api key", "connect")]
    shown.append(cairn.run("secrets", "tree")[1])
    everything = "\n".join(shown)
    listed = {finding["path"] for finding in cairn.ask("secrets", "tree")["findings"]}
    faults = [f"odd: the secret of {path} is shown" for path, secret in SECRETS.items() if secret in everything]
    faults += [f"odd: the secret of {path} is not listed" for path in SECRETS if path not in listed]
    print(f"   {len(SECRETS)} planted secrets, {len(faults)} shown or not listed")
    return faults

#!/usr/bin/env python3
"""Draws edges of every resolution class from pinned repositories, so that people can compare them with the
code.

    bench/edges/draw.py CAIRN WORK [--seed S] [-n N]

CAIRN is the program, WORK a folder for sources, index and the rows. The repositories are packages of public
registries, fetched with the clients as they are configured (pip, go, npm) and made into git repositories.
Writes WORK/rows.tsv (one edge a line, with the text of both lines) and WORK/counts.json. Verdicts are written
by hand into verdicts.tsv beside this file; `bench/edges/render.py` makes the page of both.
"""

import argparse
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

PACKAGES = [
    ("flask", "python", "flask", "3.1.0"),
    ("gin", "go", "github.com/gin-gonic/gin", "v1.10.0"),
    ("rxjs", "typescript", "rxjs", "7.8.1"),
]

# Each row contains the name of the draw, the class, the kinds of edges (empty: all kinds), and an offset that
# is added to the seed. The offset prevents two draws of a class from containing the same rows.
REFERENCES = ("calls", "references", "extends", "implements")
DRAWS = [
    ("exact", "exact", (), 0),
    ("exact, references", "exact", REFERENCES, 1),
    ("import", "import", (), 0),
    ("heuristic", "heuristic", (), 0),
    ("ambiguous", "ambiguous", (), 0),
]


def run(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def fetch(language, package, version, folder):
    """Unpacks the sources of a package into `folder`."""
    scratch = folder.with_name(folder.name + ".fetched")
    scratch.mkdir(parents=True, exist_ok=True)
    if language == "python":
        run("pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "-d", str(scratch), f"{package}=={version}")
        unpack(next(scratch.glob("*.tar.gz")), folder)
    elif language == "typescript":
        run("npm", "pack", "--silent", f"{package}@{version}", cwd=scratch)
        unpack(next(scratch.glob("*.tgz")), folder)
        # `dist` contains build output of the sources in the same package.
        shutil.rmtree(folder / "dist", ignore_errors=True)
    elif language == "go":
        found = json.loads(run("go", "mod", "download", "-json", f"{package}@{version}", cwd=scratch))
        shutil.copytree(found["Dir"], folder)
        run("chmod", "-R", "u+w", str(folder))
    shutil.rmtree(scratch)


def unpack(archive, folder):
    """Unpacks the archive, which contains one folder, and moves this folder to `folder`."""
    target = archive.with_suffix(".d")
    with tarfile.open(archive) as packed:
        packed.extractall(target, filter="data")
    [top] = target.iterdir()
    shutil.move(top, folder)


def commit(folder):
    identity = {"GIT_AUTHOR_NAME": "bench", "GIT_AUTHOR_EMAIL": "bench@localhost", "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z"}
    identity |= {name.replace("AUTHOR", "COMMITTER"): value for name, value in identity.items()}
    environment = os.environ | identity
    run("git", "init", "-q", "-b", "main", str(folder))
    run("git", "-C", str(folder), "add", "-A", "-f")
    run("git", "-C", str(folder), "commit", "-q", "-m", "as published", env=environment)


def line_of(folder, path, line):
    if not path or not line:
        return ""
    lines = (folder / path).read_text(errors="replace").splitlines()
    return " ".join(lines[line - 1].split())[:160] if line <= len(lines) else ""


def rows(cairn, name, folder, seed, count):
    for draw, resolution, kinds, added in DRAWS:
        command = [cairn, "graph", "sample", "--json", "--class", resolution, "--seed", str(seed + added), "-n", str(count)]
        command += [part for kind in kinds for part in ("--kind", kind)] + ["--repo", name]
        for text in run(*command).splitlines():
            edge = json.loads(text)
            site, target = edge["site"], edge["target"]
            path, start = target.get("path") or "", target.get("start_line") or 0
            yield [
                draw,
                name,
                f"{site['path']}:{site['line']}",
                edge["edge"],
                edge["source"]["name"],
                target["name"],
                f"{path}:{start}" if path else "",
                line_of(folder, site["path"], site["line"]),
                target.get("signature") or line_of(folder, path, start),
            ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cairn", help="the program")
    parser.add_argument("work", type=Path, help="a folder for sources, index and rows")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("-n", type=int, default=36, help="number of edges per draw and repository")
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    cairn = str(Path(arguments.cairn).resolve())
    os.environ["CAIRN_HOME"] = str(work / "home")
    os.environ["CAIRN_FIRST_USE_MAX_FILES"] = "0"
    # The index is built again, because only a complete run reports all counts.
    shutil.rmtree(work / "home", ignore_errors=True)
    drawn, counts = [], []
    for name, language, package, version in PACKAGES:
        folder = work / name
        if not folder.exists():
            fetch(language, package, version, folder)
            commit(folder)
        result = json.loads(run(cairn, "index", str(folder), "--name", name, "--json").strip().splitlines()[-1])
        counts.append((name, language, version, result["result"]))
        drawn += rows(cairn, name, folder, arguments.seed, arguments.n)
    (work / "rows.tsv").write_text("".join("\t".join(part.replace("\t", " ") for part in row) + "\n" for row in drawn))
    (work / "counts.json").write_text(json.dumps(counts, indent=1))
    print(f"{len(drawn)} edges in {work / 'rows.tsv'}")


if __name__ == "__main__":
    main()

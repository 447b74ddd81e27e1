#!/usr/bin/env python3
"""Writes the page with the drawn edges and their verdicts.

    bench/edges/render.py WORK > docs/figures/edges.md

WORK is the folder of `draw.py`. A verdict in `verdicts.tsv` belongs to the edge of the same draw, repository,
site, kind and target; an edge without one is listed as `unread`, so that another seed shows what is still to
read.
"""

import json
import sys
from collections import Counter
from pathlib import Path

VERDICTS = ("right", "wrong", "unclear", "unread")


def key(row):
    draw, repository, site, kind, source, target, place = row[:7]
    return (draw, repository, site, kind, source, target, place)


def read(path):
    return [line.split("\t") for line in path.read_text().splitlines()]


def precision(counts):
    read = counts["right"] + counts["wrong"] + counts["unclear"]
    return f"{counts['right'] / read:.3f}" if read else "-"


def cell(text):
    return text.replace("|", "\\|")


def summary(rows, verdicts):
    print("| draw | repository | edges | right | wrong | unclear | precision |")
    print("|---|---|---|---|---|---|---|")
    draws = dict.fromkeys(row[0] for row in rows)
    for draw in draws:
        total = Counter()
        for repository in dict.fromkeys(row[1] for row in rows):
            counts = Counter(verdicts.get(key(row), ("unread", ""))[0] for row in rows if row[:2] == [draw, repository])
            total += counts
            line(draw, repository, counts)
        line(f"**{draw}**", "**all**", total)
    print()


def line(draw, repository, counts):
    read = [str(counts[verdict]) for verdict in ("right", "wrong", "unclear")]
    print(f"| {draw} | {repository} | {sum(counts.values())} | {' | '.join(read)} | {precision(counts)} |")


def figures(counts):
    classes = ("exact", "import", "heuristic", "ambiguous")
    reasons = sorted({reason for *_, result in counts for reason in result["unresolved"]})
    print(f"| repository | language | version | files | {' | '.join(classes)} | {' | '.join(reasons)} |")
    print("|---" * (4 + len(classes) + len(reasons)) + "|")
    for name, language, version, result in counts:
        edges, open_ones = result["edges_by_resolution"], result["unresolved"]
        parts = [str(edges.get(word, 0)) for word in classes] + [str(open_ones.get(word, 0)) for word in reasons]
        print(f"| {name} | {language} | {version} | {result['files_indexed']} | {' | '.join(parts)} |")
    print()


def main():
    work = Path(sys.argv[1])
    rows = read(work / "rows.tsv")
    verdicts = {tuple(row[:7]): (row[7], row[8]) for row in read(Path(__file__).with_name("verdicts.tsv"))}
    print(Path(__file__).with_name("intro.md").read_text())
    summary(rows, verdicts)
    print("## Number of edges and unresolved references\n")
    figures(json.loads((work / "counts.json").read_text()))
    for draw in dict.fromkeys(row[0] for row in rows):
        print(f"## {draw}\n")
        print("| repository | site | edge | target | verdict | reason |")
        print("|---|---|---|---|---|---|")
        for row in (row for row in rows if row[0] == draw):
            verdict, reason = verdicts.get(key(row), ("unread", ""))
            _, repository, site, kind, source, target, place = row[:7]
            edge = f"`{cell(source)}` {kind}"
            print(f"| {repository} | {cell(site)} | {edge} | `{cell(target)}` {cell(place)} | {verdict} | {cell(reason)} |")
        print()


if __name__ == "__main__":
    main()

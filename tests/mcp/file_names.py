"""Measures how often the search by name finds the wanted file or directory.

Usage: file_names.py PATH_OF_CAIRN NUM_QUESTIONS SEED REPOSITORY...

Indexes the repositories (directories) in a new index directory, and asks `cairn mcp` NUM_QUESTIONS questions
that are made from the paths of the indexed files. Each function with the decorator `kind` makes one kind of
question, and the kinds have equal shares. Most kinds set `target_type` to `filename` or `directory`. A
question of a kind whose text looks like a name of a file is also asked with `auto` and without
`target_type`. A question is asked only if exactly one indexed path is right:

- The rule of the kind selects one path. A typo, for example, must be nearer to the wanted name than to the
  name of every other path.
- The table of scores in SPEC N3 prefers no other path.

A pattern may match several paths. The answer to a pattern is right if the first page has only paths that
match, and all of them if they are at most 20.

The program prints the share of right answers for each kind and `target_type`, and up to 30 wrong answers.
The exit code is 1 if the wanted path is first in a share of all answers below 0.97. The questions depend only
on the seed and the indexed paths.
"""

import json
import os
import random
import re
import signal
import string
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from fnmatch import fnmatchcase
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from session import McpSession, environment

LEAST_SHARE = 0.97
PAGE_SIZE = 20
NUM_FIRST = 5
# SPEC N3: only names with a greater similarity are found by similarity.
LEAST_SIMILARITY = 0.7
MAX_WRONG_SHOWN = 30
# The number of times that a kind tries each path. Most kinds choose a random part of a name, so another try
# can give another question.
NUM_ROUNDS = 3

WORD = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+")
SEPARATED_WORDS = re.compile(r"[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*")
IDENTIFIER = re.compile(r"(?<![A-Za-z0-9])(?:[A-Z]{2,8}[-_]?|[A-Za-z]{2,8}-)[0-9]{2,6}(?![A-Za-z0-9])")
# A text with an extension, a slash, a wildcard, or an identifier such as `ADR-025`.
LOOKS_LIKE_FILE = re.compile(rf"[.][A-Za-z]\w*$|[/*]|{IDENTIFIER.pattern}")
# Words whose last `s` is no sign of a plural.
NO_PLURAL = re.compile(r"(?:ss|us|is|as|os|ws|ns)$")
# A word, and its abbreviations.
ABBREVIATIONS = {
    "administrator": ["admin"], "application": ["app"], "argument": ["arg"], "attribute": ["attr"],
    "authentication": ["auth"], "buffer": ["buf"], "button": ["btn"], "command": ["cmd"],
    "config": ["cfg", "conf"], "connection": ["conn"], "context": ["ctx"], "database": ["db"],
    "destination": ["dest", "dst"], "development": ["dev"], "directory": ["dir"], "document": ["doc"],
    "environment": ["env"], "error": ["err"], "expression": ["expr"], "function": ["func", "fn"],
    "image": ["img"], "implementation": ["impl"], "index": ["idx"], "information": ["info"],
    "initialize": ["init"], "language": ["lang"], "length": ["len"], "library": ["lib"], "manager": ["mgr"],
    "message": ["msg"], "number": ["num"], "object": ["obj"], "package": ["pkg"], "parameter": ["param"],
    "password": ["pwd"], "pointer": ["ptr"], "production": ["prod"], "property": ["prop"],
    "reference": ["ref"], "repository": ["repo"], "request": ["req"], "response": ["resp"],
    "server": ["srv"], "service": ["svc"], "source": ["src"], "statement": ["stmt"], "string": ["str"],
    "template": ["tmpl"], "temporary": ["tmp", "temp"], "utility": ["util"], "value": ["val"],
    "variable": ["var"],
}
FULL_WORDS = {short: word for word, shorts in ABBREVIATIONS.items() for short in shorts}


class IndexedPath(NamedTuple):
    repository: str
    path: str
    is_directory: bool

    @property
    def parts(self):
        return self.path.split("/")

    @property
    def name(self):
        return self.parts[-1]

    @property
    def stem(self):
        return Path(self.name).stem

    @property
    def extension(self):
        return Path(self.name).suffix

    def __str__(self):
        return f"{self.repository}:{self.path}" + ("/" if self.is_directory else "")


class NameQuestion(NamedTuple):
    kind: str
    text: str
    # None means that the call does not set `target_type`.
    target_type: str | None
    wanted: frozenset
    is_pattern: bool

    def arguments(self):
        arguments = {"query": self.text} | ({"target_type": self.target_type} if self.target_type else {})
        return arguments | ({"limit": PAGE_SIZE} if self.is_pattern else {})


def words(text):
    return [word.lower() for word in WORD.findall(text)]


def squashed(text):
    """Removes case and separators."""
    return "".join(letter for letter in text.lower() if letter.isalnum())


def dotted_starts(name):
    """The name, and each part of it that ends before a dot: `a.test.ts`, `a.test` and `a`."""
    ends = [at for at, letter in enumerate(name) if letter == "." and at > 0]
    return {name} | {name[:end] for end in ends}


def word_bag(text):
    return tuple(sorted(words(text)))


def full_words(text):
    return tuple(FULL_WORDS.get(word, word) for word in words(text))


def edit_distance(left, right):
    """The number of inserted, deleted, replaced and swapped letters (no letter is changed twice)."""
    rows = [list(range(len(right) + 1))]
    for i, letter in enumerate(left, start=1):
        row = [i]
        for j, other in enumerate(right, start=1):
            best = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == right[j - 2] and left[i - 2] == other:
                best = min(best, rows[i - 2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]


def edits_within(left, right, most):
    """The edit distance, or `None` if it is greater than `most`. Counting letters rules out most pairs."""
    if abs(len(left) - len(right)) > most:
        return None
    left_letters, right_letters = Counter(left), Counter(right)
    if max((left_letters - right_letters).total(), (right_letters - left_letters).total()) > most:
        return None
    edits = edit_distance(left, right)
    return edits if edits <= most else None


def similarity(left, right, least=0.0):
    """The similarity of SPEC N3, or 0 if it is below `least`."""
    length = max(len(left), len(right))
    edits = edits_within(left, right, (1 - least) * length)
    return 0.0 if edits is None else 1 - edits / length


def table_score(path, text):
    """The score of SPEC N3. It is 0 for a path whose name is only similar to the text."""
    if path == text:
        return 100
    if path.split("/")[-1] == text:
        return 90
    if path.startswith(text):
        return 80
    return 60 if text in path else 0


class IndexedPaths:
    """The indexed files and their directories, and the paths of each name. Names are in lower case."""

    def __init__(self, files):
        self.files = sorted(files)
        self.directories = sorted({
            IndexedPath(file.repository, str(parent), True)
            for file in files for parent in Path(file.path).parents if str(parent) != "."
        })
        self.by_name, self.by_start, self.by_squashed_start = defaultdict(set), defaultdict(set), defaultdict(set)
        self.by_end, self.by_word_bag, self.by_full_words = defaultdict(set), defaultdict(set), defaultdict(set)
        for path in self.files + self.directories:
            self.add(path)
        self.squashed_names = [(path, squashed(path.name)) for path in self.files + self.directories]
        self.squashed_paths = [squashed(path.path) for path in self.files]
        self.lower_paths = [(path, path.path.lower()) for path in self.files + self.directories]

    def add(self, path):
        self.by_name[path.name.lower()].add(path)
        for start in dotted_starts(path.name):
            self.by_end["/".join([*path.parts[-2:-1], start]).lower()].add(path)
            self.by_start[start.lower()].add(path)
            self.by_squashed_start[squashed(start)].add(path)
            self.by_full_words[full_words(start)].add(path)
            for num_directories in range(3):
                directories = path.parts[:-1][-num_directories:] if num_directories else []
                self.by_word_bag[word_bag("/".join([*directories, start]))].add(path)

    def is_best_by_table(self, wanted, text):
        """Whether the table of scores prefers no other path to the wanted one."""
        text = text.lower()
        score = table_score(wanted.path.lower(), text)
        if any(table_score(path, text) > score for other, path in self.lower_paths if other != wanted):
            return False
        return score > 0 or not self.another_is_as_similar(wanted, text)

    def another_is_as_similar(self, wanted, text):
        own = similarity(text, wanted.name.lower())
        others = (name for name, owners in self.by_name.items() if owners != {wanted})
        scores = (similarity(text, name, LEAST_SIMILARITY) for name in others)
        return any(score > LEAST_SIMILARITY and score >= own for score in scores)

    def another_has_similar_name(self, wanted, text, distance):
        others = (start for start, owners in self.by_start.items() if owners != {wanted})
        return any(edits_within(text.lower(), start, distance) is not None for start in others)

    def another_contains(self, wanted, text):
        text = squashed(text)
        return any(text in name for path, name in self.squashed_names if path != wanted)

    def another_begins(self, wanted, text):
        text = squashed(text)
        return any(name.startswith(text) for path, name in self.squashed_names if path != wanted)

    def num_containing(self, text):
        """The number of files whose path contains the text."""
        text = squashed(text)
        return sum(text in path for path in self.squashed_paths)

    def matching(self, pattern):
        """The files that match a pattern. A pattern without a slash is compared with the name only."""
        directory, _, name = pattern.rpartition("/")
        return frozenset(
            file for file in self.files
            if fnmatchcase(file.name, name) and (not directory or file.path == f"{directory}/{file.name}")
        )

    def is_clear(self, pattern):
        """Whether all usual rules for patterns select the same files. The rules differ in case, in whether
        `*` matches a slash, and in whether a path starts at the root."""
        if re.search(r"[][?{}!]|[*].*[*]", pattern):
            return False
        name, folded = pattern.rpartition("/")[2].lower(), pattern.lower()
        if any(fnmatchcase(directory.name.lower(), name) for directory in self.directories):
            return False
        if "/" in pattern:
            loose = (file for file in self.files if fnmatchcase("/" + file.path.lower(), "*/" + folded))
        else:
            loose = (file for file in self.files if fnmatchcase(file.name.lower(), folded))
        return set(loose) == self.matching(pattern)


class Kind(NamedTuple):
    name: str
    make: Callable
    target_types: tuple

    def candidates(self, paths):
        return paths.directories if "directory" in self.target_types else paths.files

    def target_type(self, text, number):
        """The kind uses its target types in turn, and only the first one if the text is not like a file."""
        usable = self.target_types if LOOKS_LIKE_FILE.search(text) else self.target_types[:1]
        return usable[number % len(usable)]


KINDS = []


def kind(*target_types):
    """Registers a function that makes questions: it returns the text of a question about a path, or `None` if
    the path has no such question, or if another path is also right."""
    def register(make):
        KINDS.append(Kind(make.__name__, make, target_types))
        return make
    return register


@kind("filename", "auto", None)
def base_name(paths, wanted, chance):
    return wanted.name if paths.by_name[wanted.name.lower()] == {wanted} else None


@kind("filename", "auto", None)
def other_case(paths, wanted, chance):
    changed = chance.choice([str.upper, str.lower, str.swapcase])(wanted.name)
    return changed if changed != wanted.name and paths.by_name[changed.lower()] == {wanted} else None


@kind("filename")
def without_extension(paths, wanted, chance):
    is_long = wanted.extension and len(wanted.stem) >= 3
    return wanted.stem if is_long and paths.by_squashed_start[squashed(wanted.stem)] == {wanted} else None


def in_other_style(text, chance, styles):
    """The words of the text with other separators, or `None` if the text has one word."""
    parts = words(text)
    if not SEPARATED_WORDS.fullmatch(text) or len(parts) < 2:
        return None
    capitals = [part.capitalize() for part in parts]
    camel = {"camel": parts[0] + "".join(capitals[1:]), "pascal": "".join(capitals)}
    forms = {"kebab": "-".join(parts), "snake": "_".join(parts), "spaces": " ".join(parts)} | camel
    changed = forms[chance.choice(styles)]
    return changed if changed.lower() != text.lower() else None


@kind("filename")
def other_separators(paths, wanted, chance):
    changed = in_other_style(wanted.stem, chance, ["kebab", "snake", "camel", "pascal", "spaces"])
    return changed if changed and paths.by_squashed_start[squashed(changed)] == {wanted} else None


@kind("filename", "auto", None)
def other_separators_with_extension(paths, wanted, chance):
    stem = in_other_style(wanted.stem, chance, ["kebab", "snake", "camel", "pascal"])
    if not stem or not wanted.extension:
        return None
    changed = stem + wanted.extension
    return changed if paths.by_squashed_start[squashed(changed)] == {wanted} else None


@kind("filename", "auto", None)
def last_two_parts(paths, wanted, chance):
    end = "/".join(wanted.parts[-2:])
    return end if len(wanted.parts) > 2 and paths.by_end[end.lower()] == {wanted} else None


@kind("filename", "auto", None)
def whole_path(paths, wanted, chance):
    num_same = sum(path == wanted.path.lower() for _, path in paths.lower_paths)
    return wanted.path if len(wanted.parts) > 1 and num_same == 1 else None


def change_letter(text, chance):
    """Changes one letter. Returns the text and the Levenshtein distance: it counts a swap as two changes."""
    at = chance.choice([at for at, letter in enumerate(text) if letter.isalpha()])
    new = chance.choice(string.ascii_lowercase)
    match chance.choice(["insert", "delete", "replace", "swap"]):
        case "insert":
            return text[:at] + new + text[at:], 1
        case "delete":
            return text[:at] + text[at + 1 :], 1
        case "replace":
            return text[:at] + new + text[at + 1 :], 1
        case "swap":
            return text[:at] + text[at : at + 2][::-1] + text[at + 2 :], 2


def with_typos(paths, wanted, chance, num_typos, least_letters, extension):
    changed, distance = wanted.stem, 0
    if sum(letter.isalpha() for letter in changed) < least_letters:
        return None
    for _ in range(num_typos):
        changed, letters = change_letter(changed, chance)
        distance += letters
    if edit_distance(changed.lower(), wanted.stem.lower()) != num_typos:
        return None
    text = changed + extension
    if paths.another_has_similar_name(wanted, text, distance) or paths.another_contains(wanted, text):
        return None
    return text


@kind("filename", "auto", None)
def one_typo(paths, wanted, chance):
    return with_typos(paths, wanted, chance, 1, 6, wanted.extension) if wanted.extension else None


@kind("filename")
def one_typo_without_extension(paths, wanted, chance):
    return with_typos(paths, wanted, chance, 1, 6, "")


@kind("filename")
def two_typos(paths, wanted, chance):
    return with_typos(paths, wanted, chance, 2, 12, wanted.extension)


@kind("filename")
def beginning(paths, wanted, chance):
    length = chance.randint(4, max(4, len(wanted.stem) - 2))
    start = wanted.stem[:length]
    is_part = length <= len(wanted.stem) - 2 and start[-1].isalnum()
    return start if is_part and not paths.another_begins(wanted, start) else None


@kind("filename")
def middle_word(paths, wanted, chance):
    later = [word for word in WORD.findall(wanted.stem)[1:] if len(word) >= (3 if word.isdigit() else 4)]
    unique = [word for word in later if paths.num_containing(word) == 1]
    return chance.choice(unique) if unique else None


@kind("filename", "auto", None)
def identifier(paths, wanted, chance):
    """A short name with a number, for example `ADR-025`, that is a part of the stem."""
    found = IDENTIFIER.search(wanted.stem)
    is_part = found and found[0] != wanted.stem
    return found[0] if is_part and paths.num_containing(found[0]) == 1 else None


@kind("filename")
def words_in_other_order(paths, wanted, chance):
    parts = words(wanted.stem)
    changed = chance.sample(parts, len(parts))
    is_separated = SEPARATED_WORDS.fullmatch(wanted.stem) and all(len(part) > 1 for part in parts)
    if not is_separated or changed == parts:
        return None
    text = chance.choice([" ", "-", "_"]).join(changed)
    return text if paths.by_word_bag[word_bag(text)] == {wanted} else None


@kind("filename", "auto", None)
def pattern_for_extension(paths, wanted, chance):
    pattern = wanted.stem + ".*"
    return pattern if wanted.extension and len(wanted.stem) >= 3 and paths.is_clear(pattern) else None


@kind("filename", "auto", None)
def pattern_for_middle(paths, wanted, chance):
    length = len(wanted.stem)
    if length < 5 or not wanted.extension:
        return None
    start = chance.randint(2, length - 2)
    end = chance.randint(start + 1, length)
    pattern = wanted.name[:start] + "*" + wanted.name[end:]
    return pattern if paths.is_clear(pattern) else None


@kind("filename", "auto", None)
def pattern_in_directory(paths, wanted, chance):
    pattern = "/".join([*wanted.parts[:-1], "*" + wanted.extension])
    return pattern if wanted.extension and len(wanted.parts) > 1 and paths.is_clear(pattern) else None


@kind("directory")
def directory_name(paths, wanted, chance):
    return wanted.name if paths.by_name[wanted.name.lower()] == {wanted} else None


@kind("directory", "auto", None)
def directory_path(paths, wanted, chance):
    end = "/".join(wanted.parts[-2:])
    return end if len(wanted.parts) > 1 and paths.by_end[end.lower()] == {wanted} else None


def changed_word(stem, chance, forms_of):
    """Replaces one word of the stem by one of its other forms, or returns `None` if no word has one."""
    changes = []
    for found in WORD.finditer(stem):
        for form in forms_of(found[0].lower()):
            form = form.capitalize() if found[0][0].isupper() else form
            changes.append(stem[: found.start()] + form + stem[found.end() :])
    return chance.choice(changes) if changes else None


def other_number(word):
    if not word.isalpha():
        return []
    if word.endswith("s"):
        return [word[:-1]] if len(word) >= 5 and not NO_PLURAL.search(word) else []
    return [word + "s"] if len(word) >= 4 and word[-1] not in "xyzh" else []


@kind("filename")
def plural_or_singular(paths, wanted, chance):
    text = changed_word(wanted.stem, chance, other_number)
    if not text or paths.another_has_similar_name(wanted, text, 1) or paths.another_contains(wanted, text):
        return None
    return text


def shorter_or_longer(word):
    full = FULL_WORDS.get(word, word)
    return [form for form in [full, *ABBREVIATIONS.get(full, [])] if form != word]


@kind("filename")
def abbreviation(paths, wanted, chance):
    text = changed_word(wanted.stem, chance, shorter_or_longer)
    if not text or paths.another_has_similar_name(wanted, text, 1) or paths.another_contains(wanted, text):
        return None
    return text if paths.by_full_words[full_words(text)] == {wanted} else None


def in_random_order(candidates, chance):
    """The paths in random order. The repositories take turns, so that large ones do not dominate."""
    by_repository = defaultdict(list)
    for path in candidates:
        by_repository[path.repository].append(path)
    for listed in by_repository.values():
        chance.shuffle(listed)
    return [path for turn in zip_longest(*by_repository.values()) for path in turn if path]


def questions_of_kind(kind, paths, seed):
    # Each kind has its own random numbers, so a new kind does not change the questions of the others.
    chance = random.Random(f"{seed} {kind.name}")
    seen = set()
    for _ in range(NUM_ROUNDS):
        for path in in_random_order(kind.candidates(paths), chance):
            text = kind.make(paths, path, chance)
            if not text or text in seen:
                continue
            is_pattern = "*" in text
            if not is_pattern and not paths.is_best_by_table(path, text):
                continue
            wanted = paths.matching(text) if is_pattern else frozenset({path})
            yield NameQuestion(kind.name, text, kind.target_type(text, len(seen)), wanted, is_pattern)
            seen.add(text)


def make_questions(paths, num_questions, seed):
    """Makes questions of all kinds in turn. A kind that has no further question loses its turn."""
    active = [questions_of_kind(kind, paths, seed) for kind in KINDS]
    made = []
    while active and len(made) < num_questions:
        turn = [(questions, next(questions, None)) for questions in active]
        made += [question for _, question in turn if question]
        active = [questions for questions, question in turn if question]
    return made[:num_questions]


def index(cairn, home, roots):
    for root in roots:
        command = [cairn, "index", root, "--name", root.name]
        subprocess.run(command, env=environment(home), check=True, stdout=sys.stderr)


def indexed_files(cairn, home, repository):
    command = [cairn, "--json", "coverage", repository, "--outcome", "indexed"]
    done = subprocess.run(command, env=environment(home), check=True, capture_output=True, text=True)
    listed = json.loads(done.stdout)
    assert listed["next_offset"] is None, "the list of indexed files is incomplete"
    return [IndexedPath(repository, entry["path"], False) for entry in listed["entries"]]


class FileSearches(McpSession):
    """A session in which each call searches for files by name."""

    def search(self, arguments):
        """The paths of an answer in their order: names first, then chunks. An error has no path. An answer to
        a pattern may also have chunks that are about its words, so only its names count."""
        answer = self.call("search_code", arguments).get("structuredContent", {})
        names, chunks = answer.get("files") or [], answer.get("results") or []
        if names and "*" in arguments["query"]:
            chunks = []
        hits = [(hit["repository"], hit["path"], hit.get("is_directory", False)) for hit in names + chunks]
        return [IndexedPath(*hit) for hit in dict.fromkeys(hits)]


class Tally:
    """Counts of answers by kind and `target_type`, and the wrong answers of each kind."""

    def __init__(self):
        self.num_asked, self.num_first, self.num_first_five = Counter(), Counter(), Counter()
        self.wrong = defaultdict(list)

    def add(self, question, shown):
        label = (question.kind, question.target_type or "(none)")
        self.num_asked[label] += 1
        if question.is_pattern:
            is_first = is_first_five = is_right_page(question, shown)
        else:
            is_first = question.wanted == set(shown[:1])
            is_first_five = question.wanted <= set(shown[:NUM_FIRST])
        self.num_first[label] += is_first
        self.num_first_five[label] += is_first_five
        if not is_first:
            self.wrong[question.kind].append((question, shown))

    def share(self):
        return self.num_first.total() / max(self.num_asked.total(), 1)


def is_right_page(question, shown):
    is_complete = len(question.wanted) > PAGE_SIZE or question.wanted <= set(shown)
    return bool(shown) and question.wanted >= set(shown) and is_complete


def print_row(kind, target_type, asked, first, first_five):
    print(f"{kind:<32} {target_type:<10} {asked:>6} {first / asked:>6.3f} {first_five / asked:>10.3f}")


def print_shares(tally):
    print(f"{'kind':<32} {'target_type':<10} {'number':>6} {'first':>6} {'first five':>10}")
    for label, asked in tally.num_asked.items():
        print_row(*label, asked, tally.num_first[label], tally.num_first_five[label])
    counts = [tally.num_asked, tally.num_first, tally.num_first_five]
    for target_type in dict.fromkeys(target_type for _, target_type in tally.num_asked):
        of_type = [sum(count[label] for label in count if label[1] == target_type) for count in counts]
        print_row("all kinds", target_type, *of_type)
    print_row("all kinds", "all", *(count.total() for count in counts))


def print_wrong_answers(tally):
    """Prints wrong answers of all kinds in turn."""
    turns = (wrong for turn in zip_longest(*tally.wrong.values()) for wrong in turn if wrong)
    for (question, shown), _ in zip(turns, range(MAX_WRONG_SHOWN)):
        wanted = sorted(map(str, question.wanted))
        others = f" and {len(wanted) - 3} more" if len(wanted) > 3 else ""
        print(f"not first: {question.kind}, {question.target_type}: {question.text!r}")
        print(f"  wanted: {', '.join(wanted[:3])}{others}")
        print(f"  shown ({len(shown)}): {', '.join(map(str, shown[:3])) or 'nothing'}")


def print_missing_kinds(questions):
    made = {question.kind for question in questions}
    for kind in KINDS:
        if kind.name not in made:
            print(f"no question of the kind {kind.name}: no path of these repositories is suitable")


def measure(cairn, home, repositories, num_questions, seed):
    files = [file for repository in repositories for file in indexed_files(cairn, home, repository)]
    questions = make_questions(IndexedPaths(files), num_questions, seed)
    tally = Tally()
    with tempfile.TemporaryDirectory() as cwd, FileSearches(cairn, home, cwd) as session:
        for question in questions:
            tally.add(question, session.search(question.arguments()))
    print_shares(tally)
    print_missing_kinds(questions)
    print_wrong_answers(tally)
    print(f"{tally.num_first.total()} of {tally.num_asked.total()} wanted paths are first ({tally.share():.3f})")
    return tally.share()


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    # The default action of this signal would leave a started program running.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    cairn, num_questions, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    roots = [Path(argument).resolve() for argument in sys.argv[4:]]
    names = [root.name for root in roots]
    if len(set(names)) < len(names):
        sys.exit("error: two repositories have the same folder name; rename one of the folders")
    with tempfile.TemporaryDirectory() as home:
        index(cairn, home, roots)
        share = measure(cairn, home, names, num_questions, seed)
    sys.exit(0 if share >= LEAST_SHARE else 1)


if __name__ == "__main__":
    main()

"""Measures how often an agent recovers from a wrong call by making only the suggested calls.

Usage: broken_starts.py PATH_OF_CAIRN PATH_OF_REPOSITORY [NUM_STARTS [SEED]]

Indexes the repository in a new index directory, and makes NUM_STARTS wrong calls: half of them with `cairn
mcp`, half of them with the command line. Each wrong call is derived from a correct call, so the wanted answer
is known: it contains a certain symbol, path or line. If the answer does not contain it, the suggested calls
are made without changes, at most two steps deep. If CAIRN_SERVER is the URL of a query service that has
indexed the repository under the name of its folder, and CAIRN_API_KEY is a key for it, wrong requests are
sent to the service as well. The program prints the share of recovered starts for each kind. The exit code is
1 if a suggested call fails, or if the share is below 0.92.
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

from session import McpSession, environment

LEAST_SHARE = 0.92
DEFINITION = re.compile(r"^\s*(?:pub |export |public |async |static )*(?:def|class|fn|func|function|struct|interface) (\w{6,40})\b", re.M)
CODE = {".py": "python", ".rs": "rust", ".go": "go", ".js": "javascript", ".ts": "typescript", ".java": "java"}


class Mcp(McpSession):
    """A session in which each call is a tool and its arguments."""

    def ask(self, call):
        """The text of an answer, whether it is an error, and the suggested calls."""
        result = self.call(*call)
        text = "".join(block["text"] for block in result["content"])
        content = result.get("structuredContent", {})
        details = content.get("details", content)
        calls = [(each["tool"], each["arguments"]) for each in details.get("tool_suggestions") or []]
        return text, bool(result.get("isError")), calls


class CommandLine:
    """A user of the command line. Each call is a command, or the text of a suggested command."""

    def __init__(self, cairn, home, cwd):
        self.cairn, self.env, self.cwd = cairn, environment(home), cwd

    def ask(self, call):
        command = call if isinstance(call, str) else None
        words = ["sh", "-c", command] if command else [self.cairn, *call]
        done = subprocess.run(words, cwd=self.cwd, env=self.env, capture_output=True, text=True)
        text = done.stdout + done.stderr
        calls = re.findall(r"^  try: (.*)  \(.*\)$", text, re.M)
        # Exit code 3 means an empty answer, or an error because a name does not exist.
        is_error = done.returncode not in (0, 3) or done.stderr.startswith("error:")
        return re.sub(r"^  try: .*$", "", text, flags=re.M), is_error, calls

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


class HttpService:
    """A query service. A call is a path and a body."""

    def __init__(self, url, key):
        self.url, self.key = url.rstrip("/"), key

    def ask(self, call):
        path, body = call
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), headers, method="POST")
        try:
            with urllib.request.urlopen(request) as reply:
                is_error, text = False, reply.read().decode()
        except urllib.error.HTTPError as refused:
            is_error, text = True, refused.read().decode()
        content = json.loads(text)
        details = content.get("details", content)
        suggestions = details.pop("tool_suggestions", None) or []
        calls = [(each["request"]["path"], each["request"]["body"]) for each in suggestions]
        return json.dumps(content), is_error, calls


class Repository:
    def __init__(self, root, chance):
        listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout
        self.files = [path for path in listed.splitlines() if Path(path).suffix in CODE]
        names = Counter()
        places = {}
        for path in self.files:
            text = (root / path).read_text(errors="replace")
            for name in DEFINITION.findall(text):
                names[name] += 1
                places[name] = path
        self.symbols = [name for name, count in names.items() if count == 1 and not name.startswith("test")]
        self.places, self.chance, self.root = places, chance, root
        stems = Counter(Path(path).name for path in self.files)
        self.unique_files = [path for path in self.files if stems[Path(path).name] == 1 and len(Path(path).stem) > 4]
        self.directories = sorted({str(Path(path).parent) for path in self.files if "/" in path})

    def symbol(self):
        return self.chance.choice(self.symbols)

    def file(self):
        return self.chance.choice(self.unique_files)

    def typo(self, word):
        """Changes two letters in the middle of the word. Most changed words are then only similar to the
        original name."""
        letters = list(word)
        for _ in range(2):
            at = self.chance.randrange(1, len(letters) - 1)
            kind = self.chance.randrange(3)
            if kind == 0:
                del letters[at]
            elif kind == 1:
                letters.insert(at, self.chance.choice("aeioxz"))
            else:
                letters[at], letters[at - 1] = letters[at - 1], letters[at]
        return "".join(letters)


def mcp_starts(repository, name):
    """For each kind, a function that returns a wrong call and the text that the wanted answer contains."""
    chance = repository.chance

    def symbol_typo():
        symbol = repository.symbol()
        return ("read_code", {"symbol": repository.typo(symbol)}), symbol

    def relation_typo():
        symbol = repository.symbol()
        return ("analyze_relationship", {"target": repository.typo(symbol), "mode": "callers"}), symbol

    def path_typo():
        path = repository.file()
        head, stem = Path(path).parent, Path(path).stem
        return ("read_code", {"path": str(head / (repository.typo(stem) + Path(path).suffix))}), path

    def wrong_directory():
        path = repository.file()
        return ("read_code", {"path": "no/such/folder/" + Path(path).name}), path

    def directory_for_file():
        directory = chance.choice(repository.directories)
        return ("read_code", {"path": directory}), directory + "/"

    def wrong_repository():
        symbol = repository.symbol()
        return ("search_code", {"query": symbol, "repository": [repository.typo(name)]}), symbol

    def unindexed_repository():
        symbol = repository.symbol()
        return ("read_code", {"symbol": symbol, "repository": "github.com/other/project"}), symbol

    def wrong_tool():
        symbol, path = repository.symbol(), repository.file()
        return chance.choice([
            (("grep", {"pattern": symbol}), symbol),
            (("search", {"query": symbol}), symbol),
            (("searchCode", {"q": symbol}), symbol),
            (("read_file", {"file_path": path}), path),
            (("get_definition", {"name": symbol}), symbol),
            (("find_references", {"symbol": symbol}), symbol),
            (("find_file", {"pattern": Path(path).name}), path),
        ])

    def wrong_argument():
        symbol, path = repository.symbol(), repository.file()
        return chance.choice([
            (("search_code", {"qurey": symbol}), symbol),
            (("search_code", {"search_query": symbol, "top_k": 5}), symbol),
            (("search_code", {"query": symbol, "files": path}), symbol),
            (("read_code", {"filePath": path}), path),
            (("read_code", {"file_name": path, "lineStart": 1}), path),
            (("analyze_relationship", {"symbol": symbol, "kind": "callers"}), symbol),
            (("analyze_relationship", {"target": symbol, "mode": "callers", "depth": 2}), symbol),
        ])

    def wrong_type():
        symbol, path = repository.symbol(), repository.file()
        return chance.choice([
            (("search_code", {"query": symbol, "limit": "many"}), symbol),
            (("search_code", {"query": symbol, "limit": 100000}), symbol),
            (("search_code", {"query": [symbol]}), symbol),
            (("search_code", {"query": symbol, "kind": "functions"}), symbol),
            (("search_code", {"query": symbol, "explain": "please"}), symbol),
            (("read_code", {"path": path, "start_line": "first"}), path),
            (("read_code", {"path": path, "start_line": 0}), path),
        ])

    def bad_cursor():
        symbol = repository.symbol()
        return ("search_code", {"query": symbol, "cursor": chance.choice(["beef", "2", "next"])}), symbol

    def bad_pattern():
        symbol = repository.symbol()
        return chance.choice([
            (("search_code", {"query": symbol + "(", "mode": "regex"}), symbol),
            (("search_code", {"query": symbol, "path": ["["]}), symbol),
            (("search_code", {"query": symbol, "since": "recently"}), symbol),
        ])

    def wrong_language():
        symbol = repository.symbol()
        return ("search_code", {"query": symbol, "language": "cobol"}), symbol

    def wrong_folder():
        symbol = repository.symbol()
        return ("search_code", {"query": symbol, "path": ["no/such/folder"], "tests": "exclude"}), symbol

    def wrong_mode():
        symbol = repository.symbol()
        mode = chance.choice(["calls", "usedBy", "impact", "references", None])
        arguments = {"target": symbol} | ({"mode": mode} if mode else {})
        return ("analyze_relationship", arguments), symbol

    def lines_after_the_end():
        path = repository.file()
        return ("read_code", {"path": path, "start_line": 900000}), path

    def missing_file():
        path = repository.file()
        return ("index_status", {"path": "src/old/" + Path(path).name}), path

    def letter_case():
        symbol = repository.symbol()
        return ("search_code", {"query": symbol.swapcase(), "mode": "text"}), symbol

    return [value for value in locals().values() if callable(value)]


def command_starts(repository, name):
    chance = repository.chance

    def symbol_typo():
        symbol = repository.symbol()
        return ["show", name, repository.typo(symbol)], symbol

    def relation_typo():
        symbol = repository.symbol()
        return ["graph", "callers", repository.typo(symbol)], symbol

    def path_typo():
        path = repository.file()
        return ["show", name, str(Path(path).parent / (repository.typo(Path(path).stem) + Path(path).suffix))], path

    def wrong_directory():
        path = repository.file()
        return ["show", name, "no/such/folder/" + Path(path).name], path

    def directory_for_file():
        directory = chance.choice(repository.directories)
        return ["show", name, directory], directory + "/"

    def wrong_repository():
        symbol = repository.symbol()
        return ["search", symbol, "--repo", repository.typo(name)], symbol

    def unknown_command():
        symbol = repository.symbol()
        return [chance.choice(["serch", "seach", "searc"]), symbol], symbol

    def unknown_option():
        symbol = repository.symbol()
        option = chance.choice([["--limt", "5"], ["--languag", "python"], ["--top", "5"], ["--tests", "exclud"]])
        return ["search", symbol, *option], symbol

    def words_without_quotes():
        symbol = repository.symbol()
        return ["search", symbol, "definition"], symbol

    def wrong_number():
        symbol = repository.symbol()
        return ["search", symbol, "--limit", "many"], symbol

    def wrong_filter():
        symbol = repository.symbol()
        return ["search", symbol, *chance.choice([["--language", "cobol"], ["--path", "no/such"], ["--tag", "none"]])], symbol

    def wrong_word():
        symbol = repository.symbol()
        words = chance.choice([["--kind", "functons"], ["--query-type", "symbols"], ["--type", "symbl"], ["--since", "then"]])
        return ["search", symbol, *words], symbol

    def bad_cursor():
        symbol = repository.symbol()
        return ["search", symbol, "--cursor", "beef"], symbol

    def bad_pattern():
        symbol = repository.symbol()
        return ["grep", symbol + "("], symbol

    def letter_case():
        symbol = repository.symbol()
        return ["grep", "-F", symbol.swapcase()], symbol

    def missing_file():
        path = repository.file()
        return ["coverage", name, "--why", "src/old/" + Path(path).name], path

    return [value for value in locals().values() if callable(value)]


def http_starts(repository, name):
    chance = repository.chance

    def symbol_typo():
        symbol = repository.symbol()
        return ("/v1/read", {"symbol": repository.typo(symbol), "repository": name}), symbol

    def relation_typo():
        symbol = repository.symbol()
        return ("/v1/graph", {"target": repository.typo(symbol), "mode": "callers"}), symbol

    def path_typo():
        path = repository.file()
        wrong = str(Path(path).parent / (repository.typo(Path(path).stem) + Path(path).suffix))
        return ("/v1/read", {"path": wrong, "repository": name}), path

    def wrong_directory():
        path = repository.file()
        return ("/v1/read", {"path": "no/such/folder/" + Path(path).name}), path

    def directory_for_file():
        directory = chance.choice(repository.directories)
        return ("/v1/read", {"path": directory, "repository": name}), directory + "/"

    def wrong_repository():
        symbol = repository.symbol()
        return ("/v1/search", {"query": symbol, "repositories": [repository.typo(name)]}), symbol

    def wrong_route():
        symbol = repository.symbol()
        return (chance.choice(["/v1/serch", "/v1/searches", "/v1/seach"]), {"query": symbol}), symbol

    def wrong_field():
        symbol, path = repository.symbol(), repository.file()
        return chance.choice([
            (("/v1/search", {"qurey": symbol}), symbol),
            (("/v1/search", {"q": symbol, "top_k": 5}), symbol),
            (("/v1/search", {"query": symbol, "wibble": 5}), symbol),
            (("/v1/read", {"filePath": path}), path),
            (("/v1/graph", {"symbol": symbol, "relationship": "callers"}), symbol),
        ])

    def wrong_value():
        symbol, path = repository.symbol(), repository.file()
        return chance.choice([
            (("/v1/search", {"query": symbol, "limit": "many"}), symbol),
            (("/v1/search", {"query": symbol, "limit": -1}), symbol),
            (("/v1/search", {"query": symbol, "limit": 100000}), symbol),
            (("/v1/search", {"query": symbol, "kinds": ["functions"]}), symbol),
            (("/v1/search", {"query": symbol, "tests": "no"}), symbol),
            (("/v1/search", {"query": symbol, "target_type": "symbl"}), symbol),
            (("/v1/read", {"path": path, "start_line": "first"}), path),
        ])

    def bad_cursor():
        symbol = repository.symbol()
        return ("/v1/search", {"query": symbol, "cursor": "beef"}), symbol

    def bad_pattern():
        symbol = repository.symbol()
        return chance.choice([
            (("/v1/grep", {"query": symbol + "(", "mode": "regex"}), symbol),
            (("/v1/search", {"query": symbol, "paths": ["["]}), symbol),
            (("/v1/search", {"query": symbol, "since": "recently"}), symbol),
        ])

    def wrong_filter():
        symbol = repository.symbol()
        field = chance.choice([{"languages": ["cobol"]}, {"paths": ["no/such"]}, {"tags": ["none"]}])
        return ("/v1/search", {"query": symbol} | field), symbol

    def wrong_mode():
        symbol = repository.symbol()
        mode = chance.choice(["calls", "usedBy", "impact", "references"])
        return ("/v1/graph", {"target": symbol, "mode": mode}), symbol

    def letter_case():
        symbol = repository.symbol()
        return ("/v1/grep", {"query": symbol.swapcase(), "mode": "text"}), symbol

    def missing_file():
        path = repository.file()
        return ("/v1/coverage", {"repository": name, "why": "src/old/" + Path(path).name}), path

    return [value for value in locals().values() if callable(value)]


class Tally:
    def __init__(self):
        self.num_starts, self.num_recovered, self.num_direct = Counter(), Counter(), Counter()
        self.num_suggested, self.failed, self.lost = 0, [], []


def recover(interface, call, wanted, tally, depth=2):
    """Whether the answer to the call, or to the calls that it suggests, contains the wanted text."""
    text, is_error, suggested = interface.ask(call)
    if not is_error and wanted in text:
        return True
    if len(suggested) > 2:
        tally.failed.append((call, f"{len(suggested)} suggestions"))
    if depth == 0:
        return False
    for following in suggested:
        tally.num_suggested += 1
        answer, fails, _ = interface.ask(following)
        if fails:
            tally.failed.append((call, following))
        # `cairn show` prints lines without their path, so the path in the command is also accepted.
        if (wanted in answer or wanted in str(following)) and not fails:
            return True
    return any(recover(interface, following, wanted, tally, depth - 1) for following in suggested)


def measure(interface, kinds, num_starts, tally):
    for number in range(num_starts):
        kind = kinds[number % len(kinds)]
        label = f"{type(interface).__name__} {kind.__name__}"
        call, wanted = kind()
        text, is_error, _ = interface.ask(call)
        tally.num_starts[label] += 1
        if not is_error and wanted in text:
            tally.num_direct[label] += 1
        elif not recover(interface, call, wanted, tally):
            tally.lost.append((label, call, wanted))
            continue
        tally.num_recovered[label] += 1


def main():
    cairn, root = os.path.abspath(sys.argv[1]), Path(sys.argv[2]).resolve()
    num_starts = int(sys.argv[3]) if len(sys.argv) > 3 else 300
    chance = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    repository = Repository(root, chance)
    tally = Tally()
    with tempfile.TemporaryDirectory() as home:
        name = root.name
        subprocess.run([cairn, "index", str(root), "--name", name], env=environment(home), check=True, stdout=sys.stderr)
        for kinds, interface in [(mcp_starts, Mcp), (command_starts, CommandLine)]:
            with tempfile.TemporaryDirectory() as cwd, interface(cairn, home, cwd) as session:
                measure(session, kinds(repository, name), num_starts // 2, tally)
    if server := os.environ.get("CAIRN_SERVER"):
        service = HttpService(server, os.environ["CAIRN_API_KEY"])
        measure(service, http_starts(repository, name), num_starts // 2, tally)
    for label, count in sorted(tally.num_starts.items()):
        print(f"{label}: {tally.num_recovered[label]} of {count}, {tally.num_direct[label]} without a suggestion")
    for label, call, wanted in tally.lost:
        print(f"not recovered: {label}: {call} (wanted {wanted})")
    for call, following in tally.failed[:20]:
        print(f"a suggested call failed: {call}: {following}")
    total, recovered = tally.num_starts.total(), tally.num_recovered.total()
    print(f"{recovered} of {total} starts recovered ({recovered / total:.3f}), {tally.num_direct.total()} of them without a suggestion;")
    print(f"{tally.num_suggested} suggested calls were made, and {len(tally.failed)} of them failed")
    sys.exit(0 if recovered >= LEAST_SHARE * total and not tally.failed else 1)


if __name__ == "__main__":
    main()

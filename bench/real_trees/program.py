"""Runs the program with a separate index directory and measures it."""

import json
import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from .sources import Form

BUILT = Path(os.environ.get("CARGO_TARGET_DIR") or Path(__file__).resolve().parents[2] / "target") / "release"
"""The build folder of cargo."""


@dataclass(frozen=True)
class Run:
    answer: dict
    seconds: float
    peak_mib: float
    num_files: int
    num_lines: int

    def print(self, form: Form) -> None:
        result = self.answer["result"]
        size = f": {self.num_files} files, {self.num_lines} lines" if self.num_files else ""
        print(f"\n== {form.name} ({form.kind}){size}")
        print(f"   {self.answer['state']} in {self.seconds:.1f} s, peak {self.peak_mib:.0f} MiB; {result['symbols']} symbols, {result['chunks']} chunks, {result['edges']} edges, {result['secrets']} secrets")
        print("   " + ", ".join(f"{outcome} {count}" for outcome, count in sorted(result["files"].items())))
        for error in result["errors"][:10]:
            print(f"   {error['file']}: {error['message']}")


class Cairn:
    """The program with an empty index directory, which is removed at the end."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> "Cairn":
        self.home = Path(tempfile.mkdtemp(prefix="cairn-trees-"))
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.home)

    def start(self, *arguments: str, **pipes: object) -> subprocess.Popen:
        environment = {**os.environ, "CAIRN_HOME": str(self.home), "CAIRN_FIRST_USE_MAX_FILES": "0"}
        environment.pop("CAIRN_CONFIG", None)
        return subprocess.Popen([self.path, *arguments], env=environment, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **pipes})

    def run(self, *arguments: str) -> tuple[int, str]:
        """Runs a command and returns its exit code and standard output."""
        process = self.start(*arguments)
        out, _ = process.communicate()
        return process.returncode, out.decode()

    def ask(self, *arguments: str) -> dict:
        """Runs a command and returns its JSON answer. If the program fails without an answer, returns an
        object with the field `error`."""
        code, out = self.run(*arguments, "--json")
        lines = out.strip().splitlines()
        return json.loads(lines[-1]) if lines else {"error": f"exit code {code}"}

    def index(self, form: Form) -> Run:
        started = time.monotonic()
        with tempfile.TemporaryFile() as errors:
            process = self.start("index", str(form.path), "--name", "tree", "--json", stderr=errors)
            out = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                errors.seek(0)
                raise SystemExit(f"cairn index {form.path} ended with {process.returncode}: {errors.read().decode(errors='replace')[-2000:]} {out.decode()[-2000:]}")
        seconds = time.monotonic() - started
        num_files, num_lines = size_of(form.path)
        run = Run(json.loads(out.decode().splitlines()[-1]), seconds, usage.ru_maxrss / 1024, num_files, num_lines)
        run.print(form)
        return run


def size_of(root: Path) -> tuple[int, int]:
    """Counts the files and newlines of a tree on disk. Returns zeros for a bare repository, which has no
    working files."""
    if (root / "HEAD").exists():
        return 0, 0
    num_files = num_lines = 0
    for directory, folders, files in os.walk(os.fsencode(root)):
        if b".git" in folders:
            folders.remove(b".git")
        for name in files:
            path = os.path.join(directory, name)
            num_files += 1
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    num_lines += file.read().count(b"\n")
    return num_files, num_lines

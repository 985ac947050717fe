"""Convert and check every module of the standard library, each in a worker process.

    python benchmarks/sweep.py                  all but the test suite; goes on where it stopped
    python benchmarks/sweep.py email test.support   these modules, and those below them
    python benchmarks/sweep.py --fresh --write  from the start, and write docs/sweep.md

A module is converted alone (`convert --partial --promote-buffers`), a package is checked as
a whole. Results are kept in build/sweep.jsonl. Exits with 1 where anything failed.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path

from sweep_module import STANDARD, Kind, Outcome, Result, Task, perform

CLEAN = multiprocessing.get_context("spawn")
ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "sweep.md"
RESULTS = ROOT / "build" / "sweep.jsonl"
TESTS = frozenset({"test", "tests", "idle_test"})
ELSEWHERE = frozenset({"site-packages", "dist-packages", "__pycache__"})

WRONG_IN_PYTHON = {
    "asyncio/sslproto.py:252": "`_abort` takes no argument: the call raises TypeError",
    "idlelib/editor.py:642": "`idlelib.help` defines no `show_idlehelp`",
    "idlelib/idle_test/test_rpc.py:11": "true; the function is pickled, never called",
    "idlelib/tree.py:481": "`zoomheight` has it as a method of a class alone",
    "importlib/_bootstrap_external.py:1080": "`_imp.source_hash` takes the key first",
    "lib2to3/pgen2/conv.py:33": "an import as Python 2 resolved it",
    "pprint.py:646": "`_perfcheck`, which nothing calls, passes an argument too many",
    "xml/dom/minidom.py:1771": "documents with a DTD hold an `ElementInfo` whose `isIdNS` "
    "takes four arguments: `getElementById` raises TypeError",
}
"""Places where a finding is right, each looked at, and what is wrong there."""

OUTCOMES: dict[Outcome, str] = {
    "whole": "converted, every parameter typed",
    "partial": "converted, some parameters left untyped",
    "same": "left as it was",
    "not Python": "no Python source: CPython does not compile it either",
    "failed": "failed",
}


def tasks(prefixes: Sequence[str]) -> list[Task]:
    """Every module to convert and every package to check, in order of name."""
    found: list[Task] = []
    for path in sorted(STANDARD.rglob("*.py")):
        parts = path.relative_to(STANDARD).with_suffix("").parts
        if ELSEWHERE & {*parts} or not all(part.isidentifier() for part in parts):
            continue
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if _wanted(name, prefixes):
            found.append(Task("convert", name, path))
    for path in sorted(STANDARD.iterdir()):
        is_module = path.suffix == ".py" or (path / "__init__.py").is_file()
        if is_module and path.stem.isidentifier() and _wanted(path.stem, prefixes):
            found.append(Task("check", path.stem, path))
    return found


def _wanted(name: str, prefixes: Sequence[str]) -> bool:
    if prefixes:
        return any(name == one or name.startswith(f"{one}.") for one in prefixes)
    return not TESTS & {*name.split(".")}


def kept() -> dict[tuple[Kind, str, str], Result]:
    """Results of earlier runs, by kind, name and digest of what was read; what failed, or
    has findings, is looked at again."""
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    results = [Result(**json.loads(line)) for line in lines]
    good = [one for one in results if one.outcome != "failed" and not one.findings]
    return {(one.kind, one.name, one.digest): one for one in good}


def sweep(wanted: Sequence[Task], jobs: int, limit: float) -> Iterator[Result]:
    """Runs tasks, `jobs` at a time, each for `limit` seconds at most, as they end."""
    here = threading.local()

    def start() -> None:
        here.worker = Worker(limit)

    with ThreadPoolExecutor(jobs, initializer=start) as pool:
        futures = [pool.submit(lambda task: here.worker.run(task), task) for task in wanted]
        for future in as_completed(futures):
            yield future.result()


class Worker:
    """A process that runs one task after another, replaced where it hangs or dies."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.process: multiprocessing.process.BaseProcess | None = None

    def run(self, task: Task) -> Result:
        if self.process is None:
            self._start()
        self.connection.send(task)
        try:
            if self.connection.poll(self.limit):
                return self.connection.recv()
            why = f"not done after {self.limit:g} s"
        except (EOFError, ConnectionError):
            why = "the worker died"
        self.process.kill()
        self.process.join()
        self.process = None
        return Result(task.kind, task.name, task.digest, "failed", why, seconds=self.limit)

    def _start(self) -> None:
        self.connection, other = CLEAN.Pipe()
        self.process = CLEAN.Process(target=_serve, args=(other,), daemon=True)
        self.process.start()
        other.close()


def _serve(connection: Connection) -> None:
    while True:
        connection.send(perform(connection.recv()))


def page(results: Sequence[Result]) -> str:
    """The page of results."""
    converted = [one for one in results if one.kind == "convert"]
    checked = [one for one in results if one.kind == "check"]
    counts = Counter(one.outcome for one in converted)
    untyped = {
        kind: sum(one.untyped for one in converted if one.outcome == kind) for kind in counts
    }
    rows = "".join(
        f"| {text} | {counts[kind]} | {untyped.get(kind, 0):,} |\n"
        for kind, text in OUTCOMES.items()
    )
    findings = [line for one in checked for line in one.findings]
    looked = "".join(f"| `{line}` | {_why(line)} |\n" for line in findings)
    failures = "".join(
        f"* {one.kind} `{one.name}`: {one.why.splitlines()[-1]}\n"
        for one in results
        if one.outcome == "failed"
    )
    slowest = sorted(converted, key=lambda one: -one.seconds)[:5]
    slow = ", ".join(f"`{one.name}` {one.seconds:.0f} s" for one in slowest)
    return f"""# The converter on the standard library

Written by `make sweep` (`benchmarks/sweep.py --write`) with CPython
{platform.python_version()}: every module of the standard library except its tests. It goes
on where it stopped, so a good result may be an earlier version's; `--fresh` starts over.
Each is converted alone, as by `ppybuild convert --partial --promote-buffers`, so callers
in other modules type nothing. The new text must compile, be the same program apart from
annotations and imports (where no list became a buffer), and not change when it is
converted again.

| outcome | modules | untyped parameters |
|---|---:|---:|
{rows}
The slowest, by the clock, converted twice, on a machine with other work: {slow}.

`ppybuild check` on the {len(checked)} top-level modules and packages, each as a program:
{len(findings)} findings.

| finding | what is wrong there |
|---|---|
{looked}
{"## Failures" + chr(10) * 2 + failures if failures else "Nothing failed."}
"""


def _why(finding: str) -> str:
    return WRONG_IN_PYTHON.get(finding.split()[1], "not looked at yet")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", help="dotted names; all if none is given")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="workers at a time")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one module")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument("--write", action="store_true", help=f"write docs/{PAGE.name}")
    options = parser.parse_args()
    RESULTS.parent.mkdir(exist_ok=True)
    if options.fresh:
        RESULTS.unlink(missing_ok=True)
    earlier = kept()
    wanted = tasks(options.modules)
    keys = {(task.kind, task.name, task.digest): task for task in wanted}
    results = [earlier[key] for key in keys if key in earlier]
    with RESULTS.open("a", encoding="utf-8") as file:
        missing = [task for key, task in keys.items() if key not in earlier]
        for number, result in enumerate(sweep(missing, options.jobs, options.limit), 1):
            results.append(result)
            file.write(json.dumps(asdict(result)) + "\n")
            file.flush()
            if result.outcome == "failed" or result.findings:
                print(f"{result.kind} {result.name}: {result.outcome}", result.why)
                print("".join(f"  {line}\n" for line in result.findings), end="")
            print(f"{number}/{len(missing)} {result.name}", end="\r", file=sys.stderr)
    if options.write:
        PAGE.write_text(page(sorted(results, key=lambda one: (one.kind, one.name))), "utf-8")
    failed = sum(one.outcome == "failed" for one in results)
    findings = sum(len(one.findings) for one in results)
    print(f"{len(results)} results, {failed} failed, {findings} findings")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()

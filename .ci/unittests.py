"""Runs the tests of a folder on every processor: `unittests.py FOLDER`.

Each test is given to the next process that is free; a line says how long each took. The exit code is 1
where one failed or was skipped, or none was found.
"""

from __future__ import annotations

import io
import sys
import time
import unittest
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path


def tests(suite: unittest.TestSuite) -> Iterator[str]:
    """Names each test of a suite."""
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            yield from tests(part)
        else:
            yield part.id()


def run(name: str) -> tuple[str, float, str | None]:
    """Runs one test; gives its name, its seconds, and what it printed if it failed."""
    printed, began = io.StringIO(), time.monotonic()
    suite = unittest.defaultTestLoader.loadTestsFromName(name)
    result = unittest.TextTestRunner(stream=printed).run(suite)
    passed = result.wasSuccessful() and result.testsRun == 1 and not result.skipped
    return name, time.monotonic() - began, None if passed else printed.getvalue()


def main() -> int:
    """Runs the command; gives its exit code."""
    folder = Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(folder.parent))
    found = unittest.defaultTestLoader.discover(str(folder), top_level_dir=str(folder.parent))
    names, failed = list(tests(found)), 0
    with ProcessPoolExecutor() as pool:
        for name, seconds, fault in pool.map(run, names):
            print(f"{'ok' if fault is None else 'FAILED'} {name} ({seconds:.1f} s)", flush=True)
            if fault is not None:
                failed += 1
                print(fault, flush=True)
    print(f"{len(names)} tests, {failed} failed")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())

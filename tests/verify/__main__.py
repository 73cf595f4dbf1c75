"""Checks bundle files: `python3 -m verify FILE… --keys KEYS [--json]`.

Exit 0: every check of every file passed; 1: a check failed, or could not be made; 2: a file is no
bundle, or the command is not one.
"""

from __future__ import annotations

import argparse
import json
import sys
import uuid
from pathlib import Path

from . import bundle, note
from .audit import Report, audit
from .bundle import NotABundle
from .note import BadNote, Key


def main(arguments: list[str]) -> int:
    """Runs the command; gives its exit code."""
    parser = argparse.ArgumentParser(prog="verify", description="Proves a finished hand of Sabacc.")
    parser.add_argument("files", nargs="+", metavar="FILE", help="a bundle, .sabacc")
    parser.add_argument("--keys", metavar="KEYS", help="the keys you trust, one a line")
    parser.add_argument("--json", action="store_true", help="one JSON object a file")
    options = parser.parse_args(arguments)
    try:
        told = Path(options.keys).read_text("utf-8") if options.keys else ""
        trusted = note.trusted(told)
    except (OSError, UnicodeDecodeError, BadNote) as problem:
        print(f"{options.keys}: {problem}", file=sys.stderr)
        return 2
    return max(_one(Path(name), trusted, options.json) for name in options.files)


def _one(path: Path, trusted: list[Key], as_json: bool) -> int:
    try:
        report = audit(bundle.read(path.read_bytes()), trusted)
    except (OSError, NotABundle) as problem:
        print(f"{path}: {problem}", file=sys.stderr)
        return 2
    if as_json:
        print(json.dumps(report.as_json()))
    else:
        _tell(path, report)
    return 0 if report.passed else 1


def _tell(path: Path, report: Report) -> None:
    end = "proved" if report.passed else "NOT PROVED"
    print(f"{path}: hand {uuid.UUID(bytes=report.hand_id)}: {end}")
    for checked in report.checks:
        why = f": {checked.why}" if checked.why else ""
        print(f"  {checked.check:<11} {checked.verdict.replace('_', ' ')}{why}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

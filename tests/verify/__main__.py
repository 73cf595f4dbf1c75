"""Checks bundle files: `python3 -m verify FILE… --keys KEYS [--json]`.

Exit 0: every hand is proved; 1: one failed; 2: a file was refused, or the command is not one; 4:
one is not finished; 3: one was broken off. Of several the first in this order, 0 last.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import uuid
from io import TextIOWrapper
from pathlib import Path

from . import audit, bundle, evidence, several, trust, work
from .audit import NO_KEYS, Audited
from .bundle import MAX_FILE, NotABundle
from .evidence import BadEvidence, Evidence
from .note import MAX_NOTE, BadNote
from .report import Report, exit_code
from .trust import Trust

# Characters that could move the cursor, change colours, turn text around or hide in it: control
# characters, separators of lines and paragraphs, all of category Cf, and halves of pairs.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f"
    "\ud800-\udfff]"
)


def main(arguments: list[str]) -> int:
    """Runs the command; gives its exit code."""
    parser = argparse.ArgumentParser(prog="verify", description="Proves a finished hand of Sabacc.")
    parser.add_argument("files", nargs="+", metavar="FILE", help="a bundle, .sabacc")
    parser.add_argument("--keys", metavar="KEYS", help="the logs' keys that you trust, one a line")
    parser.add_argument(
        "--witness-keys", metavar="KEYS", help="the witnesses' keys that you trust, one a line"
    )
    parser.add_argument(
        "--witnesses", metavar="N", type=int,
        help="how many of them must have signed; 1 where their keys are given, else 0",
    )
    parser.add_argument(
        "--evidence", metavar="FILE", help="your own evidence: what you were sent, and your numbers"
    )
    parser.add_argument(
        "--seen", metavar="DIR", help="checkpoints that you have seen, one a file"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a file")
    options = parser.parse_args(arguments)
    if options.witnesses is not None and options.witnesses < 0:
        parser.error("--witnesses is a number from 0")
    try:
        keys = _read_keys(options.keys, trust.read)
        witnesses = _read_keys(options.witness_keys, trust.read_witnesses)
        own = None if options.evidence is None else _read_evidence(Path(options.evidence))
        seen = () if options.seen is None else _read_seen(Path(options.seen))
    except (OSError, BadNote, BadEvidence) as problem:
        print(shown(str(problem)), file=sys.stderr)
        return 2
    default = 1 if options.witness_keys else 0
    wanted = default if options.witnesses is None else options.witnesses
    reports = judge(options.files, Trust(keys, witnesses, wanted, own, seen))
    for name, report in reports:
        if options.json:
            # What JSON leaves as it is and a terminal does not.
            print(json.dumps(report.as_json()).replace("\x7f", "\\u007f"))
        else:
            _tell(name, report)
    return exit_code([report.verdict for _, report in reports])


def shown(text: str) -> str:
    """Text for a terminal: what it would not show is escaped."""
    return _UNSEEN.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def judge(names: list[str], trusted: Trust) -> list[tuple[str, Report]]:
    """The report on each file, in the light of the others."""
    found = [(name, _one(Path(name), trusted)) for name in names]
    proved = {
        name: one.bundle for name, one in found if isinstance(one, Audited) and one.proved
    }
    seen = several.remembered(trusted.seen, trusted.keys)
    against = several.contradictions(proved, seen)
    return [(name, _report(one, against.get(name))) for name, one in found]


def _report(one: Audited | Report, against: str | None) -> Report:
    if isinstance(one, Report):
        return one
    try:
        return (one if against is None else one.contradicted(against)).report()
    except Exception as problem:  # As in a check: no file ends the program.
        return audit.broken(one.bundle, problem)


def _one(path: Path, trusted: Trust) -> Audited | Report:
    work.begin()
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE + 1)
        read = bundle.read(data)
    except (OSError, NotABundle) as problem:
        return audit.refused(str(problem))
    except Exception as problem:  # Whatever else bytes can do, they are no bundle.
        return audit.refused(f"this is no bundle: {type(problem).__name__}: {problem}")
    if not trusted.keys:
        return audit.refused(NO_KEYS, read.hand_id)
    return audit.examine(read, trusted)


def _read_evidence(path: Path) -> Evidence:
    with path.open("rb") as file:
        return evidence.read(file.read(evidence.MAX_FILE + 1))


def _read_seen(folder: Path) -> tuple[str, ...]:
    """Checkpoints; a file that is none says nothing."""
    found = []
    for path in sorted(folder.iterdir()):
        if path.is_file():
            with path.open("rb") as file:
                found.append(file.read(MAX_NOTE + 1).decode("utf-8", "replace"))
    return tuple(found)


def _read_keys(name: str | None, read) -> list:
    if name is None:
        return []
    try:
        return read(Path(name).read_bytes())
    except BadNote as problem:
        raise BadNote(f"{name}: {problem}") from None


def _tell(name: str, report: Report) -> None:
    hand = "" if report.hand_id is None else f" hand {uuid.UUID(bytes=report.hand_id)}:"
    lines = [f"{name}:{hand} {report.verdict.replace('_', ' ')}"]
    lines += [f"  {sentence}" for sentence in report.sentences]
    for checked in report.checks:
        why = f": {checked.why}" if checked.why else ""
        lines.append(f"  {checked.check:<11} {checked.verdict.replace('_', ' ')}{why}")
    lines += [f"  {what:<11} {text}" for what, text in report.agreed]
    for line in lines:
        print(shown(line))


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(main(sys.argv[1:]))

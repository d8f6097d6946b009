#!/usr/bin/env python3
"""Counts the tests that the last ctest of each preset ran, those inside its programs one by one.

    tests/count.py release sanitize

prints a line per test program, and at the end the sum: `N passed, N failed`.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SETS_UP = {"corpus"}  # lays files out; tests nothing

ENTRY = re.compile(r"^\d+/\d+ Testing: (?P<name>.+?)\n(?P<text>.*?)^<end of output>\n"
                   r"Test time =.*?\n-+\n(?P<result>.*?)$", re.M | re.S)
# How each kind of test program says what it ran.
PASSED = [
    r"^\[  PASSED  \] (\d+) tests?\.",        # GoogleTest
    r"^(\d+) passed, \d+ failed$",             # ours
    r"^(?:#|ℹ) pass (\d+)$",                   # node:test
    r"^\s*(\d+) passed \(",                    # Playwright
    r"^\s*Tests .*?(\d+) passed",              # Vitest
]
FAILED = [
    r"^\[  FAILED  \] (\d+) tests?, listed below",
    r"^\d+ passed, (\d+) failed$",
    r"^(?:#|ℹ) fail (\d+)$",
    r"^\s*(\d+) failed$",
    r"^\s*Tests .*?(\d+) failed",
]


def total(patterns: list[str], text: str) -> int | None:
    found = [int(n) for pattern in patterns for n in re.findall(pattern, text, re.M)]
    return sum(found) if found else None


def count(text: str, succeeded: bool) -> tuple[int, int]:
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    passed, failed = total(PASSED, text), total(FAILED, text) or 0
    if succeeded:
        return (1 if passed is None else passed), 0
    return passed or 0, max(failed, 1)  # a program that crashed counted nothing


def main() -> int:
    all_passed = all_failed = 0
    for preset in sys.argv[1:]:
        log = ROOT / "build" / preset / "Testing/Temporary/LastTest.log"
        if not log.exists():
            print(f"{preset}: not built or not run")
            all_failed += 1
            continue
        for entry in ENTRY.finditer(log.read_text("utf-8", "replace")):
            if entry["name"] in SETS_UP and entry["result"] == "Test Passed.":
                continue
            passed, failed = count(entry["text"], entry["result"] == "Test Passed.")
            print(f"{preset} {entry['name']}: {passed} passed, {failed} failed")
            all_passed += passed
            all_failed += failed
    print(f"{all_passed} passed, {all_failed} failed")
    return 1 if all_failed or not all_passed else 0


if __name__ == "__main__":
    sys.exit(main())

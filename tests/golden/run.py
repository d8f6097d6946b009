#!/usr/bin/env python3
"""Runs kcharter's command line against what is written down for it.

    tests/golden/run.py --kcharter build/dev/kcharter [CASE...]

A case is a folder beside this file:

    command   what a shell runs, in an empty folder, with `kcharter` on PATH and $MODELS naming models/
    stdout, stderr, exit   what must come out; a missing stdout or stderr means nothing, exit 0
    *.json and others      files that the command must leave behind (generated/x.json is kept as x.json)

KCHARTER_UPDATE_GOLDEN=1 writes what came out into the case instead; the diff is then for review.
"""
import argparse
import difflib
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MODELS = HERE.parent.parent / "models"
STREAMS = ("stdout", "stderr", "exit")


def run(case: pathlib.Path, kcharter: pathlib.Path) -> dict[str, str]:
    """What the command of a case gives, in the form in which the case keeps it."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "PATH": f"{kcharter.parent}{os.pathsep}{os.environ['PATH']}",
            "MODELS": str(MODELS),
            "CASE": str(case),
            "LC_ALL": "C.UTF-8",
            "COLUMNS": "100",
        }
        done = subprocess.run(["bash", "-c", (case / "command").read_text()], cwd=folder,
                              env=environment, capture_output=True, timeout=120)
        result = {"exit": f"{done.returncode}\n"}
        for name, data in (("stdout", done.stdout), ("stderr", done.stderr)):
            text = data.decode("utf-8", "backslashreplace")
            text = text.replace(str(MODELS), "$MODELS").replace(str(case), "$CASE")
            result[name] = text.replace(folder, "$PWD")
        for file in sorted(pathlib.Path(folder).rglob("*")):
            if file.is_file():
                result.setdefault(file.name, file.read_text("utf-8", "backslashreplace"))
        return result


def expected(case: pathlib.Path) -> dict[str, str]:
    kept = {"stdout": "", "stderr": "", "exit": "0\n"}
    kept.update({f.name: f.read_text("utf-8", "backslashreplace") for f in case.iterdir()
                 if f.is_file() and f.name != "command" and not f.name.startswith("input")})
    return kept


def differences(case: pathlib.Path, found: dict[str, str]) -> list[str]:
    lines = []
    for name, text in expected(case).items():
        if name not in found:
            lines.append(f"{name} was not written")
        elif found[name] != text:
            diff = list(difflib.unified_diff(text.splitlines(), found[name].splitlines(),
                                             f"{case.name}/{name}", "found", lineterm=""))
            lines += diff[:60] + ([f"… {len(diff) - 60} more lines"] if len(diff) > 60 else [])
            if not diff:
                lines.append(f"{name} differs in its line ends")
    return lines


def update(case: pathlib.Path, found: dict[str, str]) -> None:
    """Writes the streams, and those of the left files that the case already keeps."""
    for name, text in found.items():
        file = case / name
        if name in ("stdout", "stderr") and not text:
            file.unlink(missing_ok=True)
        elif name in STREAMS or file.exists():
            file.write_text(text, "utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kcharter", type=pathlib.Path, required=True)
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    kcharter = options.kcharter.resolve()
    names = options.cases or sorted(c.parent.name for c in HERE.glob("*/command"))
    failed = 0
    for name in names:
        case = HERE / name
        found = run(case, kcharter)
        if os.environ.get("KCHARTER_UPDATE_GOLDEN"):
            update(case, found)
        if lines := differences(case, found):
            failed += 1
            print(f"FAILED {name}", *lines, sep="\n  ")
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""What the tree promises about itself: short files, nothing at the top level without a reason, lock
files that name no server."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CEILING = 600
SOURCES = {".cc", ".h", ".inc", ".cmake", ".py", ".sh", ".ts", ".mjs", ".js", ".css", ".html"}
TOP_LEVEL = {"CMakeLists.txt", "CMakePresets.json", "src", "include", "tests", "schemas", "models",
             "web", "scripts", "docs", "README.md", "LICENSE", "CHANGELOG.md"}


def tracked() -> list[pathlib.Path]:
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def lines(file: pathlib.Path) -> int:
    return file.read_bytes().count(b"\n")


def long_files(files: list[pathlib.Path]) -> list[str]:
    # A script has no suffix, a table of operators is what it is: the design excepts it.
    return [f"{f.relative_to(ROOT)} has {lines(f)} lines; {CEILING} are the ceiling" for f in files
            if (f.suffix in SOURCES or f.parent.name == "scripts") and lines(f) > CEILING
            and not f.is_relative_to(ROOT / "src/ops")]


def strangers(files: list[pathlib.Path]) -> list[str]:
    top = {f.relative_to(ROOT).parts[0] for f in files}
    return [f"'{name}' does not belong at the top level" for name in sorted(top - TOP_LEVEL)
            if not name.startswith(".")]


def addresses(files: list[pathlib.Path]) -> list[str]:
    locks = [f for f in files if f.name == "package-lock.json"]
    return [f"{f.relative_to(ROOT)} names a download address: {found.group(0)}" for f in locks
            if (found := re.search(r'"resolved":.*', f.read_text()))]


def root_build_file(files: list[pathlib.Path]) -> list[str]:
    length = lines(ROOT / "CMakeLists.txt")
    return [f"CMakeLists.txt has {length} lines; 120 are its ceiling"] if length > 120 else []


# A code of a diagnostic where it is given: after a severity, or as the first thing said of a node.
CODE = re.compile(r'(?:Severity::k\w+,|\bnote\(|\bwithout_graph\(config, options,)\s*"([a-z]+(?:-[a-z]+)+)"')


def undocumented_codes(files: list[pathlib.Path]) -> list[str]:
    listed = set(re.findall(r"`([a-z-]+)`", (ROOT / "docs/diagnostics.md").read_text()))
    sources = [f for f in files if f.suffix == ".cc" and f.is_relative_to(ROOT / "src")]
    return [f"docs/diagnostics.md does not list '{code}' of {f.relative_to(ROOT)}" for f in sources
            for code in CODE.findall(f.read_text()) if code not in listed]


def main() -> int:
    files = tracked()
    failed = 0
    checks = (long_files, strangers, addresses, root_build_file, undocumented_codes)
    for check in checks:
        if problems := check(files):
            failed += 1
            print(f"FAILED {check.__name__}", *problems, sep="\n  ")
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

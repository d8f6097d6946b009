#!/usr/bin/env python3
"""Fails on an #include that leads upward or sideways between the floors of src/README.md, on a
third-party header outside its place, and on a header of our own that does not exist."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Lowest first; floors of one row are siblings, blind to each other.
FLOORS = [
    ["base"],
    ["symbolic"],
    ["model"],
    ["ops", "import"],
    ["structure", "shape"],
    ["estimate"],
    ["advise"],
    ["report"],
    ["analyze", "overlay"],
    ["cli"],
]
HEIGHT = {floor: height for height, row in enumerate(FLOORS) for floor in row}

# Third-party headers, by the start of their path, and the folders of src/ that may include them.
PLACES = {
    "google/protobuf/": ["import/onnx/", "shape/"],
    "onnx/": ["import/onnx/", "shape/"],
    "CLI/": ["cli/"],
    "nlohmann/": ["import/", "report/", "overlay/", "estimate/device"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def check(file: pathlib.Path) -> list[str]:
    public = file.is_relative_to(ROOT / "include")
    place = file.relative_to(ROOT / "include/kcharter" if public else ROOT / "src").as_posix()
    floor = place.split("/")[0]
    where = file.relative_to(ROOT).as_posix()
    if floor not in HEIGHT:
        return [f"{where}: '{floor}' is not a floor"]
    problems = []
    for quote, included in INCLUDE.findall(file.read_text()):
        for prefix, folders in PLACES.items():
            if included.startswith(prefix):
                if public:
                    problems.append(f"{where}: third-party header {included} in a public header")
                elif not place.startswith(tuple(folders)):
                    problems.append(f"{where}: {included} belongs in {', '.join(folders)}")
        if quote == "<" or included.startswith(tuple(PLACES)):
            continue
        target = included.removeprefix("kcharter/")
        root = "include" if included.startswith("kcharter/") else "src"
        if not (ROOT / root / included).exists():
            problems.append(f"{where}: {included} does not exist under {root}/")
        other = target.split("/")[0]
        if other != floor and HEIGHT.get(other, 99) >= HEIGHT[floor]:
            problems.append(f"{where}: {floor} must not know {other} ({included})")
        if other != floor and root == "src":
            problems.append(f"{where}: {included} is private to {other}")
    return problems


def main() -> int:
    files = sorted(f for folder in ("include", "src") for f in (ROOT / folder).rglob("*")
                   if f.suffix in (".h", ".cc", ".inc"))
    failed = 0
    for file in files:
        if problems := check(file):
            failed += 1
            print(*problems, sep="\n")
    print(f"{len(files) - failed} passed, {failed} failed")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())

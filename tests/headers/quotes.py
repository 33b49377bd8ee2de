#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does each planted bug still quote the sources? Only long runs plant the bugs; this test reports a
stale quote at once.

quotes.py SOURCE_ROOT"""
import importlib
import re
import sys
from pathlib import Path

# The folder of the list, its module, the list's name, the folder of its sources.
EXACT = (
    ("tests/servers/redis", "mutants", "MUTANTS", "src/servers/redis"),
    ("tests/replica/trust", "mutants", "MUTANTS", "src/replica/trust"),
    ("tests/unit", "mutants", "MUTANTS", ""),
)


def load(root, folder, module):
    sys.path.insert(0, str(root / folder))
    for name in [name for name in sys.modules if name.startswith(("mutants", "planted"))]:
        del sys.modules[name]
    found = importlib.import_module(module)
    sys.path.pop(0)
    return found


def spread(old):
    """A pattern for the tokens of a quote, with any white space between two of them."""
    pattern, before = "", ""
    for token in re.findall(r"\w+|\S", old):
        between = r"\s+" if re.match(r"\w", before) and re.match(r"\w", token) else r"\s*"
        pattern += (between if before else "") + re.escape(token)
        before = token
    return pattern


def main(root):
    root = Path(root)
    wrong = n = 0
    for name, path, *pairs in load(root, "tests/schedule", "mutants").MUTANTS:
        text = (root / path).read_text()
        for old in pairs[::2]:
            n += 1
            times = len(re.findall(spread(old), text))
            if times != 1:
                print("%s: this stands in %s %d times, not once:\n%s" % (name, path, times, old))
                wrong += 1
    for folder, module, listed, sources in EXACT:
        for name, path, old, *_ in getattr(load(root, folder, module), listed):
            n += 1
            places = [root / sources / path, root / sources / "format" / path,
                      root / "src/replica/format" / path]
            text = next(place for place in places if place.exists()).read_text()
            if text.count(old) != 1:
                print("%s: this stands in %s %d times, not once:\n%s" %
                      (name, path, text.count(old), old))
                wrong += 1
    # The tests that must find the bugs have to be there too.
    for name, *_, test, function in load(root, "tests/unit", "mutants").MUTANTS:
        file = root / "tests" / test
        file = file.with_name("test_%s.c" % file.name)
        n += 1
        if not file.exists() or not re.search(r"\b%s\b" % function, file.read_text()):
            print("%s: there is no %s() in %s" % (name, function, file))
            wrong += 1
    # For a node, each bug is one place or a list of places.
    node = root / "tests/replica/node"
    for name, *places, _ in load(root, "tests/replica/node", "mutants").MUTANTS:
        for path, old, _ in places[0] if len(places) == 1 else [places]:
            n += 1
            text = next(at for at in (root / "src/replica/node" / path, node / path,
                                      root / "src/replica/format" / path)
                        if at.exists()).read_text()
            if text.count(old) != 1:
                print("%s: this stands in %s %d times, not once:\n%s" %
                      (name, path, text.count(old), old))
                wrong += 1
    for entry in (root / "tests/coverage/not-reached").read_text().splitlines():
        if entry and not entry.startswith("#"):
            n += 1
            place, line = entry.split(": ", 1)
            path = place.split(" ")[0]  # macros make some of the functions
            if line not in map(str.strip, (root / path).read_text().splitlines()):
                print("tests/coverage/not-reached: not in %s: %s" % (path, line))
                wrong += 1
    print("%d quotes, %d stale" % (n, wrong))
    return 1 if wrong or n < 400 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

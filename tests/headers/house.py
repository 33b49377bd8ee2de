#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the size of the source code, and that its verbs exist in every form.

house.py SOURCE_ROOT [LIBRARY]   print the numbers; fail where one is above its limit

Every verb that takes keys exists as (key, len), _u64, _hash and _keys. What is missing is listed
below with its reason."""
import collections
import os
import re
import subprocess
import sys

# A number may shrink. The test fails if one exceeds its limit here.
LIMITS = {
    "files": 475,
    "files under 40 lines": 40,
    "lines of the longest file": 500,
    "lines of the longest function": 49,
    "exported functions": 200,
}

OPTIONAL = ("src/replica/", "src/servers/redis/")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')", re.S)

FORMS = ("", "_u64", "_hash", "_keys")
# The objects whose verbs take keys, by the prefix of their functions, and these verbs.
GRID = {
    "weir_": "hash contains insert remove count route insert_into age",
    "weir_handle_": "hash contains insert remove count route insert_into",
    "weir_builder_": "hash add exclude",
    "weir_reload_": "insert insert_into exclude",
    "weir_guard_": "ask",
    "weir_replica_": "insert",
}
# A hash is made from a key, so a hash of a hash does not exist.
NO_HASH = "hash"
HOLES = []


def sources(root):
    """{path: text} of every .c and .h file in src and include."""
    found = {}
    for top in ("src", "include"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as file:
                        found[os.path.relpath(path, root)] = file.read()
    return found


def bare(text):
    """The text without comments; line numbers stay the same."""
    return COMMENT.sub(lambda m: m.group(1) or re.sub(r"[^\n]", "", m.group(0)), text)


def code_lines(text):
    return sum(1 for line in bare(text).split("\n") if line.strip())


def functions(text):
    """(lines, name) of each function. Its body begins and ends in the first column."""
    lines = text.split("\n")
    start = name = None
    for number, line in enumerate(lines):
        if line == "{":
            start, name = number, "?"
            for above in reversed(lines[max(0, number - 6):number]):
                if re.match(r"\w.*\(", above) and not above.startswith("__"):
                    name = re.search(r"(\w+)\(", above).group(1)
                    break
        elif line == "}" and start is not None:
            yield number - start + 1, name
            start = None


def exports(library):
    out = subprocess.run(["nm", "-D", "--defined-only", library], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    names = {line.split()[-1].split("@")[0] for line in out.splitlines()
             if re.search(r" [TW] weir_(?!_)", line)}
    if len(names) < 100:
        raise SystemExit("%s: only %d exported functions found" % (library, len(names)))
    return names


def holes(files):
    """The forms that no public header declares, or defines inline."""
    declared = set()
    for path, text in files.items():
        if path.startswith("include/"):
            declared.update(re.findall(r"\b(weir_\w+)\(", bare(text)))
    missing = []
    for prefix, verbs in GRID.items():
        for verb in verbs.split():
            for form in FORMS:
                if form == "_hash" and verb == NO_HASH:
                    continue
                if prefix + verb + form not in declared:
                    missing.append(prefix + verb + form)
    return missing


def numbers(files, library):
    sizes = {path: text.count("\n") for path, text in files.items()}
    longest = max(sizes, key=sizes.get)
    lines, name, path = max((n, name, path) for path, text in files.items()
                            for n, name in functions(text))
    code = {p: code_lines(t) for p, t in files.items() if p.startswith("src/")}
    found = collections.OrderedDict()
    found["files"] = (len(files), "")
    found["files under 40 lines"] = (sum(n < 40 for n in sizes.values()), "")
    found["lines of the longest file"] = (sizes[longest], longest)
    found["lines of the longest function"] = (lines, "%s() in %s" % (name, path))
    found["lines of code of src"] = (sum(code.values()), "")
    found["lines of code of src, without replica and servers/redis"] = (
        sum(n for p, n in code.items() if not p.startswith(OPTIONAL)), "")
    if library:
        found["exported functions"] = (len(exports(library)), os.path.basename(library))
    return found


def main(root, library=None):
    files = sources(root)
    wrong = []
    for what, (n, where) in numbers(files, library).items():
        print("%-58s %6d  %s" % (what, n, where))
        if n > LIMITS.get(what, n):
            wrong.append("%s: %d, and the limit is %d  %s" % (what, n, LIMITS[what], where))
    missing = holes(files)
    print("%-58s %6d" % ("holes of the grid", len(missing)))
    wrong += ["%s is missing: a verb has every form" % name for name in missing
              if name not in HOLES]
    wrong += ["%s is there: take it off HOLES" % name for name in HOLES if name not in missing]
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each folder of src is a floor, that is, a layer. A file uses its own folder and earlier folders.

floors.py SOURCE_ROOT BUILD_ROOT

A file uses another if it includes it, or if its object has an undefined symbol that the other's
object defines. No two files call each other in a circle. Servers and the command have the public
headers, host, and their own folders alone."""
import collections
import json
import os
import re
import subprocess
import sys

# The floors, in order; kinds/* is each kind. A file belongs to the floor with the longest matching
# name.
FLOORS = """
ground metrics hash normalise kind
kinds/common kinds/*
filter growing router build image
rcu window set set/reload set/follow set/router guard figures parquet
replica/format replica/node replica/trust replica/link replica/store replica/service
host
servers/nginx servers/bind servers/redis
tool/output tool/input tool/images tool/drill tool/commands
""".split()

# A room is a part that may use only the public headers, its own folders, and what is listed.
ON_PUBLIC_HEADERS = {
    "replica": (), "servers/nginx": (), "servers/bind": (),
    "servers/redis": ("replica/format", "replica/store", "host/"), "tool": ("host/",),
    "host": (),
}

# This room is built and tested also where hiredis is not installed.
WITHOUT_HIREDIS = "replica/format/"

PUBLIC = re.compile("weir_[a-z]")

# A function of hiredis, which the module for Redis replaces.
NOT_OURS = "freeReplyObject"

# Kinds do not use each other. The growing kind and the window consist of others, on a later floor.
APART = "kinds/"
SHARED = ("kinds/common", "kinds/blocked")

# The only upward reference: the addresses of every struct weir_kind.
TABLE, ENTRY = "filter/kinds.c", re.compile(r"weir__kind_[a-z]+$")

def floor_of(path):
    """The number of a file's floor, from its path below src/."""
    fits = [n for n, floor in enumerate(FLOORS) if path.startswith(floor + "/")]
    if not fits:
        raise SystemExit("%s stands on no floor: move it, or add its folder to FLOORS" % path)
    return max(fits, key=lambda n: len(FLOORS[n]))


def room_of(path):
    """Which room on public headers a file belongs to, or None."""
    return next((room for room in ON_PUBLIC_HEADERS if path.startswith(room + "/")), None)


def refusal(user, used, symbol=""):
    """Why one file may not use the other, or None.  @symbol: of the other; "" for an include."""
    room = room_of(user)
    near = room and used.startswith((room + "/",) + ON_PUBLIC_HEADERS[room])
    if room and not near and not PUBLIC.match(symbol):
        return "has the public headers and its own folder alone"
    if floor_of(used) > floor_of(user):
        return "stands on an earlier floor"
    mine, other = FLOORS[floor_of(user)], FLOORS[floor_of(used)]
    if mine.startswith(APART) and other.startswith(APART) and mine != other:
        if other != "kinds/common":
            return "is another kind's"
    return None


def sources(root):
    """The files of src that are compiled or included, as paths below src/."""
    found = []
    for folder, _, names in os.walk(root):
        found += [os.path.relpath(os.path.join(folder, name), root)
                  for name in names if name.endswith((".c", ".h"))]
    return sorted(found)


def includes(root, path, files):
    """The files that a file includes in quotes: in its own folder, its room or src."""
    room = room_of(path)
    with open(os.path.join(root, path), encoding="utf-8") as file:
        text = file.read()
    if path.startswith(WITHOUT_HIREDIS) and re.search(r"^\s*#\s*include.*hiredis", text, re.M):
        raise SystemExit("%s includes hiredis, which need not be installed" % path)
    for name in re.findall(r'^\s*#\s*include "([^"]+)"', text, re.M):
        if name == "config.h":
            continue
        places = [os.path.dirname(path), room or "", ""]
        whole = [os.path.normpath(os.path.join(place, name)) for place in places]
        used = next((one for one in whole if one in files), None)
        if not used:
            raise SystemExit("%s includes %s, which is nowhere below src" % (path, name))
        yield used


def objects(root, build):
    """{path: objects} of the files of src that this build compiled."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    found = collections.defaultdict(list)
    for command in commands:
        path = os.path.relpath(os.path.join(command["directory"], command["file"]), root)
        output = os.path.join(command["directory"], command["output"])
        # Files that the tests compile again, with hooks, are not part of the library.
        if path.startswith("..") or command["output"].startswith(("tests/", "bench/")):
            continue
        if os.path.exists(output):
            found[path].append(output)
    return found


def symbols(compiled):
    """({symbol: {path: type}}, {path: undefined symbols}), from nm."""
    defined, wanted = collections.defaultdict(dict), collections.defaultdict(set)
    owner = {output: path for path, outputs in compiled.items() for output in outputs}
    out = subprocess.run(["nm", "-A", "-P"] + sorted(owner), check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    for line in out.splitlines():
        where, name, kind = line.split(" ")[:3]
        path = owner[where[:-1]]
        if kind == "U":
            wanted[path].add(name)
        elif kind.isupper() and name != NOT_OURS:
            defined[name][path] = kind
    return defined, wanted


def uses(compiled):
    """(user, used, symbol, type) for each symbol that one object uses from another."""
    defined, wanted = symbols(compiled)
    for path, names in sorted(wanted.items()):
        for name in sorted(names):
            homes = defined.get(name, {})
            # Two programs may have functions of the same name.
            near = {home for home in homes if room_of(home) == room_of(path)}
            may = {home for home in homes if not refusal(path, home, name)}
            for home in sorted(near or may or homes):
                if home != path:
                    yield path, home, name, homes[home]


def circles(calls):
    """Sets of files that call each other in a circle (Tarjan 1972)."""
    number, low, stack, found = {}, {}, [], []

    def visit(v):
        number[v] = low[v] = len(number)
        stack.append(v)
        for w in sorted(calls.get(v, ())):
            if w not in number:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], number[w])
        if low[v] == number[v]:
            part = stack[stack.index(v):]
            del stack[stack.index(v):]
            if len(part) > 1:
                found.append(" ".join(sorted(part)))

    sys.setrecursionlimit(10000)
    for v in sorted(calls):
        if v not in number:
            visit(v)
    return found


def main(source, build):
    root = os.path.join(os.path.abspath(source), "src")
    files = set(sources(root))
    kinds = sorted({"/".join(path.split("/")[:2]) for path in files if path.startswith(APART)})
    at = FLOORS.index(APART + "*")
    FLOORS[at:at + 1] = [kind for kind in kinds if kind not in FLOORS]
    wrong = set()
    included = collections.defaultdict(set)
    for path in sorted(files):
        for used in includes(root, path, files):
            why = refusal(path, used)
            if why:
                wrong.add("%s includes %s, which %s" % (path, used, why))
            if path.endswith(".h"):
                included[path].add(used)
    calls = collections.defaultdict(set)
    compiled = objects(root, os.path.abspath(build))
    for path, home, name, kind in uses(compiled):
        if path == TABLE and kind not in "TW" and ENTRY.match(name):
            continue
        why = refusal(path, home, name)
        if why:
            wrong.add("%s uses %s of %s, which %s" % (path, name, home, why))
        if kind in "TW":
            calls[path].add(home)
    met = circles(calls) + circles(included)
    for circle in met:
        wrong.add("in a circle: " + circle)
    for line in sorted(wrong):
        print(line)
    n = sum(len(used) for used in calls.values())
    print("%d files, %d calls from file to file, %d circles" % (len(files), n, len(met)))
    # Objects without symbols would pass, as with link-time optimisation.
    return 1 if wrong or n < 400 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

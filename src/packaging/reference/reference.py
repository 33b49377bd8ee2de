#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The reference, from the comments of the public headers.

reference.py man INCLUDE FOLDER CHANGELOG [DEPFILE]     manual pages of section 3
reference.py html INCLUDE FOLDER CHANGELOG [DEPFILE]    the same as HTML
reference.py check INCLUDE      every function described, every reference leads somewhere
"""
import email.utils
import os
import re
import shutil
import sys

import headers
import manual
import page


def newest(changelog):
    """The version and its day, as the changelog has them: a build gives the same twice."""
    with open(changelog, encoding="utf-8") as file:
        text = file.read()
    when = email.utils.parsedate_to_datetime(re.search(r"^ -- .*>  (.*)$", text, re.M).group(1))
    return re.match(r"weir \((.*?)\)", text).group(1), when.strftime("%Y-%m-%d")


def faults(found):
    """What is not described, and names that lead nowhere, as "HEADER:LINE: ..."."""
    described = {item.name for header in found for item in header.items}
    code = "\n".join(re.sub(r"/\*.*?\*/", "", header.source, flags=re.S) for header in found)
    known = set(re.findall(r"\b\w+\b", code))
    folder = {header.name for header in found}
    for header in found:
        for name, line in headers.promised(header):
            if name not in described:
                yield "%s:%d: %s() has no comment of its own" % (header.name, line, name)
        for item in header.items:
            if item.kind == "function" and not item.text:
                yield "%s:%d: %s() is not described" % (header.name, item.line, item.name)
        for number, line in enumerate(header.source.split("\n"), 1):
            if not re.match(r"\s*(/\*|\*)", line) and "/*" not in line:
                continue
            for name in re.findall(r"\bweir_\w+(?=\()|\bWEIR_[A-Z]\w+(?!\w*\*)", line):
                if name not in known and name not in ("WEIR_ISA",):
                    yield "%s:%d: there is no %s" % (header.name, number, name)
            for name in re.findall(r"\(see (\w+\.h)\)|\((\w+\.h)\)|\bin (\w+\.h)\b", line):
                name = "".join(name)
                if name not in folder:
                    yield "%s:%d: there is no header %s" % (header.name, number, name)


def main(what, include, folder=None, changelog=None, depfile=None):
    found = headers.read(include)
    if what == "check":
        wrong = list(faults(found))
        for fault in wrong:
            print(fault, file=sys.stderr)
        functions = {name for header in found for name, _ in headers.promised(header)}
        print("%d headers, %d functions, %d faults" % (len(found), len(functions), len(wrong)))
        return 1 if wrong else 0
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    {"man": manual, "html": page}[what].make(found, folder, *newest(changelog))
    if depfile:
        here = os.path.dirname(os.path.abspath(__file__))
        parts = [header.path for header in found] + [changelog, include]
        parts += [os.path.join(here, name) for name in os.listdir(here) if name.endswith(".py")]
        with open(depfile, "w", encoding="utf-8") as file:
            file.write("%s: %s\n" % (folder, " ".join(part.replace(" ", "\\ ") for part in parts)))
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("man", "html", "check"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The reference, from the comments of the public headers.

reference.py man INCLUDE FOLDER CHANGELOG [DEPFILE EXAMPLES]
        Manual pages of section 3. EXAMPLES has NAME.c for the page NAME, and may be missing.
reference.py html INCLUDE FOLDER CHANGELOG [DEPFILE FORM SOURCE PAGE...]    the same as HTML
        Its index also lists the guides: each PAGE of SOURCE, in the FORM that guides.py made.
reference.py check INCLUDE      every function described, every reference leads somewhere
"""
import glob
import os
import re
import shutil
import sys

import guides
import headers
import made
import manual
import page


def faults(found):
    """Missing descriptions and dangling names, as "HEADER:LINE: ..."."""
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


def check(found):
    wrong = list(faults(found))
    for fault in wrong:
        print(fault, file=sys.stderr)
    functions = {name for header in found for name, _ in headers.promised(header)}
    print("%d headers, %d functions, %d faults" % (len(found), len(functions), len(wrong)))
    return 1 if wrong else 0


def main(what, include, folder=None, changelog=None, depfile=None, form="none", source="",
         *paths):
    found = headers.read(include)
    if what == "check":
        return check(found)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    if what == "man":
        manual.make(found, folder, *made.newest(changelog), form)
        paths = glob.glob(os.path.join(form, "*.c"))
    else:
        page.make(found, folder, made.newest(changelog)[0], guides.entries(form, source, paths))
    if depfile:
        parts = [header.path for header in found] + [changelog, include]
        parts += [form] if what == "man" and os.path.isdir(form) else []
        made.write_depfile(depfile, folder, parts + [os.path.join(source, path) for path in paths])
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("man", "html", "check"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

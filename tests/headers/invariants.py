#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is each [NAME] of an invariant that a comment uses defined exactly once? And has every code of a
letter and a number, such as (H1), become a name?

invariants.py SOURCE_ROOT           checks all
invariants.py SOURCE_ROOT --list    prints each name with the file that defines it

A definition begins a line of a comment or an item of a list, with two spaces behind the name:
 * [DUAL-WRITE]  An inserter reads the record once ...
Names have at least three letters; two words have a hyphen between them."""
import re
import sys
from pathlib import Path

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
USE = re.compile(r"(?<![\w)\]])\[([A-Z][A-Z0-9]+(?:-[A-Z0-9]+)*)\](?![(\w])")
DEFINITION = re.compile(r"^[ \t]*(?:/?\*+|-|#)?[ \t]*(?:\*\*)?\[([A-Z][A-Z0-9-]+)\](?:\*\*)?  ",
                        re.M)
CODE = re.compile(r"\((?:SH|[A-Z])\d{1,2}[):,]|/\* (?:SH|[A-Z])\d{1,2}[:,. ]")
# Names of caches, of sets of control characters and of the language, and of a formula.
OTHER = re.compile(r"\W*(?:L[123]|C[0123]|C11|P0)\W")
C = (".c", ".h", ".cc", ".pml")
ALL = C + (".py", ".lua", ".md", ".sh")


def texts(root):
    """Each file with what may name an invariant: of C the comments, of others all of it."""
    for top in ("include", "src", "bench", "tests"):
        for path in sorted((root / top).glob("**/*")):
            if path.suffix in ALL and path.is_file() and path.name != "invariants.py":
                text = path.read_text(errors="replace")
                if path.suffix in C:
                    text = "\n".join(COMMENT.findall(text))
                yield path.relative_to(root), text


def main(root, listed):
    found = list(texts(Path(root)))
    defined, wrong = {}, 0
    for path, text in found:
        for name in DEFINITION.findall(text):
            defined.setdefault(name, []).append(path)
    for name, paths in sorted(defined.items()):
        if listed:
            print(name, *paths)
        if len(paths) != 1 or len(name) < 3:
            print("[%s] is defined in %s: define it once" % (name, ", ".join(map(str, paths))))
            wrong += 1
    for path, text in found:
        for name in sorted(set(USE.findall(text)) - set(defined)):
            if "-" in name:  # a single word may be an argument of a usage
                print("%s: [%s] is not defined" % (path, name))
                wrong += 1
        for code in CODE.findall(text) if path.suffix in C else ():
            if not OTHER.match(code):
                print("%s: %s: give the invariant a [NAME]" % (path, code))
                wrong += 1
    print("%d names, %d wrong" % (len(defined), wrong))
    return bool(wrong) or len(defined) < 50


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--list" in sys.argv[2:]))

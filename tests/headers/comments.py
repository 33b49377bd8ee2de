#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do two commits differ in comments alone? Compares the tokens of each C and C++ file: equal tokens
make equal object code, but for files that use __LINE__ (assert, cmocka's), whose lines may move.

comments.py OLD [NEW]      NEW: a commit; without it the files as they are
comments.py --range OLD..NEW   each commit of these whose subject ends with "comments" """
import argparse
import re
import subprocess
import sys

TOKEN = re.compile(r"""/\*.*?\*/ | //(?:[^\n\\]|\\.)* | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*'
                       | \n[ \t]*\# | \\\n | \n | \w+ | \s | .""", re.S | re.X)


def git(*words):
    return subprocess.run(("git",) + words, capture_output=True, text=True, check=True).stdout


def tokens(text):
    """Only a directive's line ends count, because a directive ends with its line."""
    found, directive = [], False
    for token in TOKEN.findall("\n" + text):
        if token == "\n":
            found += [token] * directive
            directive = False
        elif token[0] == "\n":
            found += ["\n"] * directive + ["\n#"]
            directive = True
        elif not (token.startswith(("/*", "//", "\\\n")) or token.isspace()):
            found.append(token)
    return found


def text(commit, path):
    try:
        return git("show", commit + ":" + path) if commit else open(path).read()
    except (subprocess.CalledProcessError, FileNotFoundError):
        return ""


def compare(old, new):
    """Return: the files that differ in more than comments."""
    changed = git("diff", "--name-only", old, *([new] if new else [])).split()
    other = []
    for path in changed:
        if path.endswith((".c", ".h", ".cc")):
            a, b = tokens(text(old, path)), tokens(text(new, path))
            if a != b:
                at = next((i for i, pair in enumerate(zip(a, b)) if pair[0] != pair[1]),
                          min(len(a), len(b)))
                other.append(path)
                print("%s: code differs: %s | %s" % (path, " ".join(a[at:at + 8]),
                                                     " ".join(b[at:at + 8])))
    print("%s..%s: %d files changed, %d in more than comments" % (old, new or "", len(changed),
                                                                 len(other)))
    return other


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new", nargs="?")
    parser.add_argument("--range", action="store_true")
    o = parser.parse_args()
    if not o.range:
        return bool(compare(o.old, o.new))
    wrong = 0
    for line in git("log", "--format=%H %s", o.old).splitlines():
        commit, subject = line.split(" ", 1)
        if subject.endswith("comments"):
            wrong += bool(compare(commit + "^", commit))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())

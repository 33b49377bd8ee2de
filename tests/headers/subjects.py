#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Has each commit since BASE a subject of the form "area: imperative verb ...", of at most 72
characters? The area is a folder or file of the tree, or of src, such as replica/node, README or
handle.h; several stand with commas between them.

subjects.py SOURCE_ROOT [BASE]      exits 77 (skipped) without git or without the commit BASE"""
import re
import subprocess
import sys

BASE = "5e90a7605fb7df9b8df7f3bcaab914c3cc1e9472"
LONGEST = 72
FORM = re.compile(r"([\w./-]+(?:, [\w./-]+)*): ([a-z]+)\b ?(.*)")
# Words in -s, -ed and -ing that are imperatives all the same.
VERBS = {"pass", "process", "address", "press", "bypass", "compress", "express", "guess", "toss",
         "focus", "embed", "feed", "need", "speed", "seed", "shed", "bring", "ping", "swing",
         "proceed", "exceed", "heed"}


def git(root, *words):
    return subprocess.run(("git", "-C", root) + words, capture_output=True, text=True)


def fault(subject, known):
    if subject.startswith(('Revert "', "Merge ")):
        return None
    if len(subject) > LONGEST:
        return "%d characters, not %d" % (len(subject), LONGEST)
    match = FORM.fullmatch(subject)
    if not match or not match[3]:
        return 'not of the form "area: imperative verb ..."'
    for area in match[1].split(", "):
        if area not in known:
            return "%s is not a folder or file of the tree" % area
    if re.search("(s|ed|ing)$", match[2]) and match[2] not in VERBS:
        return '"%s" is not an imperative' % match[2]
    return None


def areas(root):
    """Each folder and file by every name that ends its path, with and without its suffix."""
    known = set()
    for path in git(root, "ls-files").stdout.split("\n"):
        parts = path.split("/")
        for end in range(1, len(parts) + 1):
            for begin in range(end):
                name = "/".join(parts[begin:end])
                known |= {name, re.sub(r"(?<=\w)\.\w+$", "", name)}
    return known


def main(root, base=BASE):
    if git(root, "cat-file", "-e", base + "^{commit}").returncode:
        print("no git here, or a history without %s" % base)
        return 77
    known, wrong, n = areas(root), 0, 0
    for line in git(root, "log", "--format=%h %s", base + "..HEAD").stdout.splitlines():
        commit, subject = line.split(" ", 1)
        n += 1
        if fault(subject, known):
            print("%s: %s: %s" % (commit, fault(subject, known), subject))
            wrong += 1
    print("%d subjects, %d wrong" % (n, wrong))
    # The check itself: one of each fault.
    for subject in ("tests: " + 70 * "x", "no area", "nowhere: add a test", "tests: adds a test",
                    "tests: renamed a test", "tests: renaming a test", "tests: Add a test",
                    "tests: add"):
        if not fault(subject, known):
            print("passes, but should not: %s" % subject)
            wrong += 1
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the form of a guide and writes its blocks as files. Prints faults as "FILE:LINE: FAULT".

blocks.py guide|commands|readme|page FILE FOLDER
    guide      opens with a paragraph and a program of C, whose output follows
    commands   opens with a paragraph and a block of sh
    readme     README.md: opens as it likes, within limits of its own
    page       opens as it likes, without limits
    Writes NAME.c and NAME.output for each program, and LINE.sh for each block of sh.
blocks.py names FILE...
    no two programs of the files have one name
"""
import os
import re
import sys

OPENS_WITH = {"guide": "c", "commands": "sh", "readme": None, "page": None}
MOST_LINES = {"guide": 300, "commands": 300, "readme": 250}
MOST_BYTES = 12288      # of README.md
MOST_COLUMNS = 120      # including tables; tests/headers/columns.sh limits other text to 100
LINES_OF_FIRST = 30     # of the first program in a guide
NAME = re.compile(r"/\* example: ([a-z0-9_-]+) \*/")


class Block:
    """A fenced block: the line of its fence, its kind, its lines, and whether it directly follows
    the block before it."""

    def __init__(self, line, kind, follows):
        self.line, self.kind, self.lines, self.follows = line, kind, [], follows
        self.ends = False

    def name(self):
        """The name of a program, or None."""
        found = NAME.fullmatch(self.lines[0]) if self.lines else None
        return found.group(1) if found else None


def read_blocks(lines):
    """The fenced blocks of a text."""
    blocks, last, text_since = [], None, True
    for number, line in enumerate(lines, 1):
        if last and line == "```":
            last.ends, last, text_since = True, None, False
        elif last:
            last.lines.append(line)
        elif line.startswith("```"):
            last = Block(number, line[3:], not text_since)
            blocks.append(last)
        elif line:
            text_since = True
    return blocks


def fault_of_opening(lines, kind):
    """A line and a sentence if the text does not begin with a title, a paragraph and a block of
    @kind."""
    if not re.match(r"# \S", lines[0]):
        return 1, 'the first line is not "# TITLE"'
    if not kind:
        return None
    at = 1
    while at < len(lines) and not lines[at]:
        at += 1
    if at == len(lines) or re.match(r"```|#|\||[-*] ", lines[at]):
        return at + 1, "no paragraph behind the title"
    while at < len(lines) and lines[at]:
        at += 1
    while at < len(lines) and not lines[at]:
        at += 1
    if at == len(lines) or lines[at] != "```" + kind:
        return at + 1, "the first paragraph is not followed by a block of " + kind
    return None


def faults_of_size(text, mode):
    lines = text.split("\n")
    count = len(lines) - 1
    if mode == "page":
        return
    if count > MOST_LINES[mode]:
        yield count, "%d lines, at most %d are allowed" % (count, MOST_LINES[mode])
    size = len(text.encode())
    if mode == "readme" and size > MOST_BYTES:
        yield count, "%d bytes, at most %d are allowed" % (size, MOST_BYTES)
    for number, line in enumerate(lines, 1):
        columns = len(line.expandtabs())
        if columns > MOST_COLUMNS:
            yield number, "%d columns, at most %d are allowed" % (columns, MOST_COLUMNS)


def faults_of_blocks(blocks, mode):
    before = None
    for block in blocks:
        if not block.ends:
            yield block.line, "this block does not end"
        if block.kind == "c" and not block.name():
            yield block.line, 'a program without a name: it begins with "/* example: NAME */"'
        if block.kind == "output" and not (before and before.kind == "c" and block.follows):
            yield block.line, "an output that does not directly follow its program"
        before = block
    programs = [block for block in blocks if block.kind == "c"]
    if mode == "readme" and not programs:
        yield 1, "no program"
    if mode == "guide" and programs:
        first = programs[0]
        after = blocks[blocks.index(first) + 1:][:1]
        if len(first.lines) > LINES_OF_FIRST:
            yield first.line, "the first program has %d lines, at most %d are allowed" % (
                len(first.lines), LINES_OF_FIRST)
        if not after or after[0].kind != "output" or not after[0].follows:
            yield first.line, "no output follows the first program"


def faults_of_names(path, blocks, seen):
    """Names that are already in @seen, which maps each name to its place."""
    for block in blocks:
        name = block.name() if block.kind == "c" else None
        if name in seen and name:
            yield block.line, "the name %s is taken by %s" % (name, seen[name])
        seen.setdefault(name, "%s:%d" % (path, block.line))


def write_blocks(path, blocks, folder):
    name = None
    for block in blocks:
        lines = block.lines
        if block.kind == "c":
            name = block.name()
            lines = ['#line %d "%s"' % (block.line + 1, path)] + lines
        file = {"c": "%s.c" % name, "output": "%s.output" % name,
                "sh": "%d.sh" % block.line}.get(block.kind)
        if file:
            with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
                out.writelines(line + "\n" for line in lines)


def main(mode, *paths):
    seen, wrong = {}, 0
    for path in paths if mode == "names" else paths[:1]:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        lines = text.split("\n")
        blocks = read_blocks(lines)
        faults = list(faults_of_names(path, blocks, seen))
        if mode != "names":
            faults += faults_of_blocks(blocks, mode)
            faults += faults_of_size(text, mode)
            faults += filter(None, [fault_of_opening(lines, OPENS_WITH[mode])])
        for line, what in sorted(faults):
            print("%s:%d: %s" % (path, line, what), file=sys.stderr)
        wrong += len(faults)
        if mode != "names" and not wrong:
            write_blocks(path, blocks, paths[1])
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in list(OPENS_WITH) + ["names"]:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

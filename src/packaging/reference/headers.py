# SPDX-License-Identifier: MIT
"""Parses the public headers: each header's comment, functions and types.

A comment's text is a list of blocks: ("text", words), ("item", mark, words), ("code", lines). The
fields of the headers' template (@argument, Return, Errors ...) are a list of (label, words).
"""
import os
import re

FIELDS = "Return|Errors|Threads|Order|Progress|Cost|Source"
FIELD = re.compile(r"((?:@\w+|%s)(?:, (?:@\w+|%s))*):\s*" % (FIELDS, FIELDS))
NAME = re.compile(r"\b(weir_\w+)\(")
# Marks that only the compiler needs.
MARKS = r"WEIR_API |WEIR_MUST_CHECK |WEIR_PRINTF\(.*?\) |\bstatic |\binline |WEIR__INLINE "
# headers without a page of their own
PRIVATE = ("export.h", "inline_hash.h", "inline_lanes.h", "inline_layouts.h", "inline_test.h",
           "word.h", "weir.h")


class Item:
    """A documented declaration."""

    def __init__(self, header, line, kind, name, code, text, fields):
        self.header, self.line, self.kind, self.name = header, line, kind, name
        self.code, self.text, self.fields = code, text, fields


class Header:
    """A header: its own comment, and its items in order."""

    def __init__(self, path):
        self.path, self.name = path, os.path.basename(path)
        with open(path, encoding="utf-8") as file:
            self.source = file.read()
        head = self.source[:self.source.index("*/")]
        lines = strip(head).split("\n")
        self.text = blocks([line for line in lines if "SPDX-License-Identifier" not in line])
        self.items = list(items(self))


def strip(comment):
    """A comment's lines without the stars and the signs around it."""
    comment = re.sub(r"^\s*/\*\*?|\*/\s*$", "", comment)
    return "\n".join(re.sub(r"^\s*\*\s?", "", line.rstrip()) for line in comment.split("\n"))


def blocks(lines):
    """Paragraphs, list items and literal (indented) lines."""
    out, last, depth = [], None, 0

    def add(kind, words, mark=None):
        nonlocal last
        last = [kind, mark, words]
        out.append(last)

    for line in lines:
        words = line.strip()
        indent = len(line) - len(line.lstrip()) if words else 0
        mark = re.match(r"(-|\([a-z]\)|\d\.) +(?=\S)", words)
        if not words:
            if last and last[0] == "code":
                last[2].append("")
            else:
                last = None
        elif last and last[0] == "item" and indent > depth:
            last[2] += " " + words
        elif mark and indent >= 2:
            depth = indent
            add("item", words[mark.end():], mark.group(1))
        elif indent >= 2:
            if not last or last[0] != "code":
                add("code", [])
            last[2].append(line)
        elif last and last[0] == "text":
            last[2] += " " + words
        else:
            add("text", words)
    return [(kind, mark, dedent(words) if kind == "code" else words)
            for kind, mark, words in out]


def dedent(lines):
    while lines and not lines[-1]:
        lines.pop()
    least = min(len(line) - len(line.lstrip()) for line in lines if line)
    return [line[least:].expandtabs() for line in lines]


def template(comment):
    """A declaration's comment: its text, and the fields that follow it. A field begins at the start
    of a line or after two blanks."""
    lines, text, fields = strip(comment).split("\n"), [], []
    for line in lines:
        parts = re.split(r"(?<=\S)  (?=(?:@\w+|%s)[,:])" % FIELDS, line.rstrip())
        for part in parts:
            field = FIELD.match(part.strip())
            if field:
                fields.append((field.group(1), part.strip()[field.end():]))
            elif fields:
                label, words = fields[-1]
                fields[-1] = (label, (words + " " + part.strip()).strip())
            else:
                text.append(part)
    return blocks(text), fields


def code_after(source, at):
    """The declaration at a position: its kind, its name, its text."""
    rest = source[at:]
    function = re.match(r"(?:WEIR_API|WEIR__INLINE|static inline)\b[^;{]*?\)(?=\s*[;{])", rest)
    if function:
        code = re.sub(MARKS, "", function.group())
        return "function", NAME.search(code).group(1), re.sub(r"\s+", " ", code) + ";"
    typed = re.match(r"(struct|enum) (\w+) \{[\s\S]*?\n\};\n"
                     r"(?:\n?#define \w+_INIT\b(?:.*\\\n)*.*\n)?", rest)
    if typed:
        return typed.group(1), typed.group(2), typed.group().rstrip()
    macro = re.match(r"#define (\w+)(?:.*\\\n)*.*\n", rest)
    if macro:
        return "macro", macro.group(1), macro.group().rstrip()
    alias = re.match(r"typedef [^;]*?\b(\w+)\([^;]*;", rest)
    if alias:
        return "typedef", alias.group(1), alias.group()
    return None


def items(header):
    # A documented declaration begins a line. Indented comments belong to the struct around them.
    for comment in re.finditer(r"^/\*\*(?:[^*]|\*(?!/))*\*/\n", header.source, re.M):
        found = code_after(header.source, comment.end())
        if not found:
            continue
        kind, name, code = found
        line = header.source.count("\n", 0, comment.end()) + 1
        text, fields = template(comment.group())
        yield Item(header.name, line, kind, name, code, text, fields)


def plain_structs(header):
    """Structs and enums whose comment is an ordinary one."""
    documented = {item.name for item in header.items}
    for found in re.finditer(r"^(struct|enum) (\w+) \{.*?\n\};\n", header.source, re.M | re.S):
        if found.group(2) not in documented:
            yield found.group(1), found.group(2), found.group().rstrip()


def promised(header):
    """Every function that the header exports or defines inline."""
    for found in re.finditer(r"^(?:WEIR_API|WEIR__INLINE|static inline)\b[^;{]*?\b(weir_\w+)\(",
                             header.source, re.M):
        if not found.group(1).startswith("weir__"):
            yield found.group(1), header.source.count("\n", 0, found.start()) + 1


class Page:
    """The subject of a manual page: a function, and functions documented "as" it."""

    def __init__(self, item):
        self.items = [item]

    @property
    def name(self):
        return self.items[0].name


def pages(header):
    out = []
    for item in header.items:
        if item.kind != "function":
            continue
        words = item.text[0][2] if item.text else ""
        like = re.match(r"As (weir_\w+)\(\)", words)
        if out and like and like.group(1) in [other.name for other in out[-1].items]:
            out[-1].items.append(item)
        else:
            out.append(Page(item))
    return out


def read(folder):
    paths = sorted(os.path.join(folder, name) for name in os.listdir(folder)
                   if name.endswith(".h"))
    return [Header(path) for path in paths]


def shown(headers):
    return [header for header in headers if header.name not in PRIVATE]


def in_order(headers):
    """The headers in the order of weir.h, then the opt-in ones."""
    all_of_them = next(header for header in headers if header.name == "weir.h")
    order = re.findall(r"#include <weir/(\w+\.h)>", all_of_them.source)
    rank = {name: i for i, name in enumerate(order)}
    return sorted(shown(headers), key=lambda header: (rank.get(header.name, 99), header.name))


def first_sentence(blocks_of):
    for kind, _, words in blocks_of:
        if kind == "text":
            # A name that begins a sentence may be in lower case.
            sentence = re.split(r"(?<=[A-Za-z0-9)\"][.?!]) (?=[A-Za-z@])", words)[0].rstrip(".")
            before = re.split(r"(?<=\S): ", sentence)[0]
            return before if " " in before else sentence  # "Union" alone is too short
    return ""

# SPDX-License-Identifier: MIT
"""Reads a page of Markdown or HTML for links.py: its links, and the places on the page.

Written apart from src/packaging/reference, which makes the installed pages, so that one error does
not hide the other.
"""
import html.parser
import re


def without_blocks(text):
    """@text with a blank for each character in a block of code; the lines stay."""
    lines, fence = [], None
    for line in text.split("\n"):
        opens = re.match(r"(```+)[^`]*$", line)
        if fence:
            fence = None if line.startswith(fence) and not line.strip("` ") else fence
            line = " " * len(line)
        elif opens or re.match(r" {4}|\t", line):
            fence = opens and opens.group(1)
            line = " " * len(line)
        lines.append(line)
    return "\n".join(lines)


def code_spans(paragraph):
    """The parts of @paragraph, each with whether it is a code span. Takes linear time: a run of
    backticks looks for its end only if an equal run follows."""
    parts = re.split("(`+)", paragraph) # text and runs alternate
    last = {parts[n]: n for n in range(1, len(parts), 2)}
    n = 0
    while n < len(parts):
        if n % 2 and last[parts[n]] > n:
            end = parts.index(parts[n], n + 1)
            yield True, "".join(parts[n:end + 1])
            n = end
        else:
            yield False, parts[n]
        n += 1


def without_code(text):
    """@text with a blank for each character of code."""
    return "\n\n".join("".join(re.sub(r"[^\n]", " ", part) if code else part
                               for code, part in code_spans(paragraph))
                       for paragraph in without_blocks(text).split("\n\n"))


def split_cells(text):
    """Each line of a table with a | within a code span, where GitHub ends the cell nevertheless."""
    for number, line in enumerate(without_blocks(text).split("\n"), 1):
        if line.lstrip().startswith("|") and any(code and re.search(r"(?<!\\)\|", part)
                                                 for code, part in code_spans(line)):
            yield number


def slugs(headings):
    """The anchors that GitHub makes from headings, in order."""
    taken = {}
    for heading in headings:
        words = re.sub(r"\[(.*?)\]\([^)]*\)", r"\1", heading).strip().lower()
        kept = "".join(c for c in words if c.isalnum() or c in "_- ").replace(" ", "-")
        number = taken[kept] = taken.get(kept, -1) + 1
        yield kept if number == 0 else "%s-%d" % (kept, number)


class Markdown:
    """links: (line, target); places: anchors; odd: (line, sentence)."""

    def __init__(self, text):
        plain = without_code(text)
        lines = text.split("\n")
        self.links, self.odd = [], []
        for found in re.finditer(r"\]\(([^()\s]*)\)", plain):
            self.links.append((plain.count("\n", 0, found.start()) + 1, found.group(1)))
        for pattern, what in (
                (r"^\[[^\]]+\]:", "a link by reference: write it in place"),
                (r"\]\n?\s+\(\S+\.(?:md|h|c|sh)\b", "a blank between a link's text and its target"),
                (r"<a\b|<img\b|<br\b", "HTML, which the installed page leaves out"),
                (r"\]\([^()\s]*\s", "a blank within a link's target")):
            for found in re.finditer(pattern, plain, re.M):
                self.odd.append((plain.count("\n", 0, found.start()) + 1, what))
        self.odd += [(line, "a | in code splits the table's cell: write \\|")
                     for line in split_cells(text)]
        headings = [lines[n] for n, line in enumerate(plain.split("\n"))
                    if re.match(r"#{1,6} ", line)]
        self.places = set(slugs(re.sub(r"^#+ |\s#+$", "", heading) for heading in headings))


class Html(html.parser.HTMLParser):
    """The same for a page of HTML."""

    def __init__(self, text):
        super().__init__()
        self.links, self.odd, self.places, self.code = [], [], set(), 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.code += tag in ("pre", "code", "style")
        if attrs.get("id") in self.places:
            self.odd.append((self.getpos()[0], "two places are named " + attrs["id"]))
        if "id" in attrs:
            self.places.add(attrs["id"])
        if "href" in attrs:
            self.links.append((self.getpos()[0], attrs["href"]))

    def handle_endtag(self, tag):
        self.code -= tag in ("pre", "code", "style")

    def handle_comment(self, data):
        self.odd.append((self.getpos()[0], "HTML of the guide is left out:" + data))

    def handle_data(self, data):
        if not self.code and re.search(r"\]\(|^\|.*\|$|^#+ ", data, re.M):
            self.odd.append((self.getpos()[0], "Markdown stands as it is: " + data.strip()[:40]))


def read(path):
    """The page at @path, read according to its extension."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return Html(text) if path.endswith(".html") else Markdown(text)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The guides as they are installed: Markdown, and HTML beside the reference.

guides.py markdown SOURCE FOLDER DEPFILE PAGE...
guides.py html SOURCE FOLDER DEPFILE CHANGELOG CMARK PAGE...

Each PAGE is a path within SOURCE. Markdown keeps that path below FOLDER; HTML has one folder. A
link to another page leads to where that is installed, and a link to a header to its reference. A
link to a file that is not installed becomes plain text.

A page may come from a stranger's pull request. It must not make this script hang, or copy a file
from outside SOURCE. Such a page is refused with a sentence and exit status 1.
"""
import html
import os
import posixpath
import re
import shutil
import subprocess
import sys

import headers
import made
import page

FENCE = re.compile(r"(`{3,})[^`]*")
RUN = re.compile(r"`+")
LINK = re.compile(r"\[((?:[^][]|\[[^][]*\])*)\]\(([^()\s]+)\)")


def html_name(path):
    """The page's file below html/guides: src/kinds/README.md is kinds.html."""
    name = path.removeprefix("src/").removesuffix(".md")
    name = name.removesuffix("/README") or name
    return name.replace("/", "-").lower() + ".html"


def places(form, pages, include):
    """Where the targets of links are installed, relative to share/doc/weir."""
    to = {path: path if form == "markdown" else "html/guides/" + html_name(path) for path in pages}
    for path in pages:
        if posixpath.basename(path) == "README.md":
            to.setdefault(posixpath.dirname(path) or ".", to[path])
    for name in os.listdir(include):
        if name.endswith(".h"):
            there = "index" if name in headers.PRIVATE else name[:-2]
            to["include/weir/" + name] = "html/%s.html" % there
    return to


def fences(text):
    """Start and end of each fenced block. A block without an end extends to the end of the text."""
    at, start, fence = 0, None, None
    for line in text.split("\n"):
        found = FENCE.fullmatch(line)
        if start is None and found:
            start, fence = at, found.group(1)
        elif start is not None and line.startswith(fence) and not line.rstrip(" ").strip("`"):
            yield start, at + len(line)
            start = None
        at += len(line) + 1
    if start is not None:
        yield start, len(text)


def spans(paragraph):
    """Start and end of each code span: a run of backticks, to the next run of its length."""
    runs = [found.span() for found in RUN.finditer(paragraph)]
    last = {end - start: n for n, (start, end) in enumerate(runs)}
    n = 0
    while n < len(runs):
        start, end = runs[n]
        length = end - start
        if last[length] > n: # so the search ends, and visits a run once
            n += 1
            while runs[n][1] - runs[n][0] != length:
                n += 1
            yield start, runs[n][1]
        n += 1


def code_of(text):
    """Start and end of each piece of @text that is code, in order. Takes time linear in @text."""
    after = 0
    for start, end in list(fences(text)) + [(len(text), len(text))]:
        at = after
        for paragraph in text[after:start].split("\n\n"):
            yield from ((at + first, at + last) for first, last in spans(paragraph))
            at += len(paragraph) + 2
        if start < end:
            yield start, end
        after = end


def with_links(text, path, to):
    """The text of page @path, with links that lead to installed files."""
    kept, parts, after = [], [], 0

    def link(found):
        words, target = found.groups()
        if re.match(r"[a-z]+:|#", target):
            return found.group()
        target, mark, place = target.partition("#")
        source = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        if source not in to:
            return words
        return "[%s](%s)" % (words, posixpath.relpath(to[source], posixpath.dirname(to[path]) or
                                                       ".") + mark + place)

    for start, end in code_of(text):
        parts += [text[after:start], "\0%d\0" % len(kept)] # read() refuses NUL in a page
        kept.append(text[start:end])
        after = end
    text = LINK.sub(link, "".join(parts) + text[after:])
    return re.sub("\0(\\d+)\0", lambda found: kept[int(found.group(1))], text)


def slug(heading, seen):
    """The id that GitHub gives to a heading. @seen counts the ids of the page."""
    text = html.unescape(re.sub(r"<[^>]*>", "", heading)).strip().lower()
    name = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
    count = seen[name] = seen.get(name, -1) + 1
    return "%s-%d" % (name, count) if count else name


def with_ids(body):
    seen = {}
    return re.sub(r"<h([1-6])>(.*?)</h\1>", lambda found: '<h%s id="%s">%s</h%s>' % (
        found.group(1), slug(found.group(2), seen), found.group(2), found.group(1)), body)


def with_functions(body, links):
    """Link names of functions in code to the reference, except within another link."""
    def function(found):
        to = links.to.get(found.group(1))
        return '<a href="../%s">%s</a>' % (to, found.group()) if to else found.group()

    parts = re.split(r"(<a .*?</a>)", body, flags=re.S)
    return "".join(part if part.startswith("<a ") else
                   re.sub(r"<code>(weir_\w+)(?:\(\))?</code>", function, part) for part in parts)


def read(source, path):
    """The page's text. A symbolic link is an error, since it could copy a private file."""
    there = os.path.join(os.path.realpath(source), os.path.normpath(path))
    if os.path.realpath(there) != there:
        sys.exit("%s: the page is or lies behind a symbolic link: put the file itself there" % path)
    try:
        with open(there, encoding="utf-8") as file:
            text = file.read()
    except UnicodeDecodeError as error:
        sys.exit("%s: byte %d is not UTF-8: save the page as UTF-8" % (path, error.start))
    if not re.match(r"# .", text):
        sys.exit("%s: the first line is no title: begin the page with a line '# TITLE'" % path)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        sys.exit("%s:%d: the page holds a NUL byte: remove it" % (path, line))
    return text


def summary(text):
    """A page's title and the first sentence of its first paragraph, without marks."""
    title, first = re.match(r"# (.*)\n+((?:.+\n)*)", text).groups()
    sentence = re.split(r"(?<=[a-z0-9)\"`*][.?!])\s", first)[0]
    plain = [re.sub(r"`|\*\*|(?<!\S)\*(?=\w)|(?<=\w)\*(?!\w)", "", LINK.sub(r"\1", words))
             for words in (title, sentence)]
    return plain[0], " ".join(plain[1].split())


def make_markdown(source, folder, pages):
    to = places("markdown", pages, os.path.join(source, "include", "weir"))
    for path in pages:
        out = os.path.join(folder, path)
        os.makedirs(os.path.dirname(out), exist_ok=True)
        text = with_links(read(source, path), path, to)
        with open(out, "w", encoding="utf-8") as file:
            file.write(text)


def make_html(source, folder, release, cmark, pages):
    include = os.path.join(source, "include", "weir")
    to = places("html", pages, include)
    links = page.Links(headers.in_order(headers.read(include)))
    os.makedirs(folder, exist_ok=True)
    for path in pages:
        text = read(source, path)
        body = subprocess.run([cmark, "--extension", "table"], check=True, encoding="utf-8",
                              input=with_links(text, path, to), stdout=subprocess.PIPE).stdout
        lines = ['<p><a href="../index.html">weir: all guides, and the reference</a></p>',
                 with_functions(with_ids(body), links).rstrip()]
        with open(os.path.join(folder, html_name(path)), "w", encoding="utf-8") as file:
            file.write("\n".join(page.document(summary(text)[0], release, lines)) + "\n")


def entries(form, source, pages):
    """The index entry of each page: a link from html/, the title and the first sentence."""
    to = places(form, pages, os.path.join(source, "include", "weir"))
    return [(posixpath.relpath(to[path], "html"),) + summary(read(source, path)) for path in pages]


def main(form, source, folder, depfile, *rest):
    shutil.rmtree(folder, ignore_errors=True)
    if form == "markdown":
        changelog, pages = None, rest
        make_markdown(source, folder, pages)
    else:
        changelog, cmark, *pages = rest
        make_html(source, folder, made.newest(changelog)[0], cmark, pages)
    include = os.path.join(source, "include", "weir")
    more = [os.path.join(include, name) for name in os.listdir(include)]
    more += [changelog] if changelog else []
    made.write_depfile(depfile, folder, [os.path.join(source, path) for path in pages] + more)


if __name__ == "__main__":
    if len(sys.argv) < 6 or sys.argv[1] not in ("markdown", "html"):
        sys.exit(__doc__)
    main(*sys.argv[1:])

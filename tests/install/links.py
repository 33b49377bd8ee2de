#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every link and anchor leads somewhere: in all Markdown of the source, in the installed guides, as
Markdown and as HTML, and in the manual pages. Functions that a guide names exist. No code in a
table's cell holds a bare |, at which GitHub and cmark-gfm would end the cell.

links.py source SOURCE GUIDE...     the source, in which each GUIDE is a page that is installed
links.py installed BUILD html|markdown GUIDE...
        what `meson install` puts into an empty folder: guides as HTML too, or as Markdown only
links.py planted        broken links are found
"""
import os
import posixpath
import re
import subprocess
import sys
import tempfile
from html import unescape

import markdown

# Pages of the source that are not installed, because they are for developers of weir.
FOR_DEVELOPERS = r"tests/(model/)?[^/]+\.md|tests/examples/[^/]+/README\.md"
# Manual pages of the system that weir's pages may name.
FOREIGN = """bzip2(1) grep(1) gzip(1) man(1) xz(1) zstd(1) flock(2) crontab(5) systemd.timer(5)
    cron(8) lslocks(8) redis-server(1) redis-cli(1) redis-check-rdb(1) redis-check-aof(1)""".split()


def files_of(source):
    """The files that git tracks or would add; without git, all files."""
    found = subprocess.run(["git", "-C", source, "ls-files", "--cached", "--others",
                            "--exclude-standard"], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True, check=False)
    if found.returncode == 0 and found.stdout:
        return {name for name in found.stdout.split("\n")
                if name and os.path.exists(os.path.join(source, name))}
    names = set()
    for folder, folders, inside in os.walk(source):
        folders[:] = [name for name in folders if not re.match(r"\.|build", name)]
        names.update(os.path.relpath(os.path.join(folder, name), source) for name in inside)
    return names


def with_folders(names):
    """@names, and every folder that contains one of them."""
    out = set(names)
    for name in names:
        while posixpath.dirname(name):
            name = posixpath.dirname(name)
            out.add(name)
    return out | {"."}


def faults_of_links(root, names, pages):
    """The faulty links of @pages, which are among @names, the files below @root."""
    there, read = with_folders(names), {}

    def page(name):
        if name not in read:
            read[name] = markdown.read(os.path.join(root, name))
        return read[name]

    for name in sorted(pages):
        for line, what in page(name).odd:
            yield "%s:%d: %s" % (name, line, what)
        for line, target in page(name).links:
            if re.match(r"https://[^/\s]+\.[^/\s]+|mailto:", target):
                continue
            path, _, place = target.partition("#")
            to = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
            if to not in there:
                yield "%s:%d: %s does not exist" % (name, line, target)
            elif place and not (re.search(r"\.(md|html)$", to) and place in page(to).places):
                yield "%s:%d: %s has no such place" % (name, line, target)


def linked_from(root, start, names):
    """The pages that a reader can reach from @start by links."""
    seen, new = set(), [start]
    while new:
        name = new.pop()
        seen.add(name)
        for _, target in markdown.read(os.path.join(root, name)).links:
            path = target.partition("#")[0]
            to = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
            for to in (to, posixpath.join(to, "README.md")):
                if to.endswith(".md") and to in names and to not in seen:
                    new.append(to)
    return seen


def faults_of_names(source, names, pages):
    """Functions in guides that no header declares."""
    known = set()
    for name in names:
        if name.startswith("include/weir/"):
            with open(os.path.join(source, name), encoding="utf-8") as file:
                known.update(re.findall(r"\bweir_\w+", file.read()))
    for name in sorted(pages):
        with open(os.path.join(source, name), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                for function in re.findall(r"\b(weir_\w+)\(", line):
                    if function not in known:
                        yield "%s:%d: no header has %s" % (name, number, function)


def faults_of_list(source, names, guides):
    """The list of guides has each page that is not for developers, and README.md leads to it."""
    pages = {name for name in names if name.endswith(".md")}
    for name in sorted(pages - set(guides)):
        if not re.fullmatch(FOR_DEVELOPERS, name):
            yield "%s is not in the list of guides of src/packaging/reference/meson.build" % name
    for name in sorted(set(guides) - linked_from(source, "README.md", names)):
        yield "no link leads from README.md to %s" % name


def faults_of_manual(man, names):
    """Faulty references between manual pages, and to files, which must be among @names."""
    have = {os.path.basename(name) for name in names if re.search(r"\.[1-9]$", name)}
    installed = {os.path.basename(name) for name in names}
    for page in sorted(have):
        with open(os.path.join(man, "man" + page[-1], page), encoding="utf-8") as file:
            text = file.read()
        found = re.findall(r"^\.Xr (\S+) (\d)|^\.BR (\S+) \((\d)\)|\\fB(\S+?)\\fP\((\d)\)|"
                           r"\b(weir\w*)\((\d)\)", text, re.M)
        for parts in found:
            name, section = [part for part in parts if part]
            if name + "." + section not in have and "%s(%s)" % (name, section) not in FOREIGN:
                yield "%s: %s(%s) does not exist" % (page, name, section)
        for alias in re.findall(r"^\.so man\d/(\S+)$", text, re.M):
            if alias not in have:
                yield "%s: leads to %s, which does not exist" % (page, alias)
        for section in re.findall(r"^\.S[Hh] (?:FILES|SEE ALSO)\n(.*?)(?=^\.S[Hh]|\Z)", text,
                                  re.M | re.S):
            for name in re.findall(r"^\.Pa (\S*\w)|^\.I (/\S*\w)", section, re.M):
                if os.path.basename("".join(name)) not in installed:
                    yield "%s: %s is not installed" % (page, "".join(name))


def faults_of_source(source, guides):
    names = files_of(source)
    pages = {name for name in names if name.endswith(".md")}
    yield from faults_of_links(source, names, pages)
    yield from faults_of_names(source, names, pages & set(guides))
    yield from faults_of_list(source, names, guides)


def words_of(path):
    """The text of a page of Markdown, with only the text of each link."""
    with open(path, encoding="utf-8") as file:
        return re.sub(r"\[((?:[^][]|\[[^][]*\])*)\]\([^()\s]*\)", r"\1", file.read())


def faults_of_index(path, guides, html):
    """The index has each guide's title, the beginning of its first paragraph, and a link to it."""
    shown = [target for _, target in markdown.read(path).links
             if target.startswith("guides/" if html else "../")]
    if len(shown) != len(guides):
        yield "%d guides, %d of them in index.html" % (len(guides), len(shown))
    with open(path, encoding="utf-8") as file:
        text = unescape(file.read()).replace("*", "")
    for guide in guides:
        words = re.sub("[`*]", "", words_of(guide)).removeprefix("# ")
        title, _, first = words.partition("\n\n")
        for words in title, first.split("\n")[0]:
            if words[:30] not in text:
                yield "%s: index.html has no \"%s\"" % (guide, words[:30])


def faults_of_installed(build, guides, html):
    """@html: whether the guides must exist as HTML too."""
    with tempfile.TemporaryDirectory() as root:
        subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet"], check=True,
                       env=dict(os.environ, DESTDIR=root), stdout=subprocess.DEVNULL)
        found = [folder for folder, _, _ in os.walk(root) if folder.endswith("/doc/weir")]
        if len(found) != 1:
            yield "share/doc/weir is not installed"
            return
        share = os.path.dirname(os.path.dirname(found[0]))
        names = {os.path.relpath(os.path.join(folder, name), share)
                 for folder, _, inside in os.walk(share) for name in inside}
        pages = {name for name in names if re.search(r"^doc/.*\.(md|html)$", name)}
        for guide in guides:
            if "doc/weir/" + guide not in names:
                yield "%s is not installed" % guide
            elif words_of(os.path.join(share, "doc/weir", guide)) != words_of(guide):
                yield "%s has other words where it is installed" % guide
        made = [name for name in pages if "/html/guides/" in name]
        if len(made) != (len(guides) if html else 0):
            yield "%d guides, %d of them as HTML" % (len(guides), len(made))
        if html and not any(re.match(r"\.\./\w+\.html#weir_", target) for name in made
                            for _, target in markdown.read(os.path.join(share, name)).links):
            yield "no guide as HTML leads to a function's reference"
        yield from faults_of_index(os.path.join(share, "doc/weir/html/index.html"), guides, html)
        yield from faults_of_links(share, names, pages)
        yield from faults_of_manual(os.path.join(share, "man"),
                                    {name for name in names if not name.startswith("doc/")})


GOOD = {
    "README.md": "# A page\n\nSee [set](src/set.md#how-it-works-1), [`h`](include/weir/a.h),\n"
                 "[the\nfolder](src), [out](https://example.org/) and [below](#a-page).\n"
                 "\n| in a table |\n|---|\n| [`h`](include/weir/a.h) |\n",
    "src/set.md": "# Set\n\n## How it `works`\n\n## How it works\n\n[up](../README.md): "
                  "`weir_a()`, `[no](link)`\n\n```\n[no](link)\n```\n\n| `a \\| b` | `c` |\n",
    "include/weir/a.h": "int weir_a(void);\n",
}
MANUAL = {
    "man/man1/weir.1": ".Sh FILES\n.Pa share/a.yml\n.Sh SEE ALSO\n.Xr weir_a 3 ,\n.Xr gzip 1\n",
    "man/man3/weir_a.3": ".SH SEE ALSO\n.BR weir (1)\n\\fBweir_b\\fP(3)\n",
    "man/man3/weir_b.3": ".so man3/weir_a.3\n",
    "share/a.yml": "",
}
PLANTED = (
    ("src/set.md", "../README.md", "../README", "src/set.md:7: ../README does not exist"),
    ("src/set.md", "How it works", "How", "README.md:3: src/set.md#how-it-works-1 has no such"),
    ("README.md", "#a-page", "#A-page", "README.md:5: #A-page has no such place"),
    ("README.md", "a.h)", "b.h)", "README.md:3: include/weir/b.h does not exist"),
    ("README.md", "a.h)", "a.h#L1)", "README.md:3: include/weir/a.h#L1 has no such place"),
    ("README.md", "| [`h`](", "| [`h`](./b/", "README.md:9: ./b/include/weir/a.h does not exist"),
    ("README.md", "https:", "http:", "README.md:5: http://example.org/ does not exist"),
    ("README.md", "(src)", "(source)", "README.md:5: source does not exist"),
    ("README.md", "(src)", "(<a b>)", "a blank within a link's target"),
    ("README.md", "](src/set", "] (src/set", "README.md:3: a blank between a link's text and"),
    ("README.md", "See ", "[a]: src\n", "README.md:3: a link by reference"),
    ("README.md", "See ", "<a href='x'>", "README.md:3: HTML, which the installed page leaves"),
    ("README.md", "See ", "| `a|b` |\n", "README.md:3: a | in code splits the table's cell"),
    ("README.md", "See ", "| ``a`\\|`|`` |\n", "README.md:3: a | in code splits the table's cell"),
    ("src/set.md", "weir_a", "weir_c", "src/set.md:7: no header has weir_c"),
    ("README.md", "src/set.md#how-it-works-1", "src", "no link leads from README.md to src/set.md"),
    ("src/other.md", "", "# Other\n", "src/other.md is not in the list of guides"),
    ("tests/a/other.md", "", "# Other\n", "tests/a/other.md is not in the list of guides"),
    ("man/man1/weir.1", "weir_a 3", "weir_c 3", "weir.1: weir_c(3) does not exist"),
    ("man/man1/weir.1", "gzip 1", "gzip 3", "weir.1: gzip(3) does not exist"),
    ("man/man1/weir.1", "a.yml", "b.yml", "weir.1: share/b.yml is not installed"),
    ("man/man3/weir_a.3", "weir (1)", "weir (3)", "weir_a.3: weir(3) does not exist"),
    ("man/man3/weir_a.3", "weir_b", "weir_c", "weir_a.3: weir_c(3) does not exist"),
    ("man/man3/weir_b.3", "weir_a", "weir_c", "weir_b.3: leads to weir_c.3, which does not exist"),
    ("a.html", "", "<h1 id=a>A</h1><a href='#b'>b</a>", "a.html:1: #b has no such place"),
    ("a.html", "", "<p>[a](b)</p>", "a.html:1: Markdown stands as it is: [a](b)"),
    ("a.html", "", "<code>a</code> [a](b)", "a.html:1: Markdown stands as it is: [a](b)"),
    ("a.html", "", "<!-- raw HTML omitted -->", "a.html:1: HTML of the guide is left out"),
    ("a.html", "", "<i id=a></i><i id=a></i>", "a.html:1: two places are named a"),
)


def faults_of_tree(tree):
    """All faults of a small tree of source, HTML and manual pages."""
    with tempfile.TemporaryDirectory() as root:
        for name, text in tree.items():
            os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
            with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                file.write(text)
        yield from faults_of_source(root, ["README.md", "src/set.md"])
        yield from faults_of_links(root, set(tree), [name for name in tree if ".html" in name])
        yield from faults_of_manual(os.path.join(root, "man"), set(tree))


def faults_of_planted():
    """Planted faults that are not found."""
    good = {**GOOD, **MANUAL}
    yield from ("without a fault: " + fault for fault in faults_of_tree(good))
    for name, old, new, report in PLANTED:
        before = good.get(name, "")
        after = before.replace(old, new, 1) if old else new
        found = list(faults_of_tree({**good, name: after}))
        if after == before or not any(report in fault for fault in found):
            yield "not found: %s, but %s" % (report, found)


def main(what, *rest):
    if what == "source":
        wrong = list(faults_of_source(rest[0], rest[1:]))
    elif what == "installed":
        wrong = list(faults_of_installed(rest[0], rest[2:], rest[1] == "html"))
    else:
        wrong = list(faults_of_planted())
    for fault in wrong:
        print(fault, file=sys.stderr)
    print("%d faults" % len(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("source", "installed", "planted"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

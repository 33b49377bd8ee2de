#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The reference made from the headers: every public function has its manual page and its place in
the HTML, every line of the headers' comments is in both, every reference leads somewhere, each
error has a line, SEE ALSO is short, mandoc and groff have nothing to say; and a header that breaks
any of this is noticed.

reference.py SOURCE MAN3 HTML
"""
import html.parser
import os
import re
import shutil
import subprocess
import sys
import tempfile

source, man3, pages = sys.argv[1:]
include = os.path.join(source, "include", "weir")
generator = os.path.join(source, "src", "packaging", "reference", "reference.py")
sys.path.append(os.path.dirname(generator))
import manual # the script under test

wrong = []


def run(*command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **more)


def promised():
    """As tests/headers/symbols.sh reads them, and those of inline.h."""
    names = set()
    for header in os.listdir(include):
        with open(os.path.join(include, header), encoding="utf-8") as file:
            names.update(re.findall(r"^(?:WEIR_API|WEIR__INLINE|static inline)[^;{]*?"
                                    r"\b(weir_[a-z0-9]\w*)\(", file.read(), re.M))
    return names


class Html(html.parser.HTMLParser):
    """The places and links of a page, and whether its elements are closed correctly."""

    def __init__(self, name):
        super().__init__()
        self.name, self.places, self.links, self.open, self.text = name, [], [], [], []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.places += [attrs["id"]] if "id" in attrs else []
        self.links += [attrs["href"]] if "href" in attrs else []
        if tag != "meta":
            self.open.append(tag)

    def handle_data(self, data):
        self.text.append(data)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            wrong.append("%s:%d: </%s> ends another element" % (self.name, self.getpos()[0], tag))


def tokens(text):
    return " ".join(re.findall(r"\w+", text))


FIELDS = r"(?:(?:@\w+|Return|Errors|Threads|Order|Progress|Cost|Source)(?:, )?)+:"


def lines_of(header):
    """Each line of a header's comments as words; a field separately, without its name."""
    with open(os.path.join(include, header), encoding="utf-8") as file:
        source = file.read()
    comments = [source[:source.index("*/")]] + re.findall(r"^/\*\*(.*?)\*/\n", source, re.M | re.S)
    for comment in comments:
        for line in comment.split("\n"):
            if "SPDX" not in line:
                for part in re.split(r"(?<=\S)  (?=%s)" % FIELDS, line.strip(" */")):
                    words = tokens(re.sub("^" + FIELDS, "", part.strip()))
                    if words:
                        yield words


def check_words(text, header, where):
    """@text: the words of a page that must contain the header's comments."""
    wrong.extend("%s: \"%s\" is not in %s" % (header, line, where)
                 for line in lines_of(header) if " %s " % line not in text)


def check_html():
    read = {}
    for name in sorted(os.listdir(pages)):
        read[name] = Html(name)
        with open(os.path.join(pages, name), encoding="utf-8") as file:
            read[name].feed(file.read())
        if read[name].open or len(set(read[name].places)) != len(read[name].places):
            wrong.append("%s: elements do not end, or two places have one name" % name)
    for page in read.values():
        if page.name != "index.html":
            text = " %s " % tokens(" ".join(page.text))
            check_words(text, page.name.replace(".html", ".h"), page.name)
        for link in page.links:
            name, _, place = link.partition("#")
            if "/" in name: # a guide, which links.py follows
                continue
            if name not in read or (place and place not in read[name].places):
                wrong.append("%s: a broken link: %s" % (page.name, link))
    places = {place for page in read.values() for place in page.places}
    wrong.extend("%s() is not in the HTML" % name for name in promised() - places)


def check_manual():
    have = {name[:-2] for name in os.listdir(man3)}
    wrong.extend("%s(3) is missing" % name for name in promised() - have)
    whole, words = [], []
    for name in sorted(have):
        path = os.path.join(man3, name + ".3")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        alias = re.fullmatch(r"\.so man3/(\S+)\.3\n", text)
        if alias:
            if alias.group(1) not in have:
                wrong.append("%s(3) leads to %s(3), which is missing" % (name, alias.group(1)))
            continue
        whole.append(path)
        check_page(name, text)
        for meaning in manual.MEANINGS.values(): # words that no header has
            text = text.replace("\n%s\n" % meaning, "\n")
        text = re.sub(r"^\.IP (.*) \d$", r"\1", text, flags=re.M)
        text = re.sub(r"^\.TP \d+|^\.[A-Za-z]+|\\f[A-Z]|\\&", "", text, flags=re.M)
        words.append(re.sub(r"\\\(?(?:aq|ga|ha|ti|bu|e)", " ", text))
        for other, section in re.findall(r"^\.BR (\S+) \((\d)\)", text, re.M):
            if (section, other) != ("1", "weir") and (section != "3" or other not in have):
                wrong.append("%s(3) refers to %s(%s), which is missing" % (name, other, section))
    words = " %s " % tokens("\n".join(words))
    for name in sorted(have):
        if name.endswith(".h"):
            check_words(words, name.removeprefix("weir_"), "the manual")
    if shutil.which("mandoc"):
        wrong.extend(run("mandoc", "-Tlint", "-Wwarning", *whole).stdout.splitlines())
    if shutil.which("groff"): # man would call it for each page
        found = run("groff", "-man", "-t", "-Kutf8", "-Tutf8", "-wmac", "-z", *whole).stdout
        wrong.extend(line for line in found.splitlines() if re.match(r"\w+: .*warning", line))
    return len(have)


def check_page(name, text):
    """Each error that a page promises begins a line of its list. SEE ALSO has at most 8 names."""
    found = re.search(r"^\.SH ERRORS\n(.*?)(?=^\.SH)", text, re.M | re.S)
    if found:
        words = re.sub(r"\([^()]*\)", "", found.group(1))
        tags = set(re.findall(r"-(E[A-Z0-9]+)", "\n".join(re.findall(r"^\.B (.*)$", words, re.M))))
        bare = re.sub(r"^\.B .*$|\b(?:but|after|returns|and|or)\s\\?-E[A-Z0-9]+", "", words,
                      flags=re.M | re.I)
        wrong.extend("%s(3): -%s has no line of its own" % (name, error)
                     for error in set(re.findall(r"-(E[A-Z0-9]+)", bare)) - tags)
    seen = len(re.findall(r"^\.BR ", text.partition("\n.SH SEE ALSO\n")[2], re.M))
    if not 1 <= seen <= 8:
        wrong.append("%s(3): SEE ALSO has %d names" % (name, seen))


def check_summaries():
    """The line that a search shows is one sentence, different on each page. A function that has the
    name of a struct shows the struct's fields."""
    seen = {}
    for name in sorted(os.listdir(man3)):
        with open(os.path.join(man3, name), encoding="utf-8") as file:
            text = file.read()
        found = re.search(r"^\.SH NAME\n(.*) \\- (.*)$", text, re.M)
        if not found:
            continue
        summary = re.sub(r"\\f.", "", found.group(2))
        if re.search(r"[A-Za-z)\"][.?!] \w| is refused", summary):
            wrong.append("%s: no summary: \"%s\"" % (name, summary))
        if (summary in seen and not summary.startswith("as ")) or " " not in summary:
            wrong.append("%s and %s: \"%s\"" % (name, seen.get(summary, "what"), summary))
        seen[summary] = name
    for name, field in ("stats", "fill"), ("handle_stats", "refused_sentence"), ("plan", "bytes"):
        with open(os.path.join(man3, "weir_%s.3" % name), encoding="utf-8") as file:
            if not re.search(r"^struct weir_%s \{[^}]*\b%s\b" % (name, field), file.read(), re.M):
                wrong.append("weir_%s(3) has no %s of struct weir_%s" % (name, field, name))
    with open(os.path.join(man3, "weir_save_options.3"), encoding="utf-8") as file:
        if ".SH NAME\nweir_save_options " not in file.read():
            wrong.append("weir_save_options(3) is about another name")


def check_faults():
    """A fault in a header is reported with its line."""
    function = "WEIR_API int weir_new(void);\n"
    for planted, report in (
            (function, "error.h:52: weir_new() has no comment of its own"),
            ("/**\n * New, as weir_gone().\n */\n" + function, "error.h:53: there is no weir_gone"),
            ("/**\n * New: WEIR_GONE.\n */\n" + function, "error.h:53: there is no WEIR_GONE"),
            ("/**\n * New (see gone.h).\n */\n" + function, "error.h:53: there is no header"),
            ("/**\n * Return: 0.\n */\n" + function, "weir_new() is not described")):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(include, folder + "/weir")
            with open(folder + "/weir/error.h", encoding="utf-8") as file:
                text = file.read()
            before = text[:text.index("WEIR_END_DECLS")]
            line = before.count("\n") + 1
            with open(folder + "/weir/error.h", "w", encoding="utf-8") as file:
                file.write(text.replace("WEIR_END_DECLS", planted + "\nWEIR_END_DECLS", 1))
            report = re.sub(r":5([23]):", lambda m: ":%d:" % (line + int(m.group(1)) - 2), report)
            answer = run(sys.executable, "-B", generator, "check", folder + "/weir")
            if answer.returncode != 1 or report not in answer.stdout:
                wrong.append("not reported: %s: %s" % (report, answer.stdout))


def main():
    answer = run(sys.executable, "-B", generator, "check", include)
    if answer.returncode:
        wrong.append(answer.stdout)
    count = check_manual()
    check_html()
    check_summaries()
    check_faults()
    for line in wrong[:40]:
        print(line, file=sys.stderr)
    print("%s; %d manual pages; linted by:%s" % (
        answer.stdout.strip(), count,
        "".join(" " + tool for tool in ("mandoc", "groff") if shutil.which(tool))))
    return 1 if wrong or len(promised()) < 100 else 0


sys.exit(main())

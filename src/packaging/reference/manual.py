# SPDX-License-Identifier: MIT
"""Manual pages of section 3: one for each function and those that are "as" it, one for each header,
weir(3) with all of them, and links from the other names."""
import glob
import os
import re
import sys

import headers as h

TITLES = {"Return": "RETURN VALUE", "Errors": "ERRORS"}
# What an error means whose header has nothing to add.
MEANINGS = {"-ENOMEM": "if there is no memory", "-EISDIR": "if it is a directory",
            "-ECANCELED": "if the progress function stopped the call"}
ERROR = r"-E[A-Z0-9]+"
# Where a sentence that names an error begins, or an error with a case that it belongs to.
SENTENCE = re.compile(r"(?<=[A-Za-z0-9)]\.) (?=[A-Z][^.;]*?%s)" % ERROR)
TAGGED = re.compile(r"((?:(?!After)[A-Za-z][\w ]*?:? )?%s(?:(?:, and|, or|,| and| or) %s)*)"
                    r"[,:]?(?: (.*))?" % (ERROR, ERROR))
# What begins so is a case of its own; other parts go on with the error before them.
CASE = re.compile(r"(?:and )?(?:as|those|others|the errno|the error|what|with|before|for) |"
                  r"none|After")


def code(text):
    """Literal text: a hyphen must not become a dash, nor a line a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga")
    text = text.replace("^", "\\(ha").replace("~", "\\(ti").replace("'", "\\(aq")
    return re.sub(r"^(?=\.)", r"\\&", text, flags=re.M)


def words(text):
    """Running text: names of functions bold, those of arguments in italics."""
    out = []
    for part in re.split(r"(\bweir_\w+\(\)|@\w+)", text):
        if part.startswith("@"):
            out.append("\\fI" + part[1:] + "\\fP")
        elif re.fullmatch(r"weir_\w+\(\)", part):
            out.append("\\fB" + part[:-2] + "\\fP()")
        else:
            part = part.replace("\\", "\\e").replace("'", "\\(aq").replace("`", "\\(ga")
            part = part.replace("^", "\\(ha").replace("~", "\\(ti")
            out.append(re.sub(r"(?<![A-Za-z0-9)])-", r"\\-", part))
    text = "".join(out)
    text = re.sub(r"(?<=[a-z)0-9][.?]) (?=[A-Z@\\])", "\n", text)  # one line a sentence
    return re.sub(r"^(?=\.)", r"\\&", text, flags=re.M)


def body(blocks):
    out, first = [], True
    for kind, mark, text in blocks:
        if kind == "text":
            out += [] if first else [".PP"]
            out.append(words(text))
        elif kind == "item":
            out += [".IP " + ("\\(bu 2" if mark == "-" else mark + " 4"), words(text)]
        else:
            out += [".PP", ".RS 4", ".nf", code("\n".join(text)), ".fi", ".RE"]
        first = False
    return out


def heading(name, release, date):
    return ['.\\" Made from the headers of weir by src/packaging/reference.',
            '.TH %s 3 %s "weir %s" "weir"' % (name, date, release), ".nh", ".ad l"]


def name_of(names, text):
    summary = h.first_sentence(text)
    if summary[1:2].islower() or summary[1:2] == " ":
        summary = summary[0].lower() + summary[1:]
    return [".SH NAME", names + " \\- " + words(summary).replace("\n", " ")]


def prototype(text):
    """Broken between arguments, indented, within 72 columns."""
    start, arguments = text.split("(", 1)
    lines, line = [], start + "("
    for argument in arguments.split(", "):
        piece = argument + ("" if argument.endswith(");") else ",")
        if len(line) + 1 + len(piece) > 72:
            lines.append(line.rstrip())
            line = "        "
        line += piece + " "
    lines.append(line.rstrip())
    return code("\n".join(lines))


def without(label, names):
    return ", ".join(part for part in label.split(", ") if part not in names)


def arguments(fields):
    out = []
    for label, text in fields:
        names = [part[1:] for part in label.split(", ") if part.startswith("@")]
        if names:
            out += [".TP", ".I " + ", ".join(names), words(text)]
    return out


def parts_of(text):
    """The parts of a list of errors. A semicolon outside brackets ends one. So does a comma behind
    words, or a colon behind a sentence, before the name of an error."""
    depth, start, out = 0, 0, []
    for at, sign in enumerate(text + ";"):
        depth += (sign == "(") - (sign == ")")
        rest = text[at + 1:]
        if depth or not (sign == ";" or re.match(" " + ERROR, rest) and (
                sign == "," and not re.search(ERROR + "$", text[start:at]) or
                sign == ":" and at - start > 40)):
            continue
        out += SENTENCE.split(text[start:at + (sign == ":")].strip())
        start = at + 1
    return out


def errors(text):
    """A line for each error."""
    parts = []
    for part in parts_of(text):
        if parts and not TAGGED.fullmatch(part.rstrip(".")) and not CASE.match(part):
            parts[-1] += ("; " if parts[-1][-1] != "." else " ") + part
        else:
            parts.append(part)
    out = []
    for part in parts:
        tagged = TAGGED.fullmatch(part.rstrip("."))
        if not tagged:
            out += [".TP 12", "\\(bu", words(part)] if len(parts) > 1 else [words(part)]
        else:
            meaning = MEANINGS.get(tagged.group(1), "")
            ends = "." if part.endswith(".") and tagged.group(2) else ""
            out += [".TP 12", ".B " + code(tagged.group(1)),
                    words(tagged.group(2) + ends if tagged.group(2) else meaning)]
    return out


def function(item):
    """The sections of a function's page after the synopsis."""
    out = [".SH DESCRIPTION"] + body(item.text) + arguments(item.fields)
    for title in TITLES:
        for label, text in item.fields:
            if title in label.split(", "):
                out += [".SH " + TITLES[title]]
                out += errors(text) if title == "Errors" else [words(text)]
    rest = []
    for label, text in item.fields:
        label = without(without(label, TITLES), re.findall(r"@\w+", label))
        if label:
            rest += [".TP", ".B " + label, words(text)]
    return out + ([".SH THREADS AND COST"] + rest if rest else [])


def same_name(header, name):
    """The type that has the name of a function, as struct weir_stats has."""
    for item in header.items:
        if item.kind in ("struct", "enum") and item.name == name:
            return [".SH STRUCTURE"] + body(item.text) + shown(item.code)
    return []


def shown(text):
    return [".PP", ".nf", code(text.expandtabs()), ".fi"]


def others(items):
    out = [".SH LIKEWISE"] if items else []
    for item in items:
        out += [".SS " + item.name + "()"] + body(item.text)
        for label, text in item.fields:
            out += [".TP", ".B " + label.replace("@", "")]
            out += [".RS"] + errors(text) + [".RE"] if label == "Errors" else [words(text)]
    return out


def example(path):
    """The section of an example: its sentence, the program, and what it prints."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        head, program = file.read().split(" */\n", 1)
    lines = h.strip(head).split("\n")
    at = lines.index("Prints:")
    printed = "\n".join(line[4:] for line in lines[at + 1:] if line)
    return ([".SH EXAMPLES", words(" ".join(lines[1:at]))] + shown(program.rstrip().expandtabs(4)) +
            [".PP", "It prints"] + shown(printed))


def see_also(names):
    names = sorted(set(names) | {"weir"})
    return [".SH SEE ALSO"] + [".BR %s (3)%s" % (name, "," if name != names[-1] else "")
                               for name in names]


def mentioned(items, known):
    text = " ".join(str(item.text) + str(item.fields) for item in items)
    return {known[name] for name in re.findall(r"\b(weir_\w+)\(\)", text) if name in known}


def page(entry, header, known, release, date, examples):
    first = entry.items[0]
    names = [item.name for item in entry.items]
    out = heading(first.name, release, date) + name_of(", ".join(names), first.text)
    out += [".SH SYNOPSIS", ".nf", ".B #include <weir/%s>" % first.header, ".PP", ".ft B"]
    out += [prototype(item.code) for item in entry.items] + [".ft R", ".fi"]
    out += function(first) + same_name(header, first.name) + others(entry.items[1:])
    out += example(os.path.join(examples, first.name + ".c"))
    return out + see_also(mentioned(entry.items, known) - {first.name} | {"weir_" + first.header})


def types(header):
    out = []
    for item in header.items:
        if item.kind != "function":
            kind = item.kind + " " if item.kind in ("struct", "enum") else ""
            out += [".SS " + kind + item.name] + body(item.text) + shown(item.code)
    for kind, name, text in h.plain_structs(header):
        out += [".SS " + kind + " " + name, ".nf", code(text.expandtabs()), ".fi"]
    return [".SH TYPES AND MACROS"] + out if out else []


def type_page(item, known, release, date):
    """The page of a type or macro, so that a search finds it."""
    start = re.fullmatch(r"Start from (\w+)", h.first_sentence(item.text))
    text = [("text", None, "Options of a call, to start from " + start.group(1))] if start else \
        item.text
    out = heading(item.name, release, date) + name_of(item.name, text)
    out += [".SH SYNOPSIS", ".nf", ".B #include <weir/%s>" % item.header] + shown(item.code)[1:]
    out += [".SH DESCRIPTION"] + body(item.text)
    for label, words_of in item.fields:
        out += [".TP", ".B " + label.replace("@", ""), words(words_of)]
    return out + see_also(mentioned([item], known) | {"weir_" + item.header})


def header_page(header, known, release, date):
    name = "weir_" + header.name
    out = heading(name, release, date) + name_of(name, header.text)
    out += [".SH SYNOPSIS", ".B #include <weir/%s>" % header.name]
    out += [".SH DESCRIPTION"] + body(header.text) + functions(header) + types(header)
    text = str(header.text)
    return out + see_also({known[name] for name in re.findall(r"\b(weir_\w+)\(\)", text)
                           if name in known})


def functions(header):
    """The functions of a header, each with the first sentence of its page."""
    out = []
    for entry in h.pages(header):
        out += [".TP", ".BR " + entry.name + " (3)",
                words(h.first_sentence(entry.items[0].text)).replace("\n", " ") + "."]
    return [".SH FUNCTIONS"] + out if out else []


def overview(headers, release, date):
    out = heading("weir", release, date)
    out += [".SH NAME", "weir \\- lock\\-free concurrent membership filters",
            ".SH SYNOPSIS", ".nf", ".B #include <weir/weir.h>", ".PP",
            ".B cc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs weir)", ".fi",
            ".SH DESCRIPTION",
            "A filter answers whether a key may be in a set. No is certain.",
            "These are the headers, and the pages of their functions."]
    for header in headers:
        out += [".SS <weir/%s>" % header.name, words(h.first_sentence(header.text)) + ".",
                ".br", "See", ".BR weir_%s (3)." % header.name]
        out += functions(header)[1:]
    return out + [".SH SEE ALSO", ".BR weir (1)"]


def write(folder, name, lines):
    with open(os.path.join(folder, name + ".3"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def stray(examples, names):
    """Exit if an example belongs to no page."""
    for path in glob.glob(os.path.join(examples, "*.c")):
        if os.path.basename(path)[:-2] not in names:
            sys.exit("%s: no page of a function has this name" % path)


def make(all_headers, folder, release, date, examples):
    """@examples: the folder of NAME.c for the page NAME; it may be missing."""
    headers = h.in_order(all_headers)
    entries = [(entry, header)
               for header in headers + [x for x in all_headers if x.name in h.PRIVATE]
               for entry in h.pages(header)]
    known = {item.name: entry.name for entry, _ in entries for item in entry.items}
    stray(examples, known.values())
    for entry, header in entries:
        write(folder, entry.name, page(entry, header, known, release, date, examples))
        for item in entry.items[1:]:
            write(folder, item.name, [".so man3/%s.3" % entry.name])
    for header in headers:
        write(folder, "weir_" + header.name, header_page(header, known, release, date))
        for item in header.items:
            if item.kind != "function" and item.name not in known:
                write(folder, item.name, type_page(item, known, release, date))
        for _, name, _ in h.plain_structs(header):
            write(folder, name, [".so man3/weir_%s.3" % header.name])
    write(folder, "weir", overview(headers, release, date))

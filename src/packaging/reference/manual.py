# SPDX-License-Identifier: MIT
"""Manual pages of section 3: one for each function and the functions documented "as" it, one for
each header, weir(3) as the index, and links from the other names."""
import os
import re

import headers as h

TITLES = {"Return": "RETURN VALUE", "Errors": "ERRORS"}


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


def function(item):
    """The sections of a function's page after the synopsis."""
    out = [".SH DESCRIPTION"] + body(item.text) + arguments(item.fields)
    for title in TITLES:
        for label, text in item.fields:
            if title in label.split(", "):
                out += [".SH " + TITLES[title], words(text)]
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
            out += [".TP", ".B " + label.replace("@", ""), words(text)]
    return out


def see_also(names):
    names = sorted(set(names) | {"weir"})
    return [".SH SEE ALSO"] + [".BR %s (3)%s" % (name, "," if name != names[-1] else "")
                               for name in names]


def mentioned(items, known):
    text = " ".join(str(item.text) + str(item.fields) for item in items)
    return {known[name] for name in re.findall(r"\b(weir_\w+)\(\)", text) if name in known}


def page(entry, header, known, release, date):
    first = entry.items[0]
    names = [item.name for item in entry.items]
    out = heading(first.name, release, date) + name_of(", ".join(names), first.text)
    out += [".SH SYNOPSIS", ".nf", ".B #include <weir/%s>" % first.header, ".PP", ".ft B"]
    out += [prototype(item.code) for item in entry.items] + [".ft R", ".fi"]
    out += function(first) + same_name(header, first.name) + others(entry.items[1:])
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
    out += [".SH DESCRIPTION"] + body(header.text) + types(header)
    return out + see_also({known[item.name] for item in header.items if item.name in known})


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
        for entry in h.pages(header):
            out += [".TP", ".BR " + entry.name + " (3)", words(h.first_sentence(
                entry.items[0].text)).replace("\n", " ") + "."]
    return out + [".SH SEE ALSO", ".BR weir (1)"]


def write(folder, name, lines):
    with open(os.path.join(folder, name + ".3"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def make(all_headers, folder, release, date):
    headers = h.in_order(all_headers)
    entries = [(entry, header)
               for header in headers + [x for x in all_headers if x.name in h.PRIVATE]
               for entry in h.pages(header)]
    known = {item.name: entry.name for entry, _ in entries for item in entry.items}
    for entry, header in entries:
        write(folder, entry.name, page(entry, header, known, release, date))
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

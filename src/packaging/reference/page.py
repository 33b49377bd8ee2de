# SPDX-License-Identifier: MIT
"""The reference as HTML: a page for each header, and an index of all functions and types."""
import html
import os
import re

import headers as h

STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 58rem; margin: 0 auto; padding: 1rem }
pre { overflow-x: auto; padding: .6rem .8rem; border-left: 3px solid #8886; font-size: 14px;
      tab-size: 4 }
h2 { border-bottom: 1px solid #8886; margin-top: 2.5rem } h3 { margin-top: 2rem }
dt { font-weight: 600 } dd { margin: 0 0 .5rem 1.5rem } a { text-decoration: none }
a:hover { text-decoration: underline } code { font-size: 14px }
table { display: block; overflow-x: auto; border-collapse: collapse; font-size: 14px }
th, td { border: 1px solid #8886; padding: .2rem .5rem; text-align: left; vertical-align: top }
.language-output { opacity: .75 }
"""


class Links:
    """Where each name is described: a page and an anchor."""

    def __init__(self, headers):
        self.to = {}
        for header in headers:
            self.to[header.name] = header.name[:-2] + ".html"
            for name in names_of(header):
                self.to.setdefault(name, "%s.html#%s" % (header.name[:-2], name))

    def text(self, words):
        out = []
        for part in re.split(r"(\bweir_\w+\(\)|\b\w+\.h\b|\bstruct weir_\w+|@\w+)", words):
            name = part.removesuffix("()").removeprefix("struct ")
            if part.startswith("@"):
                out.append("<var>%s</var>" % html.escape(part[1:]))
            elif part and name in self.to:
                out.append('<a href="%s">%s</a>' % (self.to[name], html.escape(part)))
            else:
                out.append(html.escape(part))
        return "".join(out)

    def body(self, blocks):
        out, listed = [], False
        for kind, mark, words in blocks:
            if kind == "item" and not listed:
                out.append("<ul>")
            elif kind != "item" and listed:
                out.append("</ul>")
            listed = kind == "item"
            if kind == "text":
                out.append("<p>%s</p>" % self.text(words))
            elif kind == "item":
                mark = "" if mark == "-" else html.escape(mark) + " "
                out.append("<li>%s%s</li>" % (mark, self.text(words)))
            else:
                out.append("<pre>%s</pre>" % html.escape("\n".join(words)))
        return out + (["</ul>"] if listed else [])


def names_of(header):
    return [item.name for item in header.items] + [name for _, name, _ in h.plain_structs(header)]


def document(title, release, body):
    head = ['<!DOCTYPE html>', '<html lang="en">', '<head>', '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<title>%s</title>' % html.escape(title), '<style>%s</style>' % STYLE, '</head>',
            '<body>']
    return head + body + ['<p><small>weir %s</small></p>' % html.escape(release), '</body>',
                          '</html>']


def item_of(item, links):
    title = {"function": item.name + "()", "macro": item.name, "typedef": item.name}.get(
        item.kind, item.kind + " " + item.name)
    out = ['<h3 id="%s">%s</h3>' % (item.name, title)]
    out.append("<pre>%s</pre>" % html.escape(item.code.expandtabs()))
    out += links.body(item.text)
    if item.fields:
        out.append("<dl>")
        for label, words in item.fields:
            out.append("<dt>%s</dt><dd>%s</dd>" % (html.escape(label.replace("@", "")),
                                                   links.text(words)))
        out.append("</dl>")
    return out


def header_of(header, links):
    out = ['<p><a href="index.html">weir</a></p>', "<h1>&lt;weir/%s&gt;</h1>" % header.name]
    out += links.body(header.text)
    types = [item for item in header.items if item.kind != "function"]
    plain = list(h.plain_structs(header))
    if types or plain:
        out.append("<h2>Types and macros</h2>")
        for item in types:
            # weir_plan is a struct and a function; the anchor is the function's.
            if any(other.kind == "function" and other.name == item.name for other in header.items):
                out.append("<h3>%s %s</h3>" % (item.kind, item.name))
                out += item_of(item, links)[1:]
            else:
                out += item_of(item, links)
        for kind, name, code in plain:
            out += ['<h3 id="%s">%s %s</h3>' % (name, kind, name),
                    "<pre>%s</pre>" % html.escape(code.expandtabs())]
    functions = [item for item in header.items if item.kind == "function"]
    if functions:
        out.append("<h2>Functions</h2>")
        for item in functions:
            out += item_of(item, links)
    return out


def index(headers, links, guides):
    out = ["<h1>weir</h1>", "<p>A C11 library of lock-free, concurrent membership filters: its "
           "guides, and the reference of its functions, made from its headers.</p>",
           "<h2>Guides</h2>", "<dl>"]
    for link, title, sentence in guides:
        out.append('<dt><a href="%s">%s</a></dt><dd>%s</dd>' % (link, html.escape(title),
                                                                html.escape(sentence)))
    out.append("</dl>")
    for header in headers:
        out.append('<h2><a href="%s">&lt;weir/%s&gt;</a></h2>' % (links.to[header.name],
                                                                  header.name))
        out.append("<p>%s.</p>" % links.text(h.first_sentence(header.text)))
        out.append("<ul>")
        out += ['<li><a href="%s"><code>%s</code></a></li>' % (links.to[name], name)
                for name in dict.fromkeys(names_of(header))]
        out.append("</ul>")
    return out


def make(all_headers, folder, release, guides):
    headers = h.in_order(all_headers)
    links = Links(headers)
    pages = {"index": document("weir", release, index(headers, links, guides))}
    for header in headers:
        pages[header.name[:-2]] = document("weir/" + header.name, release,
                                           header_of(header, links))
    for name, lines in pages.items():
        with open(os.path.join(folder, name + ".html"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")

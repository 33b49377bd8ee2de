# SPDX-License-Identifier: MIT
"""The parts of the page: one file, no network, for a phone, a desk and paper, light and dark."""
import re
from dataclasses import replace
from html import escape

from . import plot as drawing
from .run import unsteady
from .words import percent, plural, rate, value

MOST_CURVES = 5  # more in one plot cannot be told apart

STYLE = """
:root { --paper: #fff; --ink: #1a1a1a; --soft: #5f6368; --grid: #d5d8dc; --card: #f5f6f8;\
 --bad: #b02a00;
 --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #b4568f; --c4: #c98600; --c5: #3a9bd0;\
 --c6: #1a1a1a; --c7: #8a8000; }
@media screen and (prefers-color-scheme: dark) { :root { --paper: #15171a; --ink: #e6e6e6;\
 --soft: #a3a9b0; --grid: #363b41; --card: #1f2226; --bad: #ff8f66;
 --c0: #4ba6e0; --c1: #f07c28; --c2: #1fc193; --c3: #dc96bc; --c4: #e69f00; --c5: #8ccff5;\
 --c6: #e6e6e6; --c7: #f0e442; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 78rem; background: var(--paper);\
 color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: .2rem 0; } h2 { font-size: 1.25rem; margin: 2.2rem 0 .4rem;\
 border-bottom: 2px solid var(--grid); }
h3 { font-size: 1.05rem; margin: 1.4rem 0 .2rem; } p { margin: .4rem 0; max-width: 60rem; }\
 .soft { color: var(--soft); font-size: .875rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .8rem; margin: .6rem 0;\
 font-size: .925rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
.verdict { background: var(--card); border-left: 5px solid var(--c0); padding: .6rem 1rem;\
 margin: 1rem 0; }
.verdict h2 { border: 0; margin: 0 0 .3rem; } .verdict ul { margin: 0; padding-left: 1.1rem; }\
 .verdict li { margin: .35rem 0; max-width: 60rem; }
.verdict tr > :first-child { background: var(--card); }
.findings { padding-left: 1.1rem; } .findings li { margin: .35rem 0; max-width: 60rem; }
.bad { color: var(--bad); font-weight: 600; } nav a { margin-right: 1rem; } a { color: var(--c0); }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr));\
 gap: .6rem 1.2rem; margin: .5rem 0; }
figure { margin: 0; max-width: 34rem; break-inside: avoid; } figcaption { font-weight: 600;\
 font-size: .925rem; }
figure svg { width: 100%; height: auto; display: block; font-family: inherit; color: var(--ink); }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1rem; font-size: .875rem; margin: .3rem 0; }
.swatch { vertical-align: middle; margin-right: .35rem; } .hidden { position: absolute; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .85rem; margin: .4rem 0;\
 font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .55rem; text-align: right; white-space: nowrap;\
 border-bottom: 1px solid var(--grid); }
th { color: var(--soft); font-weight: 600; vertical-align: bottom; } .text { text-align: left; }\
 tr.head td { font-weight: 600; text-align: left; padding-top: .6rem; }
tr > :first-child { position: sticky; left: 0; background: var(--paper); }
details { margin: .4rem 0; } summary { cursor: pointer; color: var(--c0); font-size: .925rem; }
code, pre { font: .8125rem/1.45 ui-monospace, monospace; } pre { background: var(--card);\
 padding: .5rem .7rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
.mark { color: var(--bad); font-weight: 600; }
@media print { body { font-size: 10pt; max-width: none; padding: 0; } .plots {\
 grid-template-columns: 1fr 1fr 1fr; } summary, nav { display: none; }
 details::details-content { content-visibility: visible; block-size: auto; } table {\
 font-size: 7.5pt; } .wide { overflow: visible; } h2, h3, figcaption, .legend {\
 break-after: avoid; }
 tr, .verdict li { break-inside: avoid; } }
"""


def sentence(text):
    """Text as HTML in which no line ends between a number and its unit."""
    joined = re.sub(r'(?<=[\d=]) (?=[a-zµ%A-Z]{1,3}\b|%|[MGk]/s|\d)', '\u00a0', text)
    return escape(joined.replace('z =', 'z\u00a0='))


def paragraph(text, kind=''):
    return f'<p{f" class={chr(34)}{kind}{chr(34)}" if kind else ""}>{escape(text)}</p>'


def meanings(text):
    """What the names of a section mean, where any needs it."""
    return paragraph(f'{text}.', 'soft') if text else ''


def legend(series):
    """Each series once, in the order of its first appearance."""
    seen = {}
    for s in series:
        seen.setdefault(s.label, s)
    entries = ''.join(
        f'<span>{drawing.swatch(s.style, s.marks)}{escape(label)}</span>'
        for label, s in seen.items()
    )
    return f'<div class="legend">{entries}</div>'


def caption(panel):
    return f'<figcaption>{escape(panel.title)}</figcaption>' if panel.title else ''


def aria_label(panel):
    return f'{panel.title} {panel.y.label} over {panel.x.label}'.strip()


def side_by_side(panels):
    """Panels under one legend."""
    figures = ''.join(
        f'<figure>{caption(p)}{drawing.draw(p, escape(aria_label(p)))}</figure>' for p in panels
    )
    return legend([s for p in panels for s in p.series]) + f'<div class="plots">{figures}</div>'


def with_only(panels, labels):
    found = [replace(p, series=[s for s in p.series if s.label in labels]) for p in panels]
    return [p for p in found if any(s.points for s in p.series)]


def fitting(panels, labels, most):
    """The first of the labels, until a panel would have more than so many curves."""
    taken = []
    for label in labels:
        having = [{s.label for s in p.series} for p in panels]
        if all(len(of.intersection(taken)) < most for of in having if label in of):
            taken.append(label)
    return taken


def plots(panels, rank=None, most=MOST_CURVES):
    """Panels side by side, with at most so many curves each: those of the lowest rank(label), else
    the first. The rest stand behind 'All figures', as many again in each row, on the same
    scales."""
    panels = [p for p in panels if any(s.points for s in p.series)]
    if not panels:
        return ''
    labels = list(dict.fromkeys(s.label for p in panels for s in p.series))
    labels = sorted(labels, key=rank) if rank else labels
    first = fitting(panels, labels, most)
    left = [label for label in labels if label not in first]
    if not left:
        return side_by_side(panels)
    for p in panels:
        drawing.fix_scales(p)
    html = side_by_side(with_only(panels, first))
    html += f'<details><summary>All figures: {plural(len(left), "more curve")}</summary>'
    while left:
        row = fitting(panels, left, most)
        left = [label for label in left if label not in row]
        html += side_by_side(with_only(panels, row))
    return f'{html}</details>'


class Cell(str):
    """Text that is HTML already."""


def marks(spread, contended=False):
    """What the reader is to know of a figure: that it spreads, that its threads shared CPUs."""
    found = []
    if unsteady(spread):
        found.append(f'~{percent(spread)}')
    if contended:
        found.append('shared CPU')
    return Cell(f' <span class="mark">{escape(", ".join(found))}</span>' if found else '')


def measured(result):
    """A result's median, marked."""
    return Cell(escape(value(result.median, result.unit)) + marks(result.spread, result.contended))


def cell(content, text):
    content = content if isinstance(content, Cell) else escape(str(content))
    return f'<td{" class=text" if text else ""}>{content}</td>'


def table(head, rows, summary='', texts=1):
    """A table whose first columns are text; behind a summary where it is long. A row that is one
    string heads those below it."""
    if not rows:
        return ''
    body = ''.join(
        (
            f'<tr class="head"><td colspan="{len(head)}">{escape(row)}</td></tr>'
            if isinstance(row, str)
            else f'<tr>{"".join(cell(c, i < texts) for i, c in enumerate(row))}</tr>'
        )
        for row in rows
    )
    heads = ''.join(
        f'<th{" class=text" if i < texts else ""}>{escape(h)}</th>' for i, h in enumerate(head)
    )
    html = (
        f'<div class="wide"><table><thead><tr>{heads}</tr></thead>'
        f'<tbody>{body}</tbody></table></div>'
    )
    return f'<details><summary>{escape(summary)}</summary>{html}</details>' if summary else html


def quality(result):
    """Bits a key, and the measured rate beside the one asked for."""
    c = result.counters
    bits = f'{c["bits_per_key"]:.2f}' if c.get('bits_per_key') else ''
    if c.get('fp_asked') is None or c.get('fp_measured') is None:
        return [bits, '']
    unsure = c.get('fp_interval', 0) > 0.1
    return [
        bits,
        f'{rate(c["fp_measured"])}{" (few asked)" if unsure else ""} of {rate(c["fp_asked"])}',
    ]


def commands(results, settings):
    """What reproduces a question, and one row of it."""
    if not results:
        return ''
    first = results[0]
    whole = (
        settings.get('commands', {}).get(first.question)
        or first.command.partition(' --benchmark_filter')[0]
    )
    return (
        '<p class="soft">Reproduce all of it, or (for example) one row:</p>'
        f'<pre>{escape(whole)} --benchmark_out={first.question}.json --benchmark_out_format=json\n'
        f'{escape(first.command)}</pre>'
    )

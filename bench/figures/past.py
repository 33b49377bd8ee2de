# SPDX-License-Identifier: MIT
"""The report's part of bench/model: what each curve reaches on more cores and what binds it, how
that compares with what was measured, and what it rests on. Without grounds for it, why not."""
import re

from . import grounds, page
from .model import WITHIN
from .model_text import COMPARED_HEAD, OTHER_FIGURES, compared_rows, constants, noise_of
from .plot import Axis, Plot, Series, Style
from .predicted import OURS, predictions, sums
from .run import Trouble
from .words import count, figures, percent, plural, value

MEANINGS = (
    'An upper bound: what is missing is taken as nothing, or as no bound. A straight line: the'
    ' cores that were measured show no limit of bandwidth, which more may meet. ~: a row that this'
    ' rests on spreads by more than 10 %, or the limit is within noise; *: its threads shared a'
    ' CPU. Of reloads the numbers are those of readers: the loader is a core more.'
)


def usual(curve):
    """Of blocked as it is by default, which is what has a row."""
    r = curve.one
    return r.get('set', 'blocked') == OURS[0] and r.get('rate', 0.01) == 0.01


def caveats(points):
    """What is to be known of predictions, in words."""
    if any(p.unbounded for p in points):
        return ', an upper bound'
    return ', a straight line' if any(p.straight for p in points) else ''


def reload_panel(curves):
    """Lookups during each sort of reload: marked where measured, dashed where predicted."""
    of = [c for c in curves if c.one.question == 'reload' and c.one.get('op') == 'hit']
    alike = [(c.one.get('flavor'), c.one.get('keys'), c.one.get('pace')) for c in of]
    of = [c for c, these in zip(of, alike) if these == alike[0]]
    if not of:
        return None
    series = []
    for i, curve in enumerate(of):
        phase = str(curve.one.get('phase'))
        rows = [curve.one, *(c.row for c in curve.compared)]
        measured = [(r.get('threads'), r.median / 1e6, r.low / 1e6, r.high / 1e6) for r in rows]
        ahead = [(p.threads, p.rate / 1e6) for p in curve.points]
        series.append(Series(phase, measured, Style(i % 8, 0, i % 8), line=False))
        label = f'{phase}, predicted{caveats(curve.points)}'
        series.append(Series(label, ahead, Style(i % 8, 1), marks=False))
    counts = sorted({p[0] for s in series for p in s.points})
    return Plot(
        f'Lookups during reloads ({count(of[0].one.get("keys"))} keys)',
        Axis('readers', log=True, ticks=[(n, str(n)) for n in counts]),
        Axis('million keys a second', log=True),
        series,
    )


def cell_of(point):
    """A prediction, what binds it, and what is to be known of it."""
    noise = noise_of(point)
    mark = f' <span class="mark">{noise}</span>' if noise else ''
    return page.Cell(
        f'{page.escape(value(point.rate, "keys/s"))}{mark}<br>'
        f'<span class="soft">{page.escape(point.binds + caveats([point]))}</span>'
    )


def table_of(curves):
    counts = sorted({p.threads for c in curves for p in c.points})
    rows, above = [], None
    for curve in sorted(curves, key=lambda c: c.place):
        if curve.place != above:
            rows.append(curve.place)
            above = curve.place
        by = {p.threads: p for p in curve.points}
        none = page.Cell('<span class="soft">no core for the loader</span>')
        rows.append([curve.title, *(cell_of(by[n]) if n in by else none for n in counts)])
    summary = f'Predicted, and the bound that binds: {plural(len(curves), "curve")}'
    head = ['', *(plural(n, 'core') for n in counts)]
    return page.table(head, rows, summary)


def matrix(run):
    """What handing a line over takes, between each pair of CPUs."""
    rows = run.of('memory', what='pair', how='ping')
    between = {
        tuple(name.split('-')): ns
        for r in rows
        for name, ns in r.counters.items()
        if re.fullmatch(r'cpu\d+-cpu\d+', name)
    }
    if len(between) < 2:
        return ''  # the constants have it
    cpus = sorted({cpu for pair in between for cpu in pair}, key=lambda cpu: int(cpu[3:]))
    lines = [
        [a, *(figures(between.get((a, b)) or between.get((b, a)) or 0) for b in cpus)] for a in cpus
    ]
    return page.table(['ns', *cpus], lines, f'A line handed over: {len(between)} pairs of CPUs')


def html_of(model, curves):
    total, good = sums(curves)
    chosen = [c for c in curves if usual(c)]
    html = '<h3>Past the cores that were measured</h3>' + page.paragraph(
        'Predicted from what one core does, what the lines of other cores cost, and what all cores'
        ' together get of the L3 and of memory; bench/MODEL.md has the formulae. It knows of no'
        ' sockets, no hyper-threads and no clock that falls as more cores work.'
    )
    for missing in model.missing:
        html += page.paragraph(f'Missing: {missing}.', 'soft')
    panel = reload_panel(curves)
    # A row of two phases, each measured and predicted.
    html += page.plots([panel] if panel else [], most=4) + page.paragraph(MEANINGS, 'soft')
    html += table_of(chosen)
    if total:
        html += page.paragraph(OTHER_FIGURES, 'soft')
        html += page.table(
            COMPARED_HEAD,
            compared_rows(curves),
            f'Predicted beside measured: {good} of {total} within {percent(WITHIN)}',
            texts=2,
        )
    return (html + matrix(model.run)) + page.table(
        ['constant', 'measured'], [list(c) for c in constants(model)], 'What that rests on', texts=2
    )


def of(run):
    """(the curves, the section); where nothing can be predicted, no curves, and why."""
    try:
        model, curves = predictions(run)
        why = grounds.obstacles(run)
    except Trouble as trouble:
        why = [str(trouble)]
    if why:
        return [], page.paragraph(grounds.sentence(why)) + matrix(run)
    return curves, html_of(model, curves) if curves else ''

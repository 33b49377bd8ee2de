# SPDX-License-Identifier: MIT
"""How does throughput grow with cores, and with size? Plots, tables, and what bench/model predicts
of more cores."""
import re

from . import page, past, rivals
from .plot import LIMIT_STYLE, Axis, Plot, Series, Style
from .words import count, percent, rate

COLOURS = {
    'blocked': 0,
    'classic': 1,
    'split': 2,
    'libbloom-mutex': 3,
    'shard-mutex': 4,
    'shard-rwlock': 5,
    'textbook': 6,
    'lfht': 7,
}
OPS = {
    'hit': 'Lookups of keys that are there',
    'miss': 'Lookups of keys that are not',
    'insert': 'Inserts of new keys',
    'mixed': '95 lookups to 5 inserts',
    'zipf': 'Inserts of which most are duplicates (Zipf)',
    'duplicate': 'Inserts of which most are duplicates',
}
FITS = {'L2': 'in the L2', 'L3': 'in the L3', 'memory': 'in memory'}


def contender(r):
    """What a curve is: the set, and how it was asked."""
    return f'{r.get("set")}, batches of {r.get("batch")}' if r.get('batch') else str(r.get('set'))


def style(name):
    """The family's colour; another way to ask it has other dashes and another marker."""
    family = next((f for f in COLOURS if name.startswith(f)), None)
    colour = COLOURS.get(family, 6)
    variant = 4 if ', batches' in name else 3 if name != family else 0
    return Style(colour, (colour + variant) % 8, (colour + variant) % 8)


SHOWN_FIRST = (
    'blocked$',
    'blocked, batches of \\d+$',
    'blocked, predicted',
    'ideal',
    'split$',
    'libbloom-mutex$',
)


def rank(label):
    """Which curves to show first: weir's default kind, the ideal, and what a user has without
    weir."""
    found = (i for i, name in enumerate(SHOWN_FIRST) if re.match(name, label))
    return next(found, len(SHOWN_FIRST))


def million(r):
    """A point's y, and its repetitions' bounds."""
    return r.median / 1e6, r.low / 1e6, r.high / 1e6


def curves(results, x):
    """One series for each contender, over a parameter."""
    names = {}
    for r in results:
        names.setdefault(contender(r), []).append(r)
    return [
        Series(name, sorted((r.get(x), *million(r)) for r in of), style(name))
        for name, of in names.items()
    ]


def past_series(curve):
    """What is predicted: a curve's colour, dashed, without a mark that a measurement has."""
    name = contender(curve.one)
    points = [(p.threads, p.rate / 1e6) for p in curve.points]
    dashed = Style(style(name).colour, 2 if curve.one.get('batch') else 1)
    label = f'{name}, predicted{past.caveats(curve.points)}'
    return Series(label, points, dashed, marks=False)


def unique(results, param):
    return sorted({r.get(param) for r in results if r.get(param) is not None})


def usual_rate(results):
    rates = unique(results, 'rate')
    return 0.01 if 0.01 in rates or not rates else rates[0]


def sizes_of(results):
    return [f for f in FITS if any(r.get('fits') == f for r in results)] or [None]


def thread_panel(results, fits, asked, curves_past):
    of = [r for r in results if r.get('fits') == fits and r.get('rate') == asked]
    threads = unique(of, 'threads')
    if len(threads) < 2:
        return None  # nothing to go along the axis: the table has it
    series = curves(of, 'threads')
    best = max(
        (s for s in series if s.points[0][0] == 1), key=lambda s: s.points[0][1], default=None
    )
    if best:
        single = best.points[0][1]
        ideal = [(n, single * n) for n in threads]
        series.append(Series('ideal for the fastest', ideal, LIMIT_STYLE, marks=False))
    beyond = [past_series(c) for c in curves_past if any(c.one is r for r in of)]
    series += beyond
    shown = sorted({*threads, *(p[0] for s in beyond for p in s.points)})
    log = len(shown) > 2
    return Plot(
        f'{FITS.get(fits, "")} ({count(of[0].get("keys"))} keys), {rate(asked)}'.lstrip(),
        Axis(
            'threads',
            log=log,
            ticks=[(n, str(n)) for n in shown],
            low=0.8 if not log else shown[0] * 0.85,
            high=shown[-1] + 0.2 if not log else shown[-1] * 1.15,
        ),
        Axis('million keys a second', log=True),
        series,
    )


def thread_rows(results):
    """A row for each curve, a column for each number of threads, and what of linear the last one
    reaches."""
    threads = unique(results, 'threads')
    rows = {}
    for r in results:
        rows.setdefault((r.get('fits'), r.get('rate'), contender(r)), {})[r.get('threads')] = r
    table, above = [], None
    for (fits, asked, name), of in sorted(
        rows.items(),
        key=lambda item: (list(FITS).index(item[0][0]) if item[0][0] in FITS else 9, -item[0][1]),
    ):
        some = next(iter(of.values()))
        heading = f'{FITS.get(fits, fits)}, {count(some.get("keys"))} keys, {rate(asked)}'
        if heading != above:
            table.append(heading)
            above = heading
        first, last = of.get(1), of.get(threads[-1])
        linear = (
            percent(last.median / first.median / threads[-1])
            if first and last and threads[-1] > 1
            else ''
        )
        cells = [page.measured(of[n]) if n in of else '' for n in threads]
        spreads = [r.spread for r in of.values() if r.spread is not None]
        many = [linear] if len(threads) > 1 else []
        table.append(
            [name, *cells, *many, percent(max(spreads)) if spreads else 'n/a', *page.quality(some)]
        )
    head = (
        ['set']
        + [f'{n} thread{"s" if n > 1 else ""}' for n in threads]
        + (['of linear'] if len(threads) > 1 else [])
        + ['spread', 'bits/key', 'rate, measured of asked']
    )
    return head, table


def size_panels(results):
    panels = []
    for op in ('hit', 'insert'):
        of = [r for r in results if r.get('op') == op and r.get('rate') == usual_rate(results)]
        threads = unique(of, 'threads')
        of = [r for r in of if r.get('threads') == threads[-1]]
        sizes = unique(of, 'keys')
        if len(sizes) > 1:
            panels.append(
                Plot(
                    f'{OPS[op]}, {threads[-1]} threads',
                    Axis(
                        'keys in the set',
                        log=True,
                        ticks=[(n, count(n).replace(' ', '')) for n in sizes],
                    ),
                    Axis('million keys a second', log=True),
                    curves(of, 'keys'),
                )
            )
    return panels


def section(run):
    results = run.of('cores')
    if not results:
        return ''
    curves_past, past_html = ([], '') if run.one_cpu else past.of(run)
    asks = 'How fast is it?' if run.one_cpu else 'How does throughput grow with cores?'
    html = f'<h2 id="cores">{asks}</h2>'
    if not run.one_cpu:
        html += page.paragraph(
            'All threads together; the bars reach from the slowest to the fastest repetition.'
            ' The axis of speed is logarithmic.'
            + (' Dashes without marks are predicted, by bench/model.' if curves_past else ''),
            'soft',
        )
    html += page.meanings(rivals.meanings(unique(results, 'set')))
    for op, title in OPS.items():
        of = [r for r in results if r.get('op') == op]
        if not of:
            continue
        panels = [thread_panel(of, fits, usual_rate(of), curves_past) for fits in sizes_of(of)]
        html += f'<h3>{title}</h3>' + page.plots([p for p in panels if p], rank)
        head, rows = thread_rows(of)
        html += page.table(
            head, rows, f'The figures: {sum(not isinstance(r, str) for r in rows)} curves'
        )
    html += past_html
    panels = size_panels(results)
    if panels:
        html += (
            '<h3>By size</h3>'
            + page.paragraph(
                'The same figures over the number of keys; they are in the tables above.', 'soft'
            )
            + page.plots(panels, rank)
        )
    return html + page.commands(results, run.settings)

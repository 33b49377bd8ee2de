# SPDX-License-Identifier: MIT
"""Which kind and size: memory and time over the measured rate, and the kinds beside each other."""
import math

from . import page, rivals
from .bear import is_weir, kind_name
from .cores import unique
from .plot import Axis, Plot, Series, Style
from .questions import HEAD, grouped, row
from .uses import can
from .words import figures, rate, table

OPS = ('hit', 'miss', 'batch', 'insert', 'remove', 'count')
ABILITIES = ('inserts', 'removes', 'counts', 'grows')
HEAD_OF_KINDS = ['', 'can', 'bits/key', 'times the least', 'rate, measured of asked', *OPS]


LEAST = (
    'Times the least: bits a key over log2(1 / measured rate), which any filter needs. A dash: the'
    ' kind cannot, or this run did not ask.'
)


def overhead(r):
    """Bits a key over the least that any filter of the measured rate needs, log2(1 / rate): what
    compares kinds whose rates differ. '' where the rate is not known well."""
    measured = r.counters.get('fp_measured', 0)
    if not 0 < measured < 1 or r.counters.get('fp_interval', 0) > 0.1:
        return ''
    return f'{r.counters["bits_per_key"] / -math.log2(measured):.2f}'


def own_layout(r):
    """Of a kind with a choice of layouts, the one that weir would choose."""
    return not r.get('z') or r.counters.get('is_default')


def points(run, param):
    """(a rate or a size, {kind: {op: result}}) for those that were asked of most kinds."""
    asked = [
        r
        for r in run.of('choice')
        if r.get(param) is not None and r.counters.get('bits_per_key') and own_layout(r)
    ]
    order = list(grouped(run.of('choice'), kind_name))
    found = []
    for at, rs in grouped(asked, lambda r: r.get(param)).items():
        kinds = grouped(rs, kind_name)
        kinds = {name: {r.get('op'): r for r in kinds[name]} for name in order if name in kinds}
        found.append((at, kinds))
    most = max((len(kinds) for _, kinds in found), default=0)
    return sorted(
        (p for p in found if len(p[1]) > 1 and len(p[1]) >= most - 2),
        key=lambda p: p[0],
        reverse=param == 'rate',
    )


def named(param, at):
    return f'{rate(at)} asked' if param == 'rate' else f'{at} bits a key'


def abilities(r):
    """'inserts, removes, counts'; of what is not weir's nobody noted it."""
    if not is_weir(r):
        return ''
    return ', '.join(what for what in ABILITIES if can(r, what)) or 'is built once'


def facts(of):
    """Of a kind: what it can; memory, memory over the least, and rate."""
    first = next(iter(of.values()))
    bits, rates = page.quality(first)
    return [abilities(first), bits, overhead(first), rates]


def kinds_beside(run, param):
    """For the page: each kind's memory, rate and nanoseconds a key; '-' is what it cannot do, or
    was not asked."""
    rows = []
    for at, kinds in points(run, param):
        rows.append(named(param, at))
        for kind, of in kinds.items():
            times = [
                page.Cell(figures(1e9 / of[op].median) + page.marks(of[op].spread))
                if op in of
                else '-'
                for op in OPS
            ]
            rows.append([kind, *facts(of), *times])
    return page.table(HEAD_OF_KINDS, rows)


def text(run):
    """For a terminal: the same at the usual rate; '' where it was not asked."""
    kinds = dict(points(run, 'rate')).get(0.01)
    if not kinds:
        return ''
    rows = [
        [
            kind,
            *(
                figures(1e9 / of[op].median) + ('~' if of[op].unsteady else '')
                if op in of
                else '-'
                for op in OPS
            ),
            *facts(of),
        ]
        for kind, of in kinds.items()
    ]
    head = [f'nanoseconds a key, {named("rate", 0.01)}', *OPS, *HEAD_OF_KINDS[1:5]]
    return table(head, rows) + '\ntimes the least: bits/key over log2(1 / measured rate)\n'


SHOWN_FIRST = ('blocked, z=2', 'classic', 'fuse', 'cuckoo', 'growing')


def rank(kind):
    """Of weir's kinds one for each use; the others after them."""
    return SHOWN_FIRST.index(kind) if kind in SHOWN_FIRST else len(SHOWN_FIRST)


RATE_TICKS = [(10.0**-d, f'{figures(100 * 10.0 ** -d)}') for d in range(1, 8)]


def section(run):
    results = [r for r in run.of('choice') if r.counters.get('bits_per_key')]
    if not results:
        return ''
    known = [r for r in results if r.counters.get('fp_measured', 0) > 0]
    kinds = list(grouped(results, kind_name))
    styles = {
        name: Style(i % 8, (i + i // 8) % 8, (i + i // 8) % 8) for i, name in enumerate(kinds)
    }

    def series(of, x, y):
        return [
            Series(name, sorted((x(r), *y(r)) for r in rs), styles[name])
            for name, rs in grouped(of, kind_name).items()
        ]

    def nanoseconds_each(r):
        return 1e9 / r.median, 1e9 / r.high, 1e9 / r.low

    rates = [r.counters['fp_measured'] for r in known]
    rate_ticks = [t for t in RATE_TICKS if rates and min(rates) / 3 < t[0] < max(rates) * 3]
    one = [r for r in known if r.get('op') == (unique(known, 'op') or [''])[0]]
    panels = [
        Plot(
            'memory for a rate',
            Axis('measured false-positive rate, %', log=True, ticks=rate_ticks),
            Axis('bits a key'),
            series(
                one, lambda r: r.counters['fp_measured'], lambda r: (r.counters['bits_per_key'],)
            ),
        )
    ]
    for op in unique(known, 'op'):
        timed = [r for r in known if r.get('op') == op and r.unit == 'keys/s']
        top = max((nanoseconds_each(r)[0] for r in timed), default=1)
        panels.append(
            Plot(
                f'time for a rate: {op}',
                Axis('measured false-positive rate, %', log=True, ticks=rate_ticks),
                # A bar that reaches beyond would flatten all the rest.
                Axis('nanoseconds a key', low=0, high=1.2 * top),
                series(timed, lambda r: r.counters['fp_measured'], nanoseconds_each),
            )
        )
    html = '<h2 id="choice">Which kind and size for my set?</h2>'
    html += page.paragraph(
        'On one CPU. Further left is the better rate, further down the less memory or time.', 'soft'
    )
    html += page.meanings(rivals.meanings(unique(results, 'kind')))
    html += page.plots(panels, rank)
    for param, title in (('rate', 'At equal rate'), ('bits', 'At equal memory')):
        beside = kinds_beside(run, param)
        if beside:
            html += f'<h3>{title}: nanoseconds a key</h3>'
            html += page.paragraph(LEAST, 'soft') + beside
        of = sorted(
            (r for r in results if r.get(param) is not None),
            key=lambda r: (
                -r.get(param) if param == 'rate' else r.get(param),
                kinds.index(kind_name(r)),
            ),
        )
        html += page.table(HEAD, [row(r) for r in of], f'{title}: {len(of)} figures') if of else ''
    return html + page.commands(results, run.settings)

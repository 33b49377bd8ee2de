# SPDX-License-Identifier: MIT
"""What figures/model.py predicts of a run: its curves, beside what was measured, and why where the
two differ."""
from dataclasses import dataclass

from .model import COUNTS, TRANSFERS, WITHIN, Model, Point, rate_of
from .run import median
from .words import count, figures, nanoseconds, percent, rate, table, value

OURS = ('blocked', 'blocked-inline')  # one line a key, no lock: what the formulae are about
CHANGED = 1.5  # a handoff's time, from one row to another
PLACES = {'L2': 'in the L2', 'L3': 'in the L3', 'memory': 'in memory'}
TITLES = {
    'hit': 'lookups',
    'miss': 'lookups of absent keys',
    'insert': 'inserts',
    'mixed': '95 lookups to 5 inserts',
    'zipf': 'duplicates (Zipf)',
}


@dataclass
class Compared:
    """A measured row beside what the model has for it."""

    row: object
    point: Point
    ratios: list  # predicted over measured, a repetition each where the run has them
    why: str  # the prediction is further off than WITHIN; '' where it is not

    @property
    def ratio(self):
        return median(self.ratios)


@dataclass
class Curve:
    one: object  # the result on one thread
    points: list
    compared: list

    @property
    def title(self):
        r = self.one
        if r.question == 'reload':
            how = {'hit': 'lookups', 'batch': 'batched lookups', 'insert': 'inserts'}[r.get('op')]
            return f'{how} during a reload ({r.get("phase")}, {r.get("flavor")})'
        batch = f' in batches of {r.get("batch")}' if r.get('batch') else ''
        inlined = ', inlined' if r.get('set') == 'blocked-inline' else ''
        return f'{TITLES[r.get("op")]}{batch}{inlined}'

    @property
    def place(self):
        r = self.one
        where = PLACES.get(r.get('fits'), '')
        asked = f', {rate(r.get("rate"))}' if r.get('rate') else ''
        return f'{where} ({count(r.get("keys"))} keys){asked}'.lstrip()


def same_curve(r, one):
    return {**r.params, 'threads': 1} == one.params and r.question == one.question


def wide(r):
    return max(r.values) / min(r.values) > 1 + WITHIN


def why_not(one, row, point, ratios):
    """Why a prediction may be off, from the figures themselves; '' where it is not."""
    if abs(median(ratios) - 1) <= WITHIN:
        return ''
    if one.contended or row.contended:
        return 'shared CPU: its threads did not have a CPU each to themselves'
    if point.without:
        return f'the run lacks {", ".join(point.without)}'
    low, high = min(ratios), max(ratios)
    if low <= 1 + WITHIN and high >= 1 - WITHIN:
        return f'unsteady: {low:.2f} to {high:.2f} from one repetition to the next'
    if not row.samples.get('alone_per_second') and (wide(one) or wide(row)):
        a, b = (f'{value(r.low, r.unit)} to {value(r.high, r.unit)}' for r in (one, row))
        return f'unsteady: {a} on one thread, {b} on {row.get("threads")}, minutes apart'
    if point.handoffs and None not in point.handoffs:
        then, there = point.handoffs
        if not 1 / CHANGED < then / there < CHANGED:
            return (
                f'the way between the cores changed: a handoff of {nanoseconds(then)}, and of'
                f' {nanoseconds(there)} where its price was measured'
            )
    return 'not explained: more happens there than the model knows'


def compared_with(model, one, row):
    n = row.get('threads')
    if one.question == 'reload':
        points = [model.readers(one, n, row)]
        ratios = [points[0].rate / row.median]
    else:
        points = [model.at(one, n, row, i) for i in range(len(row.values))]
        ratios = [p.rate / v for p, v in zip(points, row.values)]
    point = points[len(points) // 2]
    point.rate = median(ratios) * row.median
    return Compared(row, point, ratios, why_not(one, row, point, ratios))


def curve_of(model, one, rows):
    """@rows: those measured on more threads."""
    reload = one.question == 'reload'
    compared = [compared_with(model, one, r) for r in rows if r.get('threads') <= model.cores]
    counts = sorted({*COUNTS, *(c.row.get('threads') for c in compared)})
    if reload:
        # there the loader has no core, which is how a machine is, not how many it has
        counts = [n for n in counts if n == 1 or n != model.run.machine['cpus_allowed']]
    points = [model.readers(one, n) if reload else model.at(one, n) for n in counts]
    return Curve(one, points, compared)


def wanted(r):
    if r.question == 'cores':
        return r.get('set') in OURS and r.get('op') in TITLES and r.unit == 'keys/s'
    return r.question == 'reload' and r.unit == 'keys/s' and r.counters.get('bytes')


def predictions(run):
    """(the model, its curves): one for each result on one thread."""
    model = Model(run)
    results = [r for r in run.results if wanted(r)]
    ones = [r for r in results if r.get('threads') == 1]
    several = sorted((r for r in results if r.get('threads') > 1), key=lambda r: r.get('threads'))
    curves = [
        curve_of(model, one, [r for r in several if rate_of(run, r) and same_curve(r, one)])
        for one in ones
    ]
    return model, curves


def constants(model):
    """(what, its value in words) for all that the predictions rest on."""
    run = model.run
    for (what, fits), (one, share) in model.limits.items():
        more = f'each further core takes {percent(share or 0)}'
        more = 'on all, each to itself, not measured' if share is None else more
        names = {'lines': 'random lines read', 'fetch-or': "random locked or's"}
        yield f'{names[what]} {PLACES[fits]}', f'{value(one, "keys/s")} on one core, {more}'
    for r in run.of('memory', what='pair'):
        c = r.counters
        if 'median_ns' in c:
            what = 'a line handed over' if r.get('how') == 'ping' else f'added to {r.get("how")}'
            yield (
                f'{what}, between two CPUs',
                f'{nanoseconds(c["median_ns"])} ({figures(c["least_ns"])} to'
                f' {figures(c["most_ns"])} of {c["pairs"]:.0f} pairs)',
            )
    for (how, fits), prices in model.prices.items():
        each = ', '.join(
            f'{percent(p.share)} of a handoff of {nanoseconds(p.handoff_ns)} on {p.threads} cores'
            for p in prices
        )
        yield f'a line of another core, {how} {PLACES[fits]}', each


SHORT = {TRANSFERS: 'l', 'L3 bandwidth': 'b', 'memory bandwidth': 'b'}


def shown(point):
    return f'{figures(point.rate / 1e6)}{SHORT.get(point.binds, "")}'


def sums(curves):
    """How many rows the model was compared with, and how many it has within WITHIN."""
    compared = [c for curve in curves for c in curve.compared]
    return len(compared), sum(not c.why for c in compared)


def compared_rows(curves):
    return [
        [
            curve.title,
            curve.place,
            str(c.row.get('threads')),
            value(c.point.rate, 'keys/s'),
            value(c.row.median, 'keys/s'),
            f'{c.ratio:.2f}',
            c.why,
        ]
        for curve in curves
        for c in curve.compared
    ]


COMPARED_HEAD = ['', 'set', 'threads', 'predicted', 'measured', 'ratio', 'why']


def text(run, everything):
    """For a terminal."""
    model, curves = predictions(run)
    chosen = [
        c
        for c in curves
        if everything
        or (c.one.get('set', 'blocked') == 'blocked' and c.one.get('rate', 0.01) == 0.01)
    ]
    out = [f'{run.machine["cpu"]}, {model.cores} cores measured']
    out += [f'  {what}: {words}' for what, words in constants(model)]
    out += [f'missing: {m}' for m in model.missing]
    counts = sorted({p.threads for c in chosen for p in c.points})
    if chosen:
        head = ['million keys a second', 'set', *map(str, counts)]
        rows = []
        for c in chosen:
            by = {p.threads: p for p in c.points}
            rows.append(
                [c.title, c.place, *(shown(by[n]) if n in by else '' for n in counts)]
            )
        out += ['', table(head, rows), 'l: bound by line transfers, b: by bandwidth, else: by core']
    all_of_them, good = sums(curves)
    if all_of_them:
        out += [
            '',
            f'Of {all_of_them} rows measured on more than one thread {good} are within'
            f' {percent(WITHIN)} of the prediction:',
            table(COMPARED_HEAD, compared_rows(chosen)),
        ]
    return '\n'.join(out)


def document(run):
    """For other programs."""
    model, curves = predictions(run)
    return {
        'cores': model.cores,
        'missing': model.missing,
        'limits': [
            {'what': what, 'fits': fits, 'one_per_second': one, 'share': share}
            for (what, fits), (one, share) in model.limits.items()
        ],
        'prices': [
            {'how': how, 'fits': fits, **vars(p)}
            for (how, fits), prices in model.prices.items()
            for p in prices
        ],
        'curves': [
            {
                'question': c.one.question,
                'params': {k: v for k, v in c.one.params.items() if k != 'threads'},
                'predicted': [
                    {'threads': p.threads, 'per_second': p.rate, 'binds': p.binds} for p in c.points
                ],
                'compared': [
                    {
                        'threads': x.row.get('threads'),
                        'predicted': x.point.rate,
                        'measured': x.row.median,
                        'ratio': x.ratio,
                        'why': x.why,
                    }
                    for x in c.compared
                ],
            }
            for c in curves
        ],
    }

# SPDX-License-Identifier: MIT
"""What figures/model.py predicts of a run: its curves, beside what was measured, and why where the
two differ."""
from dataclasses import dataclass

from .constants import PLACES, rate_of
from .model import COUNTS, WITHIN, Model, Point
from .run import median
from .words import count, figures, nanoseconds, rate, value

OURS = ('blocked', 'blocked-inline')  # one line a key, no lock: what the formulae are about
CHANGED = 1.5  # a handoff's time, from one row to another
TITLES = {
    'hit': 'lookups',
    'miss': 'lookups of absent keys',
    'insert': 'inserts',
    'mixed': '95 lookups to 5 inserts',
    'zipf': 'duplicates (Zipf)',
}
RELOADS = {
    'hit': 'lookups',
    'hit_of_16': 'lookups, 16 a section,',
    'batch': 'batched lookups',
    'insert': 'inserts',
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
            pace = f', pace {figures(r.get("pace"))}' if r.get('pace') else ''
            by = f'{r.get("phase")}, {r.get("flavor")}{pace}'
            return f'{RELOADS[r.get("op")]} during a reload ({by})'
        batch = f' in batches of {r.get("batch")}' if r.get('batch') else ''
        inlined = ', inlined' if r.get('set') == 'blocked-inline' else ''
        return f'{TITLES[r.get("op")]}{batch}{inlined}'

    @property
    def place(self):
        r = self.one
        where = PLACES.get(r.get('fits'), '')
        asked = f', {rate(r.get("rate"))}' if r.get('rate') else ''
        return f'{where} ({count(r.get("keys"))} keys){asked}'.lstrip()

    @property
    def without(self):
        """What the run lacks for it; so its figures on several cores are upper bounds."""
        return list({lack.name: lack for p in self.points for lack in p.without}.values())


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
    if point.without and median(ratios) > 1:
        return '; '.join(lack.why for lack in point.without)
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
    known = r.question == 'reload' and r.get('op') in RELOADS
    return known and r.unit == 'keys/s' and r.counters.get('bytes')


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


def sums(curves):
    """How many rows the model was compared with, and how many it has within WITHIN."""
    compared = [c for curve in curves for c in curve.compared]
    return len(compared), sum(not c.why for c in compared)

# SPDX-License-Identifier: MIT
"""What bench/model has of a run, in words: for a terminal, and for other programs."""
from . import grounds
from .constants import HOWS, LIMITS, PLACES
from .model import CORE, TRANSFERS, WITHIN
from .predicted import predictions, sums
from .words import figures, nanoseconds, percent, plural, table, value

MARKS = {
    '<': 'an upper bound, for want of what is missing above',
    'l': 'line transfers bind it',
    'b': 'bandwidth binds it; where none of these two does, the core',
    's': 'a straight line: the cores measured show no limit of bandwidth, which more may meet',
    '~': 'of a row that spreads by more than 10 %, or a limit that is within noise',
    '*': 'of a row whose threads shared a CPU',
    '-': 'the loader would have no core to itself, as below',
}
OTHER_FIGURES = (
    'What is predicted beside a measured row rests on what was measured in turn with it (a handoff,'
    ' a step of arithmetic, one thread alone), the figures for more cores on the medians of the'
    ' whole run: the two differ where the machine changed in between.'
)
VISITS = {
    'or': 'a locked or',
    'mixed': 'a key of 95 lookups to 5 inserts',
    'insert': 'an insert',
    'batch': 'an insert of a batch',
}


def limit_words(model, limit):
    one = f'{value(limit.one, "keys/s")} on one core'
    if not limit.shares:
        return f'{one}, on all, each to itself, not measured'
    if not limit.share:
        return f'{one}, no limit shows on {plural(limit.rows[-1].get("threads"), "core")}'
    return f'{one}, each further core takes {percent(limit.share)}{"~" if limit.noisy else ""}'


def pair_words(how, c):
    """(what, its value): of a pair of CPUs, or the median of several."""
    several = c.get('pairs', 1) > 1 and 'least_ns' in c and 'most_ns' in c
    between = (
        f' ({figures(c["least_ns"])} to {figures(c["most_ns"])} of {c["pairs"]:.0f} pairs)'
        if several
        else ''
    )
    cpus = 'two CPUs' if several else 'the two CPUs'
    ns = nanoseconds(c['median_ns'])
    if how == 'ping':
        return f'a line handed over between {cpus}', f'{ns}{between}'
    what = f'{VISITS.get(how, how)} where half of the lines were last written by the other CPU'
    return what, f'costs {ns} more than on lines of its own{between}'


def constants(model):
    """(what, its value in words) for all that the predictions rest on."""
    for (what, fits), limit in model.limits.items():
        yield f'{LIMITS[what]} {PLACES[fits]}', limit_words(model, limit)
    for how, counters in model.pairs:
        yield pair_words(how, counters)
    for (how, fits), prices in model.prices.items():
        each = ', '.join(
            f'{nanoseconds(p.share * p.handoff_ns)}{"~" if p.row.unsteady else ""} on {p.threads}'
            f' cores ({percent(p.share)} of a handoff of {nanoseconds(p.handoff_ns)})'
            for p in prices
        )
        yield f'a line that another core wrote last, {HOWS[how]} {PLACES[fits]}', each


def noise_of(r):
    """As bench/report --text has it; of a row or of a point."""
    spreads = r.noisy if hasattr(r, 'noisy') else r.unsteady
    return f'{"~" if spreads else ""}{"*" if r.contended else ""}'


def shown(point):
    letter = {CORE: '', TRANSFERS: 'l'}.get(point.binds, 'b')
    straight = 's' if point.straight else ''
    below = '<' if point.unbounded else ''
    return f'{below}{figures(point.rate / 1e6)}{letter}{straight}{noise_of(point)}'


def compared_rows(curves):
    return [
        [
            curve.title,
            curve.place,
            str(c.row.get('threads')),
            f'{value(c.point.rate, "keys/s")}{noise_of(c.point)}',
            f'{value(c.row.median, "keys/s")}{noise_of(c.row)}',
            f'{c.ratio:.2f}',
            c.why,
        ]
        for curve in curves
        for c in curve.compared
    ]


COMPARED_HEAD = ['', 'set', 'threads', 'predicted', 'measured', 'ratio', 'why']


def within(curves):
    total, good = sums(curves)
    return f'Of {plural(total, "row")} measured on more than one thread {good}'


def curve_table(curves):
    """Each curve over the numbers of cores, and what its marks mean."""
    counts = sorted({p.threads for c in curves for p in c.points})
    rows = []
    for c in curves:
        by = {p.threads: p for p in c.points}
        rows.append([c.title, c.place, *(shown(by[n]) if n in by else '-' for n in counts)])
    head = ['million keys a second', 'set', *map(str, counts)]
    left = sum(max(len(row[i]) for row in [head, *rows]) + 2 for i in (0, 1))
    over = 'cores; of reloads: readers, and a core more for the loader'
    cells = ''.join(cell for row in rows for cell in row[2:])
    used = [f'{mark}: {words}' for mark, words in MARKS.items() if mark in cells]
    return [f'{"":{left}}{over}', table(head, rows), *used]


def check_table(curves, chosen):
    """The rows of the @chosen curves beside what is predicted of them, and how many of those there
    are."""
    all_of_them, of = sums(curves)[0], sums(chosen)[0]
    if not all_of_them:
        return []
    share = f'are within {percent(WITHIN)} of the prediction'
    if all_of_them == of:
        out = [f'{within(curves)} {share}:']
    else:
        out = [f'{within(curves)} {share}; of the {of} shown (--all: all) {sums(chosen)[1]}:']
    return ['', *out, table(COMPARED_HEAD, compared_rows(chosen)), OTHER_FIGURES]


def borne(run):
    """The model, the curves that the run bears, and why it bears none."""
    model, curves = predictions(run)
    why = grounds.obstacles(run)
    return model, [] if why else curves, why


def text(run, everything):
    """For a terminal."""
    model, curves, why = borne(run)
    chosen = [
        c
        for c in curves
        if everything
        or (c.one.get('set', 'blocked') == 'blocked' and c.one.get('rate', 0.01) == 0.01)
    ]
    out = [f'{run.machine["cpu"]}, {plural(model.cores, "core")} measured']
    out += [f'  {what}: {words}' for what, words in constants(model)]
    if why:
        return '\n'.join([*out, '', grounds.sentence(why)])
    out += [f'missing: {m}' for m in model.missing]
    if chosen:
        out += ['', *curve_table(chosen)]
    return '\n'.join(out + check_table(curves, chosen))


def document(run):
    """For other programs."""
    model, curves, why = borne(run)
    return {
        'cores': model.cores,
        'not_predicted': why,
        'missing': [] if why else model.missing,
        'limits': [
            {
                'what': what,
                'fits': fits,
                'one_per_second': limit.one,
                'share': limit.share,
                'noisy': limit.noisy,
            }
            for (what, fits), limit in model.limits.items()
        ],
        'prices': [
            {
                'how': how,
                'fits': fits,
                'threads': p.threads,
                'share': p.share,
                'handoff_ns': p.handoff_ns,
                'noisy': p.row.unsteady,
            }
            for (how, fits), prices in model.prices.items()
            for p in prices
        ],
        'curves': [curve_document(c) for c in curves],
    }


def curve_document(curve):
    return {
        'question': curve.one.question,
        'params': {k: v for k, v in curve.one.params.items() if k != 'threads'},
        'without': [lack.sentence for lack in curve.without],
        'predicted': [
            {
                'threads': p.threads,
                'per_second': p.rate,
                'binds': p.binds,
                'upper_bound': p.unbounded,
                'straight': p.straight,
                'noisy': p.noisy,
                'shared_cpu': p.contended,
            }
            for p in curve.points
        ],
        'compared': [
            {
                'threads': c.row.get('threads'),
                'predicted': c.point.rate,
                'measured': c.row.median,
                'ratio': c.ratio,
                'why': c.why,
                'noisy': c.point.noisy or c.row.unsteady,
            }
            for c in curve.compared
        ],
    }

# SPDX-License-Identifier: MIT
"""The operator's own set: its name and size, and its cost at its size and at ten times that."""
from .advice import of_nearest, words_of
from .bear import quickest
from .words import byte_count, count, value

TIMES = (1, 10)
NO_FIGURE = 'not measured: the CPUs were busy'
SPREAD_BEYOND = 0.5  # the spread from which on a median is no figure


def own_set(run):
    """(name, keys) of the operator's set, the first whose cost was asked; (None, None)."""
    for r in run.of('cost'):
        if r.counters.get('keys'):
            return r.get('file'), r.counters['keys']
    return None, None


def speed(r):
    """A median; ~: it spreads, *: it shared a CPU."""
    mark = '*' if r.contended else ''
    return f'{"~" if r.unsteady else ""}{value(r.median, r.unit)}{mark}'


def disturbed(r):
    """Does a result say more about other programs than about weir?"""
    return r.contended or (r.spread or 0) > SPREAD_BEYOND


def best_of(results):
    """The speed of the fastest that nothing disturbed; NO_FIGURE if there is none."""
    calm = [r for r in results if not disturbed(r)]
    return speed(max(calm, key=lambda r: r.median)) if calm else NO_FIGURE


def lookups(run, keys):
    """On one core, one key a call, at the measured size nearest to so many keys."""
    rows = run.of('cores', set='blocked', rate=0.01, op='hit', threads=1, batch=0)
    of = of_nearest(rows, keys)
    if not of:
        return ''
    best = best_of(of)
    return best if best == NO_FIGURE else f'{best} at {count(of[0].get("keys"))} keys'


def steps(run, name):
    """{column: the quickest result}; of a load from a file the one that reads the disk."""
    of = [r for r in run.of('cost', file=name) if r.get('form', 'plain') == 'plain']
    found = quickest(of)
    columns = {'build': found.get(('build', None)), 'save': found.get(('save', None))}
    for what in ('load', 'map'):
        columns[what] = found.get((what, 'cold')) or found.get((what, 'warm'))
    return {column: r for column, r in columns.items() if r}


def cost(run):
    """(text, (head, rows)): memory grows with the keys, and so does each time, as far as it is
    bound by memory and disk; lookups were measured at other sizes too. None: not asked."""
    name, keys = own_set(run)
    of = steps(run, name) if keys else {}
    if not of:
        return None
    sizes = [r.counters['bytes'] for r in run.of('cost', file=name) if r.counters.get('bytes')
             and r.get('form', 'plain') == 'plain']
    memory = max(sizes, default=0)
    asked = {n: lookups(run, n * keys) for n in TIMES}
    head = ['keys', *(['memory', 'during a reload'] if memory else []), *of]
    head += ['lookups a core'] if asked[1] else []
    rows = [
        [
            count(n * keys),
            *([byte_count(n * memory), byte_count(2 * n * memory)] if memory else []),
            *(words_of(r, n) for r in of.values()),
            *([asked[n]] if asked[1] else []),
        ]
        for n in TIMES
    ]
    nearest = ', with lookups at the nearest measured size' if asked[1] else ''
    return (
        f'your set {name}, measured; and ten times as many keys, calculated as ten times the memory'
        f' and the time{nearest}'
    ), (head, rows)

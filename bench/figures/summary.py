# SPDX-License-Identifier: MIT
"""A run for a terminal: the throughput of each set at 1 %, with its memory and its measured
rate."""
from .cores import FITS, contender, unique, usual_rate
from .page import quality
from .rivals import meanings
from .words import figures, table


def entry(r):
    """Million keys a second; ~ marks a spread above 10 %, * a shared CPU."""
    return f'{figures(r.median / 1e6)}{"~" if r.unsteady else ""}{"*" if r.contended else ""}'


def throughput(run):
    results = [
        r
        for r in run.of('cores')
        if r.get('op') in ('hit', 'insert') and r.get('rate') == usual_rate(run.of('cores'))
    ]
    if not results:
        return ''
    threads = unique(results, 'threads')
    columns = [
        (f, n)
        for f in FITS
        for n in sorted({threads[0], threads[-1]})
        if any(r.get('fits') == f for r in results)
    ]
    rows = {}
    for r in results:
        rows.setdefault((r.get('op'), contender(r)), {})[r.get('fits'), r.get('threads')] = r
    lines = [
        [
            f'{op} {name}',
            *(entry(of[c]) if c in of else '' for c in columns),
            *quality(next(iter(of.values()))),
        ]
        for (op, name), of in sorted(rows.items())
    ]
    head = [
        'million keys a second',
        *(f'{f}, {n} thr.' for f, n in columns),
        'bits/key',
        'rate, measured of asked',
    ]
    names = meanings(sorted(unique(results, 'set')))
    explained = ''.join(f'{line}\n' for line in names.split('; ') if line)
    return table(head, lines) + f'\n~ spread above 10 %, * shared CPU\n{explained}'

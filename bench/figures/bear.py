# SPDX-License-Identifier: MIT
"""What results bear: a difference is called one only if the repetitions of the two sides do not
overlap."""
from .run import median, spread


def apart(a, b):
    """Do all repetitions of one lie beyond all of the other?"""
    return a.low > b.high or b.low > a.high


def is_weir(r):
    """Question 3 marks weir's kinds; elsewhere a name tells them from what they are beside."""
    name = str(r.get('set', r.get('kind', 'blocked')))
    return r.counters.get('weir') or name.startswith(('blocked', 'classic'))


def rate_ratios(run):
    """Measured over asked rates of weir's kinds, where enough absent keys were asked."""
    return [
        r.counters['fp_measured'] / r.counters['fp_asked']
        for r in run.results
        if r.counters.get('fp_asked')
        and r.counters.get('fp_measured') is not None
        and r.counters.get('fp_interval', 0) < 0.1
        and is_weir(r)
    ]


def pick(results, **params):
    """The one of most threads, of those whose threads had a CPU each if there are any."""
    of = [r for r in results if all(r.get(k) == v for k, v in params.items())]
    free = [r for r in of if not r.contended]
    return max(free or of, key=lambda r: r.get('threads', 1), default=None)


def kind_name(r):
    return f'{r.get("kind")}, z={r.get("z")}' if r.get('z') else str(r.get('kind'))


def quickest(results):
    """Of the figures of one file's cost: for each step, (what, cache), the quickest way."""
    chosen = {}
    for r in results:
        step = r.get('what'), r.get('cache')
        best = chosen.get(step)
        if best is None or (r.median > best.median) == (r.better == 'higher'):
            chosen[step] = r
    return chosen


def of_calm(r):
    return r.counters['of_calm']


def costly(r):
    """Do readers keep less than all in every repetition, and by more than those differ?"""
    shares = r.samples['of_calm']
    return max(shares) < 1 and 1 - median(shares) > (spread(shares) or 0)


def time_lost(r):
    """What one reload takes of each reader's time, in nanoseconds: by the counter, which runs of
    older versions lack."""
    counted = r.counters.get('reader_ms')
    if counted is not None:
        return counted * 1e6
    return (1 - of_calm(r)) * r.counters.get('reload_seconds', 0) * 1e9


def during_reloads(run, alone, *ops, paced=False):
    """The results of these operations: the loader has a CPU to itself, or shares one; it works
    without a pause, or at a pace."""
    cpus = run.machine.get('cpus_allowed', 0)
    return [
        r
        for r in run.of('reload')
        if 'of_calm' in r.samples
        and r.get('op') in ops
        and (r.get('threads', 1) < cpus) == alone
        and bool(r.get('pace')) == paced
    ]

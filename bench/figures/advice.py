# SPDX-License-Identifier: MIT
"""The choice among weir's own kinds and settings, where the results bear a difference: a kind for
each use, the batch, the pages."""
import math

from .bear import apart
from .uses import for_uses
from .words import count, nanoseconds, value

FASTER = 1.1  # what a batch or other pages must gain


def words_of(r, times=1):
    """'5.8 ms', or of several threads '5.8 ms on 2 CPUs'; of a set so many times as large."""
    keys = r.counters.get('keys')
    if r.unit == 'ns':
        text = nanoseconds(times * r.median)
    else:
        text = nanoseconds(times * 1e9 * keys / r.median) if keys else value(r.median, r.unit)
    return f'{text} on {r.get("threads")} CPUs' if r.get('threads', 1) > 1 else text


def lookups_in(run):
    wanted = ('batch', 'pages')
    return [r for r in run.of('memory') if r.get('what') in wanted and r.get('op', 'hit') == 'hit']


def of_nearest(results, keys):
    """Of one size: the nearest to the operator's."""
    sizes = {r.get('keys') for r in results if r.get('keys')}
    if not sizes:
        return []
    size = min(sizes, key=lambda n: abs(math.log(n / keys)) if keys else n)
    return [r for r in results if r.get('keys') == size]


def enough_of(run, keys):
    """Of batches of lookups in a set of so many keys, on the pages that are best there: the best,
    the smallest within 3 % of it, and what both are set beside: one key a call, or else the
    smallest."""
    of = [r for r in lookups_in(run) if r.get('keys') == keys]
    batched = [r for r in of if r.get('batch')]
    best = max(batched, key=lambda r: r.median)
    of, batched = (
        [r for r in rs if r.get('pages') == best.get('pages')] for rs in (of, batched)
    )
    near = [r for r in batched if r.median >= 0.97 * best.median]
    one = next((r for r in of if r.get('batch') == 0), None)
    one = one or min(batched, key=lambda r: r.get('batch'))
    return best, min(near, key=lambda r: r.get('batch')), one


def one_by_one(r):
    return f'batches of {r.get("batch")}' if r.get('batch') else 'one key a call'


def batch(run, keys):
    """The smallest batch within 3 % of the best, if it beats one key a call."""
    of = of_nearest([r for r in lookups_in(run) if r.get('batch')], keys)
    if not of:
        return
    _, enough, one = enough_of(run, of[0].get('keys'))
    if one is enough or not apart(enough, one) or enough.median < FASTER * one.median:
        return
    yield (
        f'lookups in batches of {enough.get("batch")} for'
        f' {enough.median / one.median:.1f} times the speed of {one_by_one(one)}'
        f' ({at_size(enough)})'
    )


def at_size(r):
    return f'{count(r.get("keys"))} keys'


def pages(run, keys):
    """Huge pages, which are weir's default, or small ones: whichever is sure to win."""
    of = of_nearest([r for r in lookups_in(run) if r.get('pages')], keys)
    huge = {r.get('batch'): r for r in of if str(r.get('pages')).startswith('huge')}
    small = {r.get('batch'): r for r in of if not str(r.get('pages')).startswith('huge')}
    both = [(huge[b], small[b]) for b in huge if b in small and not huge[b].contended]
    gains = [h.median / s.median for h, s in both if apart(h, s)]
    if len(gains) <= len(both) / 2:
        return
    size = at_size(both[0][0])
    if min(gains) > FASTER:
        more = 100 * (max(gains) - 1)
        yield f'huge pages, the default, for up to {more:.0f} % more speed ({size})'
    elif max(gains) < 1 / FASTER:
        yield f'WEIR_NO_HUGE_PAGES for up to {100 * (1 / min(gains) - 1):.0f} % more speed ({size})'


def advice(run, keys, rate=None):
    """(text, (head, rows) or None): a kind for each use, then settings; None if no choice was
    measured."""
    table = for_uses(run, keys, rate)
    hints = [*batch(run, keys), *pages(run, keys)]
    if not table and any(r.question == 'choice' for r in run.left_out):
        hints.insert(0, 'the default kind was not measured: left out for lack of time')
    if not table and not hints:
        words = 'the defaults: no other choice differs beyond noise'
        return (words, None) if run.of('choice') + run.of('memory') else None
    parts = [table[0]] if table else []
    return '; '.join(parts + hints), table[1] if table else None

# SPDX-License-Identifier: MIT
"""What to choose of what weir offers, where the results bear a difference: the kind, the words a
key, the batch, the pages."""
import math

from .bear import apart, is_weir
from .words import count, nanoseconds, value

MORE = 0.05  # a difference in memory or time that is worth a word
FASTER = 1.1  # what a batch or other pages must gain


def words_of(r):
    """'5.8 ms', or for what runs on several threads '5.8 ms on 2 CPUs'."""
    keys = r.counters.get('keys')
    if r.unit == 'ns':
        text = nanoseconds(r.median)
    else:
        text = nanoseconds(1e9 * keys / r.median) if keys else value(r.median, r.unit)
    return f'{text} on {r.get("threads")} CPUs' if r.get('threads', 1) > 1 else text


def name_of(r):
    return f'z = {r.get("z")}' if r.get('z') else str(r.get('kind'))


def beside(r, usual):
    """'z = 1 for lookups 20 % faster and 18 % more memory'; '' if nothing speaks for it."""
    time = usual.median / r.median if apart(r, usual) else 1.0
    room = r.counters['bits_per_key'] / usual.counters['bits_per_key']
    if time > 1 - MORE and room > 1 - MORE:
        return ''
    parts = []
    for ratio, more, less in ((room, 'more memory', 'less memory'), (time, 'slower', 'faster')):
        if ratio >= 1.5:
            parts.append(f'{ratio:.1f} times the {"memory" if "memory" in more else "time a key"}')
        elif abs(ratio - 1) > MORE:
            parts.append(f'{100 * abs(ratio - 1):.0f} % {more if ratio > 1 else less}')
    return f'{name_of(r)} for {" and ".join(parts)}'


def kinds(run):
    """The default, and each other kind and z that is smaller or faster than it."""
    of = [
        r
        for r in run.of('choice', rate=0.01, op='miss')
        if is_weir(r) and r.counters.get('bits_per_key')
    ]
    usual = next((r for r in of if r.counters.get('is_default')), None)
    if not usual:
        return
    yield f'{usual.get("kind")} with z = {usual.get("z")} words a key, the default at 1 %'
    for r in of:
        if r is not usual and (words := beside(r, usual)):
            yield words


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


def advice(run, keys):
    """What to choose, part by part; nothing where no choice was measured."""
    found = [*kinds(run), *batch(run, keys), *pages(run, keys)]
    if found or not run.of('choice') + run.of('memory'):
        return found
    return ['the defaults: no other choice differs beyond noise']

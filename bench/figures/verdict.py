# SPDX-License-Identifier: MIT
"""The verdict: at most six answers, those an operator needs before deploying. Of kinds and settings
only weir's own are named, and only where the results bear a difference. All else is among the
findings."""
from typing import NamedTuple

from .advice import advice, of_nearest
from .bear import costly, during_reloads, rate_ratios, time_lost
from .cores import FITS
from .grounds import command
from .own_set import NO_FIGURE, best_of, cost, disturbed, own_set
from .run import median
from .words import count, every, nanoseconds, percent

EVERY = 60  # seconds from reload to reload, unless the run or the caller gives them
PHASES = {
    'rebuild': 'rebuilt from its keys',
    'copy': 'copied',
    'refresh': 'from a file',
    'roll': 'shard by shard',
}
RATE_BEYOND = 1.25  # measured over asked: the sampling alone makes up to 1.1


class Answer(NamedTuple):
    lead: str  # what it answers
    text: str
    bad: bool = False
    table: tuple = None  # (head, rows)


def works(run):
    asked = [r for r in run.results if 'lost' in r.counters]
    if run.errors:
        first, more = run.errors[0], len(run.errors) - 1
        others = f', and {more} more below' if more else ''
        return Answer(
            'It does not work here', f'{first["name"]}: {first["message"]}{others}', True
        )
    parts = [f'0 inserted keys were lost in {len(asked)} measurements'] if asked else []
    ratios = rate_ratios(run)
    if ratios:
        parts.append(
            f'the measured rate of false positives is {min(ratios):.2f} to {max(ratios):.2f} times'
            ' the one asked for'
        )
    bad = bool(ratios) and max(ratios) > RATE_BEYOND
    lead = 'It misses the rate asked for' if bad else 'It works here'
    return Answer(lead, ', and '.join(parts), bad) if parts else None


def speeds(results, op, batched):
    """'62 M/s a core, 120 M/s on 2 CPUs together' of one way to ask; '' if that was not."""
    of = [r for r in results if r.get('op') == op and bool(r.get('batch')) == batched]
    threads = sorted({r.get('threads') for r in of})
    parts = []
    for n in sorted({*threads[:1], *threads[-1:]}):
        best = best_of([r for r in of if r.get('threads') == n])
        where = ' a core' if n == 1 else f' on {n} CPUs together'
        parts.append(f'{where.strip()} {best}' if best == NO_FIGURE else best + where)
    return NO_FIGURE if all(NO_FIGURE in part for part in parts) and parts else ', '.join(parts)


def calm_tail(run, keys):
    """'99.9 % of lookups end within 400 ns' while nothing is reloaded; '' if nobody timed them in
    peace. Readers who share a CPU with the loader do so on purpose."""
    apart = of_nearest(during_reloads(run, True, 'hit'), keys)
    of = apart or of_nearest(during_reloads(run, False, 'hit'), keys)
    of = [r for r in of if not (apart and disturbed(r))]
    times = [r.counters['calm_p999_ns'] for r in of if r.counters.get('calm_p999_ns')]
    if not times:
        return ''
    size = f'{count(of[0].get("keys"))} keys'
    return f'99.9 % of lookups end within {nanoseconds(median(times))} ({size})'


def fast(run):
    """blocked at 1 %, at the measured size that is nearest to the operator's."""
    keys = own_set(run)[1]
    of = of_nearest(run.of('cores', set='blocked', rate=0.01), keys)
    batch = max((r.get('batch') or 0 for r in of), default=0)
    ways = {
        'lookups': speeds(of, 'hit', False),
        f'in batches of {batch}': speeds(of, 'hit', True),
        'inserts': speeds(of, 'insert', False),
    }
    parts = [f'{way} {text}' for way, text in ways.items() if text]
    if not parts:
        return None
    text = '; '.join(parts)
    near = f', the measured size nearest to your {count(keys)}' if keys else ''
    marks = ''.join(
        f', {mark} {meaning}'
        for mark, meaning in (('~', 'spreads by more than 10 %'),)
        if mark in text
    )
    size = f'{count(of[0].get("keys"))} keys {FITS.get(of[0].get("fits"), "")}'.rstrip()
    text = text.replace(' a core', '') if run.one_cpu else text
    tail = calm_tail(run, keys)
    return Answer('How fast', f'{text} ({size}{near}{marks}){"; " if tail else ""}{tail}')


def chosen(run, rate):
    found = advice(run, own_set(run)[1], rate)
    return Answer('What to choose', found[0], table=found[1]) if found else None


def dearest(results):
    return max((r for r in results if costly(r)), key=time_lost, default=None)


def how(r):
    return PHASES.get(r.get('phase'), r.get('phase'))


def tail(results):
    """'99.9 % of lookups end within 9 µs meanwhile, 350 ns without'."""
    timed = [
        r
        for r in results
        if r.get('op') == 'hit' and r.samples.get('p999_ns') and r.samples.get('calm_p999_ns')
    ]
    if not timed:
        return ''
    r = max(timed, key=lambda r: r.counters['p999_ns'])
    calm = nanoseconds(r.counters['calm_p999_ns'])
    if min(r.samples['p999_ns']) <= max(r.samples['calm_p999_ns']):
        return f'99.9 % of lookups end within {calm} with and without, as far as noise shows'
    during = nanoseconds(r.counters['p999_ns'])
    return f'99.9 % of lookups end within {during} meanwhile ({how(r)}), {calm} without'


def times_lost(apart, sharing, one_cpu, seconds):
    """What one reload takes of each reader's time, at most, and its share of @seconds; '' if that
    is nothing beyond noise."""
    found = [(dearest(apart), ''), (dearest(sharing), ' where the loader has no CPU to itself')]
    words = []
    for r, where in found:
        if r:
            share = percent(time_lost(r) / 1e9 / seconds)
            of = '' if words else " of each reader's time"
            where = '' if one_cpu else where
            words.append(f'{nanoseconds(time_lost(r))}{of}{where} ({how(r)}; {share})')
    return f'at most {", and ".join(words)}' if words else ''


def reload_cost(run, seconds):
    keys = own_set(run)[1]
    both = [of_nearest(during_reloads(run, alone, 'hit', 'batch'), keys) for alone in (True, False)]
    results = [r for of in both for r in of]
    if not results:
        return None
    size, often = f'{count(results[0].get("keys"))} keys', f'{every(seconds)} (--reload-every)'
    longest = max(r.counters.get('reload_seconds', 0) for r in results)
    if longest >= seconds:
        text = f'that of {size} lasts {nanoseconds(longest * 1e9)}, too long for one {often}'
        return Answer('What one reload costs', text, True)
    lost = times_lost(*both, run.one_cpu, seconds)
    if not lost and run.machine['noisy']:
        text = f'not measurable in this run, with {size}: the noise is larger than the cost'
        return Answer('What one reload costs', text)
    text = f'{lost or "nothing beyond noise"}, with {size} and one {often}'
    text = '; '.join(filter(None, [text, tail(both[0] or both[1])]))
    return Answer('What one reload costs', text)


def set_cost(run):
    found = cost(run)
    return Answer('What the set costs', found[0], table=found[1]) if found else None


def trust(run):
    """Yes or no, and why; if not, which run to make."""
    noisy = run.machine['noisy_why']
    total, wide = len(run.results), sum(r.unsteady for r in run.results)
    shared, few = sum(r.contended for r in run.results), sum(r.spread is None for r in run.results)
    parts = [run.disturbance] if run.disturbance else [] if noisy else ['the machine was quiet']
    parts.append(f'{wide} of {total} results spread by more than 10 %')
    if shared:
        parts.append(f'{shared} had to share a CPU')
    if few:
        parts.append(f'{few} were repeated less than three times')
    if run.left_out:
        parts.append(f'{len(run.left_out)} were left out for lack of time')
    smoke = run.settings.get('mode') == 'smoke'
    if smoke:
        parts.insert(0, 'it only shows that weir works, in times too short to measure')
    no = bool(noisy) or smoke
    if no:
        parts.append(f'on an idle machine, run {command(run)}')
    return Answer('May you trust this run', f'{"no" if no else "yes"}: {"; ".join(parts)}', no)


def answers(run, reload_every=None, rate=None):
    """At most six."""
    rate = rate or run.settings.get('rate')
    seconds = reload_every or run.settings.get('reload_every') or EVERY
    found = (works(run), fast(run), chosen(run, rate), reload_cost(run, seconds), set_cost(run),
             trust(run))
    return [answer for answer in found if answer]

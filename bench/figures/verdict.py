# SPDX-License-Identifier: MIT
"""The verdict: at most six sentences, those an operator needs before deploying. Of kinds and
settings only weir's own are named, and only where the results bear a difference; all else is among
the findings."""
from .advice import advice, of_nearest, words_of
from .bear import costly, during_reloads, pick, quickest, rate_ratios, time_lost
from .cores import FITS
from .words import byte_count, count, every, nanoseconds, percent, value

EVERY = 60  # seconds from reload to reload, unless the run or the caller gives them
PHASES = {
    'rebuild': 'rebuilt from its keys',
    'copy': 'copied',
    'refresh': 'from a file',
    'roll': 'shard by shard',
}
RATE_BEYOND = 1.25  # measured over asked: the sampling alone makes up to 1.1


def own_set(run):
    """(name, keys) of the operator's set, the first whose cost was asked; (None, None)."""
    for r in run.of('cost'):
        if r.counters.get('keys'):
            return r.get('file'), r.counters['keys']
    return None, None


def works(run):
    asked = [r for r in run.results if 'lost' in r.counters]
    if run.errors:
        first, more = run.errors[0], len(run.errors) - 1
        others = f', and {more} more below' if more else ''
        return 'It does not work here', f'{first["name"]}: {first["message"]}{others}', True
    parts = [f'0 inserted keys were lost in {len(asked)} measurements'] if asked else []
    ratios = rate_ratios(run)
    if ratios:
        parts.append(
            f'the measured rate of false positives is {min(ratios):.2f} to {max(ratios):.2f} times'
            ' the one asked for'
        )
    bad = bool(ratios) and max(ratios) > RATE_BEYOND
    lead = 'It misses the rate asked for' if bad else 'It works here'
    return (lead, ', and '.join(parts), bad) if parts else None


def speed(r):
    """A median; ~: it spreads, *: it shared a CPU."""
    mark = '*' if r.contended else ''
    return f'{"~" if r.unsteady else ""}{value(r.median, r.unit)}{mark}'


def speeds(results, op, batched):
    """'62 M/s a core, 120 M/s on 2 CPUs together' of one way to ask; '' if that was not."""
    of = [r for r in results if r.get('op') == op and bool(r.get('batch')) == batched]
    threads = sorted({r.get('threads') for r in of})
    parts = []
    for n in sorted({*threads[:1], *threads[-1:]}):
        best = max((r for r in of if r.get('threads') == n), key=lambda r: r.median)
        parts.append(speed(best) + (' a core' if n == 1 else f' on {n} CPUs together'))
    return ', '.join(parts)


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
    text = '; '.join(parts).replace(' a core', '') if run.one_cpu else '; '.join(parts)
    shared = ', * shared a CPU' if '*' in text else ''
    near = f', the measured size nearest to your {count(keys)}' if keys else ''
    size = f'{count(of[0].get("keys"))} keys {FITS.get(of[0].get("fits"), "")}'.rstrip()
    return 'How fast', f'{text} ({size}{near}{shared})', False


def chosen(run, rate):
    found = advice(run, own_set(run)[1], rate)
    return ('What to choose', '; '.join(found), False) if found else None


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
    """What one reload takes of each reader's time, at most, and its share of @seconds."""
    found = [(dearest(apart), ''), (dearest(sharing), ' where the loader has no CPU to itself')]
    words = []
    for r, where in found:
        if r:
            share = percent(time_lost(r) / 1e9 / seconds)
            of = '' if words else " of each reader's time"
            where = '' if one_cpu else where
            words.append(f'{nanoseconds(time_lost(r))}{of}{where} ({how(r)}; {share})')
    return f'at most {", and ".join(words)}' if words else 'nothing beyond noise'


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
        return 'What one reload costs', text, True
    lost = times_lost(*both, run.one_cpu, seconds)
    text = f'{times_lost(*both, run.one_cpu, seconds)}, with {size} and one {often}'
    return 'What one reload costs', '; '.join(filter(None, [text, tail(both[0] or both[1])])), False


def cost(run):
    name, keys = own_set(run)
    of = [r for r in run.of('cost', file=name) if r.get('form', 'plain') == 'plain'] if keys else []
    steps = {step: words_of(r) for step, r in quickest(of).items()}
    sizes = [r.counters['bytes'] for r in of if r.counters.get('bytes')]
    if not steps:
        return None
    parts = []
    if sizes:
        size = max(sizes)
        parts.append(f'{byte_count(size)} of memory, {byte_count(2 * size)} during a reload')
    for step, verb in ((('build', None), 'build'), (('save', None), 'save')):
        if step in steps:
            parts.append(f'{steps[step]} to {verb}')
    for what in ('load', 'map'):
        cold, warm = steps.get((what, 'cold')), steps.get((what, 'warm'))
        again = f' ({warm} if the file is in the page cache)' if cold and warm else ''
        if cold or warm:
            parts.append(f'{cold or warm} to {what}{again}')
    return 'What it costs', f'your set {name} of {count(keys)} keys takes {"; ".join(parts)}', False


def trust(run):
    noisy = run.machine['noisy_why']
    total, wide = len(run.results), sum(r.unsteady for r in run.results)
    shared, few = sum(r.contended for r in run.results), sum(r.spread is None for r in run.results)
    parts = []
    counted = f'{wide} of {total} results spread by more than 10 %'
    if not any(why.endswith('spread by more than 10 %') for why in noisy):
        parts.append(counted)
    if shared:
        parts.append(f'{shared} had to share a CPU')
    if few:
        parts.append(f'{few} were repeated less than three times')
    if run.left_out:
        parts.append(f'{run.left_out} were left out for lack of time')
    state = f'the machine was noisy: {"; ".join(noisy)}' if noisy else 'the machine was quiet'
    return 'How far to trust this run', '; '.join([state, *parts]), bool(noisy)


def sentences(run, reload_every=None, rate=None):
    """At most six of (what it answers, the answer, whether it is bad news)."""
    rate = rate or run.settings.get('rate')
    seconds = reload_every or run.settings.get('reload_every') or EVERY
    found = (works(run), fast(run), chosen(run, rate), reload_cost(run, seconds), cost(run),
             trust(run))
    return [s for s in found if s]

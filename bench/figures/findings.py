# SPDX-License-Identifier: MIT
"""All findings: sentences with figures. Each is derived from the results, and left out where they
do not bear it."""
from . import uses
from .advice import at_size, enough_of, lookups_in, one_by_one
from .bear import apart, costly, during_reloads, kind_name, of_calm, pick, quickest, rate_ratios
from .bear import time_lost
from .beyond import past
from .cores import FITS, unique
from .questions import label
from .rivals import Explained
from .run import median
from .words import byte_count, count, figures, nanoseconds, percent, plural, rate, value


def times(a, b):
    """'2.1 times', or '12 % faster', of a over b in keys a second."""
    ratio = a.median / b.median
    if ratio >= 1.5:
        return f'{ratio:.1f} times as fast as'
    return (
        f'{100 * (ratio - 1):.0f} % faster than'
        if ratio >= 1
        else f'{100 * (1 - ratio):.0f} % slower than'
    )


def described(r):
    bits, measured = r.counters.get('bits_per_key'), r.counters.get('fp_measured')
    words = [f'{bits:.2f} bits a key'] if bits else []
    if measured is not None:
        words.append(f'measured {rate(measured)}')
    return f' ({", ".join(words)})' if words else ''


def lookups(r):
    return value(r.median, r.unit).replace('/s', ' lookups/s')


def errors(run):
    for e in run.errors:
        yield f'FAILED: {e["name"]}: {e["message"]}.'


def kept(run):
    asked = [r for r in run.results if 'lost' in r.counters]
    if asked and not run.errors:
        yield f'No inserted key was lost in any of {len(asked)} results that asked.'
    ratios = rate_ratios(run)
    if ratios:
        yield (
            f"Measured false-positive rates of weir's kinds are {min(ratios):.2f} to"
            f' {max(ratios):.2f} times those asked for ({len(ratios)} results).'
        )


def linear(run, r):
    """What of linear a result reaches: beside one thread's."""
    same = {k: v for k, v in r.params.items() if k != 'threads'}
    one = next((o for o in run.of(r.question, threads=1, **same)), None)
    if not one or r.get('threads') < 2 or one.unsteady or r.unsteady:
        return ''
    return f', {percent(r.median / one.median / r.get("threads"))} of linear'


def throughput(run):
    """blocked at 1 %: the fastest way to ask it, at each size."""
    results = [
        r for r in run.of('cores', op='hit', rate=0.01) if str(r.get('set')).startswith('blocked')
    ]
    for fits in FITS:
        ways = [
            w
            for s in unique(results, 'set')
            for b in unique(results, 'batch')
            if (w := pick(results, fits=fits, set=s, batch=b))
        ]
        for r in sorted(ways, key=lambda r: -r.median)[:1]:
            batch = f' in batches of {r.get("batch")}' if r.get('batch') else ' one key a call'
            shared = (
                ' (contended: the threads did not have a CPU each)'
                if r.contended
                else linear(run, r)
            )
            z = f', z={r.counters["z"]:.0f}' if r.counters.get('z') else ''
            yield (
                f'{r.get("set")}{z}, 1 %, a set of {count(r.get("keys"))} keys that fits'
                f' {FITS[fits]}: {lookups(r)}{batch} on'
                f' {r.get("threads")} thread{"s" if r.get("threads") > 1 else ""}'
                f'{shared}{described(r)}.'
            )


def rivals(run):
    """Beside each other set, explained where it first appears, at the same size, operation, rate
    and threads, one key a call; beside the split block, whose code is inlined, blocked inlined."""
    explained = Explained()
    for op, verb in (('hit', 'looks up'), ('insert', 'inserts')):
        found = []
        results = run.of('cores', op=op, rate=0.01, batch=0)
        fits = next(
            (f for f in ('L2', 'L3', 'memory') if pick(results, set='blocked', fits=f)), None
        )
        ours = pick(results, set='blocked', fits=fits)
        for name in unique(results, 'set'):
            other = next(
                (
                    r
                    for r in results
                    if ours
                    and r.get('set') == name
                    and r.get('fits') == fits
                    and r.get('threads') == ours.get('threads')
                ),
                None,
            )
            inlined = name == 'split' and pick(results, set='blocked-inline', fits=fits)
            mine = inlined or ours
            if (
                other
                and not name.startswith('blocked')
                and mine.get('threads') == other.get('threads')
                and apart(mine, other)
            ):
                both = f', both inlined: {value(mine.median, mine.unit)}' if inlined else ''
                found.append(f'{times(mine, other)} {explained.name(name)}{described(other)}{both}')
        if found:
            yield (
                f'One key a call on {plural(ours.get("threads"), "thread")},'
                f' {FITS[fits]}{", contended" if ours.contended else ""}:'
                f' blocked{described(ours)} {verb} {value(ours.median, ours.unit)}:',
                found,
            )


SHARING = ', loader and readers sharing a CPU'


def kept_by(results, what, noisy, beside='', pace=0):
    """What @what keep during reloads, of many cases: typical, and the worst that is sure. In a
    @noisy run a cost that does not show may still be there."""
    cases = plural(len(results), 'case')
    sure = [r for r in results if costly(r)]
    if not sure and noisy:
        at = f', the loader at pace {figures(pace)},' if pace else beside and f'{beside},'
        return (
            f'The cost of reloads to {what}{at} is not measurable in this run: it was noisy'
            f' ({cases}).'
        )
    if pace:
        beside = f', the loader at pace {figures(pace)}'
    if not sure and pace:
        left = percent(median([of_calm(r) for r in results]))
        return (
            f'A loader at pace {figures(pace)} costs {what} nothing beyond noise: {left} are left'
            f' (median of {cases}).'
        )
    if not sure:
        return f'Reloads without a pause cost {what} nothing beyond noise{beside} ({cases}).'
    same = ('keys',) if len({r.get('keys') for r in results}) == 1 else ()
    share, least, dear = (
        median([of_calm(r) for r in results]),
        min(sure, key=of_calm),
        max(sure, key=time_lost),
    )
    each = (
        f'; a reload takes at most {nanoseconds(time_lost(dear))} of a reader\'s time'
        f' ({label(dear.params, ("op", "flavor", "threads", "pace", *same))})'
        if time_lost(dear)
        else ''
    )
    return (
        f'While one reload follows the other{beside}, {what} keep {percent(share)} of their'
        f' throughput (median of {cases}; the least is {percent(of_calm(least))}:'
        f' {label(least.params, ("pace", *same))}){each}.'
    )


def reloads(run):
    noisy = run.machine['noisy']
    for what, ops in (('lookups', ('hit', 'batch')), ('inserts', ('insert',))):
        for alone in (True, False):
            of = during_reloads(run, alone, *ops)
            if of:
                yield kept_by(of, what, noisy, '' if alone else SHARING)
    paced = during_reloads(run, True, 'hit', paced=True)
    for pace in sorted({r.get('pace') for r in paced}):
        of = [r for r in paced if r.get('pace') == pace]
        yield kept_by(of, 'lookups', noisy, pace=pace)
    timed = [
        r
        for r in run.of('reload', op='hit', pace=None)
        if r.samples.get('p999_ns') and r.samples.get('calm_p999_ns')
    ]
    if timed:
        r = max(timed, key=lambda r: r.counters['p999_ns'])
        sure = min(r.samples['p999_ns']) > max(r.samples['calm_p999_ns'])
        yield (
            f'99.9 % of lookups end within {nanoseconds(r.counters["p999_ns"])} during the reloads'
            ' that disturb them most '
            f'({label(r.params, ("keys",))}), {nanoseconds(r.counters["calm_p999_ns"])} without'
            f'{"" if sure else ", which is no difference beyond noise"}.'
        )


def batches(run):
    """For each size of set, on the pages that are best there: the smallest batch that is within 3 %
    of the best, beside what the verdict sets it beside."""
    for keys in unique([r for r in lookups_in(run) if r.get('batch')], 'keys'):
        best, enough, one = enough_of(run, keys)
        if enough is not one and apart(enough, one) and not (best.unsteady or enough.unsteady):
            limit = enough.counters.get('limit_per_second')
            beside = (
                f' and {percent(enough.median / limit)} of what the machine reads at random'
                if limit
                else ''
            )
            pages = f' on {best.get("pages")} pages' if best.get('pages') else ''
            yield (
                f'With {at_size(enough)}{pages}, choose batches of {enough.get("batch")}:'
                f' {lookups(enough)}, {enough.median / one.median:.1f} times the speed of'
                f' {one_by_one(one)}{beside}.'
            )


def pages_of(results):
    """(small, huge) for results that differ in nothing but their pages."""
    for r in results:
        if str(r.get('pages')).startswith('huge'):
            same = {k: v for k, v in r.params.items() if k != 'pages'}
            small = next(
                (
                    o
                    for o in results
                    if not str(o.get('pages')).startswith('huge')
                    and o.get('pages') is not None
                    and {k: v for k, v in o.params.items() if k != 'pages'} == same
                ),
                None,
            )
            if small:
                yield small, r


def huge(run):
    pairs = list(pages_of([r for r in run.of('memory') if r.get('what') in ('batch', 'pages')]))
    sure = [(s, h) for s, h in pairs if apart(s, h)]
    if sure:
        s, h = max(sure, key=lambda p: p[1].median / p[0].median)
        if h.median > s.median:
            where = f' with {count(h.get("keys"))} keys' if h.get('keys') else ''
            yield (
                f'Huge pages: up to {100 * (h.median / s.median - 1):+.0f} %{where}; {len(sure)} of'
                f' {len(pairs)} comparisons differ beyond noise.'
            )
    elif pairs:
        yield f'Huge pages made no difference beyond noise in {plural(len(pairs), "comparison")}.'


def kinds(run):
    """The least memory and the least time at 1 %."""
    of = [r for r in run.of('choice', rate=0.01, op='miss') if r.counters.get('bits_per_key')]
    if len(of) < 2:
        return

    explained = Explained()
    small, fast = min(of, key=lambda r: r.counters['bits_per_key']), max(of, key=lambda r: r.median)
    second = max((r for r in of if r is not fast), key=lambda r: r.median)
    sure = '' if apart(fast, second) else f' (with {kind_name(second)} within noise)'
    among = uses.of_measured(list(uses.late_kinds(run, 0.01)))
    yield (
        f'At 1 % and {count(fast.get("keys"))} keys {explained.name(kind_name(small))} is the'
        f' smallest{among}{described(small)} at {nanoseconds(1e9 / small.median)} an absent key;'
        f' {explained.name(kind_name(fast))} is the fastest{described(fast)} at'
        f' {nanoseconds(1e9 / fast.median)}{sure}.'
    )


def offered(run):
    """All that weir offers at the rate asked for; the verdict has one kind for each use."""
    found = list(uses.kinds(run, run.settings.get('rate')))
    if found:
        yield f'To choose from, for a set of your own: {"; ".join(found)}.'


def removing(run):
    """The least memory of those that remove keys, at 1 %."""
    of = [r for r in run.of('choice', rate=0.01, op='remove') if r.counters.get('bits_per_key')]
    if of:
        small = min(of, key=lambda r: r.counters['bits_per_key'])
        others = len({r.get('kind') for r in of}) - 1
        late = uses.of_measured(list(uses.late_kinds(run, 0.01, 'remove')))
        among = late or (f' of {others + 1}' if others else '')
        yield (
            f'Of what removes keys {kind_name(small)} is the smallest{among}{described(small)}: a'
            f' removal takes {nanoseconds(1e9 / small.median)}.'
        )


def cost_of(r):
    """'save 3 ms', or for what runs on threads 'build 12 ms on 2 threads'."""
    keys = r.counters.get('keys')
    if r.unit == 'ns':
        time = nanoseconds(r.median)
    else:
        time = nanoseconds(1e9 * keys / r.median) if keys else value(r.median, r.unit)
    more = [str(r.get(p)) for p in ('how', 'cache') if r.get(p)]
    threads = f' on {r.get("threads")} threads' if r.get('threads', 1) > 1 else ''
    how = f' ({", ".join(more)})' if more else ''
    return f'{r.get("what").replace("_", " ")}{how} {time}{threads}'


def costs(run):
    """For each file: the quickest way to build, then what each other step takes."""
    for file in unique(run.of('cost'), 'file'):
        of = [r for r in run.of('cost', file=file) if r.get('form', 'plain') == 'plain']
        sizes = [r.counters['bytes'] for r in of if r.counters.get('bytes')]
        yield (
            f'Your set {file}{": " + byte_count(max(sizes)) if sizes else ""}:'
            f' {", ".join(map(cost_of, quickest(of).values()))}.'
        )


def steadiness(run):
    wide, shared = [r for r in run.results if r.unsteady], [r for r in run.results if r.contended]
    few = [r for r in run.results if r.spread is None]
    if wide:
        yield (
            f'{len(wide)} of {len(run.results)} results spread by more than 10 %; they are marked ~'
            ' in the tables.'
        )
    if shared:
        yield (
            f'{len(shared)} of {len(run.results)} results are contended (their threads shared CPUs,'
            ' with each other or with strangers) and marked so.'
        )
    if few:
        yield (
            f'{len(few)} of {len(run.results)} results have fewer than three repetitions:'
            ' nothing is known of their spread.'
        )


def findings(run):
    """(text, what is listed below it, whether it is bad news)."""
    found = [(s, [], True) for s in errors(run)]
    parts = (throughput, past, rivals, reloads, batches, huge, kinds, offered, removing, costs)
    for part in (*parts, kept, steadiness):
        found += [(s, [], False) if isinstance(s, str) else (*s, False) for s in part(run)]
    return found

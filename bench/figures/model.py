# SPDX-License-Identifier: MIT
"""Throughput on any number of cores, from what a run measured on its machine: the constants, and
the formulae put together. bench/README.md lists what they leave out."""
import math
from dataclasses import dataclass, field

from .formulae import distinct, meetings, resident, sharing, together
from .run import Trouble, median

COUNTS = (1, 2, 4, 8, 16, 32, 64, 128)
WITHIN = 0.15  # of what was measured
LOOKUPS_AN_INSERT = 19  # bench/sets/set.h
MOST_DRAWS = 1 << 20  # bench/work.cc
CORE, TRANSFERS = 'core', 'line transfers'
BANDWIDTH = {'L3': 'L3 bandwidth', 'memory': 'memory bandwidth'}


@dataclass
class Stream:
    """What a thread does: which price it pays for a line of another, which share of its accesses
    could meet one at all, how many of those write, and which limit of the machine's it could
    meet."""

    price: str
    share: float
    writes: float
    limit: str


def stream_of(op, batch, keys):
    if op in ('hit', 'miss', 'batch'):
        return Stream('', 0.0, 0.0, 'lines')
    if op == 'insert':
        return Stream('batch' if batch else 'insert', 1.0, 1.0, 'fetch-or')
    if op == 'mixed':
        return Stream('mixed', 1.0, 1 / (LOOKUPS_AN_INSERT + 1), 'lines')
    if op == 'zipf':
        # the others come from few keys, whose lines every core keeps: they write nothing
        return Stream('insert', distinct(keys, min(keys, MOST_DRAWS)), 1.0, 'lines')
    return None


@dataclass
class Price:
    """What a line of another costs on so many cores: of the time that handing one over takes, and
    that time then."""

    threads: int
    share: float
    handoff_ns: float


def checked(path, name, what, value):
    if not isinstance(value, (int, float)) or not math.isfinite(value) or value <= 0:
        raise Trouble(
            f'{path}: {name}: {what} is {value}: nothing can be predicted from that; measure this'
            ' row again (bench_memory or bench_cores), or take it out of the file'
        )
    return value


def rate_of(run, r):
    return checked(run.path, r.name, 'the median', r.median)


def size_of(run, r):
    """Bytes of a row's set."""
    found = r.counters.get('bytes') or r.get('keys', 0) * (r.counters.get('bits_per_key') or 0) / 8
    return checked(run.path, r.name, 'the size of the set (bytes, or bits_per_key)', found)


def beside(run, r, counter, i=None):
    """What was measured in turn with a row, or with its repetition @i; None in an older run."""
    samples = r.samples.get(counter, [])
    if i is not None and len(samples) == len(r.values):
        return checked(run.path, r.name, counter, samples[i])
    found = r.counters.get(counter)
    return None if found is None else checked(run.path, r.name, counter, found)


def slower(run, r, one, i=None):
    """How much slower the cores were during @r than those of one thread, taken in turn with it, or
    else than during @one."""
    all_of_them = beside(run, r, 'step_ns', i)
    alone = beside(run, r, 'alone_step_ns', i) or beside(run, one, 'step_ns')
    return all_of_them / alone if all_of_them and alone else 1.0


def alone_rate(run, r, one, i=None):
    """What one thread does, in turn with @r if that was measured."""
    return beside(run, r, 'alone_per_second', i) or rate_of(run, one)


def nearest(prices, n):
    """Of those measured on at most @n cores the one of most; the first where there is none."""
    return max((p for p in prices if p.threads <= n), key=lambda p: p.threads, default=prices[0])


def work_of(r):
    return tuple(r.get(p) for p in ('op', 'set', 'rate', 'batch'))


def own_cache(machine):
    """Bytes of the L2 that a core has to itself; 0: the run does not say."""
    found = [c for c in machine.get('caches', []) if c['level'] == 2]
    if not found:
        return 0
    halves = machine['cpus_allowed'] / machine['cores']
    return found[0]['bytes'] / max(1.0, found[0]['shared_by'] / halves)


@dataclass
class Point:
    threads: int
    rate: float
    binds: str
    without: list = field(default_factory=list)  # what the run lacks for it
    unbounded: bool = False  # a bound that may bind is not known
    handoffs: tuple = ()  # what handing a line over took beside the row, and beside the price


class Model:
    """The constants of a run's machine, and what follows from them."""

    def __init__(self, run):
        self.run = run
        self.cores = run.machine.get('cores', 1)
        self.cache = own_cache(run.machine)
        self.limits = {}  # (what, fits): (one core's rate, what each further one takes)
        self.prices = {}  # (how, fits): a Price for each number of threads
        for what in ('lines', 'fetch-or'):
            for fits in BANDWIDTH:
                self.read_limit(what, fits)
        for how in ('mixed', 'insert', 'batch'):
            self.read_prices(how)
        # what is the core's own work: of a row's time in a set that lies in its L2
        self.arithmetic = {
            work_of(r): 1e9 / rate_of(run, r)
            for r in run.of('cores', threads=1, fits='L2')
            if r.unit == 'keys/s'
        }
        self.missing = list(self.lacking())

    def alone(self, results):
        """Of results by their threads: those with a core each, and to themselves."""
        of = {r.get('threads'): r for r in results if r.get('threads', 0) <= self.cores}
        return {n: r for n, r in sorted(of.items()) if n == 1 or not r.contended}

    def read_limit(self, what, fits):
        rows = self.run.of('memory', what=what, where='random', pages='huge', fits=fits)
        of = self.alone(rows)
        if 1 not in of:
            return
        one, most = rate_of(self.run, of[1]), max(of)
        share = None
        if most > 1:
            share = median([self.taken(of[1], of[most], i) for i in range(len(of[most].values))])
        self.limits[what, fits] = one, share

    def taken(self, one, r, i):
        """What each further core takes, by the @i-th repetition on all cores."""
        alone = alone_rate(self.run, r, one, i) / slower(self.run, r, one, i)
        all_of_them = checked(self.run.path, r.name, 'a repetition', r.values[i])
        return sharing(alone, all_of_them, r.get('threads'))

    def read_prices(self, how):
        writes = stream_of('mixed', 0, 1).writes if how == 'mixed' else 1.0
        for fits in ('L2', *BANDWIDTH):
            of = self.alone(self.run.of('memory', what='owner', how=how, fits=fits))
            for n, r in of.items():
                for counter in ('own_ns', 'together_ns', 'handoff_ns'):
                    checked(self.run.path, r.name, counter, r.counters.get(counter, math.nan))
                each = [self.paid(r, i) for i in range(len(r.values))]
                self.prices.setdefault((how, fits), []).append(
                    Price(n, median(each) / meetings(n, writes), r.counters['handoff_ns'])
                )

    def paid(self, r, i):
        """What the lines of others add to a visit, of a handoff's time."""
        own, together, handoff = (
            beside(self.run, r, c, i) for c in ('own_ns', 'together_ns', 'handoff_ns')
        )
        return max(0.0, together - own) / handoff

    def lacking(self):
        if not self.cache:
            yield 'the size of the L2: lines of other cores are taken to lie in no cache'
        if not self.prices and self.cores > 1:
            yield (
                'memory/what:owner, the price of a line that another core wrote last: inserts are'
                ' predicted as if it were nothing'
            )
        for fits in BANDWIDTH:
            some = any(r.get('fits') == fits for r in self.run.of('cores'))
            if some and self.limits.get(('lines', fits), (0, None))[1] is None:
                yield (
                    f'memory/what:lines at fits:{fits} on one core and on all, each to itself: no'
                    f' bound by {BANDWIDTH[fits]}'
                )

    def price(self, how, fits, size, n, handoff_ns=None):
        """Nanoseconds that a line of another core costs on @n cores in a set of @size bytes; None:
        the run lacks it. @handoff_ns: what handing a line over took beside a row."""
        near = self.prices.get((how, 'L2'))
        if not near:
            return None
        here, there = (nearest(ps, n) for ps in (self.prices.get((how, fits)) or near, near))
        then, now = (resident(m, self.cache, size) for m in (here.threads, n))
        beyond = max(0.0, here.share - then * there.share) / (1 - then) if then < 1 else 0.0
        share = here.share if fits == 'L2' else now * there.share + (1 - now) * beyond
        return share * (handoff_ns or here.handoff_ns)

    def met(self, stream, fits, size, n, handoff_ns=None):
        """(what lines of other cores add to a key on @n cores, in nanoseconds; what the run lacks
        for that)"""
        if not stream.price or n < 2:
            return 0.0, []
        price = self.price(stream.price, fits, size, n, handoff_ns)
        without = [] if price is not None else ['the price of a line of another core']
        return stream.share * meetings(n, stream.writes) * (price or 0.0), without

    def bound(self, point, stream, fits, alone, cores):
        """Lower @point to what bandwidth allows its threads of @cores cores at work. @alone: what
        one does by itself."""
        limit, share = self.limits.get((stream.limit, fits), (0, None))
        if share is None:
            return
        most = together(max(limit, alone), share, cores) * point.threads / cores
        if most < point.rate:
            point.rate, point.binds = most, BANDWIDTH[fits]

    def at(self, one, n, row=None, i=None):
        """What a curve whose result on one thread is @one reaches on @n cores; with @row, by what
        was taken in turn with its repetition @i."""
        fits, run = one.get('fits'), self.run
        stream = stream_of(one.get('op'), one.get('batch') or 0, one.get('keys'))
        size = size_of(run, one)
        core, handoff = 1e9 / rate_of(run, one), None
        if row:
            handoff = beside(run, row, 'handoff_ns', i)
            core = 1e9 / alone_rate(run, row, one, i)
            core += min(core, self.arithmetic.get(work_of(one), core)) * (
                slower(run, row, one, i) - 1
            )
        lines, without = self.met(stream, fits, size, n, handoff)
        point = Point(n, n * 1e9 / (core + lines), TRANSFERS if lines > core else CORE, without)
        if lines and row:
            point.handoffs = handoff, nearest(self.prices[stream.price, 'L2'], n).handoff_ns
        share = self.limits.get((stream.limit, fits), (0, None))[1]
        point.unbounded = bool(without) or (fits in BANDWIDTH and share is None)
        self.bound(point, stream, fits, 1e9 / core, n)
        return point

    def readers(self, one, n, row=None):
        """What @n readers do during reloads, from what one keeps beside a loader that has a core to
        itself: there is one loader, however many they are. Without a core of its own it takes half
        of a reader's. With @row, of what that row's readers do undisturbed."""
        own = n < self.run.machine['cpus_allowed'] or n > self.cores
        rate = rate_of(self.run, one) * n
        if row:
            kept = one.counters.get('of_calm', math.nan)
            calm = row.counters.get('calm_per_second', math.nan)
            rate = checked(self.run.path, row.name, 'calm_per_second', calm) * checked(
                self.run.path, one.name, 'of_calm', kept
            )
        point = Point(n, rate if own else rate * (n - 0.5) / n, CORE)
        if row:
            return point
        size = size_of(self.run, one)
        fits, batched = self.place(size), one.get('op') == 'batch'
        stream = stream_of(one.get('op'), batched, one.get('keys'))
        lines, point.without = self.met(stream, fits, size, n)
        core = n * 1e9 / point.rate
        point.rate = n * 1e9 / (core + lines)
        point.binds = TRANSFERS if lines > core else CORE
        # the loader is one more core that meets the limit
        self.bound(point, stream, fits, rate_of(self.run, one), n + 1)
        return point

    def place(self, size):
        """Where so many bytes lie, as bench/sizes.cc has it."""
        largest = max((c['bytes'] for c in self.run.machine.get('caches', [])), default=0)
        return 'L2' if size <= self.cache else 'L3' if size < 2 * largest else 'memory'

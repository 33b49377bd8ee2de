# SPDX-License-Identifier: MIT
"""Throughput on any number of cores, from what a run measured on its machine: the formulae put
together. bench/MODEL.md lists what they leave out."""
import math
from dataclasses import dataclass, field

from .constants import BANDWIDTH, MIXED_WRITES, Constants
from .constants import alone_rate, beside, checked, rate_of, size_of, slower
from .formulae import distinct, meetings, resident, together

COUNTS = (1, 2, 4, 8, 16, 32, 64, 128)
WITHIN = 0.15  # of what was measured
MOST_DRAWS = 1 << 20  # bench/work.cc
CORE, TRANSFERS = 'core', 'line transfers'
LOOKUPS = ('hit', 'miss', 'batch', 'hit_of_16')


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
    if op in LOOKUPS:
        return Stream('', 0.0, 0.0, 'lines')
    if op == 'insert':
        return Stream('batch' if batch else 'insert', 1.0, 1.0, 'fetch-or')
    if op == 'mixed':
        return Stream('mixed', 1.0, MIXED_WRITES, 'lines')
    if op == 'zipf':
        # the others come from few keys, whose lines every core keeps: they write nothing
        return Stream('insert', distinct(keys, min(keys, MOST_DRAWS)), 1.0, 'lines')
    return None


def nearest(prices, n):
    """Of those measured on at most @n cores the one of most; the first where there is none."""
    return max((p for p in prices if p.threads <= n), key=lambda p: p.threads, default=prices[0])


def work_of(r):
    return tuple(r.get(p) for p in ('op', 'set', 'rate', 'batch'))


@dataclass
class Point:
    threads: int
    rate: float
    binds: str
    rests: list = field(default_factory=list)  # the rows that it is made of
    without: list = field(default_factory=list)  # what the run lacks for it: an upper bound
    straight: bool = False  # more cores than were measured, which showed no limit of bandwidth
    noise: bool = False  # bandwidth binds it, by a limit that is within noise
    handoffs: tuple = ()  # what handing a line over took beside the row, and beside the price

    @property
    def unbounded(self):
        return bool(self.without)

    @property
    def noisy(self):
        return self.noise or any(r.unsteady for r in self.rests)

    @property
    def contended(self):
        return any(r.contended for r in self.rests)


class Model(Constants):
    """What follows from a run's constants."""

    def __init__(self, run):
        super().__init__(run)
        # what is the core's own work: of a row's time in a set that lies in its L2
        self.arithmetic = {
            work_of(r): 1e9 / rate_of(run, r)
            for r in run.of('cores', threads=1, fits='L2')
            if r.unit == 'keys/s'
        }

    def price(self, how, fits, size, n, handoff_ns=None):
        """(nanoseconds that a line of another core costs on @n cores in a set of @size bytes, the
        prices that has); None: the run lacks it. @handoff_ns: what handing a line over took beside
        a row."""
        near = self.prices.get((how, 'L2'))
        if not near:
            return None
        if (how, fits) not in self.prices:
            self.lack_of_price(how, fits, True)
        here, there = (nearest(ps, n) for ps in (self.prices.get((how, fits)) or near, near))
        then, now = (resident(m, self.cache, size) for m in (here.threads, n))
        beyond = max(0.0, here.share - then * there.share) / (1 - then) if then < 1 else 0.0
        share = here.share if fits == 'L2' else now * there.share + (1 - now) * beyond
        return share * (handoff_ns or here.handoff_ns), {p.row.name: p.row for p in (here, there)}

    def met(self, point, stream, fits, size, handoff_ns=None):
        """What lines of other cores add to a key of @point, in nanoseconds; it has what that rests
        on, and what the run lacks for it."""
        if not stream.price or point.threads < 2:
            return 0.0
        price = self.price(stream.price, fits, size, point.threads, handoff_ns)
        if not price:
            point.without.append(self.lack_of_price(stream.price, 'L2', False))
            return 0.0
        ns = stream.share * meetings(point.threads, stream.writes) * price[0]
        point.rests += price[1].values()
        return ns

    def bound(self, point, stream, fits, alone, cores):
        """Lower @point to what bandwidth allows its threads of @cores cores at work. @alone: what
        one does by itself."""
        if fits not in BANDWIDTH or cores < 2:
            return
        limit = self.limits.get((stream.limit, fits))
        if not limit or not limit.shares:
            point.without.append(self.lack_of_limit(stream.limit, fits))
            return
        most = together(max(limit.one, alone), limit.share, cores) * point.threads / cores
        point.straight = not limit.share and cores > self.cores
        if most < point.rate:
            point.rate, point.binds, point.noise = most, BANDWIDTH[fits], limit.noisy

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
        turned = row and beside(run, row, 'alone_per_second', i)
        point = Point(n, 0.0, CORE, [] if turned else [one])
        lines = self.met(point, stream, fits, size, handoff)
        point.rate, point.binds = n * 1e9 / (core + lines), TRANSFERS if lines > core else CORE
        if lines and row:
            point.handoffs = handoff, nearest(self.prices[stream.price, 'L2'], n).handoff_ns
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
        point = Point(n, rate if own else rate * (n - 0.5) / n, CORE, [one])
        if row:
            return point
        size = size_of(self.run, one)
        fits, batched = self.place(size), one.get('op') == 'batch'
        stream = stream_of(one.get('op'), batched, one.get('keys'))
        lines = self.met(point, stream, fits, size)
        core = n * 1e9 / point.rate
        point.rate = n * 1e9 / (core + lines)
        point.binds = TRANSFERS if lines > core else CORE
        if n > 1:  # one was measured; the loader is one more core that meets the limit
            self.bound(point, stream, fits, rate_of(self.run, one), n + 1)
        return point

    def place(self, size):
        """Where so many bytes lie, as bench/sizes.cc has it."""
        largest = max((c['bytes'] for c in self.run.machine.get('caches', [])), default=0)
        return 'L2' if size <= self.cache else 'L3' if size < 2 * largest else 'memory'

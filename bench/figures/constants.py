# SPDX-License-Identifier: MIT
"""What the predictions of figures/model.py rest on: what a run measured of its machine, and what of
that it lacks."""
import math
from dataclasses import dataclass, field

from .formulae import meetings, sharing
from .run import Trouble, median, quantile

LOOKUPS_AN_INSERT = 19  # bench/sets/set.h
MIXED_WRITES = 1 / (LOOKUPS_AN_INSERT + 1)  # of the accesses of such a mix
BANDWIDTH = {'L3': 'L3 bandwidth', 'memory': 'memory bandwidth'}
PLACES = {'L2': 'in the L2', 'L3': 'in the L3', 'memory': 'in memory'}
LIMITS = {'lines': 'random lines read', 'fetch-or': "random locked or's"}
HOWS = {
    'mixed': '95 lookups to 5 inserts',
    'insert': 'inserts and duplicates',
    'batch': 'inserts in batches',
}
PAIR = ('median_ns', 'least_ns', 'most_ns', 'pairs')


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


def own_cache(machine):
    """Bytes of the L2 that a core has to itself; 0: the run does not say."""
    found = [c for c in machine.get('caches', []) if c['level'] == 2]
    if not found:
        return 0
    halves = machine['cpus_allowed'] / machine['cores']
    return found[0]['bytes'] / max(1.0, found[0]['shared_by'] / halves)


@dataclass
class Price:
    """What a line of another costs on so many cores: of the time that handing one over takes, and
    that time then."""

    threads: int
    share: float
    handoff_ns: float
    row: object


@dataclass
class Limit:
    """What one core gets of something that all share, and what each further one takes."""

    one: float
    shares: list = field(default_factory=list)  # by each repetition; none: not known
    rows: list = field(default_factory=list)

    @property
    def share(self):
        return median(self.shares) if self.shares else None

    @property
    def noisy(self):
        """Is it within what the repetitions differ by?"""
        within = bool(self.share) and quantile(self.shares, 0.25) == 0
        return within or any(r.unsteady for r in self.rows)


@dataclass
class Lack:
    """What the run lacks: the row that would have it, those left out since their threads shared a
    CPU, and what that means."""

    name: str
    left_out: list
    what: str
    means: str

    @property
    def why(self):
        """Why a prediction is too high."""
        if self.left_out:
            return f'{self.what} is left out, as threads shared a CPU there'
        return f'the run lacks {self.what}'

    @property
    def sentence(self):
        whose = 'its' if len(self.left_out) == 1 else 'their'
        out = f' (left out: {whose} threads shared a CPU)' if self.left_out else ''
        return f'{", ".join(self.left_out) or self.name}{out}, {self.what}: {self.means}'


class Constants:
    """The constants of a run's machine."""

    def __init__(self, run):
        self.run = run
        self.cores = run.machine.get('cores', 1)
        self.cache = own_cache(run.machine)
        self.limits = {}  # (what, fits): a Limit
        self.prices = {}  # (how, fits): a Price for each number of threads
        self.lacks = {}  # what a prediction would have needed: its key in the above, and a Lack
        self.left_out = {}  # of the same keys: rows whose threads shared a CPU
        self.notes = []  # what else the run lacks
        if not self.cache:
            self.notes.append(
                'the size of the L2: lines of other cores are taken to lie in no cache'
            )
        for what in LIMITS:
            for fits in BANDWIDTH:
                self.read_limit(what, fits)
        for how in HOWS:
            for fits in PLACES:
                self.read_prices(how, fits)
        self.pairs = list(self.read_pairs())

    def alone(self, key, results):
        """Of results by their threads: those with a core each, and to themselves."""
        of = {r.get('threads'): r for r in results if r.get('threads', 0) <= self.cores}
        shared = [r.name for n, r in sorted(of.items()) if n > 1 and r.contended]
        if shared:
            self.left_out[key] = shared
        return {n: r for n, r in sorted(of.items()) if n == 1 or not r.contended}

    def read_limit(self, what, fits):
        rows = self.run.of('memory', what=what, where='random', pages='huge', fits=fits)
        of = self.alone((what, fits), rows)
        if 1 not in of:
            return
        limit, most = Limit(rate_of(self.run, of[1]), rows=[of[1]]), max(of)
        if most > 1:
            limit.shares = [self.taken(of[1], of[most], i) for i in range(len(of[most].values))]
            limit.rows.append(of[most])
        self.limits[what, fits] = limit

    def taken(self, one, r, i):
        """What each further core takes, by the @i-th repetition on all cores."""
        alone = alone_rate(self.run, r, one, i) / slower(self.run, r, one, i)
        all_of_them = checked(self.run.path, r.name, 'a repetition', r.values[i])
        return sharing(alone, all_of_them, r.get('threads'))

    def read_prices(self, how, fits):
        writes = MIXED_WRITES if how == 'mixed' else 1.0
        of = self.alone((how, fits), self.run.of('memory', what='owner', how=how, fits=fits))
        for n, r in of.items():
            for counter in ('own_ns', 'together_ns', 'handoff_ns'):
                checked(self.run.path, r.name, counter, r.counters.get(counter, math.nan))
            each = [self.paid(r, i) for i in range(len(r.values))]
            self.prices.setdefault((how, fits), []).append(
                Price(n, median(each) / meetings(n, writes), r.counters['handoff_ns'], r)
            )

    def paid(self, r, i):
        """What the lines of others add to a visit, of a handoff's time."""
        own, together, handoff = (
            beside(self.run, r, c, i) for c in ('own_ns', 'together_ns', 'handoff_ns')
        )
        return max(0.0, together - own) / handoff

    def read_pairs(self):
        """(what was done, its counters) of each row about pairs of CPUs; what it lacks is noted."""
        for r in self.run.of('memory', what='pair'):
            found = {c: r.counters[c] for c in PAIR if r.counters.get(c) is not None}
            lacking = [c for c in PAIR if c not in found]
            if lacking:
                shown = 'shown without' if 'median_ns' in found else 'not shown'
                self.notes.append(f'{", ".join(lacking)} of {r.name}: it is {shown}')
            if 'median_ns' in found:
                yield r.get('how'), found

    def shares(self, what, fits):
        """What each further core takes, by each repetition; none: not known."""
        return self.limits[what, fits].shares if (what, fits) in self.limits else []

    def lack_of_price(self, how, fits, instead):
        """@instead: the price in the L2 is taken; else there is none."""
        what = 'the price of a line that another core wrote last'
        if not self.prices and not self.left_out:
            key, name = 'owner', 'memory/what:owner'
            means = 'inserts are predicted as if it were nothing, which is an upper bound'
        else:
            key, name = (how, fits), f'memory/what:owner/how:{how}/fits:{fits}'
            means = f'{HOWS[how]} are predicted as if it were nothing, which is an upper bound'
        if instead:
            means = f'for {HOWS[how]} {PLACES[fits]} that in the L2 is taken'
        return self.lacks.setdefault(key, Lack(name, self.left_out.get(key, []), what, means))

    def lack_of_limit(self, what, fits):
        left_out = self.left_out.get((what, fits), [])
        name = f'memory/what:{what}/where:random/pages:huge/fits:{fits}'
        on = 'on all cores, each to itself'
        if (what, fits) not in self.limits:
            on = 'on one core and on all, each to itself'
        words = f'{LIMITS[what]} {PLACES[fits]} {on}'
        of = {'lines': 'all but inserts', 'fetch-or': 'inserts'}[what]
        means = f'no bound by {BANDWIDTH[fits]} for {of}, which are upper bounds'
        return self.lacks.setdefault((what, fits), Lack(name, left_out, words, means))

    @property
    def missing(self):
        """All that the run lacks, in sentences."""
        partly = [
            Lack('', names, 'one of several numbers of cores', 'that of the others is taken')
            for key, names in self.left_out.items()
            if key not in self.lacks and (key in self.prices or self.shares(*key))
        ]
        return self.notes + [lack.sentence for lack in (*self.lacks.values(), *partly)]

# SPDX-License-Identifier: MIT
"""A run: the file run.json, read and checked once, so that nobody else meets a missing field."""
import json
import reprlib

from .machine import disturbance, disturbances

FORMAT = 1
# A result whose quartiles lie further apart than this share of its median is marked.
SPREAD_MARKED = 0.10
NOISY_SHARE = 0.2  # of the results: if more are unsteady, the machine was noisy
# Counters of which each repetition counts, not only the median. bench/compare asks about the first
# few: (unit, what is better). Further out, and where nothing is reloaded, it is the machine that
# makes a tail.
COMPARED = {
    **{p: ('ns', 'lower') for p in ('p50_ns', 'p99_ns', 'p999_ns')},
    'of_calm': ('of calm', 'higher'),
}
# What was taken in turn with a repetition, for its ratio to that.
BESIDE = {'handoff_ns', 'step_ns', 'alone_per_second', 'alone_step_ns', 'own_ns', 'together_ns'}
SAMPLED = {
    *COMPARED,
    *BESIDE,
    *('p9999_ns', 'calm_p50_ns', 'calm_p99_ns', 'calm_p999_ns', 'calm_p9999_ns', 'reader_ms'),
}


class Trouble(Exception):
    """What the user must know instead of an answer."""


def number(text):
    """'16' -> 16, '0.01' -> 0.01, 'L2' -> 'L2'."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def median(values):
    return quantile(values, 0.5)


def quantile(values, q):
    """Linear between the two nearest of the sorted values."""
    values = sorted(values)
    place = q * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (place - below)


def spread(values):
    """The distance of the quartiles over the median; None where fewer than three values say nothing
    about it."""
    middle = median(values)
    if len(values) < 3 or not middle:
        return None
    return (quantile(values, 0.75) - quantile(values, 0.25)) / abs(middle)


def unsteady(share):
    """Does a spread mark its result?"""
    return share is not None and share > SPREAD_MARKED


def noise_in(spreads):
    """Why the results themselves show that the machine was noisy, which a virtual one's load does
    not: its host's other guests do not show there."""
    known = [s for s in spreads if s is not None]
    wide = [s for s in known if unsteady(s)]
    if len(wide) > NOISY_SHARE * len(known):
        yield f'{len(wide)} of {len(known)} results spread by more than {100 * SPREAD_MARKED:.0f} %'


def judged(about, results):
    """The machine, with why it was noisy as that is judged today: an old run may be read."""
    why = disturbances(about['load_average'], about['idle_share'], about['cpus_allowed'])
    why += noise_in(r['spread'] for r in results)
    return {**about, 'noisy': bool(why), 'noisy_why': why}


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300


def figure(value):
    """A number or none: what nobody measured is null, NaN or infinite, and whoever needs it says
    so."""
    return value is None or isinstance(value, float) or is_number(value)


def misshapen(raw):
    """Where a run has something of the wrong kind, and what: (place, value)."""
    machine = raw['machine']
    sizes = {'cpus_allowed': machine['cpus_allowed'], 'cores': machine.get('cores', 1)}
    for i, cache in enumerate(machine.get('caches', [])):
        sizes.update({f'caches[{i}].{k}': cache[k] for k in ('level', 'bytes', 'shared_by')})
    for name, value in sizes.items():
        if not is_number(value) or value < 1:
            yield f'machine.{name}', value
    for i, name in enumerate(raw.get('left_out', [])):
        if not isinstance(name, str):
            yield f'left_out[{i}]', name
    for i, r in enumerate(raw['results']):
        at = r['name'] if isinstance(r['name'], str) else f'results[{i}]'
        for name in ('name', 'question', 'unit'):
            if not isinstance(r[name], str):
                yield f'{at}: {name}', r[name]
        for name, value in r['params'].items():
            if not isinstance(value, str) and not is_number(value):
                yield f'{at}: params.{name}', value
        for name in ('threads', 'keys', 'batch', 'rate'):
            value = r['params'].get(name, 1)
            if not is_number(value) or value < 0:
                yield f'{at}: params.{name}', value
        samples = r.get('samples', {})
        ones = {'median': r['median'], 'spread': r['spread'], **r.get('counters', {})}
        for name, value in ones.items():
            if not figure(value):
                yield f'{at}: {name}', value
        for name, values in {'values': r['values'], **samples}.items():
            if not isinstance(values, list) or not all(figure(v) for v in values):
                yield f'{at}: {name}', values


class Result:
    """One benchmark: its parameters, what each repetition measured, and the counters' medians."""

    def __init__(self, raw):
        self.name = raw['name']
        self.question = raw['question']
        self.params = raw['params']
        self.unit = raw['unit']
        self.better = raw['better']
        self.values = raw['values']
        self.median = raw['median']
        self.spread = raw['spread']
        self.counters = raw.get('counters', {})
        self.samples = raw.get('samples', {})  # what is SAMPLED, repetition by repetition
        self.command = raw.get('command', '')

    def get(self, param, default=None):
        return self.params.get(param, default)

    @property
    def unsteady(self):
        return unsteady(self.spread)

    @property
    def contended(self):
        return self.counters.get('shared', 0) > 0

    @property
    def low(self):
        return min(self.values)

    @property
    def high(self):
        return max(self.values)


class LeftOut:
    """A benchmark that its program did not begin for lack of time."""

    def __init__(self, name):
        self.question, *parts = name.split('/')
        pairs = (part.partition(':') for part in parts)
        self.params = {key: number(value) for key, colon, value in pairs if colon}

    def get(self, param, default=None):
        return self.params.get(param, default)


class Run:
    def __init__(self, raw, path):
        self.path = path
        self.weir = raw['weir']
        self.date = raw['date']
        self.machine = judged(raw['machine'], raw['results'])
        self.settings = raw['settings']
        self.errors = raw.get('errors', [])
        self.left_out = [LeftOut(name) for name in raw.get('left_out', [])]
        self.results = [Result(r) for r in raw['results']]

    @property
    def disturbance(self):
        """How others disturbed it, in one clause; '' if they did not."""
        m = self.machine
        return disturbance(m['load_average'], m['idle_share'], m['cpus_allowed'])

    @property
    def one_cpu(self):
        """Is there nothing to ask about more than one CPU?"""
        return self.machine['cpus_allowed'] == 1

    def of(self, question, **params):
        """The results of a question whose parameters have these values; a parameter given as None
        must be absent."""
        return [
            r
            for r in self.results
            if r.question == question and all(r.get(k) == v for k, v in params.items())
        ]


def load(path):
    try:
        with open(path, encoding='utf-8') as file:
            raw = json.load(file)
        if raw.get('format') != FORMAT:
            raise Trouble(f'{path}: format {raw.get("format")!r}, this reads format {FORMAT}')
        for place, value in misshapen(raw):
            shown = reprlib.repr(value)
            raise Trouble(f'{path}: {place} is {shown}: not what bench/collect writes')
        run = Run(raw, path)
    except OSError as error:
        raise Trouble(f'{path}: {error.strerror}') from error
    except (ValueError, RecursionError) as error:
        raise Trouble(f'{path}: not JSON: {error}') from error
    except (KeyError, TypeError, AttributeError) as error:
        raise Trouble(
            f'{path}: not a run of bench/collect: {error} is missing or of the wrong kind'
        ) from error
    for r in run.results:
        if not r.values or r.better not in ('higher', 'lower'):
            raise Trouble(f'{path}: {r.name}: no values, or neither higher nor lower is better')
    return run

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A made-up run.json: every question, with figures of a plausible shape and noise drawn from a
seed, so that the scripts of bench/ are tested on the same data each time. synthetic.py [SEED
[CPUS]] prints one."""
import json
import math
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../bench'))
from figures.run import median, spread  # noqa: E402

SIZES = {'L2': 500000, 'L3': 10000000, 'memory': 100000000}
# name: ns per lookup in L2, bits per key, measured rate over requested rate, share under a lock
SETS = {
    'blocked': (3.0, 1.07, 0.99, 0.0),
    'classic': (9.0, 1.0, 1.0, 0.0),
    'split': (3.4, 1.10, 1.01, 0.0),
    'libbloom-mutex': (60.0, 1.0, 1.0, 0.9),
    'shard-mutex': (30.0, 1.0, 1.0, 0.1),
    'shard-rwlock': (35.0, 1.0, 1.0, 0.15),
    'textbook': (40.0, 1.0, 1.02, 0.0),
    'lfht': (55.0, 30.0, 0.0, 0.02),
}
OPS = {'hit': 1.0, 'miss': 0.9, 'insert': 4.0, 'mixed': 1.3, 'duplicate': 2.0}
SLOWER = {'L2': 1.0, 'L3': 2.0, 'memory': 5.0}


class Synthetic:
    def __init__(
        self,
        seed,
        cpus=2,
        repetitions=5,
        noise=0.01,
        drift=0.01,
        disturbed=0.02,
        plant=lambda name: 1.0,
    ):
        self.dice = random.Random(seed)
        self.cpus, self.repetitions, self.noise, self.drift, self.disturbed, self.plant = (
            cpus,
            repetitions,
            noise,
            drift,
            disturbed,
            plant,
        )
        self.results = []

    def values(self, name, true):
        """Repetitions around a value of this run; some are disturbed, as by another program."""
        true *= math.exp(self.dice.gauss(0, self.drift))
        values = []
        for _ in range(self.repetitions):
            worse = 1 + self.dice.expovariate(5) if self.dice.random() < self.disturbed else 1
            values.append(true * math.exp(abs(self.dice.gauss(0, self.noise))) * worse)
        return [v * self.plant(name) for v in values]

    def add(self, name, ns, counters=None, unit='keys/s', sampled=None):
        question, *parts = name.split('/')
        params = {}
        for part in parts:
            key, value = part.split(':')
            if '.' in value or 'e-' in value:
                params[key] = float(value)
            else:
                params[key] = int(value) if value.isdigit() else value
        values = self.values(name, ns)
        if unit != 'ns':
            values = [1e9 / v for v in values]
        counters = dict(counters or {})
        samples = {}
        for key, value in (sampled or {}).items():
            samples[key] = self.values(name, value)
            counters[key] = median(samples[key])
        self.results.append(
            {
                'question': question,
                'name': name,
                'params': params,
                'unit': unit,
                'better': 'lower' if unit == 'ns' else 'higher',
                'values': values,
                'median': median(values),
                'spread': spread(values),
                'counters': counters,
                'samples': samples,
                'command': f"build/bench/bench/bench_{question} --benchmark_filter='^{name}$'",
            }
        )

    def pair(self, result, calm):
        """What the same threads do undisturbed, alternating with the values."""
        values = [1e9 / v for v in self.values('calm', 1e9 / calm)]
        result['samples']['of_calm'] = [a / b for a, b in zip(result['values'], values)]
        seconds = result['counters']['reload_seconds']
        result['samples']['reader_ms'] = [
            (1 - share) * seconds * 1e3 for share in result['samples']['of_calm']
        ]
        result['counters'].update(
            of_calm=median(result['samples']['of_calm']),
            calm_per_second=median(values),
            reader_ms=median(result['samples']['reader_ms']),
        )

    def threads(self):
        counts = [1]
        while counts[-1] * 2 <= self.cpus:
            counts.append(counts[-1] * 2)
        return counts

    def facts(self, name, rate, **more):
        _, bits, measured, _ = SETS[name]
        return {
            'bits_per_key': bits * 1.44 * math.log2(1 / rate),
            'fp_asked': rate,
            'fp_measured': measured * rate,
            'lost': 0,
            'shared': 0,
            **more,
        }

    def cores(self):
        for op, dear in OPS.items():
            for name, (ns, _, _, locked) in SETS.items():
                for rate in (0.01, 0.001):
                    for fits, keys in SIZES.items():
                        if name in ('textbook', 'lfht') and fits == 'memory':
                            continue
                        batched = name in ('blocked', 'classic') and op in ('hit', 'miss')
                        for batch in (0, 32) if batched else (0,):
                            for threads in self.threads():
                                once = ns * dear * SLOWER[fits] * (0.4 if batch else 1)
                                contended = (locked + 0.01) * (threads - 1)
                                coherent = 0.001 * threads * (threads - 1)
                                share = (1 + contended + coherent) / threads
                                limit = threads * 9e8 / SLOWER[fits]
                                self.add(
                                    f'cores/op:{op}/set:{name}/rate:{rate}/keys:{keys}'
                                    f'/fits:{fits}/batch:{batch}/threads:{threads}',
                                    once * share,
                                    self.facts(name, rate, limit_per_second=limit),
                                )

    def reload(self, flavors=('bp', 'qsbr'), pace=1):
        for flavor in flavors:
            for phase, cost, tail in (
                ('rebuild', 1.04, 1.6),
                ('copy', 1.06, 1.8),
                ('roll', 1.02, 1.2),
                ('refresh', 1.05, 2.5),
            ):
                calm = {'p50_ns': 12.0, 'p99_ns': 80.0, 'p999_ns': 400.0, 'p9999_ns': 2000.0}
                sampled = {p: v * (cost if p == 'p50_ns' else tail) for p, v in calm.items()}
                sampled.update({f'calm_{p}': v for p, v in calm.items()})
                counters = {
                    'clock_ns': 9.5,
                    'lost': 0,
                    'reload_seconds': 0.01 / pace,
                    'max_ns': 30000.0 * tail,
                    'calm_max_ns': 30000.0,
                }
                at = '' if pace == 1 else f'/pace:{pace}'
                name = f'reload/phase:{phase}/op:hit/flavor:{flavor}{at}/keys:1000000/threads:1'
                self.add(name, 6.0 * (1 + (cost - 1) * pace), counters, sampled=sampled)
                self.pair(self.results[-1], 1e9 / 6.0)

    def choice(self):
        for kind, z, dear in (
            ('blocked', 1, 2.6),
            ('blocked', 2, 3.0),
            ('blocked', 4, 3.4),
            ('blocked', 8, 4.0),
            ('classic', 0, 9.0),
        ):
            for rate in (0.1, 0.03, 0.01, 0.001, 0.0001, 0.00001):
                bits = (
                    1.44
                    * math.log2(1 / rate)
                    * (
                        1
                        + {1: 0.1, 2: 0.03, 4: 0.02, 8: 0.03, 0: 0}[z] * math.log10(1 / rate) ** 1.5
                    )
                )
                for op in ('hit', 'miss'):
                    self.add(
                        f'choice/kind:{kind}/z:{z}/rate:{rate}/keys:10000000/op:{op}',
                        dear * (1 + bits / 40) * (0.7 if op == 'miss' else 1),
                        {
                            'bits_per_key': bits,
                            'fp_asked': rate,
                            'fp_measured': rate * 0.995,
                            'lost': 0,
                            'weir': 1,
                            'inserts': 1,
                            'is_default': int(z == 2),
                        },
                    )
        self.changing_kinds()

    def changing_kinds(self):
        """Kinds that remove or count keys, grow, or are built once. The rates of cuckoo and fuse
        are lower than the requested one."""
        for kind, bits, own, ops in (
            ('counting', 49.8, 0.01, ('remove', 'count')),
            ('growing', 14.0, 0.01, ()),
            ('cuckoo', 13.5, 0.0023, ('remove', 'count')),
            ('frequency', 186.0, 0.01, ('count',)),
            ('fuse', 9.55, 0.0039, ()),
        ):
            inserts = () if kind == 'fuse' else ('insert',)
            for op in ('hit', 'miss', 'batch', *inserts, *ops):
                self.add(
                    f'choice/kind:{kind}/rate:0.01/keys:10000000/op:{op}',
                    {'batch': 4, 'insert': 20, 'remove': 25, 'count': 15}.get(op, 10),
                    {
                        'bits_per_key': bits,
                        'fp_asked': own,
                        'fp_measured': own * 0.995,
                        'lost': 0,
                        'weir': 1,
                        'inserts': len(inserts),
                        'removes': int('remove' in ops),
                        'counts': int('count' in ops),
                        'grows': int(kind == 'growing'),
                    },
                )

    def memory(self):
        for pages, dear in (('4k', 1.4), ('huge', 1.0)):
            for batch in (1, 2, 4, 8, 16, 32, 64, 128, 256):
                self.add(
                    f'memory/what:batch/pages:{pages}/keys:10000000/batch:{batch}',
                    dear * (4 + 20 / min(batch, 40) + batch / 100),
                    {
                        'limit_per_second': 3e8,
                        'bits_per_key': 10.27,
                        'fp_asked': 0.01,
                        'fp_measured': 0.0099,
                        'lost': 0,
                    },
                )
            for keys in (100000, 1000000, 10000000, 100000000):
                self.add(
                    f'memory/what:pages/pages:{pages}/keys:{keys}',
                    dear * 3 * math.log10(keys / 9999),
                    {'limit_per_second': 3e8},
                )
        for distance in (0, 8, 16, 32, 64, 128):
            self.add(
                f'memory/what:distance/keys:10000000/distance:{distance}',
                4 + 30 / (1 + distance / 4),
            )
        for length in (4, 8, 16, 32, 64, 128, 256):
            self.add(f'memory/what:hash/length:{length}', 1.5 + length / 30)
            self.add(
                f'memory/what:verb/length:{length}',
                4 + length / 30,
                {'limit_per_second': 1e9 / (1.5 + length / 30)},
            )

    def cost(self):
        facts = {'bytes': 850000, 'bits_per_key': 10.3, 'keys': 660000, 'lost': 0}
        for how, ns in (('single', 35.0), ('batch', 20.0), ('load_hashes', 12.0)):
            for threads in self.threads():
                self.add(
                    f'cost/what:build/file:words/how:{how}/threads:{threads}',
                    ns / threads**0.9,
                    facts,
                )
        self.add('cost/what:save/file:words/form:plain', 3e6, facts, unit='ns')
        for what, ns in (('load', 1e6), ('map', 4e5)):
            for cache, dear in (('cold', 5), ('warm', 1)):
                self.add(
                    f'cost/what:{what}/file:words/form:plain/cache:{cache}',
                    ns * dear,
                    facts,
                    unit='ns',
                )

    def run(self):
        self.cores()
        self.reload()
        self.choice()
        self.memory()
        self.cost()
        self.reload(('bp',), 0.1)
        # smaller and faster than weir's kinds: a finding, but no advice
        self.add(
            'choice/kind:libbloom/rate:0.01/keys:10000000/op:miss',
            1.5,
            {'bits_per_key': 9.5, 'fp_asked': 0.01, 'fp_measured': 0.00995, 'lost': 0},
        )
        machine = {
            'cpu': 'Synthetic CPU, measured by nobody',
            'instructions': [],
            'virtual': False,
            'cpus_allowed': self.cpus,
            'cores': self.cpus,
            'smt': False,
            'caches': [
                {'level': 2, 'type': 'unified', 'bytes': 1 << 20, 'shared_by': 1},
                {'level': 3, 'type': 'unified', 'bytes': 33 << 20, 'shared_by': self.cpus},
            ],
            'memory_bytes': 24 << 30,
            'governor': 'performance',
            'huge_pages': 'transparent: madvise; reserved: 0',
            'kernel': '6.1',
            'compiler': 'gcc 12.2.0',
            'load_average': {'begin': 0.05, 'end': 1.2},
            'idle_share': {'begin': 1.0, 'end': 0.99, 'others': 0.01},
            'noisy': False,
            'noisy_why': [],
        }
        commands = {
            q: f'build/bench/bench/bench_{q}'
            for q in ('cores', 'reload', 'choice', 'memory', 'cost')
        }
        return {
            'weir': '0.1.0',
            'format': 1,
            'date': '2026-01-01 00:00 UTC',
            'machine': machine,
            'settings': {'mode': 'default', 'seconds': 600, 'commands': commands},
            'errors': [],
            'results': self.results,
        }


def write(folder, name, run):
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='utf-8') as file:
        json.dump(run, file)
    return path


if __name__ == '__main__':
    SEED, CPUS = ([int(a) for a in sys.argv[1:]] + [1, 2][len(sys.argv) - 1 :])[:2]
    json.dump(Synthetic(SEED, CPUS).run(), sys.stdout)

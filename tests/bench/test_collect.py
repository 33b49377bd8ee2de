#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/collect: Google Benchmark's output arrives complete in run.json, and errors are
reported."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../bench')
sys.path.insert(0, BENCH)
from figures import machine  # noqa: E402
from figures.run import load, quantile, spread  # noqa: E402


def repetition(name, index, **fields):
    return {
        'name': name,
        'run_name': name,
        'run_type': 'iteration',
        'repetition_index': index,
        'real_time': 2.0,
        'cpu_time': 2.0,
        'time_unit': 'us',
        'iterations': 1,
        'threads': 1,
        **fields,
    }


class Collect(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def collect(self, *arguments):
        done = subprocess.run(
            [
                sys.executable,
                os.path.join(BENCH, 'collect'),
                '-o',
                self.path('run.json'),
                *arguments,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stderr

    def written(self, name, *benchmarks):
        with open(self.path(name), 'w', encoding='utf-8') as file:
            json.dump(
                {'context': {'executable': '/elsewhere/bench_cores'}, 'benchmarks': benchmarks},
                file,
            )
        return self.path(name)

    def test_repetitions_become_one_result(self):
        name = 'cores/op:hit/set:blocked/rate:0.01/threads:2/iterations:1/manual_time'
        speeds = [100e6, 130e6, 110e6, 90e6, 120e6]
        entries = [
            repetition(name, i, items_per_second=s, bits_per_key=10.27, lost=0, shared=int(i == 2))
            for i, s in enumerate(speeds)
        ]
        mean = dict(entries[0], run_type='aggregate', aggregate_name='mean', name=name + '_mean')
        file = self.written('cores.json', *entries, mean)
        self.assertEqual(
            self.collect('--command', 'cores=bench_cores --quick', '--mode', 'quick', file), (0, '')
        )
        run = load(self.path('run.json'))
        self.assertEqual((len(run.results), run.settings['mode'], run.errors), (1, 'quick', []))
        r = run.results[0]
        self.assertEqual(r.name, 'cores/op:hit/set:blocked/rate:0.01/threads:2')
        self.assertEqual(r.params, {'op': 'hit', 'set': 'blocked', 'rate': 0.01, 'threads': 2})
        self.assertEqual(
            (r.question, r.unit, r.better, r.values, r.median),
            ('cores', 'keys/s', 'higher', speeds, 110e6),
        )
        self.assertAlmostEqual(r.spread, 20 / 110)
        self.assertTrue(r.unsteady and r.contended)
        self.assertEqual((r.counters['bits_per_key'], r.counters['lost']), (10.27, 0))
        self.assertEqual(r.command, f"bench_cores --quick --benchmark_filter='^{name}$'")

    def test_times_and_latencies(self):
        file = self.written(
            'a.json',
            *[
                repetition(
                    'reload/phase:copy',
                    i,
                    p99_ns=100 + i,
                    max_ns=1000 * i,
                    of_calm=0.9,
                    calm_per_second=7,
                )
                for i in range(3)
            ],
        )
        self.assertEqual(self.collect(file)[0], 0)
        r = load(self.path('run.json')).results[0]
        self.assertEqual((r.values, r.unit, r.better), ([2000.0] * 3, 'ns', 'lower'))
        self.assertEqual(
            (r.samples['p99_ns'], r.counters['p99_ns'], r.counters['max_ns']),
            ([100, 101, 102], 101, 2000),
        )
        self.assertEqual((r.samples['of_calm'], r.counters['calm_per_second']), ([0.9] * 3, 7))
        self.assertNotIn('calm_per_second', r.samples)

    def test_unsteady_results_are_noise(self):
        def noise_of(unsteady):
            entries = [
                repetition(
                    f'cores/threads:{n}', i, items_per_second=100 + (20 * i if n < unsteady else 0)
                )
                for n in range(10)
                for i in range(3)
            ]
            self.assertEqual(self.collect(self.written('a.json', *entries))[0], 0)
            machine_then = load(self.path('run.json')).machine
            self.assertEqual(machine_then['noisy'], bool(machine_then['noisy_why']))
            return ' '.join(machine_then['noisy_why'])

        self.assertNotIn('results spread', noise_of(2))
        self.assertIn('3 of 10 results spread by more than 10 %', noise_of(3))

    def test_several_files(self):
        a = self.written('a.json', repetition('cores/threads:1', 0, items_per_second=1))
        b = self.written(
            'b.json',
            repetition('cores/threads:1', 1, items_per_second=2),
            repetition('memory/what:hash', 0, items_per_second=3),
        )
        self.assertEqual(self.collect(a, b)[0], 0)
        self.assertEqual([r.values for r in load(self.path('run.json')).results], [[1, 2], [3]])

    def test_failures_are_reported(self):
        file = self.written(
            'a.json',
            repetition('cores/set:a', 0, items_per_second=1, lost=2),
            repetition('cores/set:b', 0, error_occurred=True, error_message='no memory'),
        )
        status, err = self.collect(file)
        self.assertEqual(status, 1)
        self.assertIn('cores/set:a: 2 keys were lost', err)
        self.assertIn('cores/set:b: no memory', err)
        self.assertEqual(len(load(self.path('run.json')).errors), 2)

    def test_left_out_is_no_failure(self):
        """A program that had to end early is not reported as failed."""
        late = repetition(
            'cores/set:b', 0, error_occurred=True, error_message='left out: there was no time'
        )
        file = self.written('a.json', repetition('cores/set:a', 0, items_per_second=1), late, late)
        self.assertEqual(self.collect('--reload-every', '10m', '--rate', '0.1%', file), (0, ''))
        run = load(self.path('run.json'))
        self.assertEqual((run.errors, len(run.left_out), len(run.results)), ([], 1, 1))
        self.assertEqual(run.settings['reload_every'], 600)
        self.assertEqual(run.settings['rate'], 0.001)

    def test_unreadable(self):
        with open(self.path('cut.json'), 'w', encoding='utf-8') as file:
            file.write('{"context": {}, "benchm')
        for path in (self.path('none.json'), self.path('cut.json'), self.folder):
            status, err = self.collect(path)
            self.assertEqual(status, 2)
            self.assertIn(path, err)
        self.assertEqual(self.collect(self.written('empty.json'))[0], 2)
        self.assertFalse(os.path.exists(self.path('run.json')))

    def test_machine(self):
        self.assertEqual(self.collect('--begin')[0], 0)
        os.rename(self.path('run.json'), self.path('begin.json'))
        file = self.written('a.json', repetition('cores/threads:1', 0, items_per_second=1))
        self.assertEqual(self.collect('--since', self.path('begin.json'), file)[0], 0)
        about = load(self.path('run.json')).machine
        self.assertEqual(about['cpus_allowed'], len(os.sched_getaffinity(0)))
        self.assertGreater(about['memory_bytes'], 0)
        self.assertTrue(about['cpu'] and about['kernel'])
        self.assertTrue(
            0 <= about['idle_share']['begin'] <= 1 and 0 <= about['idle_share']['others'] <= 1
        )
        self.assertEqual(about['noisy'], bool(about['noisy_why']))

    def test_noise(self):
        quiet = {
            'load_average': 0.1,
            'idle_share': 0.99,
            'ticks': 1000,
            'busy': 100,
            'process': 1,
            'own': 10,
        }
        ours = dict(quiet, ticks=2000, busy=900, own=800)
        elsewhere = dict(ours, process=2)  # nothing is known about the time between
        for end in (ours, elsewhere):
            self.assertFalse(machine.load_between(quiet, end, 2)['noisy'])
        for end, change, words in (
            (ours, {'busy': 1100}, 'others had 21 %'),
            (ours, {'idle_share': 0.5}, '50 % idle'),
            (elsewhere, {'load_average': 3.0}, 'load average was 3.0 at the end, on 2 CPUs'),
        ):
            load_now = machine.load_between(quiet, dict(end, **change), 2)
            self.assertTrue(load_now['noisy'])
            self.assertIn(words, ' '.join(load_now['noisy_why']))

    def test_own_load_average_is_no_noise(self):
        """The load average includes the run and its build: otherwise the CPUs were idle."""
        before = dict(
            load_average=1.6, idle_share=0.99, ticks=1000, busy=100, process=1, own=10
        )
        after = dict(before, load_average=3.0, ticks=2000, busy=990, own=890)
        self.assertEqual(machine.load_between(before, after, 2)['noisy_why'], [])

    def test_spread(self):
        self.assertIsNone(spread([1, 2]))
        self.assertEqual(spread([5, 5, 5]), 0)
        self.assertEqual([quantile([4, 1, 3, 2], q) for q in (0, 0.5, 1)], [1, 2.5, 4])


if __name__ == '__main__':
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/compare does not flag the same code, flags slower code, and refuses runs that cannot be
compared."""
import copy
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from synthetic import Synthetic, write  # noqa: E402

COMPARE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../bench/compare')


def compare(*arguments):
    done = subprocess.run(
        [sys.executable, COMPARE, *arguments], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


class Compare(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.before = write(self.folder.name, 'before.json', Synthetic(1).run())

    def after(self, run):
        return write(self.folder.name, 'after.json', run)

    def flags(self, run):
        """The names flagged as slower and as faster, and the exit status."""
        status, out, err = compare('--json', self.before, self.after(run))
        self.assertEqual(err, '')
        results = json.loads(out)['results']
        return [
            {r['name'] for r in results if r['flag'] == flag} for flag in ('slower', 'faster')
        ] + [status]

    def assert_found(self, planted, factor, least, **noise):
        """Of the results that planted() names, slowed by factor, at least this share is flagged,
        and almost none of the others."""
        run = Synthetic(2, plant=lambda name: factor if planted(name) else 1.0, **noise).run()
        names = {r['name'] for r in run['results'] if planted(r['name'])}
        slower, faster, status = self.flags(run)
        self.assertEqual(status, 1)
        self.assertGreaterEqual(len({n for n in slower if planted(n)}), least * len(names))
        self.assertLessEqual(
            len([n for n in slower if not planted(n)]) + len(faster), 0.05 * len(slower)
        )

    def test_same_code_twenty_pairs(self):
        """20 pairs on a quiet machine and 20 on a noisy one: at most one in 20 may be flagged."""
        for name, noise in {
            'quiet': {},
            'noisy': {'noise': 0.04, 'drift': 0.02, 'disturbed': 0.08},
        }.items():
            folder = os.path.join(self.folder.name, name)
            os.mkdir(folder)
            for seed in range(40):
                write(folder, f'{seed:02}.json', Synthetic(1000 + seed, **noise).run())
            status, out, err = compare('--self-test', folder)
            print(f'{name}: {out.splitlines()[-1]}')
            self.assertEqual((status, err), (0, ''), out)
            self.assertIn('20 pairs of 40 runs', out)

    def test_self_test_can_fail(self):
        folder = os.path.join(self.folder.name, 'unlike')
        os.mkdir(folder)
        for seed in range(4):
            write(
                folder,
                f'{seed}.json',
                Synthetic(seed, plant=lambda name, seed=seed: 1.5 if seed % 2 else 1.0).run(),
            )
        status, out, _ = compare('--self-test', folder)
        self.assertEqual(status, 1, out)

    def test_sleep_in_every_lookup(self):
        self.assert_found(lambda n: n.startswith('cores/op:hit') and 'set:blocked' in n, 1.3, 0.85)

    def test_batch_path_disabled(self):
        self.assert_found(lambda n: 'set:blocked' in n and 'batch:32' in n, 2.5, 1.0)

    def test_one_result_alone(self):
        self.assert_found(
            lambda n: n == 'cost/what:build/file:words/how:single/threads:1', 1.3, 1.0
        )

    def test_ten_percent(self):
        self.assert_found(lambda n: n.startswith('cores/op:hit'), 1.1, 0.75)

    def test_three_repetitions(self):
        self.before = write(self.folder.name, 'before.json', Synthetic(1, repetitions=3).run())
        self.assert_found(lambda n: 'op:insert/set:blocked' in n, 1.4, 0.9, repetitions=3)

    def test_latency_percentiles(self):
        self.assert_found(lambda n: n.startswith('reload/phase:rebuild'), 2.0, 1.0)

    def test_faster_is_no_regression(self):
        slower, faster, status = self.flags(
            Synthetic(2, plant=lambda n: 0.7 if 'set:classic' in n else 1.0).run()
        )
        self.assertEqual((slower, status), (set(), 0))
        self.assertTrue(faster and all('set:classic' in n for n in faster))

    def test_below_the_threshold(self):
        run = Synthetic(2, plant=lambda n: 1.15 if 'op:hit' in n else 1.0).run()
        status, out, _ = compare('--threshold', '30', self.before, self.after(run))
        self.assertEqual(status, 0, out)

    def test_noisy_machine_doubles_the_threshold(self):
        quiet = {'drift': 0.003, 'disturbed': 0}
        write(self.folder.name, 'before.json', Synthetic(1, **quiet).run())
        run = Synthetic(2, plant=lambda n: 1.065 if 'op:hit' in n else 1.0, **quiet).run()
        self.assertEqual(compare(self.before, self.after(run))[0], 1)
        run['machine']['idle_share']['others'] = 0.3
        status, out, _ = compare(self.before, self.after(run))
        self.assertEqual(status, 0, out)
        self.assertIn('noisy', out)

    def test_the_way_between_cpus_is_not_the_code(self):
        """This row is five times as slow without a regression; any other row would be one."""
        for what, regressed in (('pair', 0), ('owner', 0), ('lines', 1)):
            runs = Synthetic(1), Synthetic(1)
            for run, ns in zip(runs, (30.0, 155.0)):
                run.run()
                run.add(f'memory/what:{what}/how:ping', ns)
            documents = [{**Synthetic(1).run(), 'results': run.results} for run in runs]
            write(self.folder.name, 'before.json', documents[0])
            self.assertEqual(compare(self.before, self.after(documents[1]))[0], regressed, what)

    def test_more_bits_and_lost_keys(self):
        for counter, factor, words in (
            ('bits_per_key', 1.05, 'bits a key'),
            ('lost', None, 'keys were lost'),
        ):
            run = Synthetic(1).run()
            counters = next(r for r in run['results'] if counter in r['counters'])['counters']
            counters[counter] = counters[counter] * factor if factor else 3
            status, out, _ = compare(self.before, self.after(run))
            self.assertEqual(status, 1)
            self.assertIn(words, out)

    def test_another_machine(self):
        run = Synthetic(2).run()
        other = copy.deepcopy(run)
        other['machine'].update(cpu='another')
        status, _, err = compare(self.before, self.after(other))
        self.assertEqual(status, 2)
        self.assertIn('differ in the CPU', err)
        self.assertEqual(compare('--force', self.before, self.after(other))[0], 0)

    def test_another_kernel_is_reported(self):
        run = Synthetic(2).run()
        run['machine'].update(kernel='6.2')
        status, out, _ = compare(self.before, self.after(run))
        self.assertEqual(status, 0, out)
        self.assertIn('note: kernel: 6.1, then 6.2', out)

    def test_unreadable(self):
        run = Synthetic(2).run()
        del run['results'][0]['values']
        for path in (
            self.after(run),
            '/nonexistent',
            self.folder.name,
            write(self.folder.name, 'x.json', {'format': 2}),
            os.devnull,
        ):
            status, out, err = compare(self.before, path)
            self.assertEqual((status, out), (2, ''))
            self.assertIn(path, err)

    def test_nothing_in_common(self):
        run = Synthetic(2, repetitions=2).run()
        self.assertEqual(compare(self.before, self.after(run))[0], 2)


if __name__ == '__main__':
    unittest.main()

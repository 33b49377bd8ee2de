#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A run on a busy machine: the verdict has no figure that other programs caused and no superlative
over half of the kinds, and gives the reason for each gap."""
import importlib.machinery
import importlib.util
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.join(HERE, '../../bench')
sys.path[:0] = [HERE, BENCH]
from figures import findings, machine, verdict  # noqa: E402
from figures.run import load  # noqa: E402
from synthetic import Synthetic, write  # noqa: E402

BUSY = 'not measured: the CPUs were busy'


def report():
    loader = importlib.machinery.SourceFileLoader('report', os.path.join(BENCH, 'report'))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('report', loader))
    loader.exec_module(module)
    return module


class Busy(unittest.TestCase):
    def run_of(self, change):
        document = Synthetic(1, 2, noise=0, drift=0, disturbed=0).run()
        change(document)
        with tempfile.TemporaryDirectory() as folder:
            return load(write(folder, 'run.json', document))

    def answer(self, run, lead):
        return next(a for a in verdict.answers(run) if a.lead == lead)

    def found(self, run):
        return '\n'.join(text for text, _, _ in findings.findings(run))

    def without(self, *kinds):
        """A run that had no time for these kinds."""

        def leave(document):
            late = [r for r in document['results'] if r['params'].get('kind') in kinds]
            document['results'] = [r for r in document['results'] if r not in late]
            document['left_out'] = [r['name'] for r in late]

        return self.run_of(leave)

    def test_a_kind_left_out_is_named_beside_the_smallest_measured(self):
        run = self.without('cuckoo')
        head, rows = self.answer(run, 'What to choose').table
        self.assertEqual(head[-1], 'note')
        self.assertEqual(rows[2][:2], ['keys leave again', 'counting'])
        self.assertEqual(rows[2][-1], 'cuckoo: not measured, left out for lack of time')
        found = self.found(run)
        late = 'of those measured (cuckoo was left out for lack of time)'
        self.assertIn(f'Of what removes keys counting is the smallest {late} (49.80', found)
        self.assertIn(f'where keys leave again counting (49.8 bits a key) {late}', found)
        self.assertIn(f'is the smallest {late}', found.partition('At 1 % and ')[2])

    def test_a_row_that_cannot_be_filled_says_why(self):
        run = self.without('fuse', 'growing')
        _, rows = self.answer(run, 'What to choose').table
        self.assertEqual(rows[1][:2], ['the set is only replaced as a whole', '-'])
        self.assertEqual(rows[1][-1], 'fuse: not measured, left out for lack of time')
        self.assertEqual(rows[3][:2], ['the number of keys is not known', '-'])
        self.assertEqual(rows[3][-1], 'growing: not measured, left out for lack of time')
        self.assertEqual(rows[2][-1], '')

    def test_layered_left_out_is_not_named_for_one_set(self):
        def leave(document):
            document['left_out'] = [
                'choice/kind:layered/rate:0.01/keys:10000000/op:miss',
            ]

        self.assertEqual(len(self.answer(self.run_of(leave), 'What to choose').table[0]), 6)

    def test_a_kind_built_once_that_gains_nothing(self):
        def dear(document):
            for r in document['results']:
                if r['params'].get('kind') == 'fuse':
                    r['counters']['bits_per_key'] = 20.0

        _, rows = self.answer(self.run_of(dear), 'What to choose').table
        self.assertEqual(rows[1][-1], 'no kind that is built once is smaller or faster here')

    def test_no_speed_where_threads_shared_a_cpu_or_spread_widely(self):
        def share(document):
            for r in document['results']:
                r['counters']['shared'] = int(r['question'] == 'cores')

        fast = self.answer(self.run_of(share), 'How fast').text
        self.assertIn(f'lookups {BUSY}; in batches of 32 {BUSY}; inserts {BUSY} (', fast)
        self.assertNotRegex(fast, r'M/s|\*')
        # The table of a set's cost has the figure nevertheless.
        _, rows = self.answer(self.run_of(share), 'What the set costs').table
        self.assertEqual({row[-1] for row in rows}, {BUSY})

        def widen(document):
            for r in document['results']:
                r['spread'] = 0.51 if r['params'].get('threads') == 2 else 0.01

        fast = self.answer(self.run_of(widen), 'How fast').text
        self.assertIn(f'lookups 333 M/s a core, on 2 CPUs together {BUSY};', fast)

    def test_no_tail_of_readers_that_shared_a_cpu(self):
        def share(document):
            for r in document['results']:
                r['counters']['shared'] = int(r['question'] == 'reload')

        self.assertNotIn('99.9 %', self.answer(self.run_of(share), 'How fast').text)

    def busy(self, document):
        document['machine']['idle_share'] = {'begin': 0.0, 'end': 0.0, 'others': 0.81}
        for r in document['results']:
            if r['question'] == 'reload':
                r['samples']['of_calm'] = [0.2, 1.0, 1.4]
                r['counters']['of_calm'] = 1.0

    def test_the_long_reason_stands_once(self):
        run = self.run_of(self.busy)
        trust = self.answer(run, 'May you trust this run').text
        self.assertTrue(trust.startswith('no: others had 81 % of the CPUs; 0 of '), trust)
        self.assertIn('others had 81 % of the CPUs; ', self.found(run))
        rows = dict(report().machine_rows(run))
        everything = [*rows.values(), trust, self.found(run)]
        for words in ('at the beginning the CPUs were 0 % idle', 'at the end the CPUs were 0 %'):
            self.assertEqual(sum(text.count(words) for text in everything), 1, words)

    def test_a_reload_that_noise_hides_is_not_free(self):
        run = self.run_of(self.busy)
        cost = self.answer(run, 'What one reload costs').text
        self.assertTrue(cost.startswith('not measurable in this run'), cost)
        self.assertNotIn('nothing', cost)
        self.assertNotIn('nothing beyond noise', self.found(run))

    def test_caches_that_the_machine_does_not_show(self):
        def hide(document):
            document['machine']['caches'] = []
            document['machine']['caches_assumed'] = {'L2': 2 << 20, 'L3': 480 << 20}

        rows = dict(report().machine_rows(self.run_of(hide)))
        words = 'not shown by this machine; sizes assumed: L2 2 MiB, L3 480 MiB'
        self.assertEqual(rows['caches'], words)
        self.assertGreater(machine.assumed_caches()['L2'], 0)


if __name__ == '__main__':
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/model: what it shows of its predictions, and beside which rows it sets them."""
import json
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from model_rows import MIB, Modelled, cores, lines, owner, result  # noqa: E402
from figures import findings, past, predicted  # noqa: E402
from figures.run import load  # noqa: E402
from figures.words import value  # noqa: E402


def renamed(row, before, after):
    """The row of another contender, rate, ..."""
    key = before.split(':')[0]
    row['name'] = row['name'].replace(before, after)
    row['params'][key] = after.split(':')[1]
    return row


def reload(flavor, threads, values):
    name = f'reload/phase:copy/op:hit/flavor:{flavor}/keys:3000000/threads:{threads}'
    facts = {'of_calm': 0.8, 'calm_per_second': 1e8 * threads, 'bytes': 4 * MIB, 'shared': 0}
    return result(name, values, **facts)


class Shown(Modelled):
    def found(self, results, cpus=2):
        path = self.path_of(results, cpus)
        return '\n'.join(t for t, _, _ in findings.findings(load(path)))

    def test_inlined_only_with_all(self):
        rows = [cores('hit', 'L2', 0, 1, [100])]
        rows.append(renamed(cores('hit', 'L2', 0, 1, [150]), 'set:blocked', 'set:blocked-inline'))
        path = self.path_of(rows)
        short, whole = self.model(path)[1], self.model('--all', path)[1]
        self.assertRegex(short, 'lookups +in the L2')
        self.assertNotIn('inlined', short)
        self.assertRegex(whole, 'lookups, inlined +in the L2')

    def test_the_measured_numbers_of_threads_too(self):
        rows = [cores('hit', 'L2', 0, n, [100 * n]) for n in (1, 3)]
        points, compared = self.only(rows, cpus=4)
        self.assertEqual(sorted(points), [1, 2, 3, 4, 8, 16, 32, 64, 128])
        self.assertEqual(len(compared), 1)

    def test_rows_of_another_curve(self):
        rows = [cores('hit', 'L2', 0, 1, [100]), cores('hit', 'L2', 1024, 2, [400])]
        self.assertEqual(self.only(rows)[1], [])

    def test_a_way_that_became_shorter(self):
        rows = [cores('insert', 'L2', 0, 1, [100]), owner('insert', 'L2', 8, 28, 40)]
        facts = {'handoff_ns': 10.0, 'alone_per_second': 1e8}
        _, compared = self.only([*rows, cores('insert', 'L2', 0, 2, [50], **facts)])
        self.assertIn('a handoff of 10 ns, and of 40 ns where', compared[0].why)

    def test_the_one_thread_was_disturbed(self):
        one = cores('insert', 'L2', 0, 1, [100], shared=1)
        rows = [one, cores('insert', 'L2', 0, 2, [30]), owner('insert', 'L2', 8, 28, 40)]
        self.assertIn('shared CPU', self.only(rows)[1][0].why)

    def test_what_is_off_is_not_counted(self):
        rows = [cores('hit', 'L2', 0, n, [v]) for n, v in ((1, 100), (2, 150))]
        out = self.model(self.path_of(rows))[1]
        self.assertIn('Of 1 rows measured on more than one thread 0 are', out)

    def test_limits_in_text_and_json(self):
        rows = [cores('hit', 'memory', 1024, 1, [90])]
        rows += [lines('memory', 1, [100]), lines('memory', 2, [180])]
        path = self.path_of(rows)
        limit = json.loads(self.model('--json', path)[1])['limits'][0]
        self.assertEqual((limit['what'], limit['fits']), ('lines', 'memory'))
        self.assertAlmostEqual(limit['one_per_second'], 100e6)
        self.assertAlmostEqual(limit['share'], 1 / 9)
        self.assertIn(' 450b ', self.model(path)[1])

    def test_the_report_names_what_is_missing(self):
        html = past.of(load(self.path_of([cores('insert', 'L2', 0, 1, [50])])))[1]
        self.assertIn('Not in this run: memory/what:owner', html)

    def test_reloads_are_drawn_by_one_flavor(self):
        rows = [reload(flavor, n, [80 * n]) for flavor in ('bp', 'memb') for n in (1, 3)]
        _, curves = predicted.predictions(load(self.path_of(rows, 4)))
        self.assertEqual(len(curves), 2)
        measured, ahead = past.reload_panel(curves).series
        self.assertEqual([p[0] for p in measured.points], [1, 3])
        self.assertEqual((measured.marks, ahead.marks), (True, False))
        self.assertNotEqual(measured.style, ahead.style)

    def test_findings(self):
        rows = [cores('hit', 'L2', 0, 1, [100])]
        words = f'64 cores would look up {value(6400e6, "keys/s")} in the L2 (core)'
        self.assertIn(words, self.found(rows))
        # no limit was measured: nothing is claimed
        self.assertNotIn('64 cores', self.found([cores('hit', 'L3', 0, 1, [100])]))
        # of rows of reloads another finding speaks
        rows = [reload('bp', n, [80 * n]) for n in (1, 3)]
        self.assertNotIn('more than one thread', self.found(rows, 4))


if __name__ == '__main__':
    unittest.main()

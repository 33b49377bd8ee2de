#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/model: which predictions it shows, and the measured rows beside them."""
import json
import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from model_rows import MIB, Modelled, cores, lines, owner, result  # noqa: E402
from figures import findings, past, predicted  # noqa: E402
from figures.run import load  # noqa: E402
from figures.words import value  # noqa: E402


def renamed(row, before, after):
    """The row under the name of another contender, rate, ..."""
    key = before.split(':')[0]
    row['name'] = row['name'].replace(before, after)
    row['params'][key] = after.split(':')[1]
    return row


def reload(flavor, threads, values, op='hit', more='', keys=3000000):
    name = f'reload/phase:copy/op:{op}/flavor:{flavor}{more}/keys:{keys}/threads:{threads}'
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

    def test_what_a_line_costs(self):
        """10 ns more where half of the lines belong to others: 20 ns each, half of a handoff."""
        rows = [owner('insert', 'L2', 8, 18, 40), owner('insert', 'L2', 8, 68, 80, 4)]
        self.assertIn(
            'a line that another core wrote last, inserts and duplicates in the L2:'
            ' 20 ns on 2 cores (50 % of a handoff of 40 ns),'
            ' 80 ns on 4 cores (100 % of a handoff of 80 ns)\n',
            self.model(self.path_of(rows, 4))[1],
        )

    def test_cpus_in_their_order(self):
        pairs = {'cpu10-cpu11': 41.0, 'cpu2-cpu10': 40.0, 'cpu2-cpu11': 42.0}
        row = result('memory/what:pair/how:ping', [1.0], median_ns=41.0, **pairs)
        html = past.matrix(load(self.path_of([row])))
        self.assertEqual(re.findall(r'cpu\d+', html)[:3], ['cpu2', 'cpu10', 'cpu11'])

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
        self.assertIn('Of 1 row measured on more than one thread 0 are', out)

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
        self.assertIn('Missing: memory/what:owner', html)

    def test_reloads_are_drawn_by_one_flavor(self):
        rows = [reload(flavor, n, [80 * n]) for flavor in ('bp', 'memb') for n in (1, 3)]
        _, curves = predicted.predictions(load(self.path_of(rows, 4)))
        self.assertEqual(len(curves), 2)
        measured, ahead = past.reload_panel(curves).series
        self.assertEqual([p[0] for p in measured.points], [1, 3])
        self.assertEqual((measured.marks, ahead.marks), (True, False))
        self.assertNotEqual(measured.style, ahead.style)

    def test_a_panel_of_reloads_has_one_size_and_no_pace(self):
        rows = [reload('bp', 1, [80]), reload('bp', 1, [70], keys=10000000)]
        rows.append(reload('bp', 1, [90], more='/pace:0.1'))
        rows[-1]['params']['pace'] = 0.1
        _, curves = predicted.predictions(load(self.path_of(rows, 4)))
        panel = past.reload_panel(curves)
        self.assertEqual(panel.title, 'Lookups during reloads (3 M keys)')
        self.assertEqual([s.points[0][1] for s in panel.series], [80, 80])
        self.assertEqual(curves[2].title, 'lookups during a reload (copy, bp, pace 0.1)')

    def test_every_way_to_read_during_a_reload(self):
        ways = ('hit', 'hit_of_16', 'batch', 'insert', 'some other')
        path = self.path_of([reload('bp', n, [80 * n], op) for op in ways for n in (1, 3)], 4)
        status, out, err = self.model(path)
        self.assertEqual((status, err), (0, ''))
        self.assertIn('lookups, 16 a section, during a reload (copy, bp)', out)
        self.assertNotIn('some other', out)
        self.assertIn('Of 4 rows', out)

    def test_the_columns_are_cores(self):
        """In reloads the columns are readers. Where the loader would have no core, there is no
        figure."""
        rows = [cores('hit', 'L2', 0, 1, [100]), reload('bp', 1, [80]), reload('bp', 2, [130])]
        lines_of = self.model(self.path_of(rows))[1].split('\n')
        at = next(i for i, line in enumerate(lines_of) if line.startswith('million keys'))
        words = 'cores; of reloads: readers, and a core more for the loader'
        self.assertEqual(lines_of[at - 1].strip(), words)
        self.assertLessEqual(lines_of[at - 1].index('cores'), lines_of[at].index(' 1 ') + 1)
        self.assertRegex(lines_of[at + 2], r'\(3 M keys\) +<?80 +- +<320 ')
        self.assertIn('-: the loader would have no core to itself, as below', lines_of)
        html = past.of(load(self.path_of(rows)))[1]
        self.assertIn('<th>1 core</th><th>2 cores</th>', html)
        self.assertEqual(html.count('no core for the loader'), 1)

    def test_how_many_rows_are_shown(self):
        rows = [cores('hit', 'L2', 0, n, [100 * n]) for n in (1, 2)]
        for n, rate in ((1, 100), (2, 100)):
            row = renamed(cores('hit', 'L2', 0, n, [rate]), 'rate:0.01', 'rate:0.001')
            row['params']['rate'] = 0.001
            rows.append(row)
        short, whole = (self.model(*more, self.path_of(rows))[1] for more in ([], ['--all']))
        words = 'Of 2 rows measured on more than one thread 1 are within 15 % of the prediction'
        self.assertIn(f'{words}; of the 1 shown (--all: all) 1:', short)
        self.assertIn(f'{words}:\n', whole)
        for out, lines_shown in ((short, 1), (whole, 2)):
            below = out.partition(words)[2]
            self.assertEqual(below.count('lookups  '), lines_shown)
            self.assertIn('the figures for more cores on the medians of the whole run', below)

    def test_pairs_in_words(self):
        facts = {'median_ns': 84.0, 'least_ns': 84.0, 'most_ns': 84.0, 'pairs': 1}
        rows = [result(f'memory/what:pair/how:{how}', [1.0], **facts) for how in ('ping', 'or')]
        out = self.model(self.path_of(rows))[1]
        self.assertIn('a line handed over between the two CPUs: 84 ns\n', out)
        self.assertIn(
            'a locked or where half of the lines were last written by the other CPU: costs 84 ns'
            ' more than on lines of its own\n',
            out,
        )
        for r in rows:
            r['counters'].update(pairs=3, least_ns=40.0, most_ns=156.0)
        out = self.model(self.path_of(rows))[1]
        self.assertIn('a line handed over between two CPUs: 84 ns (40 to 156 of 3 pairs)', out)

    def test_findings(self):
        rows = [cores('hit', 'L2', 0, 1, [100])]
        words = f'64 cores would look up {value(6400e6, "keys/s")} in the L2 (core)'
        self.assertIn(words, self.found(rows))
        # no limit was measured, so nothing is said
        self.assertNotIn('64 cores', self.found([cores('hit', 'L3', 0, 1, [100])]))
        # another finding covers rows of reloads
        rows = [reload('bp', n, [80 * n]) for n in (1, 3)]
        self.assertNotIn('more than one thread', self.found(rows, 4))


if __name__ == '__main__':
    unittest.main()

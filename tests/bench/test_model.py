#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/model on figures made up so that the results can be worked out by hand, as the comments
do."""
import json
import math
import os
import random
import shutil
import sys
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.join(HERE, '../../bench')
sys.path[:0] = [HERE, BENCH]
from figures import findings, formulae, past, predicted  # noqa: E402
from figures.cores import section  # noqa: E402
from figures.run import load  # noqa: E402
from model_rows import MIB, SIZES, Modelled, cores, lines, owner, result  # noqa: E402
from synthetic import Synthetic, write  # noqa: E402


class Model(Modelled):
    def test_formulae(self):
        self.assertEqual(formulae.meetings(1, 1), 0)
        self.assertEqual(formulae.meetings(2, 1), 1 / 2)
        self.assertEqual(formulae.meetings(128, 1), 127 / 128)
        self.assertEqual(formulae.meetings(8, 0), 0)
        # 1/20 write, of which 1 / 1.05 have lost the line; 19/20 read, of which 0.05 / 1.05
        self.assertAlmostEqual(formulae.meetings(2, 0.05), 0.05 / 1.05 + 0.95 * 0.05 / 1.05)
        self.assertEqual(formulae.resident(2, MIB, 16 * MIB), 1 / 8)
        self.assertEqual(formulae.resident(64, MIB, 16 * MIB), 1)
        # two cores do 1.8 times one: the second loses a ninth, and nine times one is the maximum
        share = formulae.sharing(100, 180, 2)
        self.assertAlmostEqual(share, 1 / 9)
        self.assertAlmostEqual(formulae.together(100, share, 2), 180)
        self.assertAlmostEqual(formulae.together(100, share, 10**6), 900, places=1)
        self.assertEqual(formulae.sharing(100, 220, 2), 0)

    def test_meetings_are_those_of_a_simulation(self):
        """Simulates cores that access a line at random, and counts who has lost it since."""
        dice = random.Random(7)
        for n, writes in ((2, 1.0), (2, 0.05), (5, 0.3), (16, 0.05)):
            # for each core: does it have a copy, and the only one
            copy, alone, met, steps = [False] * n, None, 0, 200000
            for _ in range(steps):
                core, write_it = dice.randrange(n), dice.random() < writes
                met += alone != core if write_it else not copy[core]
                if write_it:
                    copy, alone = [c == core for c in range(n)], core
                else:
                    copy[core], alone = True, alone if alone == core else None
            self.assertAlmostEqual(met / steps, formulae.meetings(n, writes), delta=0.005)

    def test_distinct(self):
        self.assertAlmostEqual(formulae.distinct(1, 1), 1 - math.exp(-1))
        weights = [r**-0.99 for r in range(1, 20001)]
        whole = sum(weights)
        expected = sum(1 - math.exp(-5000 * w / whole) for w in weights) / 5000
        self.assertAlmostEqual(formulae.distinct(20000, 5000), expected, places=4)

    def test_inserts_pay_for_lines(self):
        rows = [
            cores('insert', 'L2', 0, 1, [100, 100, 100]),
            # 20 ns more where half of the lines belong to others: 40 ns for each, a handoff
            owner('insert', 'L2', 8, 28, 40),
        ]
        points, compared = self.only(rows)
        self.assertEqual(compared, [])
        self.assertEqual((points[1].rate, points[1].binds), (100e6, 'core'))
        self.assertAlmostEqual(points[2].rate, 2e9 / (10 + 40 / 2))
        self.assertEqual(points[2].binds, 'line transfers')
        self.assertAlmostEqual(points[128].rate, 128e9 / (10 + 40 * 127 / 128))
        # where a handoff took 80 ns beside the row: 10 + 80 / 2
        row = cores('insert', 'L2', 0, 2, [40, 41, 39], handoff_ns=80.0, alone_per_second=100e6)
        _, compared = self.only([*rows, row])
        self.assertAlmostEqual(compared[0].ratio, 1, delta=0.001)
        self.assertEqual(compared[0].why, '')

    def test_a_batch_has_its_own_price(self):
        rows = [
            cores('insert', 'L2', 1024, 1, [200]),
            owner('insert', 'L2', 8, 28, 40),
            owner('batch', 'L2', 8, 13, 40),
        ]
        points, _ = self.only(rows)
        self.assertAlmostEqual(points[2].rate, 2e9 / (5 + 10 / 2))

    def test_duplicates_write_what_is_new(self):
        rows = [cores('zipf', 'L2', 0, 1, [100]), owner('insert', 'L2', 8, 28, 40)]
        points, _ = self.only(rows)
        keys = SIZES['L2'] * 8 // 10
        new = formulae.distinct(keys, keys)
        self.assertTrue(0.2 < new < 0.6, new)
        self.assertAlmostEqual(points[4].rate, 4e9 / (10 + new * 0.75 * 40), delta=1)

    def test_a_larger_set_has_fewer_lines_of_others(self):
        rows = [
            cores('insert', 'L3', 0, 1, [50]),
            owner('insert', 'L2', 8, 28, 40),  # one handoff each
            owner('insert', 'L3', 20, 26, 40),  # 0.3 handoffs each, of which 1/8 * 1 in the L2
        ]
        points, _ = self.only(rows)
        for n, share in ((2, 0.3), (4, 0.25 + 0.75 * 0.2), (16, 1.0), (128, 1.0)):
            time = 20 + (n - 1) / n * share * 40
            self.assertAlmostEqual(points[n].rate, n * 1e9 / time, delta=1)

    def test_memory_bandwidth(self):
        rows = [
            cores('hit', 'memory', 1024, 1, [90]),
            lines('memory', 1, [100]),
            lines('memory', 2, [180]),
        ]
        points, _ = self.only(rows)
        self.assertEqual((points[2].rate, points[2].binds), (180e6, 'core'))
        # 8 * 100 / (1 + 7/9)
        self.assertAlmostEqual(points[8].rate, 450e6, places=3)
        self.assertEqual(points[8].binds, 'memory bandwidth')
        # alternating with the two, one alone did 120 and its CPU's step took 10 where theirs took
        # 12.5: 96 each, and no share; 180 of 200 would be one
        rows[2] = lines(
            'memory', 2, [192], step_ns=12.5, alone_step_ns=10.0, alone_per_second=120e6
        )
        points, _ = self.only(rows)
        self.assertEqual((points[8].rate, points[8].binds), (720e6, 'core'))

    def test_in_the_l2_nothing_is_shared(self):
        points, _ = self.only([cores('hit', 'L2', 0, 1, [100]), lines('L2', 1, [100])])
        self.assertEqual((points[128].rate, points[128].binds), (12800e6, 'core'))

    def test_slower_cores(self):
        """With two threads each step took half as long again, and so did the core's own part of a
        lookup, 5 of 20 ns."""
        row = cores(
            'hit', 'L3', 0, 2, [88, 89, 90], step_ns=0.3, alone_step_ns=0.2, alone_per_second=50e6
        )
        rows = [cores('hit', 'L2', 0, 1, [200]), cores('hit', 'L3', 0, 1, [40]), row]
        _, curves = predicted.predictions(load(self.path_of(rows)))
        found = curves[1].compared[0]
        self.assertAlmostEqual(found.point.rate, 2e9 / (20 + 2.5), delta=1e5)
        self.assertEqual(found.why, '')

    def why(self, row, *more, one=None):
        one = one or cores('insert', 'L2', 0, 1, [100, 100, 100])
        _, compared = self.only([one, row, *more])
        return compared[0].why

    def test_why_it_is_off(self):
        price = owner('insert', 'L2', 8, 28, 40)  # 66.7 on two
        for values, beside, more, words in (
            ([60, 60, 60], {}, [price], ''),
            ([30, 30, 30], {}, [price], 'not explained'),
            ([30, 30, 30], {'shared': 1}, [price], 'shared CPU'),
            ([30, 30, 30], {}, [], 'the run lacks the price of a line that another core'),
            ([30, 30, 62], {'alone_per_second': 1e8}, [price], 'unsteady: 1.08 to 2.22'),
            ([30, 30, 90], {}, [price], 'unsteady: 0.74 to 2.22'),
            (
                [10, 10, 10],
                {'handoff_ns': 160.0, 'alone_per_second': 1e8},
                [price],
                'a handoff of 160 ns, and of 40 ns where',
            ),
            # a single repetition shows no share
            ([30], {}, [price], 'not explained'),
        ):
            found = self.why(cores('insert', 'L2', 0, 2, values, **beside), *more)
            if words:
                self.assertIn(words, found)
            else:
                self.assertEqual(found, '')
        shaky = cores('insert', 'L2', 0, 1, [60, 100, 100])
        row = cores('insert', 'L2', 0, 2, [30, 30, 30])
        self.assertIn('unsteady: 60 M/s to 100 M/s on one thread', self.why(row, price, one=shaky))

    def test_fewer_samples_than_repetitions(self):
        """Which repetition each sample belongs to is unknown: the median is used for all."""
        rows = [cores('insert', 'L2', 0, 1, [100]), owner('insert', 'L2', 8, 28, 40)]
        row = cores('insert', 'L2', 0, 2, [40, 41, 39], handoff_ns=80.0, alone_per_second=100e6)
        for samples in ([80.0], [60.0, 80.0], [40.0, 60.0, 80.0, 100.0]):
            row['samples']['handoff_ns'] = samples
            found = self.only([*rows, row])[1][0]
            # 10 + 80 / 2, of 40
            for ratio, measured in zip(found.ratios, (40, 41, 39)):
                self.assertAlmostEqual(ratio, 40 / measured)

    def test_hyper_threads_are_no_cores(self):
        rows = [cores('hit', 'L2', 0, n, [100 * n]) for n in (1, 2, 4)]
        document = Synthetic(1, 4).run()
        document['results'] = rows
        document['machine']['cores'] = 2
        _, curves = predicted.predictions(load(write(self.folder, 'run.json', document)))
        self.assertEqual([c.row.get('threads') for c in curves[0].compared], [2])

    def test_readers_during_a_reload(self):
        def reload(threads, values, of_calm, calm):
            name = f'reload/phase:copy/op:hit/flavor:bp/keys:3000000/threads:{threads}'
            facts = {'of_calm': of_calm, 'calm_per_second': calm, 'bytes': 4 * MIB, 'shared': 0}
            return result(name, values, **facts)

        rows = [
            reload(1, [80], 0.8, 100e6),
            reload(3, [228], 0.76, 300e6),
            reload(4, [280], 0.7, 400e6),
        ]
        points, compared = self.only(rows, cpus=4)
        self.assertEqual([points[n].rate for n in (1, 2, 8)], [80e6, 160e6, 640e6])
        self.assertNotIn(4, points)
        # 0.8 of 300; and of 400, of which the loader takes half of one reader's
        self.assertAlmostEqual(compared[0].point.rate, 240e6)
        self.assertAlmostEqual(compared[1].point.rate, 0.8 * 400e6 * 3.5 / 4)

    def test_what_is_missing_is_named(self):
        path = self.path_of([cores('insert', 'L3', 0, 1, [50]), cores('insert', 'L3', 0, 2, [60])])
        status, out, err = self.model(path)
        self.assertEqual((status, err), (0, ''))
        self.assertIn('missing: memory/what:owner, the price of a line', out)
        self.assertIn('no bound by L3 bandwidth', out)
        self.assertNotIn('memory bandwidth', out)
        self.assertIn('the run lacks the price of a line that another core wrote last', out)
        self.assertEqual(self.model(self.path_of([]))[0], 0)

    def test_the_example(self):
        """An older run: lookups and the limits of L3 and memory, without the price of a line."""
        folder = os.path.join(BENCH, 'results')
        runs = [f for f in os.listdir(folder) if f.endswith('.json')]
        self.assertTrue(runs)
        for name in runs:
            status, out, err = self.model(os.path.join(folder, name))
            self.assertEqual((status, err), (0, ''))
            self.assertIn('lookups in batches of 1024', out)

    def test_figures_that_are_none(self):
        for value in (0, -1, math.nan, math.inf, None):
            for place in ('cores', 'owner', 'lines', 'beside'):
                row = cores('insert', 'L3', 0, 2, [60], handoff_ns=40.0)
                rows = [
                    cores('insert', 'L3', 0, 1, [50]),
                    owner('insert', 'L2', 8, 28, 40),
                    lines('L3', 1, [100]),
                    row,
                ]
                if place == 'cores':
                    rows[0]['median'] = value
                elif place == 'owner':
                    rows[1]['counters']['own_ns'] = value
                elif place == 'lines':
                    rows[2]['median'] = value
                else:
                    row['samples']['handoff_ns'] = [value]
                if value is None and place == 'beside':
                    continue
                path = self.path_of(rows)
                status, out, err = self.model(path)
                self.assertEqual((status, out), (2, ''), (value, place, err))
                self.assertRegex(err, r'^bench/model: .*run\.json: (cores|memory)/\S+: .* is ')
                self.assertIn('nothing can be predicted from that; measure', err)
                self.assertNotIn('Traceback', err)
                curves, html = past.of(load(path))
                self.assertEqual(curves, [])
                self.assertIn('Nothing is predicted of more cores: ', html)

    def test_a_file_that_is_no_run(self):
        status, _, err = self.model(os.path.join(self.folder, 'none.json'))
        self.assertEqual((status, err.count('\n')), (2, 1))
        self.assertIn('No such file', err)
        self.assertIn('RUN.json', self.model('--help')[1])

    def test_a_file_of_the_wrong_kinds(self):
        """The message is a sentence that names the place, not a traceback."""
        for place, value, words in (
            (('machine', 'cores'), '2', "machine.cores is '2'"),
            (('machine', 'cpus_allowed'), 0, 'machine.cpus_allowed is 0'),
            (('machine', 'caches', 0, 'bytes'), None, r'machine.caches\[0\].bytes is None'),
            (('results', 0, 'params'), None, 'not a run'),
            (('results', 0, 'params', 'op'), [], r'params.op is \[\]'),
            (('results', 0, 'params', 'keys'), 10**400, 'params.keys is 1000'),
            (('results', 0, 'params', 'rate'), 1e308, r'params.rate is 1e\+308'),
            (('results', 0, 'median'), '1', "median is '1'"),
            (('results', 0, 'values'), [None, 'x'], r'values is \[None'),
            (('results', 0, 'counters', 'bytes'), {}, 'bytes is {}'),
        ):
            document = Synthetic(1, 2).run()
            document['results'] = [cores('insert', 'L2', 0, 1, [100])]
            at = document
            for step in place[:-1]:
                at = at[step]
            at[place[-1]] = value
            status, out, err = self.model(write(self.folder, 'run.json', document))
            self.assertEqual((status, out, err.count('\n')), (2, '', 1), err)
            self.assertRegex(err, words)
        path = os.path.join(self.folder, 'run.json')
        for text in (b'[' * 100000, b'{"format": 1' + 5000 * b'0' + b'}', b'\xff'):
            with open(path, 'wb') as file:
                file.write(text)
            status, _, err = self.model(path)
            self.assertEqual((status, err.count('\n')), (2, 1), err)
            self.assertIn('not JSON', err)

    def test_pairs_are_of_cpus(self):
        names = {'cpu0-cpu1': 40.0, 'cpu0-cpu2': 41.0, 'cpu<img>-cpu3': 1.0, 'cpu0-x-y': 1.0}
        pairs = {'median_ns': 1.0, 'least_ns': 1.0, 'most_ns': 1.0, 'pairs': 2, **names}
        row = result('memory/what:pair/how:ping', [1.0], **pairs)
        html = past.matrix(load(self.path_of([row])))
        self.assertIn('2 pairs of CPUs', html)
        self.assertNotIn('img', html)

    def test_json_and_text_agree(self):
        path = self.path_of(
            [
                cores('insert', 'L2', 0, 1, [100]),
                cores('insert', 'L2', 0, 2, [60], handoff_ns=40.0),
                owner('insert', 'L2', 8, 28, 40),
            ]
        )
        document = json.loads(self.model('--json', path)[1])
        curve = document['curves'][0]
        self.assertEqual([p['threads'] for p in curve['predicted']], [2**i for i in range(8)])
        self.assertEqual(curve['predicted'][1]['binds'], 'line transfers')
        self.assertAlmostEqual(curve['compared'][0]['ratio'], 66.667 / 60, places=3)
        self.assertEqual(document['prices'][0]['share'], 1.0)
        text = self.model(path)[1]
        self.assertRegex(text, r'inserts +in the L2 .* 100 +66\.7l +')
        self.assertRegex(text, r' 66\.7 M/s +60 M/s +1\.11')
        self.assertIn('Of 1 row measured', text)

    @unittest.skipUnless(shutil.which('gnuplot'), 'gnuplot is not installed')
    def test_the_report_has_it(self):
        """The prediction is dashed, beside the measured curve, with its bound. Without one there is
        none."""
        rows = [cores('insert', 'L2', 0, n, [100 - 20 * n] * 3, handoff_ns=40.0) for n in (1, 2)]
        pairs = {'cpu0-cpu1': 40.0, 'cpu0-cpu2': 155.5, 'cpu1-cpu2': 156.0}
        ping = {'median_ns': 155.5, 'least_ns': 40.0, 'most_ns': 156.0, 'pairs': 3, **pairs}
        rows += [
            owner('insert', 'L2', 8, 28, 40),
            result('memory/what:pair/how:ping', [1.0], **ping),
        ]
        path = self.path_of(rows)
        page = section(load(path))
        self.assertIn('blocked, predicted', page)
        self.assertIn('line transfers', page)
        self.assertIn('A line handed over: 3 pairs of CPUs', page)
        self.assertRegex(page, r'>cpu2</td><td>156</td><td>156</td><td>0</td>')
        self.assertIn('156 ns (40 to 156 of 3 pairs)', page)
        self.assertIn('Predicted beside measured: 1 of 1 within 15 %', page)
        text = '\n'.join(t for t, _, _ in findings.findings(load(path)))
        self.assertRegex(text, r'64 cores would insert \d+ M/s in the L2 \(line transfers\)')
        self.assertIn('Of 1 row on more than one thread 1 are within', text)


if __name__ == '__main__':
    unittest.main()

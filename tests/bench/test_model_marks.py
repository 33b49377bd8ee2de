#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/model: the marks of its figures, and what it names: missing prices and limits, rows that
spread or shared a CPU, straight lines."""
import json
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from model_rows import Modelled, cores, lines, owner, result  # noqa: E402
from figures import beyond, cores as report, past  # noqa: E402
from figures.run import load  # noqa: E402

PRICE = 'memory/what:owner/how:{}/fits:{}'
WIDE = [50, 100, 150]  # the quartiles are 50 % of the median apart


def shared(row):
    row['counters']['shared'] = 1
    return row


def wide(row):
    row['spread'] = 0.5
    return row


class Marks(Modelled):
    def rows_of(self, results, cpus=2):
        """{a curve's label: its figures} of the first table, and the whole text."""
        status, out, err = self.model(self.path_of(results, cpus))
        self.assertEqual((status, err), (0, ''))
        table = out.partition('million keys a second')[2].partition('\n\n')[0].split('\n')[1:]
        split = [line.partition('  ') for line in table]
        return {name: rest.rpartition('%')[2].split() for name, _, rest in split}, out

    def document(self, results, cpus=2):
        return json.loads(self.model('--json', self.path_of(results, cpus))[1])

    def test_a_price_whose_row_shared_a_cpu(self):
        """It is named, and of the two curves the one without it is an upper bound everywhere."""
        rows = [cores('insert', 'L2', batch, 1, [100]) for batch in (0, 1024)]
        rows += [owner('insert', 'L2', 8, 28, 40), shared(owner('batch', 'L2', 8, 13, 40))]
        name = PRICE.format('batch', 'L2') + '/threads:2 (left out: its threads shared a CPU)'
        figures, out = self.rows_of(rows)
        self.assertIn(f'missing: {name}, the price of a line', out)
        self.assertIn('inserts in batches are predicted as if it were nothing, which is an', out)
        self.assertIn('<: an upper bound, for want of what is missing', out)
        self.assertEqual(figures['inserts'][:3], ['100', '66.7l', '100l'])
        self.assertEqual(figures['inserts in batches of 1024'][:3], ['100', '<200', '<400'])

        document = self.document(rows)
        self.assertEqual(len(document['missing']), 1)
        self.assertTrue(document['missing'][0].startswith(name))
        paid, free = document['curves']
        self.assertEqual((paid['without'], free['without']), ([], document['missing']))
        self.assertFalse(any(p['upper_bound'] for p in paid['predicted']))
        self.assertEqual([p['upper_bound'] for p in free['predicted']], [False] + 7 * [True])

        curves, html = past.of(load(self.path_of(rows)))
        self.assertIn(f'Missing: {name}', html)
        self.assertEqual(html.count('core, an upper bound'), 7)
        self.assertIn('An upper bound: what is missing is taken as nothing', html)
        self.assertEqual(
            [report.past_series(c).label for c in curves],
            ['blocked, predicted', 'blocked, batches of 1024, predicted, an upper bound'],
        )

    def test_a_limit_whose_row_shared_a_cpu(self):
        rows = [cores('hit', 'L3', 0, 1, [100]), lines('L3', 1, [100])]
        figures, out = self.rows_of([*rows, shared(lines('L3', 2, [180]))])
        name = 'memory/what:lines/where:random/pages:huge/fits:L3/threads:2'
        self.assertIn(f'missing: {name} (left out: its threads shared a CPU), random lines', out)
        self.assertIn('no bound by L3 bandwidth for all but inserts, which are upper bounds', out)
        self.assertEqual(figures['lookups'][:2], ['100', '<200'])
        # inserts have a separate limit
        rows.append(cores('insert', 'L3', 0, 1, [100]))
        out = self.rows_of([*rows, owner('insert', 'L2', 8, 28, 40), lines('L3', 2, [180])])[1]
        name = 'memory/what:fetch-or/where:random/pages:huge/fits:L3'
        self.assertIn(f"missing: {name}, random locked or's in the L3 on one core and on all", out)

    def test_what_nothing_needs_is_not_missing(self):
        """No curve reaches that limit, and no other number of cores could supply it."""
        rows = [cores('hit', 'L2', 0, 1, [100]), lines('L3', 1, [100])]
        rows.append(shared(lines('L3', 2, [180])))
        self.assertNotIn('missing:', self.rows_of(rows)[1])
        self.assertEqual(self.document(rows)['missing'], [])

    def test_one_of_several_prices_left_out(self):
        """An available price is used instead: it is named, and there is no upper bound."""
        rows = [cores('insert', 'L2', 0, 1, [100]), owner('insert', 'L2', 8, 38, 40, 4)]
        figures, out = self.rows_of([*rows, shared(owner('insert', 'L2', 8, 28, 40))], 4)
        self.assertIn(PRICE.format('insert', 'L2') + '/threads:2 (left out: its threads', out)
        self.assertIn('one of several numbers of cores: that of the others is taken', out)
        self.assertEqual(figures['inserts'][:3], ['100', '66.7l', '100l'])
        # and in a larger set that of the L2
        rows[0] = cores('insert', 'L3', 0, 1, [100])
        limits = [lines('L3', n, [100 * n]) for n in (1, 2)]
        for r in limits:
            r['params']['what'] = 'fetch-or'
        figures, out = self.rows_of([*rows, *limits], 4)
        words = 'that another core wrote last: for inserts and duplicates in the L3 that in the L2'
        self.assertIn(f'missing: {PRICE.format("insert", "L3")}, the price of a line {words}', out)
        self.assertNotIn('<', ''.join(figures['inserts']))

    def test_more_than_predicted_is_not_for_want_of_a_price(self):
        rows = [cores('insert', 'L2', 0, n, [v] * 3) for n, v in ((1, 100), (2, 300))]
        self.assertIn('not explained', self.only(rows)[1][0].why)
        rows = [cores('insert', 'L2', 0, n, [v] * 3) for n, v in ((1, 100), (2, 100))]
        self.assertIn('the run lacks the price', self.only(rows)[1][0].why)
        rows.append(shared(owner('insert', 'L2', 8, 28, 40)))
        self.assertIn('is left out, as threads shared a CPU', self.only(rows)[1][0].why)

    def test_rows_that_spread(self):
        """All that depends on such a row has the mark: the row of one thread, the price, the
        limit."""
        one, price = cores('insert', 'L2', 0, 1, [100] * 3), owner('insert', 'L2', 8, 28, 40)
        self.assertNotIn('~', self.rows_of([one, price])[1])
        figures, out = self.rows_of([one, wide(price)])
        self.assertEqual(figures['inserts'][:3], ['100', '66.7l~', '100l~'])
        self.assertIn('~: of a row that spreads by more than 10 %', out)
        one = cores('hit', 'L3', 0, 1, WIDE)
        limits = [lines('L3', n, [v] * 3) for n, v in ((1, 200), (2, 220))]
        self.assertTrue(all('~' in f for f in self.rows_of([one, *limits])[0]['lookups']))
        one = cores('hit', 'L3', 0, 1, [100] * 3)
        self.assertEqual(
            self.rows_of([one, limits[0], wide(limits[1])])[0]['lookups'][:4],
            ['100', '200', '232b~', '238b~'],
        )
        one['counters']['shared'] = 1
        self.assertEqual(self.rows_of([one, *limits])[0]['lookups'][:2], ['100*', '200*'])
        found = self.document([wide(one), *limits])['curves'][0]['predicted'][1]
        self.assertEqual((found['noisy'], found['shared_cpu']), (True, True))

    def test_compared_rows_that_spread(self):
        rows = [cores('hit', 'L2', 0, 1, [100] * 3), cores('hit', 'L2', 0, 2, [180, 200, 280])]
        self.assertRegex(self.rows_of(rows)[1], r' 2 +200 M/s +200 M/s~ +1.00')
        rows[0] = wide(rows[0])
        self.assertRegex(self.rows_of(rows)[1], r' 2 +200 M/s~ +200 M/s~ +1.00')
        # then the alternating measurement of one thread counts
        rows[1] = cores('hit', 'L2', 0, 2, [200] * 3, alone_per_second=1e8)
        self.assertRegex(self.rows_of(rows)[1], r' 2 +200 M/s +200 M/s +1.00')

    def test_a_comparison_is_noisy_by_either_side(self):
        for first, second in ((False, False), (True, False), (False, True), (True, True)):
            rows = [cores('hit', 'L2', 0, n, [100 * n] * 3) for n in (1, 2)]
            for row, spreads in zip(rows, (first, second)):
                row['spread'] = 0.5 if spreads else 0.0
            compared = self.document(rows)['curves'][0]['compared']
            self.assertEqual([c['noisy'] for c in compared], [first or second])

    def test_a_limit_within_noise(self):
        rows = [cores('hit', 'L3', 0, 1, [100] * 3), lines('L3', 1, [100] * 3)]
        rows.append(lines('L3', 2, [199, 198, 197]))
        self.assertFalse(self.document(rows)['limits'][0]['noisy'])
        self.assertNotIn('~', self.rows_of(rows)[1])
        # two of five repetitions show no share at all
        rows[-1] = lines('L3', 2, [210, 205, 199, 198, 198])
        self.assertTrue(self.document(rows)['limits'][0]['noisy'])
        self.assertIn('b~', self.rows_of(rows)[0]['lookups'][-1])

    def finding(self, results):
        return ' '.join(beyond.past(load(self.path_of(results))))

    def test_straight_lines(self):
        """Two cores with twice the throughput of one show no limit; there may still be one."""
        rows = [cores('hit', 'L3', 0, 1, [100]), lines('L3', 1, [100]), lines('L3', 2, [200])]
        figures, out = self.rows_of(rows)
        self.assertEqual(figures['lookups'][:3], ['100', '200', '400s'])
        self.assertIn('s: a straight line: the cores measured show no limit of bandwidth', out)
        self.assertIn('in the L3: 100 M/s on one core, no limit shows on 2 cores', out)
        self.assertTrue(self.document(rows)['curves'][0]['predicted'][7]['straight'])
        curves, html = past.of(load(self.path_of(rows)))
        self.assertEqual(html.count('core, a straight line<'), 6)
        self.assertEqual(report.past_series(curves[0]).label, 'blocked, predicted, a straight line')
        words = '(core; a straight line: 2 cores show no limit of bandwidth in the L3): predicted'
        self.assertIn(words, self.finding(rows))
        rows[2] = lines('L3', 2, [150])
        self.assertNotIn('straight', self.rows_of(rows)[1] + self.finding(rows))
        # in the L2 each core has its own lines
        rows[0] = cores('hit', 'L2', 0, 1, [100])
        self.assertNotIn('straight', self.rows_of(rows)[1] + self.finding(rows))

    def test_findings_of_noisy_rows_are_so_named(self):
        one = cores('hit', 'L2', 0, 1, WIDE)
        words = '64 cores would look up 6400 M/s in the L2 (core; noisy: a row that it rests on'
        self.assertIn(f'{words} spreads by 50 %): predicted', self.finding([one]))
        words = '(core; of a row whose threads shared a CPU)'
        self.assertIn(words, self.finding([shared(cores('hit', 'L2', 0, 1, [100]))]))
        self.assertIn('in the L2 (core): pre', self.finding([cores('hit', 'L2', 0, 1, [100])]))

    def test_the_widest_of_noisy_rows_is_named(self):
        for spreads in ((0.5, 0.2), (0.2, 0.5)):
            rows = [cores('insert', 'L2', 0, 1, [100]), owner('insert', 'L2', 8, 28, 40)]
            for row, spread in zip(rows, spreads):
                row['spread'] = spread
            self.assertIn('noisy: a row that it rests on spreads by 50 %', self.finding(rows))

    def test_a_row_without_pairs(self):
        """The pairs are missing in the run; the rest is shown."""
        facts = {'median_ns': 40.0, 'least_ns': 30.0, 'most_ns': 50.0}
        row = result('memory/what:pair/how:ping', [1.0], **facts)
        out = self.rows_of([row])[1]
        self.assertIn('missing: pairs of memory/what:pair/how:ping: it is shown without', out)
        self.assertIn('a line handed over between the two CPUs: 40 ns\n', out)
        row['counters'] = {'pairs': 1.0, 'least_ns': None}
        out = self.rows_of([row])[1]
        self.assertIn('median_ns, least_ns, most_ns of memory/what:pair/how:ping: it is not', out)

    def test_a_machine_without_a_name(self):
        document = load(self.path_of([]))
        self.assertIn('cpu', document.machine)
        with open(document.path, encoding='utf-8') as file:
            raw = json.load(file)
        del raw['machine']['cpu']
        with open(document.path, 'w', encoding='utf-8') as file:
            json.dump(raw, file)
        status, out, err = self.model(document.path)
        self.assertEqual((status, out), (2, ''))
        self.assertIn("run.json: the run lacks 'cpu'", err)


if __name__ == '__main__':
    unittest.main()

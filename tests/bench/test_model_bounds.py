#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/model: which price and which limit it uses, from figures made up so that the results can be
worked out by hand, as the comments do."""
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from model_rows import MIB, SIZES, Modelled, cores, lines, owner, result  # noqa: E402
from figures import formulae  # noqa: E402
from figures.constants import own_cache  # noqa: E402


class Bounds(Modelled):
    def test_lookups_with_some_inserts(self):
        """One of 20 accesses writes: the price is that of such a mix, the bound that of lines
        read."""
        rows = [cores('mixed', 'L2', 0, 1, [100]), owner('mixed', 'L2', 8, 28, 40)]
        points, _ = self.only(rows)
        self.assertAlmostEqual(points[2].rate, 2e9 / (10 + 20))
        # 20 ns if 2 * 0.95 * 0.05 + 0.05^2 / 1.05 meet once; on 8 cores proportionally more often
        often = 0.05 * 7 / 7.05 + 0.95 * 0.35 / 1.35
        seldom = (0.05 + 0.95 * 0.05) / 1.05
        self.assertAlmostEqual(points[8].rate, 8e9 / (10 + 20 * often / seldom))

    def test_each_has_its_own_limit(self):
        def ored(threads, values):
            name = f'memory/what:fetch-or/where:random/pages:huge/fits:memory/threads:{threads}'
            return result(name, values, shared=0)

        limits = [lines('memory', 1, [100]), lines('memory', 2, [180])]
        limits += [ored(1, [100]), ored(2, [150])]
        # 8 * 100 / (1 + 7/9), and / (1 + 7/3)
        for op, most in (('hit', 450e6), ('mixed', 450e6), ('insert', 240e6)):
            points, _ = self.only([cores(op, 'memory', 0, 1, [90]), *limits])
            self.assertAlmostEqual(points[8].rate, most, places=3)
            self.assertEqual(points[8].binds, 'memory bandwidth')
        rows = [cores('hit', 'L3', 0, 1, [200]), lines('L3', 1, [100]), lines('L3', 2, [180])]
        points, _ = self.only(rows)
        # one thread exceeds the limit's one thread, so twice its own throughput is shared
        self.assertAlmostEqual(points[8].rate, 900e6, places=3)
        self.assertEqual(points[8].binds, 'L3 bandwidth')

    def test_other_pages_and_busy_cores_are_no_limit(self):
        rows = [cores('hit', 'memory', 0, 1, [90]), lines('memory', 1, [100])]
        small = lines('memory', 2, [110])
        small['name'] = small['name'].replace('huge', 'small')
        small['params']['pages'] = 'small'
        busy = lines('memory', 2, [110])
        busy['counters']['shared'] = 1
        for other in (small, busy):
            points, _ = self.only([*rows, other])
            self.assertEqual((points[8].rate, points[8].unbounded), (720e6, True))
            out = self.model(self.path_of([*rows, other]))[1]
            self.assertIn('no bound by memory bandwidth', out)

    def test_the_limit_of_most_cores(self):
        rows = [cores('hit', 'memory', 0, 1, [100])]
        rows += [lines('memory', n, [r]) for n, r in ((1, 100), (2, 200), (4, 200))]
        points, _ = self.only(rows, cpus=4)
        # four do twice as much as one: each further one loses a third
        self.assertAlmostEqual(points[8].rate, 8e8 / (1 + 7 / 3), places=3)

    def test_many_duplicates(self):
        rows = [cores('zipf', 'L3', 0, 1, [100]), owner('insert', 'L2', 8, 28, 40)]
        points, _ = self.only(rows)
        new = formulae.distinct(SIZES['L3'] * 8 // 10, 1 << 20)  # the largest number of draws
        # with 16 cores of a MiB each, every line belongs to another core
        self.assertAlmostEqual(points[16].rate, 16e9 / (10 + new * 15 / 16 * 40), delta=1)

    def test_a_price_of_each_number_of_cores(self):
        rows = [cores('insert', 'L2', 0, 1, [100])]
        rows += [owner('insert', 'L2', 8, 28, 40, 2), owner('insert', 'L2', 8, 68, 80, 4)]
        points, _ = self.only(rows, cpus=4)
        self.assertAlmostEqual(points[2].rate, 2e9 / (10 + 20))
        # 60 ns, where three of four belong to others: a handoff takes 80
        for n in (4, 8):
            self.assertAlmostEqual(points[n].rate, n * 1e9 / (10 + 80 * (n - 1) / n))

    def test_no_price_is_below_nothing(self):
        """By chance other cores' lines seem cheaper than own lines: the price is then 0."""
        rows = [cores('insert', 'L2', 0, 1, [100]), owner('insert', 'L2', 28, 8, 40)]
        points, _ = self.only(rows)
        for n in (2, 128):
            self.assertEqual((points[n].rate, points[n].binds), (n * 100e6, 'core'))

    def test_prices_in_memory(self):
        rows = [
            cores('insert', 'memory', 0, 1, [50]),
            owner('insert', 'L2', 8, 28, 40),
            owner('insert', 'memory', 20, 26, 40),  # 0.3 of a handoff, of which 1/64 in the L2
        ]
        points, _ = self.only(rows)
        beyond = (0.3 - 1 / 64) / (1 - 1 / 64)
        share = 1 / 16 + 15 / 16 * beyond
        self.assertAlmostEqual(points[8].rate, 8e9 / (20 + 7 / 8 * share * 40), delta=1)

    def test_a_size_by_bits_a_key(self):
        prices = [owner('insert', 'L2', 8, 28, 40), owner('insert', 'L3', 20, 26, 40)]
        row = cores('insert', 'L3', 0, 1, [50])
        expected, _ = self.only([row, *prices])
        del row['counters']['bytes']
        row['counters']['bits_per_key'] = 10.0
        found, _ = self.only([row, *prices])
        self.assertAlmostEqual(found[4].rate, expected[4].rate, delta=100)

    def test_a_cores_own_cache(self):
        for shared_by, cpus, own in ((1, 2, MIB), (2, 4, MIB), (2, 2, MIB / 2), (4, 4, MIB / 2)):
            caches = [{'level': 3, 'bytes': 9, 'shared_by': 1}]
            caches.append({'level': 2, 'bytes': MIB, 'shared_by': shared_by})
            machine = {'caches': caches, 'cpus_allowed': cpus, 'cores': 2}
            self.assertEqual(own_cache(machine), own)
        self.assertEqual(own_cache({'cpus_allowed': 2, 'cores': 2}), 0)

    def test_without_a_price_or_a_limit_there_is_no_bound(self):
        price = owner('insert', 'L2', 8, 28, 40)
        limits = []
        for n, rate in ((1, 100), (2, 180)):
            name = f'memory/what:fetch-or/where:random/pages:huge/fits:L3/threads:{n}'
            limits.append(result(name, [rate], shared=0))
        for fits, more, unbounded in (
            ('L3', [*limits, price], False),
            ('L3', limits, True),
            ('L3', [price], True),
            ('L2', [price], False),
            ('L2', [], True),
        ):
            points, _ = self.only([cores('insert', fits, 0, 1, [50]), *more])
            self.assertEqual(points[8].unbounded, unbounded, (fits, more))

    def reload(self, op, size, more):
        name = f'reload/phase:copy/op:{op}/flavor:bp/keys:3000000/threads:1'
        facts = {'of_calm': 0.8, 'calm_per_second': 1e8, 'bytes': size, 'shared': 0}
        points, _ = self.only([result(name, [80], **facts), *more], cpus=4)
        return points[8]

    def test_readers_and_the_loader_share_a_limit(self):
        def limits(fits):
            return [lines(fits, 1, [100]), lines(fits, 2, [150])]

        # nine cores do 900 / (1 + 8/3), of which eight are readers
        most = 900e6 / (1 + 8 / 3) * 8 / 9
        for size, fits in ((4, 'L3'), (40, 'L3'), (65, 'L3'), (66, 'memory')):
            point = self.reload('hit', size * MIB, limits(fits))
            self.assertAlmostEqual(point.rate, most, places=3)
            self.assertEqual(point.binds, f'{fits} bandwidth')
            point = self.reload('hit', size * MIB, limits('memory' if fits == 'L3' else 'L3'))
            self.assertEqual((point.rate, point.binds), (640e6, 'core'))

    def test_one_reader_was_measured(self):
        """Measured with the loader beside it: no limit is below that, and none is missing."""
        name = 'reload/phase:copy/op:hit/flavor:bp/keys:3000000/threads:1'
        row = result(name, [80], of_calm=0.8, calm_per_second=1e8, bytes=4 * MIB, shared=0)
        for more in ([], [lines('L3', 1, [50]), lines('L3', 2, [60])]):
            points, _ = self.only([row, *more], cpus=4)
            self.assertEqual((points[1].rate, points[1].unbounded), (80e6, False))
            self.assertEqual(points[2].unbounded, not more)

    def test_inserts_during_a_reload_pay_for_lines(self):
        point = self.reload('insert', MIB, [owner('insert', 'L2', 8, 28, 40)])
        self.assertAlmostEqual(point.rate, 8e9 / (12.5 + 40 * 7 / 8))
        self.assertEqual((point.binds, point.without), ('line transfers', []))
        point = self.reload('insert', MIB, [])
        self.assertEqual((point.rate, point.binds), (640e6, 'core'))
        self.assertEqual(len(point.without), 1)


if __name__ == '__main__':
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The verdict and the findings on a run without noise: each figure is the run's, of the right
result, in the right unit; and what is bad is called so."""
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../../bench')]
from figures import advice, findings, verdict, words  # noqa: E402
from figures.run import load  # noqa: E402
from synthetic import Synthetic, write  # noqa: E402


class Verdict(unittest.TestCase):
    def run_of(self, cpus=2, change=None):
        document = Synthetic(1, cpus, noise=0, drift=0, disturbed=0).run()
        if change:
            change(document['results'], document)
        with tempfile.TemporaryDirectory() as folder:
            return load(write(folder, 'run.json', document))

    def verdict_of(self, cpus=2, change=None, reload_every=None):
        """{what it answers: the sentence}, and which of these are bad news."""
        found = verdict.answers(self.run_of(cpus, change), reload_every)
        return {a.lead: a.text for a in found}, [a.lead for a in found if a.bad]

    def table_of(self, lead, change=None, rate=None):
        """The table of an answer: (head, rows)."""
        found = verdict.answers(self.run_of(2, change), None, rate)
        return next(a.table for a in found if a.lead == lead)

    def offered(self, change=None):
        """All kinds that weir offers, from the findings."""
        return next(findings.offered(self.run_of(change=change)))

    def test_speeds_are_the_best_of_their_kind(self):
        found, bad = self.verdict_of()
        self.assertEqual(
            found['How fast'],
            'lookups 333 M/s a core, 659 M/s on 2 CPUs together; in batches of 32 833 M/s a core,'
            ' 1647 M/s on 2 CPUs together; inserts 83.3 M/s a core, 165 M/s on 2 CPUs together'
            ' (500 k keys in the L2, the measured size nearest to your 660 k);'
            ' 99.9 % of lookups end within 400 ns (1 M keys)',
        )
        self.assertEqual(bad, [])

        def slower(results, _):
            """The figures of blocked, by another, slower form of lookup."""
            for r in [r for r in results if r['params'].get('set') == 'blocked']:
                again = dict(r, params=dict(r['params'], way=1), median=r['median'] / 2)
                results.append(dict(again, values=[v / 2 for v in r['values']]))

        self.assertEqual(self.verdict_of(change=slower)[0]['How fast'], found['How fast'])

    def test_a_tail_of_readers_that_share_a_cpu_with_the_loader(self):
        """No other tail was measured: nothing is reloaded in this case."""

        def share(results, _):
            for r in results:
                if r['question'] == 'reload':
                    r['params']['threads'] = 2

        fast = self.verdict_of(change=share)[0]['How fast']
        self.assertIn('; 99.9 % of lookups end within 400 ns (1 M keys)', fast)

    def test_the_nearest_size_is_so_by_its_ratio(self):
        def larger(results, _):
            for r in results:
                if r['question'] == 'cost':
                    r['counters']['keys'] = 2500000

        fast = self.verdict_of(change=larger)[0]['How fast']
        self.assertIn('(10 M keys in the L3, the measured size nearest to your 2.50 M)', fast)

    def test_the_kinds_are_those_for_the_rate_asked(self):
        """The rate is the caller's, or the run's, or 1 %. Of the measured rates it is the nearest
        one with most kinds. A kind that needs more memory is named if it is faster."""

        def more(results, document):
            changing = ('counting', 'cuckoo', 'frequency', 'fuse', 'growing')
            for r in [r for r in results if r['params'].get('kind') in changing]:
                counters = dict(r['counters'], fp_measured=0.0009)
                results.append(dict(r, params=dict(r['params'], rate=0.001), counters=counters))
            for r in results:
                if r['params'].get('kind') == 'counting' and r['params']['rate'] == 0.001:
                    r['values'] = [2 * v for v in r['values']]
                    r['median'] *= 2
            document['settings']['rate'] = 2e-3

        self.assertRegex(
            self.offered(more),
            r'the default at 0\.1 %; .*where keys leave again cuckoo \(13\.5 bits a key\) or'
            r' counting \(49\.8 bits a key\); where nobody',
        )
        run = self.run_of(2, more)
        for rate, found in ((0.02, '1 %'), (1e-5, '0.1 %'), (None, '0.1 %')):
            chosen = next(a for a in verdict.answers(run, None, rate) if a.lead == 'What to choose')
            self.assertTrue(chosen.text.startswith(f'at {found}, for 660 k keys;'), chosen.text)
            _, rows = chosen.table
            self.assertEqual(rows[2][:3], ['keys leave again', 'cuckoo', '13.5'])
            self.assertEqual(len(rows), 4)  # one kind for each use, though counting is faster

    def test_a_run_that_notes_no_abilities(self):
        """As older versions wrote: nothing is said about an unknown ability of a kind."""

        def older(results, _):
            for r in results:
                for ability in ('inserts', 'removes', 'counts', 'grows'):
                    r['counters'].pop(ability, None)

        self.assertIn('classic for 8 % less memory', self.offered(older))
        self.assertNotRegex(self.offered(older), 'where ')
        rows = self.table_of('What to choose', older)[1]
        self.assertEqual([row[1] for row in rows], ['blocked, z = 2', '-', '-', '-'])
        self.assertEqual({row[-1] for row in rows[1:]}, {'this run asked no kind that can'})

    def test_what_to_choose(self):
        self.assertEqual(
            self.offered(),
            'To choose from, for a set of your own: blocked with z = 2 words a key, the default at'
            ' 1 %; z = 1 for 18 % more memory and'
            ' 10 % faster; classic for 8 % less memory and 3.0 times the time a key; where the set'
            ' is only replaced as a whole fuse at 0.388 % for 8 % less memory and 3.8 times the'
            ' time a key; where keys leave again cuckoo (13.5 bits a key at 0.229 %); where nobody'
            ' knows their number growing (14 bits a key).',
        )
        found, _ = self.verdict_of()
        self.assertEqual(
            found['What to choose'],
            'at 1 %, for 660 k keys; lookups in batches of 32 for 4.9 times the speed of batches of'
            ' 1 (10 M keys); huge pages, the default, for up to 40 % more speed (1 M keys)',
        )
        head, rows = self.table_of('What to choose')
        self.assertEqual(
            head, ['if', 'take', 'bits/key', 'memory', 'an absent key', 'measured rate']
        )
        self.assertEqual(
            rows,
            [
                ['keys are added (the default)', 'blocked, z = 2', '10.4', '836 KiB', '2.64 ns',
                 '0.995 %'],
                ['the set is only replaced as a whole', 'fuse', '9.55', '769 KiB', '10 ns',
                 '0.388 %'],
                ['keys leave again', 'cuckoo', '13.5', '1.06 MiB', '10 ns', '0.229 %'],
                ['the number of keys is not known', 'growing', '14', '1.10 MiB', '10 ns',
                 '0.995 %'],
            ],
        )

    def test_layered_is_not_taken_for_one_set(self):
        """It is for two lists, though it is smaller than fuse."""

        def layered(results, _):
            for r in [r for r in results if r['params'].get('kind') == 'fuse']:
                counters = dict(r['counters'], bits_per_key=7.92, fp_measured=0.0078)
                results.append(dict(r, params=dict(r['params'], kind='layered'), counters=counters))

        _, rows = self.table_of('What to choose', layered)
        self.assertEqual(rows[1][:2], ['the set is only replaced as a whole', 'fuse'])
        self.assertIn('is only replaced as a whole fuse at', self.offered(layered))

    def test_pages_are_chosen_by_their_gain(self):

        def small_pages(results, _):
            names = {'4k': 'huge', 'huge': '4k'}
            for r in results:
                if r['question'] == 'memory' and 'pages' in r['params']:
                    r['params']['pages'] = names[r['params']['pages']]

        found, _ = self.verdict_of(change=small_pages)
        self.assertIn('WEIR_NO_HUGE_PAGES for up to 40 % more speed', found['What to choose'])
        self.assertNotIn('huge pages, the default', found['What to choose'])

        def little_faster(results, _):
            for r in results:
                if r['question'] == 'memory' and r['params'].get('pages') == '4k':
                    r.update(median=r['median'] * 1.45, values=[v * 1.45 for v in r['values']])

        found, _ = self.verdict_of(change=little_faster)
        self.assertNotRegex(found['What to choose'], '(?i)huge.pages')

    def chosen(self, wanted, change):
        """The choice, with change(r) applied to the rows of memory that have these params."""

        def changed(results, _):
            rows = [r for r in results if r['question'] == 'memory']
            rows = [r for r in rows if wanted.items() <= r['params'].items()]
            self.assertTrue(rows)
            for r in rows:
                change(r)

        return self.verdict_of(change=changed)[0]['What to choose']

    def test_the_smallest_batch_near_the_best(self):
        for ratio, batch in ((1.02, 32), (1.04, 64)):

            def faster(r, ratio=ratio):
                """Faster than batches of 32, which are otherwise the best."""
                rate = 1e9 / (4 + 20 / 32 + 0.32) * ratio
                r.update(median=rate, values=[rate] * len(r['values']))

            found = self.chosen({'what': 'batch', 'pages': 'huge', 'batch': 64}, faster)
            self.assertIn(f'lookups in batches of {batch} for', found)

    def test_pages_of_rows_that_shared_a_cpu(self):
        def share(r):
            r['counters']['shared'] = 1

        self.assertNotIn('uge pages', self.chosen({'pages': 'huge'}, share))

    def test_the_most_that_small_pages_gain(self):
        """All batches gain 40 %, and one of them gains 180 %."""

        def swapped(results, _):
            for r in results:
                if r['params'].get('pages') in ('4k', 'huge') and r['question'] == 'memory':
                    small = r['params']['pages'] == 'huge'
                    r['params']['pages'] = '4k' if small else 'huge'
                    if small and r['params'].get('batch') == 64:
                        r.update(median=2 * r['median'], values=[2 * v for v in r['values']])

        found = list(advice.pages(self.run_of(change=swapped), 10**7))
        words = 'WEIR_NO_HUGE_PAGES for up to 180 % more speed (10 M keys)'
        self.assertEqual(found, [words])

    def test_what_a_set_costs(self):
        """As measured, and at ten times as many keys."""
        found, _ = self.verdict_of()
        self.assertEqual(
            found['What the set costs'],
            'your set words, measured; and ten times as many keys, calculated as ten times the'
            ' memory and the time, with lookups at the nearest measured size',
        )
        self.assertEqual(
            self.table_of('What the set costs'),
            (
                ['keys', 'memory', 'during a reload', 'build', 'save', 'load', 'map',
                 'lookups a core'],
                [
                    ['660 k', '830 KiB', '1.62 MiB', '4.24 ms on 2 CPUs', '3 ms', '5 ms', '2 ms',
                     '333 M/s at 500 k keys'],
                    ['6.60 M', '8.11 MiB', '16.2 MiB', '42.4 ms on 2 CPUs', '30 ms', '50 ms',
                     '20 ms', '167 M/s at 10 M keys'],
                ],
            ),
        )
        text = '\n'.join(text for text, _, _ in findings.findings(self.run_of()))
        self.assertIn(': build (load_hashes) 4.24 ms on 2 threads, save 3 ms, load (cold) 5', text)

    def test_tails(self):
        found, _ = self.verdict_of()
        tail = '99.9 % of lookups end within 1 µs meanwhile (from a file), 400 ns without'
        self.assertTrue(found['What one reload costs'].endswith(tail), found)

        def alike(results, _):
            for r in results:
                if r['question'] == 'reload':
                    r['samples']['p999_ns'] = r['samples']['calm_p999_ns']
                    r['counters']['p999_ns'] = r['counters']['calm_p999_ns']

        found, _ = self.verdict_of(change=alike)
        self.assertIn('within 400 ns with and without, as far', found['What one reload costs'])

    def test_a_reload_longer_than_its_interval(self):
        def longer(results, _):
            reloads = [r for r in results if r['question'] == 'reload']
            last = [r for r in reloads if 'pace' not in r['params']][-1]
            last['counters']['reload_seconds'] = 90

        found, bad = self.verdict_of(change=longer)
        self.assertEqual(bad, ['What one reload costs'])
        self.assertIn('lasts 90 s, too long for one every minute', found['What one reload costs'])
        found, bad = self.verdict_of(change=longer, reload_every=3600)
        self.assertEqual(bad, [])

    def test_the_interval_that_the_run_was_asked_for(self):
        def asked(_, document):
            document['settings']['reload_every'] = 86400

        found, _ = self.verdict_of(change=asked)
        self.assertIn('one every day (--reload-every)', found['What one reload costs'])
        found, _ = self.verdict_of(change=asked, reload_every=words.seconds_of('2d'))
        self.assertIn('one every 2 days (--reload-every)', found['What one reload costs'])

    def test_a_rate_that_is_missed(self):
        def missed(results, _):
            first = next(r for r in results if r['params'].get('set') == 'blocked')
            first['counters']['fp_measured'] = 1.5 * first['counters']['fp_asked']

        found, bad = self.verdict_of(change=missed)
        self.assertEqual(bad, ['It misses the rate asked for'])
        self.assertIn('0.99 to 1.50 times the one', found['It misses the rate asked for'])

    def test_errors_are_counted(self):
        def broken(_, document):
            names = ('cores/a', 'cores/b', 'cores/c')
            document['errors'] = [{'name': name, 'message': '1 key was lost'} for name in names]

        found, bad = self.verdict_of(change=broken)
        self.assertEqual(bad, ['It does not work here'])
        self.assertEqual(
            found['It does not work here'], 'cores/a: 1 key was lost, and 2 more below'
        )

    def test_shared_cpus_are_counted(self):
        def shared(results, _):
            for r in results[:3]:
                r['counters']['shared'] = 1

        trust = self.verdict_of(change=shared)[0]['May you trust this run']
        self.assertTrue(trust.endswith('; 3 had to share a CPU'), trust)

    def test_a_run_that_is_not_to_be_trusted_names_the_next(self):
        found, bad = self.verdict_of()
        self.assertRegex(found['May you trust this run'], '^yes: the machine was quiet; 0 of ')
        for mode, option in (('default', ''), ('quick', ' --quick')):

            def disturb(_, document, mode=mode):
                document['settings']['mode'] = mode
                document['machine']['idle_share']['others'] = 0.3

            found, bad = self.verdict_of(change=disturb)
            self.assertEqual(bad, ['May you trust this run'])
            self.assertRegex(
                found['May you trust this run'],
                r'^no: others had 30 % of the CPUs; .*; on an idle machine, run'
                rf' bench/run\.sh{option}$',
            )

    def test_a_smoke_run_is_no_measurement(self):
        def smoke(_, document):
            document['settings']['mode'] = 'smoke'

        found, bad = self.verdict_of(change=smoke)
        self.assertEqual(bad, ['May you trust this run'])
        self.assertRegex(
            found['May you trust this run'],
            '^no: it only shows that weir works, .*; on an idle machine, run bench/run.sh --quick$',
        )

    def findings_of(self, change):
        return '\n'.join(text for text, _, _ in findings.findings(self.run_of(change=change)))

    def test_a_pace_that_costs_nothing(self):
        """The remaining share is what the pace requires."""

        def paced(results, _):
            for r in results:
                if r['params'].get('pace'):
                    r['samples']['of_calm'] = [0.97, 0.98, 1.01]
                    r['counters']['of_calm'] = 0.98

        words = 'A loader at pace 0.1 costs lookups nothing beyond noise: 98 % are left (median of'
        self.assertIn(words, self.findings_of(paced))

    def test_a_batch_is_set_beside_the_same_by_all(self):
        """In the verdict and the findings, batches are compared with single keys where those were
        measured."""
        words = '4.9 times the speed of batches of 1'
        self.assertIn(words, self.verdict_of()[0]['What to choose'])
        self.assertIn(words, self.findings_of(None))

        def one_by_one(results, _):
            of = [r for r in results if r['params'].get('batch') == 1 and 'pages' in r['params']]
            for r in of:
                params = dict(r['params'], what='pages', op='hit', batch=0)
                again = dict(r, params=params, median=2 * r['median'])
                results.append(dict(again, values=[2 * v for v in r['values']]))

        words = '2.4 times the speed of one key a call'
        self.assertIn(words, self.verdict_of(change=one_by_one)[0]['What to choose'])
        self.assertIn(words, self.findings_of(one_by_one))

    def test_beside_others(self):
        """The figures say how many times weir is as fast as the other, not the reverse."""
        below = [line for _, lines, _ in findings.findings(self.run_of()) for line in lines]
        self.assertIn('3.0 times as fast as classic (9.57 bits a key, measured 1 %)', below)
        self.assertIn('13 % faster than split (', ' '.join(below))


if __name__ == '__main__':
    unittest.main()

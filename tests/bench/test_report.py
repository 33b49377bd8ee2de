#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/report: one self-contained file, whose verdict says only what the results justify."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from html import unescape
from html.parser import HTMLParser

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.join(HERE, '../../bench')
sys.path[:0] = [HERE, BENCH]
from figures import choice, cores, findings, page, questions, verdict  # noqa: E402
from figures.plot import Axis, Plot, Series, Style  # noqa: E402
from figures.run import load  # noqa: E402
from synthetic import Synthetic, write  # noqa: E402

VOID = {'meta', 'link', 'br', 'hr', 'img', 'input'}


class Page(HTMLParser):
    """Checks that elements nest, and collects whatever could use the network."""

    def __init__(self, text):
        super().__init__()
        self.open, self.outside, self.ids, self.used, self.count = [], [], [], set(), {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.count[tag] = self.count.get(tag, 0) + 1
        if len(attributes) != len(attrs):
            raise ValueError(f'an attribute twice: {self.get_starttag_text()}')
        if 'id' in attributes:
            self.ids.append(attributes['id'])
        for name, value in attrs:
            if name in ('href', 'src', 'action') and not value.startswith('#'):
                self.outside.append(value)
            elif name == 'href':
                self.used.add(value[1:])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if self.open.pop() != tag:
            raise ValueError(f'</{tag}> ends another element')


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_of(self, cpus=2, change=None, **more):
        document = Synthetic(1, cpus, **more).run()
        if change:
            change(document)
        return write(self.folder, 'run.json', document)

    def report(self, *arguments, **environment):
        done = subprocess.run(
            [sys.executable, os.path.join(BENCH, 'report'), *arguments],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **environment},
        )
        return done.returncode, done.stdout, done.stderr

    def findings_of(self, path):
        """All findings as text."""
        return '\n'.join(
            '\n'.join([text, *below]) for text, below, _ in findings.findings(load(path))
        )

    def verdict_of(self, path, reload_every=None):
        """The verdict: what each sentence answers, and the sentence."""
        return {a.lead: a.text for a in verdict.answers(load(path), reload_every)}

    @unittest.skipUnless(shutil.which('gnuplot'), 'gnuplot is not installed')
    def test_one_file(self):
        output = os.path.join(self.folder, 'page.html')
        for cpus in (2, 16):
            self.assertEqual(self.report(self.run_of(cpus), '-o', output), (0, output + '\n', ''))
            with open(output, encoding='utf-8') as file:
                text = file.read()
            page = Page(text)
            self.assertEqual((page.open, page.outside), ([], []))
            self.assertEqual(len(page.ids), len(set(page.ids)))
            self.assertLessEqual(page.used, set(page.ids))
            self.assertNotRegex(text, r'https?://|@import|<script|rgb\(')
            self.assertGreater(page.count['figure'], 20)
            self.assertGreater(page.count['table'], 10)
            for words in (
                '@media print',
                'prefers-color-scheme: dark',
                'name="viewport"',
                'million keys a second',
                'nanoseconds a call',
            ):
                self.assertIn(words, text)
            defined = set(re.findall(r'(--\w+):', text))
            self.assertLessEqual(set(re.findall(r'var\((--\w+)\)', text)), defined)

    @unittest.skipUnless(shutil.which('gnuplot'), 'gnuplot is not installed')
    def test_at_most_five_curves_a_plot(self):
        """The other curves are under 'All figures', which is complete; the default comes first."""
        drawn = []

        def draw(plot, _):
            drawn.append([s.label for s in plot.series])
            return ''

        run = load(self.run_of(8, disturbed=0))
        with unittest.mock.patch('figures.plot.draw', draw):
            html = cores.section(run)
        self.assertEqual(max(map(len, drawn)), 5)
        labels = {label for plot in drawn for label in plot}
        for name in ('blocked', 'classic, batches of 32', 'shard-rwlock', 'lfht', 'blocked, pred'):
            self.assertTrue(any(label.startswith(name) for label in labels), name)
        first, rest = html.split('<details><summary>All figures: ', 1)
        shown = re.findall(r'</svg>([^<]+)</span>', first)
        self.assertEqual(shown[:2], ['blocked', 'blocked, batches of 32'])
        self.assertNotIn('lfht', shown)
        self.assertRegex(rest, r'^\d+ more curves</summary><div class="legend">')
        with unittest.mock.patch('figures.plot.draw', draw):
            for section in (questions.reload_section, choice.section, questions.memory_section):
                section(run)
        self.assertEqual(max(map(len, drawn)), 5)

    def plots_of(self, section, run):
        """[(at the front, or under 'All figures'?, the plot, its labels)]."""
        drawn = []

        def draw(plot, _):
            drawn.append(plot)
            return f'<drawn {len(drawn) - 1}>'

        with unittest.mock.patch('figures.plot.draw', draw):
            html = section(run)
        parts = re.findall('<details><summary>All figures: .*?</details>', html, re.S)
        behind = {int(n) for part in parts for n in re.findall(r'<drawn (\d+)>', part)}
        return [(i not in behind, p, [s.label for s in p.series]) for i, p in enumerate(drawn)]

    def test_which_curves_come_first(self):
        run = load(self.run_of(8, disturbed=0))

        def places(section, begin):
            """Where a plot has such a curve."""
            plots = self.plots_of(section, run)
            return {front for front, _, of in plots if any(s.startswith(begin) for s in of)}

        for name in ('ideal for the fastest', 'blocked, predicted'):
            self.assertEqual(places(cores.section, name), {True}, name)
        self.assertEqual(places(questions.reload_section, 'roll, undisturbed'), {False})
        for name in ('blocked, z=2', 'classic', 'fuse', 'cuckoo', 'growing'):
            self.assertEqual(places(choice.section, name), {True}, name)

    def test_a_curve_is_in_front_where_its_own_plot_has_room(self):
        panels = [
            Plot('', Axis('x'), Axis('y'), [Series(s, [(1, 2)], Style(0)) for s in labels])
            for labels in ('abcdef', 'g')
        ]
        self.assertEqual(page.fitting(panels, 'abcdefg', 5), list('abcdeg'))

    def test_plots_behind_all_figures_have_the_scales_of_those_in_front(self):
        run = load(self.run_of(8, disturbed=0))
        for section in (questions.reload_section, choice.section):
            bounds = {True: {}, False: {}}
            for front, plot, _ in self.plots_of(section, run):
                axes = (plot.x.low, plot.x.high, plot.y.low, plot.y.high)
                bounds[front].setdefault(plot.title, axes)
                self.assertEqual(bounds[front][plot.title], axes)
            self.assertTrue(bounds[False])
            for title, axes in bounds[False].items():
                self.assertNotIn(None, axes)
                self.assertEqual(axes, bounds[True][title])

    @unittest.skipUnless(shutil.which('gnuplot'), 'gnuplot is not installed')
    def test_a_part_of_a_run(self):
        for question in ('cores', 'reload', 'choice', 'memory', 'cost'):

            def keep(document, question=question):
                of = [r for r in document['results'] if r['question'] == question]
                document['results'] = of[:3]

            status, _, err = self.report(
                self.run_of(change=keep), '-o', os.path.join(self.folder, 'page.html')
            )
            self.assertEqual((status, err), (0, ''), question)

    def test_no_gnuplot(self):
        status, _, err = self.report(self.run_of(), PATH=self.folder)
        self.assertEqual(status, 2)
        self.assertIn('gnuplot is not installed', err)

    def test_unreadable(self):
        def lack(document):
            del document['machine']['caches']

        for path, named in (('/nonexistent', '/nonexistent'), (self.run_of(change=lack), 'caches')):
            status, _, err = self.report('--text', path)
            self.assertEqual(status, 2)
            self.assertIn(named, err)

    def test_findings(self):
        text = self.findings_of(self.run_of())
        for words in (
            '1 %, a set of 500 k keys that fits in the L2: ',
            ' in batches of 32 on 2 threads, 98 % of linear (10.24 bits a key, measured 0.99 %)',
            'No inserted key was lost',
            'While one reload follows the other, lookups keep 9',
            ' of their throughput (median of 8 cases; the least is 9',
            ' during the reloads that disturb them most (refresh, hit, ',
            'choose batches of 32',
            'Huge pages: up to +4',
            "libbloom (Debian's libbloom) is the smallest (9.50 bits a key",
            'Your set words: 830 KiB',
            'Nothing is predicted of more cores: the run measured 2 cores, and',
        ):
            self.assertIn(words, text)
        self.assertNotIn('extrapolated', text)
        found = self.findings_of(self.run_of(16, disturbed=0))
        self.assertIn('rows on more than one thread ', found)
        self.assertRegex(found, r'64 cores would look up \d+ M/s in the L2 \(core\): predicted')
        # without a measured bound, nothing is said
        self.assertNotRegex(found, '64 cores would .* in memory|64 cores would insert')

    def test_reloads_of_all(self):
        """Inserts are not lookups. If the loader has no CPU of its own, the reload is not the only
        cost."""

        def change(document):
            reloads = [r for r in document['results'] if r['question'] == 'reload']
            for r, share, op, threads in zip(
                reloads, (0.5, 0.6, 0.7, 0.8), ('insert', 'insert', 'batch', 'hit'), (1, 2, 2, 1)
            ):
                r['params'].update(op=op, threads=threads)
                r['samples']['of_calm'] = [share - 0.01, share, share + 0.01]
                r['counters']['of_calm'] = share
                r['counters']['reader_ms'] = (1 - share) * 10
            document['results'] = [r for r in document['results'] if r not in reloads[4:]]

        text = self.findings_of(self.run_of(change=change))
        for words in (
            (
                'other, lookups keep 80 % of their throughput (median of 1 case; the least is 80 %:'
                ' refresh, hit, bp, 1 thread); a reload takes at most 2 ms of a reader\'s time'
                ' (refresh).'
            ),
            (
                'other, loader and readers sharing a CPU, lookups keep 70 % of their throughput'
                ' (median of 1 case'
            ),
            'other, inserts keep 50 % of their throughput (median of 1 case',
            'other, loader and readers sharing a CPU, inserts keep 60 % of their throughput',
        ):
            self.assertIn(words, text)

    def test_a_loader_at_a_pace(self):
        """It is not among the reloads without a pause, and has a row beside them."""

        def change(document):
            for r in document['results']:
                if r['question'] == 'reload':
                    share = 0.97 if 'pace' in r['params'] else 0.5
                    r['samples']['of_calm'] = [share - 0.01, share, share + 0.01]
                    r['samples']['reader_ms'] = [2.5, 3, 3.5]
                    r['counters'].update(of_calm=share, reader_ms=3)

        path = self.run_of(change=change)
        text = self.findings_of(path)
        for words in (
            'While one reload follows the other, lookups keep 50 % of their throughput (median of 8'
            ' cases; the least is 50 %: rebuild, hit, bp, 1 thread)',
            'While one reload follows the other, the loader at pace 0.1, lookups keep 97 % of their'
            ' throughput (median of 4 cases; the least is 97 %: rebuild, hit, bp, 1 thread); a'
            ' reload takes at most 3 ms of a reader\'s time (rebuild).',
        ):
            self.assertIn(words, text)
        rows = questions.reload_costs(load(path))
        for words in (
            '1 M keys: of a reader',
            '>rebuild, pace 0.1</td><td>3 ms (2.75 ms to 3.25 ms)</td>',
            '>refresh</td><td>3 ms (2.75 ms to 3.25 ms)</td>',
        ):
            self.assertIn(words, rows)

    def test_only_what_the_data_bear(self):
        """If noise exceeds the differences, nothing is called faster."""
        text = self.findings_of(self.run_of(noise=2.0, drift=0))
        for words in (
            'Huge pages: up to',
            'choose batches',
            'of their throughput',
            'split (',
            'of linear',
        ):
            self.assertNotIn(words, text)
        for words in (
            'made no difference beyond noise',
            'The cost of reloads to lookups is not measurable in this run: it was noisy (8 cases)',
            'which is no difference beyond noise',
        ):
            self.assertIn(words, text)
        self.assertIn('spread by more than 10 %', text)

    def test_what_is_bad_is_reported(self):
        def spoil(document):
            document['machine']['idle_share']['others'] = 0.3
            document['errors'] = [{'name': 'cores/op:hit', 'message': '3 keys were lost'}]
            for r in document['results']:
                r['counters']['shared'] = 1

        text = self.findings_of(self.run_of(change=spoil))
        for words in (
            'FAILED: cores/op:hit: 3 keys were lost',
            'contended: the threads did not have a CPU each',
            'are contended',
        ):
            self.assertIn(words, text)
        self.assertNotIn('of linear', text)
        self.assertNotIn('No inserted key was lost', text)
        found = verdict.answers(load(self.run_of(change=spoil)))
        bad = {a.lead: a.text for a in found if a.bad}
        self.assertEqual(list(bad), ['It does not work here', 'May you trust this run'])
        self.assertIn('3 keys were lost', bad['It does not work here'])
        self.assertIn('others had 30 % of the CPUs', bad['May you trust this run'])

    def test_the_verdict_has_six_answers(self):
        """What an operator needs, in this order. What weir does not offer is not a choice."""
        for cpus in (1, 2, 16):
            found = self.verdict_of(self.run_of(cpus))
            self.assertEqual(
                list(found),
                [
                    'It works here',
                    'How fast',
                    'What to choose',
                    'What one reload costs',
                    'What the set costs',
                    'May you trust this run',
                ],
            )
            text = ' '.join(found.values())
            self.assertNotRegex(text, 'split|shard-|libbloom|lfht|textbook|1 CPUs|theirs')
            self.assertNotRegex(text, r'\. ')  # one sentence each
        self.assertRegex(found['It works here'], r'^0 inserted keys were lost in \d+ measurements')
        self.assertIn('0.99 to 1.00 times the one asked for', found['It works here'])
        self.assertRegex(found['How fast'], r'lookups \S+ M/s a core, \S+ M/s on 16 CPUs together')
        self.assertIn('(500 k keys in the L2, the measured size nearest', found['How fast'])
        self.assertIn('batches of 32 for', found['What to choose'])
        self.assertTrue(found['May you trust this run'].startswith('yes: the machine was quiet'))

    def test_the_verdict_is_the_same_in_text_and_page(self):
        """The sentences, and the tables, none of which has more than four rows."""
        path = self.run_of()
        text = self.report('--text', path)[1].partition('\nVerdict:\n')[2]
        found = verdict.answers(load(path))
        tables = [a.table for a in found if a.table]
        self.assertEqual(len(tables), 2)
        for answer in found:
            self.assertIn(f'- {answer.lead}: {answer.text}.\n', text)
        lines = [' '.join(line.split()) for line in text.splitlines()]
        rows = [row for _, of in tables for row in of]
        for row in rows:
            self.assertIn(' '.join(row), lines)
        self.assertLessEqual(max(len(of) for _, of in tables), 4)
        if shutil.which('gnuplot'):
            output = os.path.join(self.folder, 'page.html')
            self.assertEqual(self.report(path, '-o', output)[0], 0)
            with open(output, encoding='utf-8') as file:
                box = file.read().partition('<section class="verdict">')[2]
            box = re.sub('<[^>]+>', ' ', box.partition('</section>')[0]).replace('\u00a0', ' ')
            words = unescape(' '.join(box.split()))
            for answer in found:
                self.assertIn(f'{answer.lead}: {answer.text}.', words)
            for row in rows:
                self.assertIn(' '.join(row), words)

    def test_one_cpu_is_not_asked_about_cores(self):
        path = self.run_of(1)
        fast = self.verdict_of(path)['How fast']
        self.assertRegex(fast, r'^lookups \d+ M/s; in batches of 32 \d+ M/s; inserts ')
        self.assertNotIn('more cores than were measured', self.findings_of(path))
        status, text, _ = self.report('--text', path)
        self.assertEqual(status, 0)
        self.assertIn('1 CPU on 1 core\n', text)
        self.assertNotIn('1 CPUs', text)
        self.assertNotIn('theirs', text)
        if shutil.which('gnuplot'):
            output = os.path.join(self.folder, 'page.html')
            self.assertEqual(self.report(path, '-o', output)[0], 0)
            with open(output, encoding='utf-8') as file:
                text = file.read()
            self.assertIn('How fast is it?', text)
            self.assertNotRegex(text, 'with cores|redicted|of linear|1 CPUs')

    def test_a_reload_at_the_interval_there_is(self):
        path = self.run_of()
        minute, day = self.verdict_of(path), self.verdict_of(path, 86400)
        self.assertIn('and one every minute (--reload-every)', minute['What one reload costs'])
        self.assertIn('and one every day (--reload-every)', day['What one reload costs'])
        share = r'at most (\S+) µs .*; (\S+) %\).*99.9 % of lookups end within'
        found = [
            re.search(share, of['What one reload costs']).groups() for of in (minute, day)
        ]
        self.assertEqual(found[0][0], found[1][0])
        self.assertAlmostEqual(float(found[0][1]), float(found[0][0]) / 60e6 * 100, places=4)
        self.assertLess(float(found[1][1]), float(found[0][1]))
        lasts = verdict.answers(load(path), 0.005)[3]
        self.assertEqual((lasts.lead, lasts.bad), ('What one reload costs', True))
        self.assertIn('lasts 10 ms, too long for one every 0.005 seconds', lasts.text)
        self.assertIn('every 10 minutes', self.report('--text', '--reload-every=10m', path)[1])
        self.assertEqual(self.report('--text', '--reload-every=soon', path)[0], 2)

    def test_the_rate_is_one(self):
        path = self.run_of()
        for words in '1%', '0.1 %', '1e-5':
            self.assertEqual(self.report('--text', f'--rate={words}', path)[0], 0, words)
        for words in '0', '200%', 'x':
            self.assertEqual(self.report('--text', f'--rate={words}', path)[0], 2, words)

    def test_a_rival_is_explained_where_it_first_appears(self):
        path = self.run_of()
        meaning = '64 filters as textbooks have them, behind a mutex each'
        self.assertIn(f'shard-mutex: {meaning}', self.report('--text', path)[1])
        found = self.findings_of(path)
        self.assertTrue(found[found.index('shard-mutex') :].startswith(f'shard-mutex ({meaning})'))
        self.assertEqual(self.findings_of(path).count("Debian's libbloom behind one mutex"), 1)

    def test_the_kinds_beside_each_other(self):
        """The abilities of each kind, and its memory over the minimum for its own rate."""
        run = load(self.run_of(noise=0, drift=0, disturbed=0))
        (at, kinds), *more = choice.points(run, 'rate')
        self.assertEqual((at, more), (0.01, []))
        self.assertEqual(
            list(kinds),
            ['blocked, z=2', 'classic', 'counting', 'growing', 'cuckoo', 'frequency', 'fuse',
             'libbloom'],
        )
        html = choice.kinds_beside(run, 'rate')
        for words in (
            '1 % asked',
            # bits per key, over log2(1 / rate), rate; hit, miss, batch, insert, remove, count
            '>counting</td><td>inserts, removes, counts</td><td>49.80</td><td>7.49</td>'
            '<td>0.995 % of 1 %</td><td>10</td><td>10</td><td>4</td><td>20</td>'
            '<td>25</td><td>15</td>',
            '>cuckoo</td><td>inserts, removes, counts</td><td>13.50</td><td>1.54</td>'
            '<td>0.229 % of 0.23 %</td>',
            '>growing</td><td>inserts, grows</td><td>14.00</td><td>2.10</td>'
            '<td>0.995 % of 1 %</td><td>10</td><td>10</td><td>4</td><td>20</td>'
            '<td>-</td><td>-</td>',
            '>fuse</td><td>is built once</td><td>9.55</td>',
            '>libbloom</td><td></td><td>9.50</td>',
        ):
            self.assertIn(words, html)
        self.assertNotIn('z=4', html)
        self.assertEqual(choice.kinds_beside(run, 'bits'), '')
        lines = choice.text(run).splitlines()
        self.assertRegex(lines[0], r'^nanoseconds a key, 1 % asked +hit +miss +batch +insert')
        self.assertRegex(
            next(line for line in lines if line.startswith('frequency')),
            r'^frequency +10 +10 +4 +20 +- +15 +inserts, counts'
            r' +186\.00 +27\.\d+ +0\.995 % of 1 %$',
        )
        self.assertIn(
            'Of what removes keys cuckoo is the smallest of 2 (13.50 bits a key, measured 0.229 %):'
            ' a removal takes 25 ns.',
            self.findings_of(self.run_of(noise=0, drift=0, disturbed=0)),
        )

    def test_a_rate_that_is_not_known_has_no_least(self):
        def few(document):
            for r in document['results']:
                if r['question'] == 'choice':
                    r['counters']['fp_interval'] = 0.2

        html = choice.kinds_beside(load(self.run_of(change=few)), 'rate')
        self.assertIn('<td>49.80</td><td></td><td>0.995 % (few asked) of 1 %</td>', html)

    def test_what_was_left_out_is_reported(self):
        def leave(document):
            document['left_out'] = ['cores/op:insert', 'cores/op:miss']

        trust = self.verdict_of(self.run_of(change=leave))['May you trust this run']
        self.assertIn('2 were left out for lack of time', trust)


if __name__ == '__main__':
    unittest.main()

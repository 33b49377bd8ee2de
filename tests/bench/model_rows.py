# SPDX-License-Identifier: MIT
"""Rows of a run.json for test_model.py, with given figures."""
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.join(HERE, '../../bench')
# bench/model for runs of a few rows; test_grounds.py tests whether these justify a prediction.
ANYWAY = """
import runpy, sys
sys.path.insert(0, sys.argv[1])
from figures import grounds
grounds.obstacles = lambda run: []
sys.argv[:2] = []
sys.argv.insert(0, sys.path[0] + '/model')
runpy.run_path(sys.argv[0], run_name='__main__')
"""
sys.path[:0] = [HERE, BENCH]
from figures import predicted  # noqa: E402
from figures.run import load, median, spread  # noqa: E402
from synthetic import Synthetic, write  # noqa: E402

MIB = 1 << 20
SIZES = {'L2': MIB // 2, 'L3': 16 * MIB, 'memory': 128 * MIB}
SAMPLED = ('handoff_ns', 'step_ns', 'alone_per_second', 'alone_step_ns', 'own_ns', 'together_ns')


def result(name, values, **counters):
    """A row whose counters may be lists, one value per repetition."""
    question, *parts = name.split('/')
    params = {k: int(v) if v.isdigit() else v for k, v in (p.split(':') for p in parts)}
    if 'rate' in params:
        params['rate'] = float(params['rate'])
    values = [1e6 * v for v in values]
    each = {k: v if isinstance(v, list) else [v] * len(values) for k, v in counters.items()}
    return {
        'question': question,
        'name': name,
        'params': params,
        'unit': 'keys/s',
        'better': 'higher',
        'values': values,
        'median': median(values),
        'spread': spread(values),
        'counters': {k: median(v) for k, v in each.items()},
        'samples': {k: v for k, v in each.items() if k in SAMPLED},
        'command': '',
    }


def cores(op, fits, batch, threads, values, **counters):
    keys = SIZES[fits] * 8 // 10
    name = f'cores/op:{op}/set:blocked/rate:0.01/keys:{keys}/fits:{fits}/batch:{batch}'
    more = {'bytes': SIZES[fits], 'shared': 0, **counters}
    return result(f'{name}/threads:{threads}', values, **more)


def owner(how, fits, own, together, handoff, threads=2):
    name = f'memory/what:owner/how:{how}/fits:{fits}/threads:{threads}'
    return result(name, [1.0] * 3, own_ns=own, together_ns=together, handoff_ns=handoff)


def lines(fits, threads, values, **counters):
    name = f'memory/what:lines/where:random/pages:huge/fits:{fits}/threads:{threads}'
    return result(name, values, shared=0, **counters)


class Modelled(unittest.TestCase):
    """Makes runs of such rows, and the model's predictions for them."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        anyway = unittest.mock.patch('figures.grounds.obstacles', return_value=[])
        self.addCleanup(anyway.stop)
        anyway.start()

    def path_of(self, results, cpus=2):
        document = Synthetic(1, cpus).run()
        document['results'] = results
        return write(self.folder, 'run.json', document)

    def only(self, results, cpus=2):
        """The only curve of a run, {threads: its point}, and what is compared."""
        _, curves = predicted.predictions(load(self.path_of(results, cpus)))
        self.assertEqual(len(curves), 1)
        return {p.threads: p for p in curves[0].points}, curves[0].compared

    def model(self, *arguments):
        done = subprocess.run(
            [sys.executable, '-B', '-c', ANYWAY, BENCH, *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

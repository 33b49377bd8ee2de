# SPDX-License-Identifier: MIT
"""Rows of a run.json as test_model.py wants them: each with the figures that it is given."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../bench'))
from figures.run import median, spread  # noqa: E402

MIB = 1 << 20
SIZES = {'L2': MIB // 2, 'L3': 16 * MIB, 'memory': 128 * MIB}
SAMPLED = ('handoff_ns', 'step_ns', 'alone_per_second', 'alone_step_ns', 'own_ns', 'together_ns')


def result(name, values, **counters):
    """A row whose counters may be lists, a value for each repetition."""
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

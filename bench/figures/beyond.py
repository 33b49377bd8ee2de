# SPDX-License-Identifier: MIT
"""The findings of bench/model: what more cores would do, and how far to trust that."""
from . import grounds
from .bear import pick
from .cores import FITS
from .model import WITHIN
from .predicted import predictions, sums
from .run import Trouble
from .words import percent, plural, sentence_list, value

VERBS = {'hit': 'look up', 'insert': 'insert'}


def caveats(model, point, fits):
    """What binds it, and what speaks against it."""
    yield point.binds
    if point.straight:
        yield (
            f'a straight line: {plural(model.cores, "core")} show no limit of bandwidth'
            f' {FITS[fits]}'
        )
    spreads = [r.spread for r in point.rests if r.unsteady]
    if spreads:
        yield f'noisy: a row that it rests on spreads by {percent(max(spreads))}'
    elif point.noisy:
        yield 'noisy: the limit of bandwidth is within noise'
    if point.contended:
        yield 'of a row whose threads shared a CPU'


def reached(model, curve, point):
    fits = curve.one.get('fits')
    words = '; '.join(caveats(model, point, fits))
    return f'{value(point.rate, "keys/s")} {FITS[fits]} ({words})'


def past(run):
    if run.one_cpu:
        return
    try:
        if why := grounds.obstacles(run):
            yield grounds.sentence(why)
            return
        model, curves = predictions(run)
    except Trouble:
        return  # the section on cores has why
    wanted = dict(set='blocked', rate=0.01, batch=0)
    for op, verb in VERBS.items():
        of = [c for c in curves if pick([c.one], op=op, **wanted)]
        words = [
            reached(model, c, p)
            for c in of
            for p in c.points
            if p.threads == 64 and not p.unbounded
        ]
        if words:
            yield f'64 cores would {verb} {sentence_list(words)}: predicted, not measured.'
    total, good = sums([c for c in curves if c.one.question == 'cores'])
    if total:
        yield (
            f'Of {plural(total, "row")} on more than one thread {good} are within'
            f' {percent(WITHIN)} of what is predicted of them.'
        )

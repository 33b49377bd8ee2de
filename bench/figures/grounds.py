# SPDX-License-Identifier: MIT
"""May a run be asked about more cores than it measured? A line through two points, or through
points that other programs moved, is no prediction."""
from .predicted import wanted
from .run import SPREAD_MARKED
from .words import percent, plural

LEAST_CORES = 4
LIMITS = ('lines', 'fetch-or', 'pair', 'owner')  # rows of the memory question


def rests_on(run):
    """The rows that a prediction rests on, or is compared with. A reload whose readers fill all
    CPUs shares one with the loader on purpose, so it says nothing about the machine."""
    cpus = run.machine['cpus_allowed']
    for r in run.results:
        if r.question == 'memory':
            if r.get('what') in LIMITS:
                yield r
        elif wanted(r) and (r.question != 'reload' or r.get('threads') < cpus):
            yield r


def measured_cores(run):
    """The most cores that worked at once."""
    threads = [r.get('threads', 1) for r in run.of('cores')]
    return min(run.machine.get('cores', 1), max(threads, default=1))


def rows_with(found, rows, what):
    """'3 of 40 rows WHAT, such as NAME'."""
    return f'{len(found)} of {plural(len(rows), "row")} {what}, such as {found[0].name}'


def few_cores(run):
    cores = measured_cores(run)
    if cores < LEAST_CORES:
        yield f'the run measured {plural(cores, "core")}, and it takes at least {LEAST_CORES}'


def disturbed(run):
    """What speaks against a quiet run: other programs, threads on one CPU, wide spreads."""
    if run.disturbance:
        yield run.disturbance
    rows = list(rests_on(run))
    shared = [r for r in rows if r.contended]
    if shared:
        yield rows_with(shared, rows, 'had two threads on one CPU')
    few = [r for r in rows if r.spread is None]
    if few:
        yield rows_with(few, rows, 'were repeated less than three times')
    wide = sorted((r for r in rows if r.unsteady), key=lambda r: -r.spread)
    if wide:
        most = f'spread by more than {percent(SPREAD_MARKED)}, up to {percent(wide[0].spread)}'
        yield rows_with(wide, rows, most)


def obstacles(run):
    """Why nothing is predicted, and last what to do; nothing if there may be predictions."""
    cores, noise = list(few_cores(run)), list(disturbed(run))
    todo = []
    if cores:
        todo.append(f'on a machine with at least {LEAST_CORES} cores')
    if noise:
        todo.append('while nothing else uses its CPUs')
    return [*cores, *noise, f'run {command(run)} {" and ".join(todo)}'] if todo else []


def command(run):
    """The run to repeat; a smoke run was none."""
    mode = {'smoke': ' --quick', 'quick': ' --quick', 'full': ' --full'}
    return f'bench/run.sh{mode.get(run.settings.get("mode"), "")}'


def sentence(why):
    return f'Nothing is predicted of more cores: {"; ".join(why)}.'

# SPDX-License-Identifier: MIT
"""The other questions: what a reload does to readers, what pages and batches do, what a set
costs."""
from . import page
from .bear import during_reloads, time_lost
from .cores import million, unique
from .plot import LIMIT_STYLE, Axis, Plot, Series, Style
from .run import median, quantile, spread
from .words import byte_count, count, nanoseconds, percent, sentence_list, value

PERCENTILES = (
    ('p50_ns', 'median'),
    ('p99_ns', '99 %'),
    ('p999_ns', '99.9 %'),
    ('p9999_ns', '99.99 %'),
)
NOT_SHOWN = {'what', 'file'}  # parameters that a heading names already


def label(params, but=()):
    """Parameters in words: 'pages huge, 10 M keys'."""
    words = []
    for key, v in params.items():
        if key in but:
            continue
        if key in ('keys', 'threads'):
            words.append(f'{count(v)} {key if v != 1 else key[:-1]}')
        elif key in ('op', 'phase', 'kind', 'set', 'how', 'form', 'of', 'cache', 'flavor'):
            words.append(str(v))
        else:
            words.append(f'{key} {v}')
    return ', '.join(words)


def grouped(results, key):
    groups = {}
    for r in results:
        groups.setdefault(key(r), []).append(r)
    return groups


def numbered(groups, points, names=None):
    """A series for each group, each with a style of its own; the same in every panel where all
    names are given."""
    names = names or list(groups)
    styles = [
        Style(names.index(name) % 8, names.index(name) % 8, names.index(name) % 8)
        for name in groups
    ]
    return [
        Series(name, sorted(points(of)), style) for (name, of), style in zip(groups.items(), styles)
    ]


def row(r, but=()):
    """A result as most tables have it."""
    spread_text = percent(r.spread)
    return [
        label(r.params, but) or r.name,
        page.measured(r),
        spread_text,
        str(len(r.values)),
        *page.quality(r),
    ]


HEAD = ['', 'median', 'spread', 'runs', 'bits/key', 'rate, measured of asked']


def latencies(of, before=''):
    """Points of a plot: each percentile, the median of these results."""
    for i, (p, _) in enumerate(PERCENTILES):
        found = [r.counters[before + p] for r in of if r.counters.get(before + p, 0) > 0]
        if found:
            yield i, median(found)


def latency_panel(name, of, phases):
    """Of the same readers: during each sort of reload, and left in peace. A set that rolls is
    another set, and so its peace."""
    series = numbered(grouped(of, lambda r: str(r.get('phase'))), latencies, phases)
    for words, some in (
        ('undisturbed', [r for r in of if r.get('phase') != 'roll']),
        ('roll, undisturbed', [r for r in of if r.get('phase') == 'roll']),
    ):
        if some:
            place = len(phases) + (words != 'undisturbed')
            series.append(Series(words, list(latencies(some, 'calm_')), Style(place, place, place)))
    ticks = [(i, text) for i, (_, text) in enumerate(PERCENTILES)]
    return Plot(
        name,
        Axis('of all calls', ticks=ticks, low=-0.2, high=3.2),
        Axis('nanoseconds a call', log=True),
        series,
    )


def share_of(r):
    """What is kept of the throughput that the same readers have undisturbed."""
    if 'of_calm' not in r.samples:
        return ''
    text = f'{percent(r.counters["of_calm"])} of {value(r.counters["calm_per_second"], r.unit)}'
    return page.Cell(page.escape(text) + page.marks(spread(r.samples['of_calm'])))


RELOAD_TIMES = {
    'p50_ns': 'median',
    'p999_ns': '99.9 %',
    'calm_p999_ns': '99.9 % undisturbed',
    'p9999_ns': '99.99 %',
    'max_ns': 'longest',
}


def reload_row(r, but):
    known = 'reload_seconds' in r.counters and 'of_calm' in r.counters
    return [
        label(r.params, but),
        page.measured(r),
        share_of(r),
        nanoseconds(r.counters['reload_seconds'] * 1e9) if 'reload_seconds' in r.counters else '',
        nanoseconds(time_lost(r)) if known else '',
        *(nanoseconds(r.counters[t]) if t in r.counters else '' for t in RELOAD_TIMES),
    ]


def of_a_size(of, keys):
    """What a reload takes of a reader at that size, and the tail; of several flavors the first."""
    r = next((r for r in of if r.get('keys') == keys), None)
    if not r:
        return ['', '']
    low, high = (quantile(r.samples['reader_ms'], q) * 1e6 for q in (0.25, 0.75))
    return [
        f'{nanoseconds(time_lost(r))} ({nanoseconds(low)} to {nanoseconds(high)})',
        f'{nanoseconds(r.counters["p999_ns"])}, {nanoseconds(r.counters["calm_p999_ns"])}',
    ]


def reload_costs(run):
    """A row for each sort of reload, and each pace, beside a loader with a CPU to itself."""
    of = [
        r
        for paced in (False, True)
        for r in during_reloads(run, True, 'hit', paced=paced)
        if 'reader_ms' in r.samples and 'p999_ns' in r.counters and 'calm_p999_ns' in r.counters
    ]
    if not of:
        return ''
    sizes = sorted(unique(of, 'keys'))
    rows = [
        [name, *(text for keys in sizes for text in of_a_size(rs, keys))]
        for name, rs in grouped(
            sorted(of, key=lambda r: str(r.get('phase'))),
            lambda r: label(r.params, ('op', 'flavor', 'keys', 'threads')),
        ).items()
    ]
    head = [''] + [
        text
        for keys in sizes
        for text in (f'{count(keys)} keys: of a reader', '99.9 % of lookups, undisturbed')
    ]
    return page.paragraph(
        "What one reload takes of a reader's time (quartiles), the loader on another CPU; and"
        ' within which time 99.9 % of lookups end, during reloads and undisturbed. A pace is the'
        ' share of a core that the loader takes.',
        'soft',
    ) + page.table(head, rows)


def reload_section(run):
    results = run.of('reload')
    if not results:
        return ''
    timed = [r for r in results if 'p50_ns' in r.counters]
    phases = list(grouped(timed, lambda r: str(r.get('phase'))))
    sizes = unique(results, 'keys')
    same = ('keys',) if len(sizes) == 1 else ()  # stands above the plots then
    panels = [
        latency_panel(name, of, phases)
        for name, of in grouped(timed, lambda r: label(r.params, ('phase', *same))).items()
    ]
    html = '<h2 id="reload">What does a reload do to my readers?</h2>'
    html += page.paragraph(
        f'{sentence_list(map(count, sizes))} keys. One reload follows the other without a'
        ' pause: the worst that a server can meet. Each figure was taken in turn with the same'
        ' readers left in peace.',
        'soft',
    ) + page.plots(panels, lambda name: name.startswith('roll, ')) + reload_costs(run)
    clock = [r.counters['clock_ns'] for r in results if r.counters.get('clock_ns')]
    if clock:
        cost = nanoseconds(max(clock))
        html += page.paragraph(
            f'Reading the clock cost {cost}; it is subtracted from every latency.', 'soft'
        )
    head = ['', 'keys', 'of undisturbed', 'a reload takes', 'of a reader', *RELOAD_TIMES.values()]
    html += page.table(head, [reload_row(r, same) for r in results])
    return html + page.commands(results, run.settings)


PANELS = {
    'hit': 'keys that are there',
    'miss': 'keys that are not',
    'insert': 'inserts',
    'L2': 'in the L2',
    'L3': 'in the L3',
    'memory': 'in memory',
    None: 'one word, not an array',
}
WHATS = {
    'lines': "The machine's limit: random lines read",
    'fetch-or': "The machine's limit: locked or",
    'pair': 'What a line of another CPU adds, pair by pair',
    'owner': 'Visits of lines that another core wrote last',
    'batch': 'Batch size',
    'distance': 'Prefetch distance',
    'hash': 'The hash by length of key',
    'pages': '4 KiB pages against huge ones',
    'verb': 'A verb by length of key',
}
AXES = {
    'keys': 'keys in the set',
    'length': 'bytes a key',
    'batch': 'keys a call',
    'distance': 'keys ahead',
}


def numeric(results):
    """The parameter to put on the x axis: the number that takes the most values."""
    names = {k for r in results for k, v in r.params.items() if isinstance(v, (int, float))}
    best = max(sorted(names), key=lambda k: len(unique(results, k)), default=None)
    return best if best and len(unique(results, best)) > 1 else None


def limit_series(of, x):
    points = {
        r.get(x): r.counters['limit_per_second'] / 1e6
        for r in of
        if r.counters.get('limit_per_second')
    }
    return (
        [Series("the machine's own limit", sorted(points.items()), LIMIT_STYLE, marks=False)]
        if len(points) > 1
        else []
    )


def speed_panels(what, of):
    """A panel for each operation and size."""
    x = numeric(of)
    if not x:
        return []
    # The size stands at the axis, if that has the keys.
    apart = [k for k in ('op', 'fits') if (x, k) != ('keys', 'fits') and len(unique(of, k)) > 1]

    def curve(r):
        size = ('keys', 'fits') if 'fits' in r.params else ()
        return label(r.params, (x, *apart, *NOT_SHOWN, *size)) or what

    names = list(grouped(of, curve))
    return [
        speed_panel(grouped([r for r in rs if r.get(x) is not None], curve), x, title, names)
        for title, rs in grouped(
            of, lambda r: ', '.join(PANELS.get(r.get(k), r.get(k)) for k in apart)
        ).items()
    ]


def speed_panel(groups, x, name, names):
    """Million keys a second over the parameter that varies most. @names: of all panels' curves."""
    of = [r for rs in groups.values() for r in rs]
    values = unique(of, x)
    log = values[0] > 0 and values[-1] / values[0] > 8
    series = numbered(groups, lambda rs: [(r.get(x), *million(r)) for r in rs], names)
    series += limit_series(of, x)
    every = [y for s in series for p in s.points for y in p[1:]]
    ticks = (
        [(v, count(v).replace(' ', '')) for v in values]
        if len(values) < (12 if log else 4)
        else None
    )
    flat = max(every) < 12 * min(every)
    return Plot(
        name,
        Axis(AXES.get(x, x), log=log, ticks=ticks, low=0 if values[0] == 0 else None),
        Axis('million keys a second', log=not flat, low=0 if flat else None),
        series,
    )


def memory_section(run):
    results = run.of('memory')
    if not results:
        return ''
    html = '<h2 id="memory">What do the pages and the batch size do?</h2>'
    for what, of in grouped(results, lambda r: str(r.get('what'))).items():
        panels = speed_panels(what, [r for r in of if r.unit == 'keys/s'])
        html += f'<h3>{WHATS.get(what, what.replace("_", " "))}</h3>'
        html += page.plots(panels)
        rows = []
        for r in of:
            limit = r.counters.get('limit_per_second')
            rows.append(
                row(r, NOT_SHOWN)
                + [
                    (
                        percent(r.median / limit) + ' of ' + value(limit, r.unit)
                        if limit and r.unit == 'keys/s'
                        else ''
                    )
                ]
            )
        html += page.table(
            HEAD + ["of the machine's limit"], rows, f'The figures: {len(rows)}' if panels else ''
        )
    return html + page.commands(results, run.settings)


def cost_section(run):
    results = run.of('cost')
    if not results:
        return ''
    html = '<h2 id="cost">What does my set cost?</h2>'
    for file, of in grouped(results, lambda r: str(r.get('file', ''))).items():
        html += f'<h3>{page.escape(file)}</h3>' if file else ''
        scaled = [r for r in of if r.get('threads') is not None and r.unit == 'keys/s']
        threads = unique(scaled, 'threads')
        if len(threads) > 1:
            groups = grouped(
                scaled,
                lambda r: str(r.get('what')).replace('_', ' ')
                + (f', {r.get("how")}' if r.get('how') else ''),
            )
            html += page.plots(
                [
                    Plot(
                        'keys into a filter',
                        Axis(
                            'threads',
                            ticks=[(n, str(n)) for n in threads],
                            low=threads[0] - 0.2,
                            high=threads[-1] + 0.2,
                        ),
                        Axis('million keys a second', low=0),
                        numbered(groups, lambda rs: [(r.get('threads'), *million(r)) for r in rs]),
                    )
                ]
            )
        rows = [
            [
                str(r.get('what')).replace('_', ' ')
                + (f', {label(r.params, NOT_SHOWN)}' if label(r.params, NOT_SHOWN) else ''),
                *row(r)[1:],
                byte_count(r.counters['bytes']) if r.counters.get('bytes') else '',
            ]
            for r in of
        ]
        html += page.table(HEAD + ['size'], rows)
    return html + page.commands(results, run.settings)

# SPDX-License-Identifier: MIT
"""Plots: gnuplot draws them as SVG, whose colours are then made the page's, so that one picture
serves light, dark and print.

Colours are Okabe and Ito's, which the colour-blind can distinguish. Each series also has its own
dashes and its own marker, so that black and white does for the rest. The legend is the page's:
there it breaks into lines as the screen allows and covers nothing."""
import math
import re
import subprocess
from dataclasses import dataclass, field

from .run import Trouble

WIDTH, HEIGHT = 480, 330
INK, GRID, LIMIT, FIRST = 1, 2, 3, 16  # how gnuplot's colours are numbered: rgb(1, 1, n)
DASHES = [None, (9, 4), (2, 3), (9, 3, 2, 3), (14, 4), (5, 3), (9, 3, 2, 3, 2, 3), (3, 6)]
# gnuplot's point types, and the same for the legend
MARKERS = [
    (7, '<circle cx="17" cy="6" r="4" fill="currentColor"/>'),
    (5, '<rect x="13.5" y="2.5" width="7" height="7" fill="currentColor"/>'),
    (9, '<path d="M17 1L12 9.5L22 9.5z" fill="currentColor"/>'),
    (13, '<path d="M17 0.5L22.5 6L17 11.5L11.5 6z" fill="currentColor"/>'),
    (6, '<circle cx="17" cy="6" r="4" fill="none"/>'),
    (4, '<rect x="13.5" y="2.5" width="7" height="7" fill="none"/>'),
    (8, '<path d="M17 1L12 9.5L22 9.5z" fill="none"/>'),
    (10, '<path d="M17 11L12 2.5L22 2.5z" fill="none"/>'),
]


@dataclass
class Style:
    colour: int = 0
    dash: int = 0
    marker: int = 0


@dataclass
class Series:
    label: str
    points: list  # (x, y) or (x, y, lowest, highest)
    style: Style
    line: bool = True
    marks: bool = True


@dataclass
class Axis:
    label: str
    log: bool = False
    ticks: list = None  # (value, text); None: gnuplot's
    low: float = None
    high: float = None


@dataclass
class Plot:
    title: str
    x: Axis
    y: Axis
    series: list = field(default_factory=list)


LIMIT_STYLE = Style(colour=-1, dash=2)


def one_two_five(low, high):
    """1, 2, 5, 10 ... within these bounds; only powers of ten where those are enough."""
    if high / low > 300:
        steps = (1,)
    else:
        steps = (1, 2, 5) if high / low > 4 else (1, 1.5, 2, 3, 4, 5, 6, 8)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [s * 10.0**d for d in decades for s in steps]
    return [t for t in ticks if low <= t <= high]


def plain(x):
    return f'{x:.10f}'.rstrip('0').rstrip('.') if x < 1 else f'{x:.0f}'


def settle(axis, values):
    """Gives an axis the bounds and ticks it was left free to choose."""
    if axis.log:
        values = [v for v in values if v > 0]
        axis.low, axis.high = axis.low or min(values) / 1.25, axis.high or max(values) * 1.25
        axis.ticks = axis.ticks or [(t, plain(t)) for t in one_two_five(axis.low, axis.high)]


def values_of(series):
    """All x, and all y with their bounds."""
    every = [(p[0], y) for s in series for p in s.points for y in p[1:]]
    return [x for x, _ in every], [y for _, y in every]


def fix_scales(plot):
    """Bounds from all curves, so that plots of some of them can be compared."""
    for axis, values in zip((plot.x, plot.y), values_of(plot.series)):
        settle(axis, values)
        room = 0.05 * ((max(values) - min(values)) or abs(max(values)) or 1)
        axis.low = min(values) - room if axis.low is None else axis.low
        axis.high = max(values) + room if axis.high is None else axis.high


def axis_commands(name, axis):
    quoted = axis.label.replace("'", "''")
    lines = [
        f"set {name}label '{quoted}' tc rgb {chr(34)}#010101{chr(34)} offset"
        f" {'0,0.4' if name == 'x' else '1,0'}"
    ]
    if axis.log:
        lines.append(f'set logscale {name}')
    if axis.ticks:
        # A tick's text is a format.
        ticks = ', '.join(
            f'"{text.replace("%", "%%")}" {value:.9g}' for value, text in axis.ticks
        )
        lines.append(f'set {name}tics ({ticks})')
    low = '*' if axis.low is None else f'{axis.low:.9g}'
    high = '*' if axis.high is None else f'{axis.high:.9g}'
    lines.append(f'set {name}range [{low}:{high}]')
    return lines


def colour(style):
    return f'"#0101{(LIMIT if style.colour < 0 else FIRST + style.colour):02x}"'


def series_commands(i, series):
    """A data block and what plots it."""
    rows = [
        ' '.join(f'{v:.9g}' for v in (point if len(point) == 4 else (*point, point[1], point[1])))
        for point in series.points
    ]
    block = [f'$d{i} << EOD', *rows, 'EOD']
    how = []
    if series.line and len(series.points) > 1:
        dash = DASHES[series.style.dash]
        pattern = f' dt ({", ".join(map(str, dash))})' if dash else ''
        how.append(
            f'$d{i} using 1:2 with lines lw {1.2 if series.style.colour < 0 else 2} lc rgb'
            f' {colour(series.style)}{pattern}'
        )
    if series.marks:
        if any(p[2] != p[3] for p in series.points if len(p) == 4):
            how.append(
                f'$d{i} using 1:2:3:4 with yerrorbars pt 0 ps 0 lw 1 lc rgb {colour(series.style)}'
            )
        how.append(
            f'$d{i} using 1:2 with points pt {MARKERS[series.style.marker][0]} ps 0.95 lw 1.5 lc'
            f' rgb {colour(series.style)}'
        )
    return block, how


def script(plot):
    xs, ys = values_of(plot.series)
    settle(plot.x, xs)
    settle(plot.y, ys)
    lines = [
        f'set terminal svg size {WIDTH},{HEIGHT} dynamic noenhanced font "sans,14"',
        'set encoding utf8',
        'set key off',
        'set tics nomirror',
        'set border 3 lc rgb "#010101"',
        'set tics textcolor rgb "#010101"',
        'set grid ytics xtics lt 1 lw 0.6 lc rgb "#010102"',
        'set offsets graph 0.03, graph 0.03, 0, 0',
        *axis_commands('x', plot.x),
        *axis_commands('y', plot.y),
    ]
    plots = []
    for i, series in enumerate(plot.series):
        block, how = series_commands(i, series)
        lines += block
        plots += how
    return '\n'.join(lines) + '\nplot ' + ', '.join(plots) + '\n'


def page_colour(match):
    prop, number = match.group(1), int(match.group(2))
    name = {INK: 'ink', GRID: 'grid', LIMIT: 'soft'}.get(number) or f'c{number - FIRST}'
    return f' style="{prop}:var(--{name})"'


def adopt(svg, title):
    """gnuplot's SVG as a part of the page: no prologue, no definitions (the page has them once),
    the page's colours and letters."""
    svg = svg[svg.index('<svg') :]
    svg = re.sub(r'<title>.*?</title>|<desc>.*?</desc>|<defs>.*?</defs>', '', svg, flags=re.S)
    # The error bars' halo and dot, drawn below the marker.
    svg = re.sub(r"<use [^>]*(?:color='white'|'#gpDot'[^>]*)/>", '', svg)
    svg = re.sub(r'<g [^>]*>\s*</g>', '', svg)
    svg = re.sub(r" (stroke|fill|color)=[\"']rgb\(\s*1,\s*1,\s*(\d+)\)[\"']", page_colour, svg)
    svg = re.sub(
        r' (?:color="\w+"|color=\'white\'|font-family="[^"]*"|id="[^"]*"|'
        r'xmlns(?::\w+)?="[^"]*"|class="gridline")',
        '',
        svg,
    )
    svg = svg.replace('xlink:href', 'href')
    svg = re.sub(r'>\s*\n\s*<', '><', svg).strip()  # a line a plot
    return svg.replace('<svg', f'<svg role="img" aria-label="{title}"', 1)


def gnuplot(text):
    try:
        done = subprocess.run(
            ['gnuplot'], input=text, capture_output=True, text=True, encoding='utf-8', check=False
        )
    except FileNotFoundError as error:
        raise Trouble(
            'gnuplot is not installed; it draws the plots (apt-get install gnuplot-nox)'
        ) from error
    if done.returncode or not done.stdout.startswith('<?xml'):
        raise Trouble(f'gnuplot failed: {done.stderr.strip()[:400]}')
    return done.stdout


def draw(plot, title):
    return adopt(gnuplot(script(plot)), title)


def definitions():
    """The markers, once for the page."""
    svg = gnuplot('set terminal svg size 10,10\nplot 0\n')
    marks = ''.join(re.findall(r"<(?:path|rect|circle|use)[^>]*id='gp\w+'[^>]*/>", svg, flags=re.S))
    return (
        '<svg width="0" height="0" class="hidden">'
        f'<defs>{marks.replace("xlink:href", "href")}</defs></svg>'
    )


def swatch(style, marks=True):
    """A series as the legend shows it."""
    dash = DASHES[style.dash]
    dashes = f' stroke-dasharray="{",".join(map(str, dash))}"' if dash else ''
    name = 'soft' if style.colour < 0 else f'c{style.colour}'
    mark = MARKERS[style.marker][1] if marks else ''
    return (
        '<svg class="swatch" viewBox="0 0 34 12" width="34" height="12" aria-hidden="true"'
        f' style="color:var(--{name})"><g stroke="currentColor" stroke-width="2">'
        f'<path d="M0 6H34" fill="none"{dashes}/></g>'
        f'<g stroke="currentColor" stroke-width="1.5">{mark}</g></svg>'
    )

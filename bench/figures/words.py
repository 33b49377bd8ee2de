# SPDX-License-Identifier: MIT
"""Figures as people read them."""
import math


def figures(x, digits=3):
    """Three significant digits, no exponent: 0.00123, 1.23, 123, 1234."""
    if x == 0:
        return '0'
    places = max(0, digits - 1 - math.floor(math.log10(abs(x))))
    text = f'{x:.{places}f}'
    return (
        text.rstrip('0').rstrip('.')
        if '.' in text and (abs(x) < 1 or float(text) == int(float(text)))
        else text
    )


def percent(share):
    return 'n/a' if share is None else f'{figures(100 * share, 2)} %'


def scaled(x, steps, base):
    for name in steps[:-1]:
        if abs(x) < base:
            return f'{figures(x)} {name}'.rstrip()
        x /= base
    return f'{figures(x)} {steps[-1]}'


def nanoseconds(x):
    return scaled(x, ['ns', 'µs', 'ms', 's'], 1000)


def byte_count(x):
    return scaled(x, ['bytes', 'KiB', 'MiB', 'GiB'], 1024)


def count(x):
    """1000000 -> '1 M'."""
    return scaled(x, ['', 'k', 'M', 'G'], 1000)


def plural(n, word):
    """'1 CPU', '2 CPUs'."""
    return f'{n} {word}{"" if n == 1 else "s"}'


def value(x, unit):
    if unit == 'ns':
        return nanoseconds(x)
    if unit == 'bytes/s':
        return byte_count(x) + '/s'
    if unit == 'keys/s':
        return f'{figures(x / 1e6)} M/s' if x >= 1e5 else f'{count(x)}/s'
    return f'{figures(x)} {unit}'


def rate(share):
    """A false-positive rate: '1 %', '0.001 %'."""
    return f'{figures(100 * share)} %'


def every(seconds):
    """'every minute', 'every 90 seconds': how often a reload is done."""
    for unit, word in ((86400, 'day'), (3600, 'hour'), (60, 'minute'), (1, 'second')):
        if seconds >= unit and seconds % unit == 0:
            n = int(seconds // unit)
            return f'every {word}' if n == 1 else f'every {n} {word}s'
    return f'every {figures(seconds)} seconds'


def seconds_of(text):
    """'90', '90s', '10m', '1h', '1d' -> seconds; ValueError if it is no time."""
    units = {'s': 1, 'm': 60, 'h': 3600, 'd': 86400}
    number, unit = (text[:-1], text[-1:]) if text[-1:] in units else (text, 's')
    if not number.isdecimal() or int(number) == 0:
        raise ValueError(f'{text!r} is no time such as 30s, 10m, 1h, 1d')
    return int(number) * units[unit]


def rate_of(text):
    """'1%', '0.1 %', '1e-5' -> a share; ValueError if it is none between 0 and 1."""
    share = float(text.removesuffix('%')) / (100 if text.endswith('%') else 1)
    if not 0 < share < 1:
        raise ValueError(f'{text!r} is no rate such as 1%, 0.1%, 1e-5')
    return share


def sentence_list(words):
    words = list(words)
    return words[0] if len(words) == 1 else ', '.join(words[:-1]) + ' and ' + words[-1]


def table(head, rows):
    """Columns for a terminal: text to the left, figures to the right."""
    widths = [max(len(str(row[i])) for row in [head] + rows) for i in range(len(head))]
    last = len(head) - 1

    def line(row):
        return '  '.join(
            str(c).ljust(w) if i in (0, last) else str(c).rjust(w)
            for i, (c, w) in enumerate(zip(row, widths))
        ).rstrip()

    return '\n'.join(line(row) for row in [head] + rows)

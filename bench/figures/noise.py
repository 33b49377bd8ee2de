# SPDX-License-Identifier: MIT
"""Which of many differences between two runs are more than noise.

Each result has a few repetitions in either run, too few for a rank test to say anything once
hundreds of results are asked about: five against five reach no p below 0.8 %. So the results lend
each other what they know:
- A result's noise is the deviation of its repetitions (of the logarithm) from their median, drawn
  towards what is typical of the two runs.
- Two runs of the same code differ by more than their repetitions do: another place in memory, a
  neighbour who came. How much more is read off the shortest interval that holds half of all
  differences; at most half of the results may have changed for that to be right.
- The pooled repetitions, brought to one scale, are drawn from again and again: how far do the
  medians of the same code lie apart? No distribution is assumed, and the draws are the same each
  time.
- Benjamini and Hochberg (1995) keep the share of false alarms among what is reported below 5 %.
- And a difference that is sure may still be too small to matter: it must exceed the threshold, and
  both runs' spread."""
import bisect
import math
import random

from .run import median, spread

DRAWS = 20000
PRIOR = 4  # the typical noise counts as much as this many repetitions
FALSE_SHARE = 0.05
MEDIAN_LOSS = math.pi / 2  # the variance of a median over that of a mean


def deviations(values):
    """Of the logarithms from their median, with what the median takes away given back."""
    logs = [math.log(v) for v in values]
    middle = median(logs)
    n = len(logs)
    return [(x - middle) * math.sqrt(n / (n - 1)) for x in logs]


def drawn_to(own, freedom, typical):
    return math.sqrt((own * freedom + typical * typical * PRIOR) / (freedom + PRIOR))


def mean_square(values):
    return sum(v * v for v in values) / len(values)


def shortest_half(values):
    """Half the width of the shortest interval with half of the values, as the deviation that a
    normal law would then have."""
    values = sorted(values)
    half = len(values) // 2
    if half < 2:
        return 0.0
    width = min(values[i + half] - values[i] for i in range(len(values) - half))
    return width / (2 * 0.6745)


class Pair:
    """A result in two runs. change is the factor by which it became better (above 1) or worse."""

    def __init__(self, name, unit, better, before, after):
        self.name, self.unit, self.before, self.after = name, unit, before, after
        ratio = median(after) / median(before)
        self.change = ratio if better == 'higher' else 1 / ratio
        self.log_change = math.log(self.change)
        self.noise = deviations(before) + deviations(after)
        self.freedom = len(before) + len(after) - 2
        self.p = 1.0
        self.flag = ''

    def within(self, typical):
        """How far the medians of the same code may lie apart, from the repetitions alone."""
        return drawn_to(mean_square(self.noise), self.freedom, typical) * self.factor()

    def factor(self):
        return math.sqrt(MEDIAN_LOSS * (1 / len(self.before) + 1 / len(self.after)))

    def least(self, threshold):
        """The smallest change worth a word: beyond the threshold, and beyond either run's
        spread."""
        return max(threshold, spread(self.before), spread(self.after))


def middle_of(values):
    values = sorted(values)
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def null_of(pool, shape, between):
    """Sorted: how far apart, over their noise, the medians of two runs of the same code lie, for so
    many repetitions in either. The unit is the typical noise of a repetition. What comes on top
    between two runs has longer tails than a normal law: Student's, eight degrees."""
    n, m = shape
    dice = random.Random(n * 1000 + m)
    factor = math.sqrt(MEDIAN_LOSS * (1 / n + 1 / m))
    give_n, give_m = n / (n - 1), m / (m - 1)
    found = []
    for _ in range(DRAWS):
        a, b = dice.choices(pool, k=n), dice.choices(pool, k=m)
        middle_a, middle_b = middle_of(a), middle_of(b)
        own = (
            give_n * sum([(x - middle_a) ** 2 for x in a])
            + give_m * sum([(x - middle_b) ** 2 for x in b])
        ) / (n + m)
        drift = between * dice.gauss(0, 1) / math.sqrt(dice.gammavariate(4, 0.25))
        found.append(
            abs(middle_a - middle_b + drift)
            / math.hypot(drawn_to(own, n + m - 2, 1.0) * factor, between)
        )
    return sorted(found)


def judge(pairs, threshold):
    """Sets each pair's p (of the same code) and flag ('slower', 'faster' or ''). Answers how far
    apart two runs of the same code are held to be."""
    if not pairs:
        return 0.0
    typical = max(median([math.sqrt(mean_square(p.noise)) for p in pairs]), 1e-6)
    pool = [d / drawn_to(mean_square(p.noise), p.freedom, typical) for p in pairs for d in p.noise]
    between = min(shortest_half([p.log_change for p in pairs]), threshold)
    nulls = {}
    for p in pairs:
        shape = len(p.before), len(p.after)
        if shape not in nulls:
            nulls[shape] = null_of(pool, shape, between / typical)
        null = nulls[shape]
        # What the repetitions explain of the differences between runs is in `between` too. Counted
        # twice it errs towards silence.
        apart = abs(p.log_change) / math.hypot(p.within(typical), between)
        p.p = (len(null) - bisect.bisect_left(null, apart) + 1) / (len(null) + 1)
    sure = set()
    ordered = sorted(pairs, key=lambda p: p.p)
    for place, p in enumerate(ordered, 1):
        if p.p <= FALSE_SHARE * place / len(ordered):
            sure = set(map(id, ordered[:place]))
    for p in pairs:
        if id(p) in sure and abs(p.log_change) > math.log1p(p.least(threshold)):
            p.flag = 'slower' if p.log_change < 0 else 'faster'
    return between

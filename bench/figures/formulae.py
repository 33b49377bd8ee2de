# SPDX-License-Identifier: MIT
"""The formulae of figures/model.py, a line each; bench/MODEL.md has them in words."""
import math

ZIPF = 0.99  # the exponent (bench/zipf.h)


def meetings(n, w):
    """How often an access meets a line that it lost to another core, on @n cores that each take any
    line alike, the share @w of accesses being writes. A write needs the line alone: it has lost it
    if another accessed it since its own last write. A read has if another wrote it since its own
    last access."""
    return w * (n - 1) / (n - 1 + w) + (1 - w) * (n - 1) * w / (1 + (n - 1) * w)


def resident(n, cache, size):
    """Which share of a set's lines lies in the own cache of some core."""
    return min(1.0, n * cache / size)


def sharing(one, all_of_them, n):
    """What each further core takes of the others' share, from the rates of one core and of @n."""
    return max(0.0, (n * one / all_of_them - 1) / (n - 1))


def together(one, share, n):
    """The rate of @n cores that share something: 1 / share times one's is the most there is."""
    return n * one / (1 + share * (n - 1))


def distinct(keys, draws):
    """The expected share of new keys among @draws by Zipf's law. Ranks beyond the first thousand
    are taken in bundles, each as many of its middle."""
    steps = [(float(r), 1.0) for r in range(1, min(keys, 1000) + 1)]
    low = 1000.5
    while low < keys + 0.5:
        high = min(low * 1.01, keys + 0.5)
        steps.append((math.sqrt(low * high), high - low))
        low = high
    weight = sum(many * rank**-ZIPF for rank, many in steps)
    return sum(m * -math.expm1(-draws * r**-ZIPF / weight) for r, m in steps) / draws

# SPDX-License-Identifier: MIT
"""Which of weir's kinds for which use, at the rate that the operator asks for."""
import math

from .bear import apart, is_weir
from .questions import grouped
from .words import byte_count, count, figures, nanoseconds, rate as rate_words

USUAL_RATE = 0.01
MORE = 0.05  # a difference in memory or time that is worth a word


def can(r, ability):
    """What bench_choice notes of each of weir's kinds; older runs had kinds that insert alone."""
    return bool(r.counters.get(ability, ability == 'inserts'))


def name_of(r):
    return f'z = {r.get("z")}' if r.get('z') else str(r.get('kind'))


def bits(r):
    return r.counters['bits_per_key']


def own_rate(r):
    """' at 0.39 %' of a kind whose rate is far below the one asked for."""
    measured = r.counters.get('fp_measured', 0)
    return f' at {rate_words(measured)}' if 0 < measured < r.get('rate') / 2 else ''


def beside(r, usual):
    """'18 % more memory and 20 % faster'; '' if nothing speaks for it."""
    time = usual.median / r.median if apart(r, usual) else 1.0
    room = bits(r) / bits(usual)
    if time > 1 - MORE and room > 1 - MORE:
        return ''
    parts = []
    for ratio, more, less in ((room, 'more memory', 'less memory'), (time, 'slower', 'faster')):
        if ratio >= 1.5:
            parts.append(f'{ratio:.1f} times the {"memory" if "memory" in more else "time a key"}')
        elif abs(ratio - 1) > MORE:
            parts.append(f'{100 * abs(ratio - 1):.0f} % {more if ratio > 1 else less}')
    return ' and '.join(parts)


def asked(run, rate):
    """Lookups of absent keys in weir's kinds: at the rate nearest to @rate of those that most kinds
    were asked."""
    of = [
        r
        for r in run.of('choice', op='miss')
        if r.get('rate') and is_weir(r) and r.counters.get('bits_per_key')
    ]
    if not of:
        return []
    asked_of = {at: len(rs) for at, rs in grouped(of, lambda r: r.get('rate')).items()}
    rates = [at for at, n in asked_of.items() if 2 * n > max(asked_of.values())]
    nearest = min(rates, key=lambda at: abs(math.log(at / (rate or USUAL_RATE))))
    return [r for r in of if r.get('rate') == nearest]


def worth(of):
    """Of these the smallest first, without those that another beats or equals in both."""
    kept = []
    for r in sorted(of, key=lambda r: (bits(r), -r.median)):
        if all(r.median > k.median and apart(r, k) for k in kept):
            kept.append(r)
    return kept


def sized(r):
    return f'{r.get("kind")} ({figures(bits(r))} bits a key{own_rate(r)})'


def removing(of):
    """'where keys leave again cuckoo (13.5 bits a key at 0.23 %) or counting (49.8 bits a key)'."""
    kept = worth([r for r in of if can(r, 'removes')])
    if kept:
        yield f'where keys leave again {" or ".join(sized(r) for r in kept)}'


def growing(of):
    kept = worth([r for r in of if can(r, 'grows')])
    if kept:
        yield f'where nobody knows their number {sized(kept[0])}'


def built(of, usual):
    """The smallest that takes no inserts, if that is smaller or faster than what does."""
    kept = worth([r for r in of if not can(r, 'inserts')])
    words = kept and beside(kept[0], usual)
    if words:
        kind = f'{kept[0].get("kind")}{own_rate(kept[0])}'
        yield f'where the set is only replaced as a whole {kind} for {words}'


HEAD = ['if', 'take', 'bits/key', 'memory', 'an absent key', 'measured rate']


def use_row(use, r, keys):
    """A use, the kind for it, and what that costs a set of so many keys."""
    name = f'{r.get("kind")}, z = {r.get("z")}' if r.get('z') else r.get('kind')
    measured = r.counters.get('fp_measured')
    return [
        use,
        name,
        figures(bits(r)),
        byte_count(bits(r) * keys / 8),
        nanoseconds(1e9 / r.median),
        rate_words(measured) if measured else '',
    ]


def for_uses(run, keys, rate):
    """(text, (head, rows)) of at most four rows: the default, then for each other use the smallest
    kind that can; None if the default was not measured."""
    of = asked(run, rate)
    usual = next((r for r in of if r.counters.get('is_default')), None)
    if not usual:
        return None
    keys = keys or usual.get('keys')
    static = worth([r for r in of if not can(r, 'inserts')])
    static = [r for r in static if beside(r, usual)]
    rows = [use_row('keys are added (the default)', usual, keys)]
    for use, fit in (
        ('the set is only replaced as a whole', static),
        ('keys leave again', worth([r for r in of if can(r, 'removes')])),
        ('the number of keys is not known', worth([r for r in of if can(r, 'grows')])),
    ):
        rows += [use_row(use, r, keys) for r in fit[:1]]
    return f'at {rate_words(usual.get("rate"))}, for {count(keys)} keys', (HEAD, rows)


def kinds(run, rate):
    """The default at this rate; what is smaller or faster and takes inserts too; and what to take
    for each other use."""
    of = asked(run, rate)
    usual = next((r for r in of if r.counters.get('is_default')), None)
    if not usual:
        return
    at = rate_words(usual.get('rate'))
    yield f'{usual.get("kind")} with z = {usual.get("z")} words a key, the default at {at}'
    for r in of:
        if r is not usual and can(r, 'inserts') and (words := beside(r, usual)):
            yield f'{name_of(r)} for {words}'
    yield from built(of, usual)
    yield from removing(of)
    yield from growing(of)

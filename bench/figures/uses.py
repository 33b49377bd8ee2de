# SPDX-License-Identifier: MIT
"""Which of weir's kinds for which use, at the rate that the operator asks for."""
import math

from .bear import apart, is_weir
from .questions import grouped
from .rivals import MEANING
from .words import byte_count, count, figures, nanoseconds, rate as rate_words

USUAL_RATE = 0.01
TWO_LISTS = 'layered'  # it is built of two lists, and weir has it for nothing else
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


def late_kinds(run, rate, op='miss'):
    """The kinds that this run has no such row of, for lack of time: {name: their verbs}."""
    late = [r for r in run.left_out if r.question == 'choice' and r.get('rate') == rate]
    asked_of = {r.get('kind') for r in run.of('choice', rate=rate, op=op)}
    names = dict.fromkeys(r.get('kind') for r in late if r.get('op') == op)
    return {
        name: {r.get('op') for r in late if r.get('kind') == name}
        for name in names
        if name not in asked_of
    }


def late_and_able(run, rate, fits):
    """The names of weir's own kinds that were left out and for which fits(name, verbs) holds."""
    late = late_kinds(run, rate)
    return [n for n, verbs in late.items() if n not in MEANING and fits(n, verbs)]


def of_measured(late):
    """What a superlative needs where kinds were left out: ' of those measured (...)'."""
    if not late:
        return ''
    were = 'was' if len(late) == 1 else 'were'
    return f' of those measured ({", ".join(late)} {were} left out for lack of time)'


# The uses beside the default: their row in the table; which measured rows can, and which kinds of
# which only the verbs are known, since there was no time for them.
USES = {
    'static': (
        'the set is only replaced as a whole',
        lambda r: not can(r, 'inserts') and r.get('kind') != TWO_LISTS,
        lambda name, verbs: 'insert' not in verbs and name != TWO_LISTS,
    ),
    'removing': (
        'keys leave again', lambda r: can(r, 'removes'), lambda name, verbs: 'remove' in verbs
    ),
    'growing': (
        'the number of keys is not known',
        lambda r: can(r, 'grows'),
        lambda name, verbs: name == 'growing',
    ),
}


def worth(of):
    """Of these the smallest first, without those that another beats or equals in both."""
    kept = []
    for r in sorted(of, key=lambda r: (bits(r), -r.median)):
        if all(r.median > k.median and apart(r, k) for k in kept):
            kept.append(r)
    return kept


def sized(r):
    return f'{r.get("kind")} ({figures(bits(r))} bits a key{own_rate(r)})'


def fitting(run, of, use):
    """The rows worth taking for a use, and the kinds for it that were left out."""
    _, fits, fits_late = USES[use]
    return worth([r for r in of if fits(r)]), late_and_able(run, of[0].get('rate'), fits_late)


def removing(run, of):
    """'where keys leave again cuckoo (13.5 bits a key at 0.23 %) or counting (49.8 bits a key)'."""
    kept, late = fitting(run, of, 'removing')
    if kept:
        yield f'where keys leave again {" or ".join(sized(r) for r in kept)}{of_measured(late)}'


def growing(run, of):
    kept, late = fitting(run, of, 'growing')
    if kept:
        yield f'where nobody knows their number {sized(kept[0])}{of_measured(late)}'


def built(run, of, usual):
    """The smallest that takes no inserts, if that is smaller or faster than what does."""
    kept, late = fitting(run, of, 'static')
    words = kept and beside(kept[0], usual)
    if words:
        kind = f'{kept[0].get("kind")}{own_rate(kept[0])}'
        yield f'where the set is only replaced as a whole {kind} for {words}{of_measured(late)}'


HEAD = ['if', 'take', 'bits/key', 'memory', 'an absent key', 'measured rate']
NOTE = 'note'


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


def note_of(able, taken, late):
    """Why a row is empty, or what it was not set beside; '' if neither. Only of
    kinds that are built once may one be @able and not @taken."""
    if late:
        return f'{", ".join(late)}: not measured, left out for lack of time'
    if taken:
        return ''
    if able:
        return 'no kind that is built once is smaller or faster here'
    return 'this run asked no kind that can'


def row_for(run, of, use, usual, keys):
    """The smallest kind for a use, and a note."""
    able, late = fitting(run, of, use)
    kept = [r for r in able if use != 'static' or beside(r, usual)]
    words = USES[use][0]
    row = use_row(words, kept[0], keys) if kept else [words, *'-' * (len(HEAD) - 1)]
    return [*row, note_of(able, kept, late)]


def for_uses(run, keys, rate):
    """(text, (head, rows)) of at most four rows: the default, then for each other use the smallest
    kind that can; None if the default was not measured."""
    of = asked(run, rate)
    usual = next((r for r in of if r.counters.get('is_default')), None)
    if not usual:
        return None
    keys = keys or usual.get('keys')
    rows = [[*use_row('keys are added (the default)', usual, keys), '']]
    rows += [row_for(run, of, use, usual, keys) for use in USES]
    head = [*HEAD, NOTE]
    if not any(row[-1] for row in rows):
        head, rows = HEAD, [row[:-1] for row in rows]
    return f'at {rate_words(usual.get("rate"))}, for {count(keys)} keys', (head, rows)


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
    yield from built(run, of, usual)
    yield from removing(run, of)
    yield from growing(run, of)

# SPDX-License-Identifier: MIT
"""The bugs planted into the counting kind: see schedule/mutants.py."""

KERNEL = 'src/kinds/counting/counting.h'
REST = 'src/kinds/counting/rest.c'
COUNTERS = 'src/kinds/common/counters.c'

MUTANTS = [
    ('COUNTING_PUT_STORE', KERNEL,
     'if (__builtin_expect(!weir__word_swap_relaxed(key.word[i], &word, word + key.mask[i]), 0))',
     '*key.word[i] = WEIR__LE64(word + key.mask[i]);\n\t\tif (0)'),
    ('COUNTING_PUT_FROM_THE_FIRST', KERNEL,
     'return weir__counting_put_rest(a, hash, i, fresh);',
     'return weir__counting_put_rest(a, hash, 0, fresh);'),
    ('COUNTING_PUT_SKIPS', KERNEL,
     'return weir__counting_put_rest(a, hash, i, fresh);',
     'return weir__counting_put_rest(a, hash, i + 1, fresh);'),
    # who was first in a word forgets it where another key holds the next one
    ('COUNTING_PUT_FORGETS', KERNEL,
     'return weir__counting_put_rest(a, hash, i, fresh);',
     'return weir__counting_put_rest(a, hash, i, false);'),
    ('COUNTING_TAKE_STORE', KERNEL,
     'if (__builtin_expect(!weir__word_swap_relaxed(key.word[i], &word, word - key.mask[i]), 0))',
     '*key.word[i] = WEIR__LE64(word - key.mask[i]);\n\t\tif (0)'),
    ('COUNTING_TAKE_FROM_THE_FIRST', KERNEL,
     'return weir__counting_take_rest(a, hash, i);',
     'return weir__counting_take_rest(a, hash, 0);'),
    ('COUNTING_NO_LOOK', KERNEL,
     'if (__builtin_expect(key.missing, 0))',
     'if (0)'),
    ('COUNTING_LOWER_BLIND', REST,
     'if (mask & ~weir__counters_used(seen, b))\n\t\t\treturn false;',
     ''),
    ('COUNTING_NO_TAKE_BACK', REST,
     'raise(key.word[i], lowered[i], b);',
     ';'),
    ('COUNTING_FULL_RISES', REST,
     'added = mask & ~weir__counters_stuck(seen, b);',
     'added = mask;'),
    ('COUNTING_FULL_FALLS', REST,
     '*lowered = mask & ~weir__counters_stuck(seen, b);',
     '*lowered = mask;'),
    ('COUNTING_FULL_UNSEEN', KERNEL,
     'if (__builtin_expect(key.stuck, 0))\n\t\treturn weir__counting_put_rest',
     'if (0)\n\t\treturn weir__counting_put_rest'),
    ('COUNTERS_OR_MERGE', COUNTERS,
     'sum = weir__counters_sum(seen, more, b);',
     'sum = seen | more;'),
    ('COUNTERS_STORE_MERGE', COUNTERS,
     'while (sum != seen && !weir__word_swap_relaxed(word, &seen, sum));',
     'while (*word = WEIR__LE64(sum), 0);'),
]

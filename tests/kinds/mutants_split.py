# SPDX-License-Identifier: MIT
"""The bugs planted into the split kind: see schedule/mutants.py."""

SPLIT = 'src/kinds/split/kernel.c'

MUTANTS = [
    ('SPLIT_PLAIN_OR', SPLIT,
     'weir__word_or_relaxed(block + i, bits[i]);',
     'block[i] |= WEIR__LE64(bits[i]);'),
    ('SPLIT_STORE', SPLIT,
     'weir__word_or_relaxed(block + i, bits[i]);',
     'block[i] = WEIR__LE64(bits[i] | (bits[i] ^ missing[i]));'),
    ('SPLIT_SKIP_WORD', SPLIT,
     'for (unsigned i = 0; i < WEIR_SPLIT_WORDS; i++)\n\t\tif (missing[i])',
     'for (unsigned i = 0; i + 1 < WEIR_SPLIT_WORDS; i++)\n\t\tif (missing[i])'),
    ('SPLIT_EARLY_RETURN', SPLIT,
     '\tif (!any)\n',
     '\tif (!missing[0])\n'),
]

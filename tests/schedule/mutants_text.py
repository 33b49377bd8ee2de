# SPDX-License-Identifier: MIT
"""Bugs of texts whose lengths a set records ([LENGTH-FIRST] in src/normalise/normalise.c)."""

MUTANTS = [
    ('TEXT_LENGTH_IN_TWO_STEPS', 'src/ground/atomic.h',
     '(void)__atomic_fetch_or(word, bits, __ATOMIC_RELAXED);',
     '*word = weir__length_load_relaxed(word) | bits;'),
    ('TEXT_NOT_NOTED', 'src/filter/text.c',
     'fail_no_key(h, g) : note_length(h, g, &key);', 'fail_no_key(h, g) : 0;'),
    ('TEXT_MERGE_WITHOUT_LENGTHS', 'src/filter/merge.c',
     'weir__text_unite_shared(&dst->text, &more);', ';'),
    ('TEXT_NOT_NOTED_BY_THE_NEXT', 'src/set/generation.c',
     'return a->steps == b->steps && !weir__text_several(a);', 'return a->steps == b->steps;'),
    ('TEXT_BATCH_NOT_NOTED_BESIDE', 'src/set/dual_write.c',
     'n = weir__hashes_to_insert(filter, weir_keys_part(p->keys, 0, n), p->made[i]);',
     'weir_hash_keys(filter, weir_keys_part(p->keys, 0, n), p->made[i]);'),
]
GROUPS = {name: 'text' for name, *_ in MUTANTS}

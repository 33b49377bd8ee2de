# SPDX-License-Identifier: MIT
"""Bugs of a router ([ROUTER-CELL] to [COLUMN-COPY] in src/router/router.h)."""

KERNEL, HANDLE, WHOLE = 'src/router/kernel.c', 'src/set/route.c', 'src/router/kind.c'
GROUPS = {what: 'router' for what in (KERNEL, HANDLE, WHOLE)}

MUTANTS = [
    ('ROUTER_OR_IN_TWO_STEPS', KERNEL, 'weir__word_or_relaxed(word[i], bits[i]);',
     '*word[i] = WEIR__LE64(weir__word_load_relaxed(word[i]) | bits[i]);'),
    ('ROUTER_SKIPS_THE_LAST_ROW', KERNEL, 'for (unsigned i = 0; i < missing; i++)',
     'for (unsigned i = 1; i < missing; i++)'),
    ('ROUTER_COPY_STORES', WHOLE, 'weir__word_or_relaxed(dst->array.words + i, bits);',
     'dst->array.words[i] = WEIR__LE64(weir__word_load_relaxed(dst->array.words + i) | bits);'),
    ('ROUTER_COPIES_ONE_CELL', WHOLE, 'width < 64', 'width < 16'),
    ('ROUTER_INSERTS_INTO_CURRENT_ALONE', HANDLE,
     'for (unsigned i = 1; i < WEIR_RECORD_FILTERS && answer >= 0; i++) {',
     'for (unsigned i = 1; i < 1; i++) {'),
    ('ROUTER_INSERTS_NOT_INTO_PREVIOUS', HANDLE,
     'for (unsigned i = 1; i < WEIR_RECORD_FILTERS && answer >= 0; i++) {',
     'for (unsigned i = 1; i < 2; i++) {'),
    ('ROUTER_INSERT_WITHOUT_A_SECTION', HANDLE,
     'WEIR__IN_SECTION(&h->rcu, answer = insert_keys(weir__generation(h), set, keys, bitmap));',
     'answer = insert_keys(weir__generation(h), set, keys, bitmap);'),
    ('ROUTER_ROUTE_WITHOUT_A_SECTION', HANDLE,
     'WEIR__IN_SECTION(&h->rcu, mask = route_hash(weir__generation(h), hash));',
     'mask = route_hash(weir__generation(h), hash);'),
]

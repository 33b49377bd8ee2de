# SPDX-License-Identifier: MIT
"""Bugs of a window ([STATE-IN-SECTION] to [SECTION-IF-ADVANCED], and [COPY-IN-SECTION], in
src/window/window.h)."""

INSERT, ADVANCE = 'src/window/insert.c', 'src/window/advance.c'
WINDOW, KERNEL, ATOMIC = ('src/window/window.h', 'src/window/kernel.c', 'src/ground/atomic.h')
SAVE, LOOK = 'src/window/save.c', 'src/window/look.c'
# By file, or by name for bugs in files that are shared.
GROUPS = {what: 'window' for what in (INSERT, ADVANCE, WINDOW, KERNEL, SAVE, LOOK,
                                      'SECOND_LOAD_BEFORE_THE_WORDS', 'CLEAR_RELAXED')}
OR = 'uint64_t before = weir__slot_fetch_or_seq_cst(words + p->index[i], p->mask[i]);'
PUBLISH = 'weir__window_store_seq_cst(&w->state, weir__window_state('
CLEAR = 'clear(w, weir__window_next(next, w->bits.slots));'
CHECKS_OTHERS = 'bool present = !one_word && is_in(b, &p, others(state, own));'

MUTANTS = [
    ('NO_GRACE', ADVANCE, 'weir__synchronize(&w->rcu);', ''),
    ('CLEARS_A_LIVE_SLOT', ADVANCE, CLEAR,
     'clear(w, weir__window_next(weir__window_next(next, w->bits.slots), w->bits.slots));'),
    ('SPARE_NOT_CLEARED', ADVANCE, CLEAR, '(void)clear;'),
    ('CLEARED_FIRST', ADVANCE, PUBLISH,
     'clear(w, weir__window_next(next, w->bits.slots));' + PUBLISH),
    ('UNCLAIMED_ADVANCE', ADVANCE, 'if (!weir__flag_claim_acquire(&w->claimed))', 'if (0)'),
    ('STATE_NOT_READ_AGAIN', INSERT, 'state = weir__window_load_seq_cst(&w->state);', ''),
    ('LOOKS_BEFORE_THE_OR', INSERT, CHECKS_OTHERS,
     'bool present = is_in(b, &p, others(state, own));',
     'present = is_in(b, &p, others(state, own));\n\t}', '}'),
    ('OTHERS_NOT_LOOKED_AT', INSERT, 'present = is_in(b, &p, others(state, own));\n\t}',
     '(void)is_in;\n\t}'),
    ('LOOKS_AFTER_THE_ORS', INSERT, CHECKS_OTHERS, 'bool present = false;',
     'if (one_word) { /* [ONE-NEW-AT-MOST]: read after the OR */', 'if (1) {'),
    ('OR_RELAXED', INSERT, OR,
     'uint64_t before = weir__word_fetch_or_relaxed(words + p->index[i], p->mask[i]);'),
    ('LOOK_RELAXED', INSERT, 'weir__slot_load_seq_cst(words', 'weir__word_load_relaxed(words'),
    ('SECOND_LOAD_ACQUIRE', INSERT, 'state = weir__window_load_seq_cst(&w->state);',
     'state = weir__window_load_acquire(&w->state);'),
    ('OR_IN_TWO_STEPS', INSERT, OR,
     'uint64_t before = weir__word_load_relaxed(words + p->index[i]);'
     'weir__word_or_relaxed(words + p->index[i], p->mask[i]);'),
    ('SPARE_IS_LIVE', WINDOW, '~(UINT32_C(1) << weir__window_next(newest, slots))',
     '~(UINT32_C(1) << (weir__window_next(newest, slots) + 32) / 64)'),
    ('NEWEST_IS_NOT_LIVE', WINDOW, '~(UINT32_C(1) << weir__window_next(newest, slots))',
     '~(UINT32_C(1) << newest)'),
    # [SECTION-IF-ADVANCED]
    ('LOOKUP_WITHOUT_A_SECOND_LOAD', KERNEL,
     'if (__builtin_expect(weir__window_load_after(&w->state) == state, 1))', 'if (1)'),
    ('SECOND_LOAD_BEFORE_THE_WORDS', ATOMIC,
     """	atomic_thread_fence(memory_order_acquire);
#endif
	return atomic_load_explicit(state, memory_order_relaxed);""",
     """#endif
	return atomic_load_explicit(state, memory_order_relaxed);"""),
    ('CLEAR_RELAXED', ATOMIC,
     'atomic_store_explicit((_Atomic uint64_t *)word, 0, memory_order_release);',
     'atomic_store_explicit((_Atomic uint64_t *)word, 0, memory_order_relaxed);'),
    ('BATCH_WITHOUT_A_SECOND_LOAD', LOOK,
     'if (__builtin_expect(weir__window_load_after(&w->state) != state, 0))', 'if (0)'),
    ('AGE_WITHOUT_A_SECTION', LOOK,
     'WEIR__IN_SECTION(&w->rcu, in = slots_with(w, hash, &state));\n\tif (!in)',
     'in = slots_with(w, hash, &state);\n\tif (!in)'),
    ('INSERTS_WITHOUT_A_SECTION', INSERT, 'weir__read_lock(&w->rcu);', '',
     'weir__read_unlock(&w->rcu);', ''),
    # [COPY-IN-SECTION]
    ('SAVE_WITHOUT_A_SECTION', SAVE, 'WEIR__IN_SECTION(&w->rcu, copy(c, w));', 'copy(c, w);'),
    ('SAVE_OF_THE_SPARE', SAVE, 'b->slot_step * weir__window_slot(newest, i, b->slots);',
     'b->slot_step * weir__window_slot(newest, i + 1, b->slots);'),
]

# SPDX-License-Identifier: MIT
"""The bugs that run-mutants.py plants into a copy of the library, one at a time: name, file, what
stands there, what is put in its place. The sources carry no trace of them. Text that is not found
exactly once is an error, so none goes stale unnoticed."""

import runpy
from pathlib import Path

import mutants_handle
import mutants_image

WORD = 'include/weir/word.h'
INLINE = 'include/weir/inline.h'
KERNEL = 'src/kinds/blocked/kernel.h'
ATOMIC = 'src/atomic.h'
BULK = 'src/bulk.c'
OWNER = 'src/owner.c'
WHOLE = 'src/whole.c'
BITS = 'src/kinds/common/bits.c'

# So that a batch of any length is sorted by part first, and filled in a copy where it may be. No
# bug by itself (HARMLESS), but bugs there begin with it.
SORT_ALWAYS = ('return n > WANTED_FROM && f->parts > 1 && f->bytes > 8 * weir__cache_bytes();',
               'return n > 0;')
HARMLESS = ['SORT_ALWAYS']

# Which scenarios each file's bugs are given to.
WORD_GROUPS = 'insert,load,whole'
HANDLE_GROUPS = mutants_handle.ALL
GROUPS = mutants_handle.GROUPS

MUTANTS = [
    # words (B1)
    ('PLAIN_OR', WORD,
     '(void)atomic_fetch_or_explicit((_Atomic uint64_t *)word, WEIR__LE64(mask),'
     ' memory_order_relaxed);',
     'atomic_store_explicit((_Atomic uint64_t *)word, WEIR__LE64(mask) |'
     ' atomic_load_explicit((_Atomic uint64_t *)word, memory_order_relaxed),'
     ' memory_order_relaxed);'),
    ('PLAIN_FETCH_OR', WORD,
     'return WEIR__LE64(atomic_fetch_or_explicit((_Atomic uint64_t *)word, WEIR__LE64(mask),'
     ' memory_order_relaxed));',
     'uint64_t old = weir__word_load_relaxed(word);\n'
     '\tatomic_store_explicit((_Atomic uint64_t *)word, WEIR__LE64(old | mask),'
     ' memory_order_relaxed);\n\treturn old;'),
    ('STORE_MASK', WORD,
     '(void)atomic_fetch_or_explicit((_Atomic uint64_t *)word, WEIR__LE64(mask),'
     ' memory_order_relaxed);',
     'atomic_store_explicit((_Atomic uint64_t *)word, WEIR__LE64(mask), memory_order_relaxed);'),
    # the blocked insert
    ('SKIP_WORD', INLINE,
     '\tfor (unsigned i = 0; i < z; i++)\n\t\tweir__word_or_relaxed(block',
     '\tfor (unsigned i = 0; i < z - 1; i++)\n\t\tweir__word_or_relaxed(block'),
    ('SET_EARLY_RETURN', INLINE,
     'if (weir__test_narrow(block, r, z, g))',
     'if (!(weir__word_mask(z, g, 0, r, 0) & ~weir__word_load_relaxed(block + weir__word_index(z,'
     ' 0, r))))'),
    ('Z1_BY_LOAD', INLINE,
     'return (mask & ~weir__word_fetch_or_relaxed(block + weir__word_index(1, 0, r), mask)) != 0;',
     'return weir__word_or_relaxed(block + weir__word_index(1, 0, r), mask), 1;'),
    ('NEW_NEEDS_ALL', INLINE,
     'return (mask & ~weir__word_fetch_or_relaxed(block + weir__word_index(1, 0, r), mask)) != 0;',
     'return (mask & weir__word_fetch_or_relaxed(block + weir__word_index(1, 0, r), mask)) == 0;'),
    ('ANY_BY_LOAD', INLINE,
     'return (mask & ~weir__word_fetch_or_relaxed(word, mask)) != 0;',
     'return weir__word_or_relaxed(word, mask), 1;'),
    ('WRITE_ALWAYS', INLINE,
     'if (weir__test_narrow(block, r, z, g))',
     'if (z == 1 && weir__test_narrow(block, r, z, g))'),
    # a private filter loaded by several threads (O1)
    ('OWNER_RELAXED', ATOMIC,
     '&seen, mark, memory_order_acquire, memory_order_relaxed);',
     '&seen, mark, memory_order_relaxed, memory_order_relaxed);'),
    ('DROP_RELAXED', ATOMIC,
     'atomic_exchange_explicit(&owner->mark, 0, memory_order_release);',
     'atomic_exchange_explicit(&owner->mark, 0, memory_order_relaxed);'),
    ('OWNER_BY_STORE', ATOMIC,
     'return atomic_compare_exchange_strong_explicit(&owner->mark, &seen, mark,'
     ' memory_order_acquire, memory_order_relaxed);',
     'return atomic_load_explicit(&owner->mark, memory_order_acquire) == seen &&'
     ' (atomic_store_explicit(&owner->mark, mark, memory_order_relaxed), true);'),
    ('OWNER_SKIPPED', BULK,
     'if (n && !weir__owner_take(&f->owners[p]))',
     'if (n && f->owners[p].mark > 1000)'),
    # sleeping until a part is dropped (W3 in src/owner.h)
    ('DROP_WAKES_NOBODY', OWNER,
     'if (weir__mark_clear_release(owner) & ASLEEP) /* W3 */',
     'if (weir__mark_clear_release(owner) & 8)'),
    ('DROP_LOOKS_FIRST', OWNER,
     'if (weir__mark_clear_release(owner) & ASLEEP) /* W3 */',
     'unsigned seen = weir__mark_load_relaxed(owner);\n\tweir__mark_clear_release(owner);\n'
     '\tif (seen & ASLEEP)'),
    ('SLEEPS_UNSEEN', OWNER,
     'if (seen == process && weir__mark_swap_acquire(owner, seen, process | ASLEEP))',
     'if (seen == process)',
     'sleep_on(owner, seen);', 'sleep_on(owner, process);'),
    ('SLEEPS_ON_ANYTHING', OWNER,
     'sleep_on(owner, seen);', 'sleep_on(owner, weir__mark_load_relaxed(owner));'),
    ('DROPPED_EARLY', BULK,
     '\t\tf->kernel->load(f, &run, NULL);\n\t\tweir__owner_drop(&f->owners[p]);',
     '\t\tweir__owner_drop(&f->owners[p]);\n\t\tf->kernel->load(f, &run, NULL);'),
    ('NEVER_DROPPED', BULK, '\t\tweir__owner_drop(&f->owners[p]);\n', ''),
    ('LOAD_GIVES_UP', BULK,
     'if (n && !weir__owner_take(&f->owners[p]))\n\t\treturn false;',
     'if (n && !weir__owner_take(&f->owners[p])) {\n'
     '\t\tdone[p / 32] |= UINT32_C(1) << (p % 32);\n\t\treturn true;\n\t}'),
    ('LOAD_STORES', KERNEL,
     '*word = old | mask;', '*word = mask;'),
    # runs of lines (L1 and L2 in src/kind.h)
    ('PARTS_BY_OTHER_BITS', BULK,
     'return (uint32_t)(hash >> 1 >> (63 - __builtin_ctz(f->parts)));',
     'return (uint32_t)(hash >> 40 & (f->parts - 1));'),
    ('SORT_ALWAYS', BULK, *SORT_ALWAYS),
    ('STAGE_ONE_WORD', BULK, *SORT_ALWAYS, 'return f->kernel->stages_or &&',
     'return f->kernel->load &&'),
    ('STAGE_STORE', BULK, *SORT_ALWAYS, 'weir__word_or_relaxed(words + i, bits);',
     'atomic_store_explicit((_Atomic uint64_t *)(words + i), s->memory.bits[i],'
     ' memory_order_relaxed);'),
    ('STAGE_PLAIN', BULK, *SORT_ALWAYS,
     's->memory.bits[i] = WEIR__LE64(weir__word_load_relaxed(words + i));',
     's->memory.bits[i] = words[i];'),
    ('STAGE_SHORT', BULK, *SORT_ALWAYS,
     'for (uint64_t i = 0; i < s->words; i++) {', 'for (uint64_t i = 0; i < s->words - 8; i++) {'),
    # whole filters
    ('MERGE_STORE', BITS,
     'weir__word_or_relaxed(dst->array.words + i, bits);',
     'atomic_store_explicit((_Atomic uint64_t *)(dst->array.words + i), WEIR__LE64(bits |'
     ' weir__word_load_relaxed(dst->array.words + i)), memory_order_relaxed);'),
    ('MERGE_EMPTY_ONLY', BITS,
     'if (bits & ~weir__word_load_relaxed(dst->array.words + i))',
     'if (bits && !weir__word_load_relaxed(dst->array.words + i))'),
    ('MERGE_PLAIN', BITS, 'uint64_t bits = weir__word_load_relaxed(src->array.words + i);',
     'uint64_t bits = WEIR__LE64(src->array.words[i]);'),
    ('MERGE_HALF_A_LINE', BITS, 'i < 8 * (first + n);', 'i < 8 * (first + n) - 4;'),
    ('MERGE_SHORT', WHOLE, 'dst->kind->merge(dst, src, at, n);',
     'dst->kind->merge(dst, src, at, n - 1);'),
    ('SNAPSHOT_PLAIN', BITS,
     'out[i] = WEIR__LE64(weir__word_load_relaxed(from + i));', 'out[i] = from[i];'),
    ('SNAPSHOT_HALF_A_LINE', BITS, 'i < 8 * n;', 'i < 8 * n - 4;'),
    ('CLONE_SHORT', WHOLE, 'f->kind->snapshot(f, 0, f->array.lines, (*out)->array.words);',
     'f->kind->snapshot(f, 0, f->array.lines - 1, (*out)->array.words);'),
    ('SAVE_SHORT', 'src/image/preface.c', 'f->kind->snapshot(f, shard * lines, lines, out);',
     'f->kind->snapshot(f, shard * lines, lines - 1, out);'),
    ('SAVE_LIVE', 'src/image/save.c',
     'job_begin(&job, still, fd, name, &o);', 'job_begin(&job, f, fd, name, &o);'),
] + mutants_handle.MUTANTS + mutants_image.MUTANTS

# A kind's own stand beside what else the tests know of it.
for file in sorted((Path(__file__).resolve().parents[1] / 'kinds').glob('mutants_*.py')):
    MUTANTS += runpy.run_path(str(file))['MUTANTS']

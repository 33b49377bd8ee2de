# SPDX-License-Identifier: MIT
"""The bugs that run-mutants.py plants into a copy of the library, one at a time. Each has a name, a
file, the text to replace and its replacement. The sources contain no trace of the bugs. A text that
does not occur exactly once in its file is an error, so a stale bug is noticed."""

import runpy
from pathlib import Path

import mutants_guard
import mutants_handle
import mutants_image
import mutants_router
import mutants_text
import mutants_window

WORD = 'include/weir/word.h'
INLINE = 'include/weir/inline.h'
KERNEL = 'src/kinds/blocked/kernel.c'
ATOMIC = 'src/ground/atomic.h'
BULK = 'src/filter/bulk.c'
OWNER = 'src/ground/threads.c'
WHOLE = 'src/filter/merge.c'
BITS = 'src/kind/kind.c'

# Makes each load collect the hashes of its stripes first. This is no bug (HARMLESS), but bugs in
# that code need it.
BUCKETS_ALWAYS = ('size_t done = buckets_pay(f, n) ? 0 : load_whole(f, hashes, n);',
                  'size_t done = buckets_pay(f, n) ? 0 : 0;')
# Denies the memory for the hashes, so that concurrent loads go in rounds.
BUCKETS_NEVER = ('if (buckets_alloc(&buckets, f->parts, n - done)) {',
                 'buckets_pay(f, n);\n\tif (1) {')
# Makes each load go in rounds.
ROUNDS_ALWAYS = (*BUCKETS_NEVER, BUCKETS_ALWAYS[0], '(void)load_whole;\n\tsize_t done = 0;')
HARMLESS = ['BUCKETS_ALWAYS', 'BUCKETS_NEVER', 'ROUNDS_ALWAYS']

# The groups of scenarios that test the bugs of each file.
WORD_GROUPS = 'insert,load,whole,counters,cuckoo'
HANDLE_GROUPS = mutants_handle.ALL + ',window'
GROUPS = (mutants_guard.GROUPS | mutants_handle.GROUPS | mutants_router.GROUPS |
          mutants_text.GROUPS | mutants_window.GROUPS)

MUTANTS = [
    # atomic words ([BITS-ONLY-SET])
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
    # a private filter loaded by several threads ([OWNED-PART])
    ('OWNER_RELAXED', ATOMIC,
     '&seen, mark, memory_order_acquire, memory_order_relaxed);',
     '&seen, mark, memory_order_relaxed, memory_order_relaxed);'),
    ('DROP_RELAXED', ATOMIC,
     'atomic_fetch_sub_explicit(&owner->mark, less, memory_order_release);',
     'atomic_fetch_sub_explicit(&owner->mark, less, memory_order_relaxed);'),
    ('OWNER_BY_STORE', ATOMIC,
     'return atomic_compare_exchange_strong_explicit(&owner->mark, &seen, mark,'
     ' memory_order_acquire, memory_order_relaxed);',
     'return atomic_load_explicit(&owner->mark, memory_order_acquire) == seen &&'
     ' (atomic_store_explicit(&owner->mark, mark, memory_order_relaxed), true);'),
    ('ALL_BUT_ONE_TAKEN', BULK, 'if (taken == f->parts) {', 'if (taken + 1 >= f->parts) {'),
    ('BUCKET_UNOWNED', BULK, *BUCKETS_ALWAYS,
     'while (!weir__owner_take(&f->owners[part]))\n\t\tweir__owner_wait(&f->owners[part]);',
     'weir__owner_take(&f->owners[part]);'),
    # sleeping until a stripe's owner drops it ([SLEEPER-COUNTS] in src/ground/threads.h)
    ('DROP_WAKES_NOBODY', OWNER,
     'if (weir__mark_sub_release(owner, process) & SLEEPER) /* [SLEEPER-COUNTS], [WANTED-FIRST] */',
     'if (weir__mark_sub_release(owner, process) & 8)'),
    ('DROP_LOOKS_FIRST', OWNER,
     'if (weir__mark_sub_release(owner, process) & SLEEPER) /* [SLEEPER-COUNTS], [WANTED-FIRST] */',
     'unsigned seen = weir__mark_load_relaxed(owner);\n\tweir__mark_sub_release(owner, process);\n'
     '\tif (seen & SLEEPER)'),
    ('SLEEPS_UNSEEN', OWNER,
     'if (seen == process && weir__mark_swap_acquire(owner, seen, process | SLEEPER))',
     'if (seen == process)',
     'sleep_on(owner, seen);', 'sleep_on(owner, process);'),
    ('SLEEPS_ON_ANYTHING', OWNER,
     'sleep_on(owner, seen);', 'sleep_on(owner, weir__mark_load_relaxed(owner));'),
    ('DROPPED_EARLY', BULK, *BUCKETS_ALWAYS,
     '\tf->kernel->load(f, b->hashes + (size_t)part * b->capacity, b->count[part]);\n'
     '\tweir__owner_drop(&f->owners[part]);',
     '\tweir__owner_drop(&f->owners[part]);\n'
     '\tf->kernel->load(f, b->hashes + (size_t)part * b->capacity, b->count[part]);'),
    ('ALL_DROPPED_EARLY', BULK,
     '\t\t\tf->kernel->load(f, hashes + done, piece);\n\t\t\tdone += piece;\n\t\t}\n'
     '\t\tdrop_partitions(f, taken);',
     '\t\t\tdrop_partitions(f, taken);\n\t\t\tf->kernel->load(f, hashes + done, piece);\n'
     '\t\t\tdone += piece;\n\t\t} else\n\t\t\tdrop_partitions(f, taken);'),
    ('NEVER_DROPPED', BULK, *BUCKETS_ALWAYS, '\tweir__owner_drop(&f->owners[part]);\n', ''),
    ('ALL_NEVER_DROPPED', BULK, '\t\tdrop_partitions(f, taken);\n', '\t\t(void)drop_partitions;\n'),
    ('ROUNDS_GIVE_UP', BULK, *ROUNDS_ALWAYS, 'while (state[part] == PENDING) {',
     'if (state[part] == PENDING) {'),
    ('ROUND_OF_OTHERS', BULK, *ROUNDS_ALWAYS,
     'if (state[p] == PENDING && weir__owner_take(&f->owners[p])) {',
     'if (state[p] == PENDING && (weir__owner_take(&f->owners[p]) || any)) {'),
    ('ROUND_DROPPED_EARLY', BULK, *ROUNDS_ALWAYS,
     'load_owned(f, state, hashes, n);\n\t\t\t\tdrop_owned(f, state);',
     'unsigned char mine[MOST_PARTS];\n\t\t\t\tmemcpy(mine, state, sizeof mine);\n'
     '\t\t\t\tdrop_owned(f, state);\n\t\t\t\tload_owned(f, mine, hashes, n);',
     '#include "filter/filter.h"', '#include <string.h>\n#include "filter/filter.h"'),
    ('ROUND_NEVER_DROPPED', BULK, *ROUNDS_ALWAYS,
     '\t\t\tweir__owner_drop(&f->owners[p]);\n\t\t\tstate[p] = DONE;', '\t\t\tstate[p] = DONE;'),
    ('LOAD_STORES', KERNEL,
     'block[weir__word_index(z, i, r)] |= WEIR__LE64',
     'block[weir__word_index(z, i, r)] = WEIR__LE64'),
    # runs of lines ([PARTITION-BITS] in src/kind/kind.h)
    ('PARTS_BY_OTHER_BITS', BULK, *BUCKETS_ALWAYS,
     'part = partition_of(hash, shift);', 'part = hash >> 40 & (f->parts - 1);'),
    ('BUCKETS_ALWAYS', BULK, *BUCKETS_ALWAYS),
    ('BUCKETS_NEVER', BULK, *BUCKETS_NEVER),
    ('ROUNDS_ALWAYS', BULK, *ROUNDS_ALWAYS),
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
    ('CLONE_SHORT', WHOLE, 'f->array.lines - head, (*out)->array.words',
     'f->array.lines - head - 1, (*out)->array.words'),
    ('SAVE_SHORT', 'src/image/write.c', 'at) / 64, n / 64, w->copy);',
     'at) / 64, n / 64 - 1, w->copy);'),
    ('SAVE_LIVE', 'src/image/save.c',
     'if (f->kind->hold || to.form == WEIR_LOCATION_FD)', 'if (f->kind->hold)'),
] + mutants_guard.MUTANTS + mutants_handle.MUTANTS + mutants_image.MUTANTS + \
    mutants_router.MUTANTS + mutants_text.MUTANTS + mutants_window.MUTANTS

# Each kind has its bugs in the folder of its tests.
for file in sorted((Path(__file__).resolve().parents[1] / 'kinds').glob('mutants_*.py')):
    of_kind = runpy.run_path(str(file))
    MUTANTS += of_kind['MUTANTS']
    GROUPS = GROUPS | of_kind.get('GROUPS', {})  # for kinds with their own scenarios

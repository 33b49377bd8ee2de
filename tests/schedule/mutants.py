# SPDX-License-Identifier: MIT
"""The bugs that run-mutants.py plants into a copy of the library, one at a time: name, file, what
stands there, what is put in its place. The sources carry no trace of them. Text that is not found
exactly once is an error, so none goes stale unnoticed."""

import mutants_handle

WORD = 'include/weir/word.h'
INLINE = 'include/weir/inline.h'
KERNEL = 'src/kinds/blocked/kernel.h'
CLASSIC = 'src/kinds/classic.c'
ATOMIC = 'src/atomic.h'
BULK = 'src/bulk.c'
UNION = 'src/whole.c'

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
    # the classic insert
    ('CLASSIC_PLAIN_OR', CLASSIC,
     'weir__word_or_relaxed(word_of(v, missing[i]), UINT64_C(1) << (bit_of(v, missing[i]) % 64));',
     '*word_of(v, missing[i]) |= UINT64_C(1) << (bit_of(v, missing[i]) % 64);'),
    ('CLASSIC_SKIP_PROBE', CLASSIC,
     '\tfor (unsigned i = 0; i < n; i++)\n\t\tweir__word_or_relaxed(',
     '\tfor (unsigned i = 0; i + 1 < n; i++)\n\t\tweir__word_or_relaxed('),
    ('CLASSIC_EARLY_RETURN', CLASSIC,
     '\t\tmissing[n] = x;\n',
     '\t\tif (is_set(v, x))\n\t\t\treturn WEIR_SEEN;\n\t\tmissing[n] = x;\n'),
    # a private filter loaded by several threads (O1)
    ('OWNER_RELAXED', ATOMIC,
     'atomic_exchange_explicit(&owner->taken, 1, memory_order_acquire) == 0;',
     'atomic_exchange_explicit(&owner->taken, 1, memory_order_relaxed) == 0;'),
    ('DROP_RELAXED', ATOMIC,
     'atomic_store_explicit(&owner->taken, 0, memory_order_release);',
     'atomic_store_explicit(&owner->taken, 0, memory_order_relaxed);'),
    ('OWNER_BY_STORE', ATOMIC,
     'atomic_exchange_explicit(&owner->taken, 1, memory_order_acquire) == 0;',
     '(atomic_load_explicit(&owner->taken, memory_order_acquire),'
     ' atomic_store_explicit(&owner->taken, 1, memory_order_relaxed), true);'),
    ('OWNER_SKIPPED', BULK,
     'if (n && !weir__owner_try_acquire(&f->owners[p]))',
     'if (n && f->owners[p].taken > 1)'),
    ('DROPPED_EARLY', BULK,
     '\t\tf->kernel->load(f, &run, NULL);\n\t\tweir__owner_drop(&f->owners[p]);',
     '\t\tweir__owner_drop(&f->owners[p]);\n\t\tf->kernel->load(f, &run, NULL);'),
    ('NEVER_DROPPED', BULK, '\t\tweir__owner_drop(&f->owners[p]);\n', ''),
    ('LOAD_GIVES_UP', BULK,
     'if (n && !weir__owner_try_acquire(&f->owners[p]))\n\t\treturn false;',
     'if (n && !weir__owner_try_acquire(&f->owners[p])) {\n'
     '\t\tdone[p / 32] |= UINT32_C(1) << (p % 32);\n\t\treturn true;\n\t}'),
    ('LOAD_STORES', KERNEL,
     '*word = old | mask;', '*word = mask;'),
    # whole filters
    ('MERGE_STORE', UNION,
     '\t\t\tweir__word_or_relaxed(dst->view.words + i, bits);',
     '\t\t\tatomic_store_explicit((_Atomic uint64_t *)(dst->view.words + i), WEIR__LE64(bits |'
     ' weir__word_load_relaxed(dst->view.words + i)), memory_order_relaxed);'),
    ('MERGE_EMPTY_ONLY', UNION,
     'if (bits & ~weir__word_load_relaxed(dst->view.words + i))',
     'if (bits && !weir__word_load_relaxed(dst->view.words + i))'),
    ('CLONE_PLAIN', UNION,
     '(*out)->view.words[i] = WEIR__LE64(weir__word_load_relaxed(f->view.words + i));',
     '(*out)->view.words[i] = f->view.words[i];'),
    ('SAVE_PLAIN', 'src/image/preface.c',
     'out[i] = WEIR__LE64(weir__word_load_relaxed(from + i));', 'out[i] = from[i];'),
    ('SAVE_LIVE', 'src/image/save.c',
     'job_begin(&job, still, fd, name, &o);', 'job_begin(&job, f, fd, name, &o);'),
] + mutants_handle.MUTANTS

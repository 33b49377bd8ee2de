# SPDX-License-Identifier: MIT
"""The bugs planted into the cuckoo kind. Each breaks one of the rules of move.h, [COPY-OWNER] to
[FULL-IF-QUIET], or repeats a bug that public implementations had. See schedule/mutants.py."""

MOVE = 'src/kinds/cuckoo/move.c'
SEARCH = 'src/kinds/cuckoo/search.c'
PUT = 'src/kinds/cuckoo/search.c'
CUCKOO = 'src/kinds/cuckoo/cuckoo.c'
ATOMIC = 'src/ground/atomic.h'
WHOLE = 'src/filter/merge.c'
KIND = 'src/kinds/cuckoo/whole.c'
SAVE = 'src/image/save.c'
# The groups of scenarios that must find a bug in these files.
GROUPS = dict.fromkeys([MOVE, SEARCH, PUT, CUCKOO, KIND], 'counters,cuckoo')

MUTANTS = [
    # [COPY-OWNER]
    ('CUCKOO_MOVE_UNOWNED', MOVE,
     'int err = take_stripe(a, stripe, wait);\n\tif (err)\n\t\treturn err;\n\tbool there',
     'int err = 0;\n\tbool there', '\tdrop_stripe(a, stripe);\n\treturn moved;', '\treturn moved;'),
    ('CUCKOO_REMOVE_UNOWNED', MOVE, '(void)take_stripe(a, stripe, WEIR_CUCKOO_WAIT);\n\tbool found',
     'bool found', '\tdrop_stripe(a, stripe);\n\treturn found', '\treturn found'),
    ('CUCKOO_MOVE_BLINDLY', MOVE, 'bool moved = there && write_copy', 'bool moved = write_copy'),
    # [VERSION-FIRST]
    ('CUCKOO_CLEAR_FIRST', MOVE,
     'bool moved = there && write_copy(a->words + step->to, step->fingerprint, width);',
     'if (there)\n\t\tclear_slot(from, step->shift, width);\n'
     '\tbool moved = there && write_copy(a->words + step->to, step->fingerprint, width);',
     'bump(a, stripe); /* [VERSION-FIRST] */\n\t\tclear_slot(from, step->shift, width);',
     'bump(a, stripe);'),
    ('CUCKOO_MOVE_NO_BUMP', MOVE, 'bump(a, stripe); /* [VERSION-FIRST] */\n\t\tclear_slot(from',
     'clear_slot(from'),
    ('CUCKOO_BUMP_LATE', MOVE,
     'bump(a, stripe); /* [VERSION-FIRST] */\n\t\tclear_slot(from, step->shift, width);',
     'clear_slot(from, step->shift, width);\n\t\tbump(a, stripe);'),
    ('CUCKOO_REMOVE_NO_BUMP', MOVE,
     'bump(a, weir__cuckoo_stripe(a, fingerprint)); /* [VERSION-FIRST] */', ''),
    ('CUCKOO_BUMPS_ANOTHER', MOVE,
     'bump(a, weir__cuckoo_stripe(a, fingerprint)); /* [VERSION-FIRST] */',
     'bump(a, 0);'),
    ('CUCKOO_BUMP_RELAXED', ATOMIC,
     'atomic_load_explicit(version, memory_order_relaxed) + 1,\n'
     '\t                      memory_order_release);',
     'atomic_load_explicit(version, memory_order_relaxed) + 1,\n'
     '\t                      memory_order_relaxed);'),
    # [FREE-SLOT-CAS]
    ('CUCKOO_STORES', PUT,
     'if (weir__place_swap_release(a->words + p.bucket[to], &p.word[to],'
     ' p.word[to] | copy)) /* [FREE-SLOT-CAS] */',
     'atomic_store_explicit((_Atomic uint64_t *)(a->words + p.bucket[to]),'
     ' WEIR__LE64(p.word[to] | copy), memory_order_release);\n\t\tif (1)'),
    # [TWO-VERSIONS]
    ('CUCKOO_LOOKUP_ONCE', CUCKOO,
     'if (__builtin_expect(weir__version_load_again(version) == before, 1))',
     'if (before == before)'),
    ('CUCKOO_LOOKUP_ELSEWHERE', CUCKOO,
     'const atomic_uint *version = weir__cuckoo_version(a, p->fingerprint);',
     'const atomic_uint *version = weir__cuckoo_version(a, 0);'),
    ('CUCKOO_COUNT_ELSEWHERE', CUCKOO,
     'const atomic_uint *version = weir__cuckoo_version(a, p.fingerprint);',
     'const atomic_uint *version = weir__cuckoo_version(a, 0);'),
    ('CUCKOO_INSERT_ELSEWHERE', PUT,
     'const atomic_uint *version = weir__cuckoo_version(a, fingerprint);',
     'const atomic_uint *version = weir__cuckoo_version(a, 0);'),
    ('CUCKOO_ONE_BUCKET', CUCKOO,
     'return (weir__cuckoo_zeros(first ^ equal, width) |\n'
     '\t        weir__cuckoo_zeros(second ^ equal, width)) != 0;',
     '(void)second;\n\treturn weir__cuckoo_zeros(first ^ equal, width) != 0;'),
    ('CUCKOO_SWAP_RELAXED', ATOMIC,
     '(_Atomic uint64_t *)word, &was, WEIR__LE64(to), memory_order_release,',
     '(_Atomic uint64_t *)word, &was, WEIR__LE64(to), memory_order_relaxed,'),
    # [WALK-MEETS-ALL]
    ('CUCKOO_CLONE_UNHELD', WHOLE,
     'weir__hold(f);\n\tf->kind->snapshot(f, head,', 'f->kind->snapshot(f, head,',
     'weir__let_go(f);\n\tweir__whole_end(f);', 'weir__whole_end(f);'),
    ('CUCKOO_MERGE_UNHELD', WHOLE,
     'weir__hold(src);\n\tfor (uint64_t at = dst->kind->head_lines, n;',
     'for (uint64_t at = dst->kind->head_lines, n;',
     '\tweir__let_go(src);\n\treturn err;', '\treturn err;'),
    ('CUCKOO_SAVE_UNHELD', SAVE, 'if (f->kind->hold || to.form == WEIR_LOCATION_FD)',
     'if (to.form == WEIR_LOCATION_FD)'),
    # [FULL-IF-QUIET]
    ('CUCKOO_REFUSE_AT_ONCE', SEARCH, 'return quiet == 0 || before != after; /* [FULL-IF-QUIET] */',
     'return 0;'),
    ('CUCKOO_NEVER_QUIET', SEARCH, 'if (quiet != 1)\n\t\treturn quiet < 0 ? quiet : 1;',
     'if (1)\n\t\treturn 0;'),
    ('CUCKOO_REFUSE_BESIDE_MOVES', SEARCH,
     'return quiet == 0 || before != after; /* [FULL-IF-QUIET] */', 'return quiet == 0;'),
    ('CUCKOO_REFUSE_WHERE_BUSY', SEARCH, 'return quiet < 0 ? quiet : 1;',
     'return quiet < 0 ? quiet : 0;'),
    ('CUCKOO_REFUSE_WHERE_OTHERS_WERE_QUICKER', SEARCH, 'return moved < 0 ? moved : 1;',
     'return moved;'),
    ('CUCKOO_NEW_BESIDE_A_MOVE', SEARCH, '} while (before != after);', '} while (0);'),
    # Bugs that public implementations had. An insert into a full filter drops another key, or keeps
    # its key aside and refuses the next key. The other bucket is wrong. An equal copy is left out,
    # by an insert or in a union, although copies can be removed. A move deletes a copy that finds
    # no slot. A removal takes two copies.
    ('CUCKOO_DROPS_ANOTHER', PUT, 'return room < 0 ? room : no_room(a, width);',
     'atomic_store_explicit((_Atomic uint64_t *)(a->words + p.bucket[0]), WEIR__LE64((p.word[0]'
     ' & ~((UINT64_C(1) << width) - 1)) | spot.fingerprint), memory_order_release);\n'
     '\treturn room < 0 ? room : WEIR_NEW;'),
    ('CUCKOO_KEEPS_ASIDE', PUT,
     """	int room = 1;
	while (room == 1) {
""",
     """	int room = 1;
	_Atomic uint64_t *aside = &((struct weir_cuckoo *)a->own)->walks;
	if (*aside >> 32) {
		*aside -= UINT64_C(1) << 32;
		return no_room(a, width);
	}
	while (room == 1) {
""",
     'return room < 0 ? room : no_room(a, width);',
     '*aside += UINT64_C(1) << 32;\n\treturn room < 0 ? room : no_room(a, width);'),
    ('CUCKOO_WRONG_OTHER', SEARCH,
     'add(q, weir__cuckoo_other(q->a, bucket, copy), i, copy, place * width);',
     'add(q, weir__cuckoo_other(q->a, bucket ^ 1, copy), i, copy, place * width);'),
    ('CUCKOO_DEDUPLICATES', PUT, 'if (seen && put == WEIR_CUCKOO_ABSENT)', 'if (seen)'),
    ('CUCKOO_MERGE_DEDUPLICATES', KIND, 'f->flags & WEIR_ONCE ? WEIR_CUCKOO_ABSENT :',
     'true ? WEIR_CUCKOO_ABSENT :'),
    ('CUCKOO_MOVE_DELETES', MOVE,
     'bool moved = there && write_copy(a->words + step->to, step->fingerprint, width);',
     '(void)write_copy(a->words + step->to, step->fingerprint, width);\n\tbool moved = there;'),
    ('CUCKOO_REMOVES_BOTH', MOVE, 'width) ||\n\t             take_out_of(a, other',
     'width) |\n\t             take_out_of(a, other'),
]

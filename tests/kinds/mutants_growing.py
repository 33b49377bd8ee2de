# SPDX-License-Identifier: MIT
"""The bugs planted into the growing kind: see schedule/mutants.py."""

LAYERS = 'src/growing/layers.c'
WHOLE = 'src/growing/whole.c'
KERNEL = 'src/growing/kernel.c'
MERGE = 'src/filter/merge.c'
GROUPS = {LAYERS: 'growing', WHOLE: 'growing', KERNEL: 'growing',
          'GROWING_MERGE_READ_AGAIN': 'growing'}

MUTANTS = [
    # [LAYER-RECORD]: of two threads that append a layer, one overwrites the layer of the other
    # thread
    ('GROWING_STORE_NEXT', LAYERS,
     'if (!weir__layers_swap_release(&layers->next, &none, record)) { /* [LAYER-RECORD] */',
     '(void)none;\n\t__atomic_store_n(&layers->next, record, __ATOMIC_RELEASE);\n\tif (0) {'),
    # A thread finds a record before it can see the record's fields.
    ('GROWING_RELAXED_NEXT', LAYERS,
     'if (!weir__layers_swap_release(&layers->next, &none, record)) { /* [LAYER-RECORD] */',
     'if (!__atomic_compare_exchange_n(&layers->next, &none, record, 0, __ATOMIC_RELAXED,'
     ' __ATOMIC_RELAXED)) {'),
    ('GROWING_RELAXED_NOW', LAYERS,
     """(void)weir__layers_swap_release(&own->now, &layers,
		                                weir__layers_load_acquire(&layers->next));""",
     '__atomic_store_n(&own->now, weir__layers_load_acquire(&layers->next), __ATOMIC_RELAXED);'),
    # A late thread sets the list of layers back to an older one.
    ('GROWING_STORE_NOW', LAYERS,
     """(void)weir__layers_swap_release(&own->now, &layers,
		                                weir__layers_load_acquire(&layers->next));""",
     '__atomic_store_n(&own->now, weir__layers_load_acquire(&layers->next), __ATOMIC_RELEASE);'),
    # An insert uses a layer that lookups do not know yet.
    ('GROWING_INTO_NEXT', KERNEL,
     """			struct weir__layers *s = weir__layers_now(f); \\
			uint64_t counted = 0; \\
""",
     """			struct weir__layers *s = weir__layers_now(f), \\
				*after = weir__layers_load_acquire(&s->next); \\
			uint64_t counted = 0; \\
			s = after ? after : s; \\
"""),
    ('GROWING_OLDEST_LEFT_OUT', KERNEL,
     'for (unsigned i = (n); i-- > 0;) \\', 'for (unsigned i = (n); i-- > (n > 1);) \\'),
    # A merge reads the source's layers again. The source may have a new layer, for which the
    # destination has none. The bug sets to[i].f to NULL, so that the result does not depend on the
    # stack.
    ('GROWING_MERGE_READ_AGAIN', MERGE,
     """	for (unsigned i = 0; !err && i < n; i++)
		err = merge_lines(to[i].f, from[i].f, progress, progress_arg);
""",
     """	unsigned later = weir__members(src, from);
	for (unsigned i = n; i < later; i++)
		to[i].f = NULL;
	for (unsigned i = 0; !err && i < later; i++)
		err = merge_lines(to[i].f, from[i].f, progress, progress_arg);
"""),
    # An insert ignores that the filter is full.
    ('GROWING_OVERFILL', KERNEL,
     'if (!weir__closed_load_relaxed(&s->closed)) { \\', 'if (s) { \\'),
    ('GROWING_COPY_OLDEST', WHOLE, '\treturn now->n;\n', '\treturn 1;\n'),
]

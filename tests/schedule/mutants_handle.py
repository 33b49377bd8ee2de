# SPDX-License-Identifier: MIT
"""The bugs planted into the handle's side, as in mutants.py: name, file, what stands there, what is
put in its place; where a bug needs several edits of its file, more such pairs follow. An order of
src/atomic.h is weakened where it is used, so that the scenarios of that file look for it."""

GENERATION = 'src/set/generation.h'
RECORDS = 'src/set/generation.c'
RCU = 'src/set/rcu.h'
HEADER = 'include/weir/handle.h'
HANDLE = 'src/set/handle.c'
BATCH = 'src/set/handle_batch.c'
STATS = 'src/set/handle_stats.c'
RELOAD = 'src/set/reload.c'
ROLLBACK = 'src/set/rollback.c'
REFRESH = 'src/set/refresh.c'
ROLLING = 'src/set/rolling.c'
ROLLING_VERBS = 'src/set/rolling_verbs.c'
SHARE = 'src/set/share.c'

ALL = 'reload,batch,previous,writers,retire,refresh,rolling'
GROUPS = {
    GENERATION: ALL,
    RECORDS: 'reload,previous,writers,retire,rolling',
    RCU: ALL,
    HEADER: 'retire,previous',
    HANDLE: 'reload,previous,writers,retire',
    BATCH: 'batch',
    STATS: 'retire',
    RELOAD: 'reload,previous,writers,retire,rolling',
    ROLLBACK: 'previous,writers,retire',
    REFRESH: 'refresh',
    ROLLING: 'rolling',
    ROLLING_VERBS: 'rolling',
    SHARE: 'rolling',
}

MUTANTS = [
    # the published pointer (H1)
    ('PUBLISH_RELAXED', GENERATION, 'weir__record_store_release(&h->generation, record);',
     '__atomic_store_n(&h->generation, record, __ATOMIC_RELAXED);'),
    ('GENERATION_RELAXED', GENERATION, 'return weir__record_load_acquire(&h->generation);',
     'return __atomic_load_n(&h->generation, __ATOMIC_RELAXED);'),
    ('GET_RELAXED', HEADER,
     '->generation, __ATOMIC_ACQUIRE)\n\t->current;',
     '->generation, __ATOMIC_RELAXED)\n\t->current;'),
    ('INSERT_READS_TWICE', HANDLE,
     'WEIR__IN_SECTION(&h->rcu, answer = insert_hash(weir__generation(h), hash));',
     'WEIR__IN_SECTION(&h->rcu, { answer = weir_insert_hash(weir__generation(h)->current, hash);'
     ' if (!alone(weir__generation(h))) answer = insert_others(weir__generation(h), hash,'
     ' answer); });'),
    ('INSERT_CURRENT_ONLY', HANDLE,
     'return alone(g) || answer < 0 ? answer : insert_others(g, hash, answer);',
     'return answer;'),
    ('INSERT_NEXT_ONLY', HANDLE, 'int answer = weir_insert_hash(g->current, hash);',
     'int answer = weir_insert_hash(g->next ? g->next : g->current, hash);'),
    ('INSERT_NO_PREVIOUS', HANDLE, '{ g->next, g->previous };', '{ g->next, NULL };'),
    ('INSERT_PREVIOUS_OR_NEXT', HANDLE,
     '{ g->next, g->previous };',
     '{ g->next, g->next ? NULL : g->previous };'),
    ('BATCH_CURRENT_ONLY', BATCH, 'i < 2 && answer >= 0;', 'i < 2 && answer < 0;'),
    ('BATCH_NO_PREVIOUS', BATCH, '{ g->next, g->previous };', '{ g->next, NULL };'),
    ('BATCH_READS_TWICE', BATCH,
     'int64_t answer = insert_section(weir__generation(h), k, at, some, bitmap ? bitmap + at / 64'
     ' : NULL);',
     'const struct weir_generation other = { .current = weir__generation(h)->current, .next ='
     ' weir__generation(h)->next };\n'
     '\t\tint64_t answer = insert_section(&other, k, at, some, bitmap ? bitmap + at / 64 : NULL);'),
    # sections
    ('INSERT_FOUND_BEFORE', HANDLE,
     'WEIR__IN_SECTION(&h->rcu, answer = insert_hash(weir__generation(h), hash));',
     'const struct weir_generation *g = weir__generation(h);\n'
     '\tWEIR__IN_SECTION(&h->rcu, answer = insert_hash(g, hash));'),
    ('LOOKUP_NO_SECTION', HANDLE,
     'WEIR__IN_SECTION(&h->rcu, answer = weir_contains_hash(weir__generation(h)->current, hash));',
     'answer = weir_contains_hash(weir__generation(h)->current, hash);'),
    ('STATS_FOUND_BEFORE', STATS,
     '\tweir__read_lock(&h->rcu);\n\tconst struct weir_generation *g = weir__generation(h);\n',
     '\tconst struct weir_generation *g = weir__generation(h);\n\tweir__read_lock(&h->rcu);\n'),
    ('STATS_READ_AFTER', STATS,
     '\tweir__read_unlock(&h->rcu);\n',
     '\tweir__read_unlock(&h->rcu);\n\ts.bytes += g->number - s.generation;\n'),
    ('ALWAYS_BP', RCU, '.bulletproof = flavor == &urcu_bp_flavor };', '.bulletproof = true };'),
    ('WAITS_FOR_BP', RCU,
     'rcu->flavor->update_synchronize_rcu();',
     'urcu_bp_flavor.update_synchronize_rcu();'),
    ('DEADLOCK_UNSEEN', RCU, 'return inside != before;', 'return false;'),
    # begin and copy (H2)
    ('BEGIN_NO_GRACE', RELOAD,
     '\tweir__synchronize(&h->rcu); /* H2 */\n\tfree(before);               /* H3 */\n',
     '\tretired->records[1] = before;\n'),
    ('BEGIN_FREES_FIRST', RELOAD,
     '\tweir__synchronize(&h->rcu); /* H2 */\n\tfree(before);               /* H3 */\n',
     '\tfree(before);\n\tweir__synchronize(&h->rcu);\n'),
    ('BEGIN_WAITS_FIRST', RELOAD,
     '\tstruct weir_generation *before = weir__publish(h, during);\n'
     '\tweir__synchronize(&h->rcu); /* H2 */\n\tfree(before);               /* H3 */\n',
     '\tweir__synchronize(&h->rcu);\n\tretired->records[1] = weir__publish(h, during);\n'),
    ('BEGIN_NO_PREVIOUS', RELOAD,
     'weir__record(g->current, next, g->previous, g->number);',
     'weir__record(g->current, next, NULL, g->number);'),
    ('COPY_STORE', RELOAD,
     'return weir_merge(r->next, r->handle->generation->current);',
     'const struct weir_filter *from = r->handle->generation->current;\n'
     '\tfor (uint64_t i = 0; i < 8 * from->array.lines; i++)\n'
     '\t\tatomic_store_explicit((_Atomic uint64_t *)(r->next->array.words + i),'
     ' weir__word_load_relaxed(from->array.words + i) |'
     ' weir__word_load_relaxed(r->next->array.words + i), memory_order_relaxed);\n\treturn 0;'),
    ('COPY_OVERWRITES', RELOAD,
     'return weir_merge(r->next, r->handle->generation->current);',
     'const struct weir_filter *from = r->handle->generation->current;\n'
     '\tfor (uint64_t i = 0; i < 8 * from->array.lines; i++)\n'
     '\t\tatomic_store_explicit((_Atomic uint64_t *)(r->next->array.words + i),'
     ' weir__word_load_relaxed(from->array.words + i), memory_order_relaxed);\n\treturn 0;'),
    ('COPY_BEFORE_PUBLISH', RELOAD,
     '\tduring->since = g->since;\n',
     '\tduring->since = g->since;\n\t(void)weir_merge(next, g->current);\n',
     'return weir_merge(r->next, r->handle->generation->current);',
     'return r->next ? 0 : 1;'),
    ('COPY_BEFORE_GRACE', RELOAD,
     '\tweir__synchronize(&h->rcu); /* H2 */\n',
     '\t(void)weir_merge(next, g->current);\n\tweir__synchronize(&h->rcu);\n',
     'return weir_merge(r->next, r->handle->generation->current);',
     'return r->next ? 0 : 1;'),
    # commit, abort and what they retire (H3)
    ('RETIRE_AT_ONCE', RECORDS,
     '\t\tweir__synchronize(&h->rcu);\n\t\tfree_retired(retired);',
     '\t\tfree_retired(retired);'),
    ('DEFERRED_AT_ONCE', RECORDS,
     'h->rcu.flavor->update_call_rcu(&retired->head, free_deferred);',
     'free_deferred(&retired->head);'),
    ('DEFERRED_TO_BP', RECORDS,
     'h->rcu.flavor->update_call_rcu(&retired->head, free_deferred);',
     'urcu_bp_flavor.update_call_rcu(&retired->head, free_deferred);'),
    ('DEFERRED_FORGOTTEN', RECORDS, 'weir__users_add_relaxed(&h->retiring);', ''),
    ('RETIRING_EARLY', RECORDS,
     '\tweir__users_sub_release(&h->retiring);\n', '',
     '\tfree_retired(retired);\n\tweir__figure_sub_relaxed(&h->bytes_retired, bytes);\n',
     '\tweir__users_sub_release(&h->retiring);\n\tfree_retired(retired);\n'
     '\tweir__figure_sub_relaxed(&h->bytes_retired, bytes);\n'),
    ('RETIRING_RELAXED', RECORDS,
     'weir__users_sub_release(&h->retiring);',
     'atomic_fetch_sub_explicit(&h->retiring, 1, memory_order_relaxed);'),
    ('RETIRING_READ_RELAXED', RECORDS,
     'weir__users_load_acquire(&h->retiring)',
     'atomic_load_explicit(&h->retiring, memory_order_relaxed)'),
    ('RETIRED_HELD_RELAXED', RECORDS,
     'weir__flag_release(&retired->held);',
     'atomic_store_explicit(&retired->held, false, memory_order_relaxed);'),
    ('RETIRED_READ_RELAXED', RECORDS,
     'if (weir__flag_held_acquire(&retired->held)) {',
     'if (atomic_load_explicit(&retired->held, memory_order_relaxed)) {'),
    ('RETIRED_NOT_HELD', RECORDS, '\t(void)weir__flag_claim_acquire(&retired->held);\n', ''),
    ('RETIRED_NEVER_FORGOTTEN', RECORDS,
     '\t\tweir__barrier(&h->rcu);\n\tforget_freed(h);\n', '\t\tweir__barrier(&h->rcu);\n'),
    ('BYTES_STAY', RECORDS, 'weir__figure_sub_relaxed(&h->bytes_retired, bytes);', '(void)bytes;'),
    ('COMMIT_LEAKS', RELOAD,
     'close_with(r, after, keep ? NULL : g->current,',
     'close_with(r, after, NULL,'),
    ('COMMIT_FREES_KEPT', RELOAD,
     'close_with(r, after, keep ? NULL : g->current,',
     'close_with(r, after, g->current,'),
    ('COMMIT_LEAKS_PREVIOUS', RELOAD,
     'g->current, g->previous, r->options.defer_free);',
     'g->current, NULL, r->options.defer_free);'),
    ('COMMIT_FREES_FIRST', RELOAD,
     '\tclose_with(r, after, keep ? NULL : g->current, g->previous,',
     '\tif (!keep)\n\t\tweir_destroy(g->current);\n\tclose_with(r, after, NULL, g->previous,'),
    ('ABORT_FREES_FIRST', RELOAD,
     'close_with(r, after, g->next, NULL, defer);',
     'weir_destroy(r->next);\n\tclose_with(r, after, NULL, NULL, defer);'),
    ('ABORT_LEAKS', RELOAD,
     'close_with(r, after, g->next, NULL, defer);',
     'close_with(r, after, NULL, NULL, defer);'),
    ('ABORT_DROPS_PREVIOUS', RELOAD,
     '{ .current = g->current, .previous = g->previous, .number = g->number, .since = g->since };',
     '{ .current = g->current, .number = g->number, .since = g->since };'),
    ('ABORT_WAITS_INSIDE', RELOAD,
     'r->options.defer_free || weir__in_section(&r->handle->rcu);',
     'r->options.defer_free;'),
    # one writer at a time (H4)
    ('CLAIM_BY_STORE', RECORDS,
     '\tif (!weir__flag_claim_acquire(h->writer))\n',
     '\tbool taken = weir__flag_held_acquire(h->writer);\n\tif (!taken)\n'
     '\t\tatomic_store_explicit(h->writer, true, memory_order_relaxed);\n\tif (taken)\n'),
    ('CLAIM_RELAXED', RECORDS,
     'if (!weir__flag_claim_acquire(h->writer))',
     'if (atomic_exchange_explicit(h->writer, true, memory_order_relaxed))'),
    ('CLAIM_GIVEN_RELAXED', GENERATION,
     'weir__flag_release(h->writer);',
     'atomic_store_explicit(h->writer, false, memory_order_relaxed);'),
    ('CLAIM_GIVEN_EARLY', RELOAD,
     '\t*r->after = after;\n',
     '\tweir__writer_release(h);\n\t*r->after = after;\n',
     '\tfree(r);\n\tweir__writer_release(h);\n',
     '\tfree(r);\n'),
    ('CLAIM_GIVEN_IN_BEGIN', RELOAD,
     '\t(*out)->share = share;\n',
     '\t(*out)->share = share;\n\tweir__writer_release(h);\n'),
    ('ROLLBACK_UNCLAIMED', ROLLBACK, 'int err = weir__writer_begin(h, verb);', 'int err = 0;'),
    ('ROLLBACK_KEEPS_CLAIM', ROLLBACK, '\tweir__writer_release(h);\n', ''),
    # the previous filter (H5)
    ('ROLLBACK_NO_GRACE', ROLLBACK,
     '\tweir__synchronize(&h->rcu); /* H3 */\n',
     '\tif (!rolls_back)\n\t\tweir__synchronize(&h->rcu);\n'),
    ('DROP_NO_GRACE', ROLLBACK,
     '\tweir__synchronize(&h->rcu); /* H3 */\n',
     '\tif (rolls_back)\n\t\tweir__synchronize(&h->rcu);\n'),
    ('ROLLBACK_WAITS_FIRST', ROLLBACK,
     '\tstruct weir_generation *before = weir__publish(h, record);\n'
     '\tweir__synchronize(&h->rcu); /* H3 */\n',
     '\tweir__synchronize(&h->rcu);\n'
     '\tstruct weir_generation *before = weir__publish(h, record);\n'),
    ('ROLLBACK_LEAKS', ROLLBACK, '\tweir_destroy(goes);\n', '\t(void)goes;\n'),
    ('ROLLBACK_NAMES_REJECTED', ROLLBACK,
     'weir__record(stays, NULL, NULL, g->number + rolls_back);',
     'weir__record(stays, NULL, rolls_back ? goes : NULL, g->number + rolls_back);'),
    # destroy
    ('DESTROY_NO_GRACE', HANDLE,
     '\tweir__synchronize(&h->rcu);\n\tweir__handle_free(h);',
     '\tweir__handle_free(h);'),
    ('DESTROY_NO_BARRIER', HANDLE, '\tweir__retired_wait(h);', ''),
    ('DESTROY_LEAKS_PREVIOUS', HANDLE, '\tweir_destroy(last->previous);\n', ''),
    # refresh
    ('REFRESH_NO_CARRY', REFRESH,
     'err = weir_reload_copy(r);', 'err = 0;'),
    ('REFRESH_CARRIES_FIRST', REFRESH,
     '\tint err = begin(&r, h, next, options);\n',
     '\tint err = options->carry ? weir_merge(next, h->generation->current) : 0;\n'
     '\terr = begin(&r, h, next, options);\n',
     'err = weir_reload_copy(r);', 'err = 0;'),
    ('REFRESH_AT_ONCE', REFRESH,
     '\tint err = begin(&r, h, next, options);\n',
     '\tint err = options->carry ? weir_merge(next, h->generation->current) : 0;\n'
     '\tstruct weir_generation *only = weir__record(next, NULL, NULL, h->generation->number + 1);'
     '\n\tif (only) {\n\t\tstruct weir_generation *before = weir__publish(h, only);\n'
     '\t\tweir__synchronize(&h->rcu);\n\t\tweir_destroy(before->current);\n\t\tfree(before);\n'
     '\t\tweir__figure_add_relaxed(&h->swaps, 1);\n\t\tweir__writer_release(h);\n\t\treturn 0;\n'
     '\t}\n\terr = begin(&r, h, next, options);\n'),
    ('REFRESH_GATE_BEFORE_CARRY', REFRESH,
     'if (options->carry)', 'err = weir__reload_ask(r);\n\tif (options->carry && !err)',
     '\tif (!err)\n\t\terr = weir__reload_ask(r);\n', ''),
    ('REFRESH_REFUSED_STAYS', REFRESH, '\t\tweir__reload_drop(r);\n\t\treturn err;\n',
     '\t\tweir__reload_close(r);\n\t\treturn err;\n'),
    ('REFRESH_REFUSED_FREED_FIRST', REFRESH, '\t\tweir__reload_drop(r);\n\t\treturn err;\n',
     '\t\tweir_destroy(next);\n\t\tweir__reload_drop(r);\n\t\treturn err;\n'),
    ('REFRESH_UNCLAIMED', REFRESH,
     'err = weir__writer_begin(h, "weir_handle_refresh");',
     'err = 0;'),
    # a rolling set: its claim, its routing, its sections
    ('SHARDS_CLAIM_ALONE', ROLLING, '\tset->shard[i]->writer = &set->claimed;\n', ''),
    ('SET_DESTROY_UNCLAIMED', ROLLING,
     'int err = weir__destroy_begin(set->shard[0], "weir_rolling_destroy");',
     'int err = 0;'),
    ('SET_DESTROY_NO_GRACE', ROLLING, '\tweir__synchronize(&set->rcu);\n', ''),
    ('SET_COMMITS_STOPPED', ROLLING,
     '\t\tif (err) {\n\t\t\tweir_reload_abort(r);',
     '\t\tif (err) {\n\t\t\t(void)!weir_reload_commit(r);'),
    ('SHARD_INSERT_UNTURNED', ROLLING_VERBS,
     'return weir_handle_insert_hash(set->shard[weir__share_shard(set->bits, hash)],'
     ' weir__share_hash(set->bits, hash));',
     'return weir_handle_insert_hash(set->shard[weir__share_shard(set->bits, hash)], hash);'),
    ('SHARD_LOOKUP_UNTURNED', ROLLING_VERBS,
     'return weir_handle_contains_hash(set->shard[weir__share_shard(set->bits, hash)],'
     ' weir__share_hash(set->bits, hash));',
     'return weir_handle_contains_hash(set->shard[weir__share_shard(set->bits, hash)], hash);'),
    ('SHARD_BATCH_UNTURNED', ROLLING_VERBS,
     'weir_contains_hash(g->current, weir__share_hash(set->bits, hash)) << i',
     'weir_contains_hash(g->current, hash) << i'),
    ('SHARD_BATCH_OF_THE_FIRST', ROLLING_VERBS,
     'g = weir__generation( set->shard[weir__share_shard(set->bits, hash)]);',
     'g = weir__generation(set->shard[weir__share_shard(set->bits, hashes[at])]);'),
    ('SET_BATCH_NO_SECTION', ROLLING_VERBS,
     '\tsize_t found = 0;\n\tweir__read_lock(&set->rcu);\n',
     '\tsize_t found = 0;\n',
     '\tweir__read_unlock(&set->rcu);\n\treturn found;',
     '\treturn found;'),
    ('SET_INSERTS_NO_SECTION', ROLLING_VERBS,
     '\tint64_t inserted = 0;\n\tweir__read_lock(&set->rcu);\n',
     '\tint64_t inserted = 0;\n',
     '\tweir__read_unlock(&set->rcu);\n\treturn inserted;',
     '\treturn inserted;'),
    ('SHARE_OF_OTHERS', RELOAD,
     'weir__share_shard(r->share.bits, hash) != r->share.shard',
     'weir__share_shard(r->share.bits, hash) == r->share.shard'),
    ('SHARE_UNTURNED', RELOAD, '\t\thash = weir__share_hash(r->share.bits, hash);\n', ''),
    ('SHARES_OF_OTHERS', SHARE,
     'weir__share_shard(share->bits, hash) == share->shard;',
     'weir__share_shard(share->bits, hash) != share->shard;'),
]

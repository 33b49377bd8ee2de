# SPDX-License-Identifier: MIT
"""The bugs of the handle, as in mutants.py: name, file, the text to replace, its replacement. If a
bug needs several edits of its file, more such pairs follow. A memory order of src/ground/atomic.h
is weakened in the file that uses the order, so that this file's scenarios test the bug."""

GENERATION = 'src/set/generation.h'
RECORDS = 'src/set/generation.c'
RCU = 'src/rcu/rcu.h'
HEADER = 'include/weir/handle.h'
HANDLE = 'src/set/handle.c'
BATCH = 'src/set/batches.c'
FORMS = 'src/kind/batch.c'
STATS = 'src/set/stats.c'
RELOAD = 'src/set/reload/reload.c'
STEPS = 'src/set/reload/steps.c'
PACE = 'src/set/reload/pace.c'
BESIDE = 'src/set/dual_write.c'
KIND = 'src/kind/kind.h'
ABSENT = 'src/set/placeholder.c'
COUNTERS = 'src/kinds/common/counters.c'
ROLLBACK = 'src/set/rollback.c'
REFRESH = 'src/set/follow/refresh.c'
REFUSAL = 'src/set/refusal.c'
SHARDED = 'src/set/sharded/make.c'
SHARDED_VERBS = 'src/set/sharded/verbs.c'
SHARDED_VIEW = 'src/set/sharded/view.c'
SHARDED_HEAD = 'src/set/sharded/sharded.h'
SHARE = 'src/set/reload/one_shard.c'

ALL = 'reload,batch,previous,writers,retire,refresh,absent,full,removal,sharded'
GROUPS = {
    GENERATION: ALL,
    RECORDS: 'reload,previous,writers,retire,absent,sharded',
    RCU: ALL,
    HEADER: 'retire,previous',
    HANDLE: 'reload,previous,writers,retire,absent,sharded',
    BESIDE: 'reload,batch,previous,absent,full',
    KIND: 'full',
    ABSENT: 'absent',
    BATCH: 'batch,removal,sharded',
    FORMS: 'batch',
    STATS: 'retire,refresh',
    RELOAD: 'reload,previous,writers,retire,absent,full,sharded',
    STEPS: 'reload,previous,writers,retire,absent,full,sharded',
    ROLLBACK: 'previous,writers,retire,full',
    COUNTERS: 'counters,removal',
    PACE: 'reload',
    REFRESH: 'refresh',
    REFUSAL: 'refresh',
    SHARDED: 'sharded',
    SHARDED_VERBS: 'sharded',
    SHARDED_VIEW: 'sharded',
    SHARDED_HEAD: 'sharded',
    SHARE: 'sharded',
}

MUTANTS = [
    # the published pointer ([DUAL-WRITE])
    ('PUBLISH_RELAXED', GENERATION, 'weir__record_store_release(&h->generation, record);',
     '__atomic_store_n(&h->generation, record, __ATOMIC_RELAXED);'),
    ('GENERATION_RELAXED', GENERATION, 'return weir__record_load_acquire(&h->generation);',
     'return __atomic_load_n(&h->generation, __ATOMIC_RELAXED);'),
    ('GET_RELAXED', HEADER,
     '->generation, __ATOMIC_ACQUIRE)\n\t->current;',
     '->generation, __ATOMIC_RELAXED)\n\t->current;'),
    ('INSERT_READS_TWICE', HANDLE,
     'WEIR__IN_SECTION(&h->rcu, answer = weir__insert_hash(weir__generation(h), hash));',
     'WEIR__IN_SECTION(&h->rcu, { struct weir_filter *first = weir__generation(h)->current;'
     ' struct weir_generation again = *weir__generation(h); again.current = first;'
     ' answer = weir__alone(&again) ? weir_insert_hash(first, hash) :'
     ' weir__insert_hash_beside(&again, hash); });'),
    ('INSERT_CURRENT_ONLY', GENERATION,
     'return weir__alone(g) ? weir_insert_hash(g->current, hash) :'
     ' weir__insert_hash_beside(g, hash);',
     'return weir_insert_hash(g->current, hash);'),
    ('INSERT_NEXT_ONLY', GENERATION, 'g->absence ? NULL : g->current;',
     'g->absence || g->next ? NULL : g->current;'),
    ('INSERT_NO_PREVIOUS', GENERATION, 'i == 2 ? weir__standby(g) :', 'i == 2 ? NULL :'),
    ('INSERT_PREVIOUS_OR_NEXT', GENERATION, 'i == 2 ? weir__standby(g) :',
     'i == 2 ? (g->next ? NULL : weir__standby(g)) :'),
    ('BATCH_CURRENT_ONLY', BATCH,
     'return g->beside ? weir__insert_keys_beside(g, keys, bitmap) :', 'return'),
    ('BATCH_NO_PREVIOUS', BESIDE, 'const int64_t answer = p->keys.form == WEIR_KEYS_HASHES ?',
     'const int64_t answer = p->keys.form == WEIR_KEYS_HASHES && i == 2 ? 0 :'
     ' p->keys.form == WEIR_KEYS_HASHES ?'),
    ('KEYS_NO_PREVIOUS', BESIDE, 'const int64_t answer = p->keys.form == WEIR_KEYS_HASHES ?',
     'const int64_t answer = p->keys.form != WEIR_KEYS_HASHES && i == 2 ? 0 :'
     ' p->keys.form == WEIR_KEYS_HASHES ?'),
    ('NUMBER_CURRENT_ONLY', HANDLE, 'weir__insert_u64_beside(g, key);',
     'weir_insert_u64(g->current, key);'),
    ('NUMBER_NO_SECTION', HANDLE,
     'WEIR__IN_SECTION(&h->rcu, answer = insert_u64_into(weir__generation(h), key));',
     'answer = insert_u64_into(weir__generation(h), key);'),
    # filters that hash differently ([ANY-SEED])
    ('NEXT_BY_CURRENTS_HASH', RECORDS,
     'if (before && weir__same_hashing(&before->hashing, &filter->hashing) &&', 'if (before &&'),
    ('ALIKE_AS_BEFORE', RECORDS, 'for (unsigned char i = 0; i < WEIR_RECORD_FILTERS; i++)',
     'for (unsigned char i = 0; i < WEIR_RECORD_FILTERS - 1; i++)'),
    ('KEYS_BY_CURRENTS_HASH', BESIDE, 'p->hashes[i] = given ? p->keys.at : p->made[alike];',
     'p->hashes[i] = given ? p->keys.at : p->made[0];'),
    ('KEY_BY_CURRENTS_HASH', BESIDE, 'hashes[i] = hashes[alike];', 'hashes[i] = hashes[0];'),
    ('BATCH_READS_TWICE', BATCH,
     'const struct weir_generation *g = weir__generation(h);\n\tif (h->sharded)\n'
     '\t\treturn weir__keys_form(keys)',
     'struct weir_filter *first = weir__generation(h)->current;\n'
     '\tstruct weir_generation other = *weir__generation(h), *g = &other;\n'
     '\tother.current = first;\n\tif (h->sharded)\n\t\treturn weir__keys_form(keys)'),
    # filters that refuse ([REFUSED-KEY])
    ('REFUSED_NOT_TAKEN_BACK', BESIDE, 'while (answer < 0 && done_inserts)',
     'while (answer > 1 && done_inserts)'),
    ('ONCE_TAKEN_BACK', KIND, 'return f->kernel->remove && !(f->flags & WEIR_ONCE);',
     'return f->kernel->remove;'),
    ('PIECE_NOT_TAKEN_BACK', BESIDE, 'for (size_t at = p->taken; at-- > taken;)',
     'for (size_t at = taken; at-- > taken;)'),
    ('PIECE_TAKEN_BACK_WHOLE', BESIDE, 'for (size_t at = p->taken; at-- > taken;)',
     'for (size_t at = p->taken; at-- > 0;)'),
    ('PIECE_TAKEN_AS_A_WHOLE', BESIDE, '\tp->taken = taken;\n}', '}'),
    ('NEXT_MAY_REFUSE', BESIDE, 'return is_void ? 0 : err;', 'return is_void || i == 1 ? 0 : err;'),
    ('PREVIOUS_MAY_REFUSE', BESIDE, 'return is_void ? 0 : err;', 'return i == 2 ? 0 : err;'),
    ('VOID_BY_LOAD_AND_STORE', BESIDE,
     'weir__standby_decide_relaxed(&filter->standby, WEIR_STANDBY_VOID) == WEIR_STANDBY_VOID;',
     'weir__standby_load_relaxed(&filter->standby) != WEIR_STANDBY_RETURNS &&'
     ' (atomic_store_explicit(&filter->standby, WEIR_STANDBY_VOID, memory_order_relaxed), 1);'),
    ('VOID_IS_RETURNED_TO', ROLLBACK, 'if (rolls_back && !decide_rollback(g)) {',
     'if (0 && !decide_rollback(g)) {'),
    ('ROLLBACK_DECIDES_BY_LOAD', ROLLBACK,
     'return weir__standby_decide_relaxed(&g->previous->standby, WEIR_STANDBY_RETURNS) =='
     ' WEIR_STANDBY_RETURNS;',
     'return weir__standby_load_relaxed(&g->previous->standby) != WEIR_STANDBY_VOID;'),
    ('KEPT_NOT_OPENED', STEPS, 'weir__standby_open_relaxed(&g->current->standby);', ';'),
    ('OPENED_AFTER_PUBLISHING', STEPS,
     'weir__standby_open_relaxed(&g->current->standby);', ';',
     'r->retired->records[0] = weir__publish(h, r->after);',
     'r->retired->records[0] = weir__publish(h, r->after);\n'
     '\tif (after.previous)\n\t\tweir__standby_open_relaxed(&after.previous->standby);'),
    # a copy of counters during inserts ([REMOVAL-IN-CURRENT])
    ('COPY_STORES_COUNTERS', COUNTERS,
     'while (sum != seen && !weir__word_swap_relaxed(word, &seen, sum));',
     'while (0);\n\tatomic_store_explicit((_Atomic uint64_t *)word, WEIR__LE64(sum),'
     ' memory_order_relaxed);'),
    ('COPY_OF_EMPTY_COUNTERS', COUNTERS,
     'if (!more)\n\t\treturn;', 'if (!more || seen)\n\t\treturn;'),
    ('COPY_TAKES_THE_LARGER', COUNTERS, 'sum = weir__counters_sum(seen, more, b);',
     'sum = seen > more ? seen : more, (void)weir__counters_sum(seen, more, b);'),
    # sections
    ('INSERT_FOUND_BEFORE', HANDLE,
     'WEIR__IN_SECTION(&h->rcu, answer = weir__insert_hash(weir__generation(h), hash));',
     'const struct weir_generation *g = weir__generation(h);\n'
     '\tWEIR__IN_SECTION(&h->rcu, answer = weir__insert_hash(g, hash));'),
    ('LOOKUP_NO_SECTION', HANDLE,
     'WEIR__IN_SECTION(&h->rcu, answer = weir_contains_hash(weir__generation(h)->by_hash, hash));',
     'answer = weir_contains_hash(weir__generation(h)->by_hash, hash);'),
    ('KEY_LOOKUP_NO_SECTION', HANDLE,
     'WEIR__IN_SECTION(&h->rcu, answer = weir_contains(weir__generation(h)->current, key, len));',
     'answer = weir_contains(weir__generation(h)->current, key, len);'),
    ('KEY_INSERT_NO_SECTION', HANDLE,
     'WEIR__IN_SECTION(&h->rcu, answer = insert_key_into(weir__generation(h), key, len));',
     'answer = insert_key_into(weir__generation(h), key, len);'),
    ('KEY_INSERT_FOUND_BEFORE', HANDLE,
     'WEIR__IN_SECTION(&h->rcu, answer = insert_key_into(weir__generation(h), key, len));',
     'const struct weir_generation *g = weir__generation(h);\n'
     '\tWEIR__IN_SECTION(&h->rcu, answer = insert_key_into(g, key, len));'),
    ('KEY_INSERT_CURRENT_ONLY', HANDLE,
     'return weir__alone(g) ? weir_insert(g->current, key, len) :'
     ' weir__insert_key_beside(g, key, len);',
     'return weir_insert(g->current, key, len);'),
    ('KEY_INSERT_OTHER_HASH', GENERATION,
     '*hash = weir__hash_by(&f->hashing, key->key, key->len);',
     '*hash = weir__hash_by(&f->hashing, key->key, key->len - 1);'),
    ('HASH_NO_SECTION', HANDLE,
     'WEIR__IN_SECTION(&h->rcu, hash = weir_hash(weir__generation(h)->current, key, len));',
     'hash = weir_hash(weir__generation(h)->current, key, len);'),
    ('REMOVE_NO_SECTION', BATCH,
     'WEIR__IN_SECTION(&h->rcu, answer = remove_hash(h, hash));',
     'answer = remove_hash(h, hash);'),
    # removals ([REMOVAL-IN-CURRENT])
    ('REMOVES_FROM_NEXT_TOO', BATCH,
     'return err ? err : weir_remove_hash(g->current, hash);',
     'if (err == -EBUSY && g->next)\n\t\terr = weir_remove_hash(g->next, hash) ? 0 : 0;\n'
     '\treturn err ? err : weir_remove_hash(g->current, hash);'),
    ('REMOVES_FROM_NEXT_ALONE', BATCH,
     'return err ? err : weir_remove_hash(g->current, hash);',
     'return weir_remove_hash(g->next ? g->next : g->current, hash);'),
    ('BATCH_LOOKUP_NO_SECTION', BATCH,
     '\t\tweir__read_lock(&h->rcu);\n\t\tfound +=', '\t\tfound +=',
     '\t\tweir__read_unlock(&h->rcu);\n\t}\n\treturn found;', '\t}\n\treturn found;'),
    ('BATCH_INSERT_NO_SECTION', BATCH,
     '\t\tweir__read_lock(&h->rcu);\n\t\tint64_t answer = insert_section',
     '\t\tint64_t answer = insert_section',
     '\t\tweir__read_unlock(&h->rcu);\n\t\tif (answer < 0) {\n\t\t\tsize_t rest',
     '\t\tif (answer < 0) {\n\t\t\tsize_t rest'),
    ('KEYS_ALL_BUT_ONE', FORMS, 'text ? hash_texts : hash_keys;',
     'text ? hash_texts : hash_keys, batch.n--;'),
    ('FIXED_SHORT', FORMS, 'batch.from = WEIR_FROM_FIXED8;', ';',
     'batch.key_bytes = keys.width;', 'batch.key_bytes = keys.width - 1u;'),
    ('STATS_FOUND_BEFORE', STATS,
     '\tweir__read_lock(&h->rcu);\n\tconst struct weir_generation *g = weir__generation(h);\n',
     '\tconst struct weir_generation *g = weir__generation(h);\n\tweir__read_lock(&h->rcu);\n'),
    ('STATS_READ_AFTER', STATS,
     '\tweir__read_unlock(&h->rcu);\n',
     '\tweir__read_unlock(&h->rcu);\n\ts.bytes += g->number - s.generation;\n'),
    ('STATS_IN_TWO_SECTIONS', STATS,
     '\tadd_records(&s, h, g);\n',
     '\tweir__read_unlock(&h->rcu);\n\tweir__read_lock(&h->rcu);\n'
     '\tg = weir__generation(h);\n\tadd_records(&s, h, g);\n'),
    ('STATS_SECTION_DROPPED', STATS,
     '\tadd_records(&s, h, g);\n',
     '\tweir__read_unlock(&h->rcu);\n\tweir__read_lock(&h->rcu);\n'
     '\tadd_records(&s, h, g);\n'),
    # the last refusal ([REFUSAL-POINTER])
    ('REFUSAL_NO_GRACE', REFUSAL, '\tif (*slot->sentence)\n\t\tweir__synchronize(&h->rcu);\n', ''),
    ('REFUSAL_IN_PLACE', REFUSAL, 'r->slots[r->last == &r->slots[0]];', 'r->slots[0];'),
    ('REFUSAL_RELAXED', REFUSAL, 'weir__refusal_store_release(&h->refusals.last, last);',
     '__atomic_store_n(&h->refusals.last, last, __ATOMIC_RELAXED);'),
    ('REFUSAL_PUBLISHED_FIRST', REFUSAL, 'last = free_slot(h);',
     'last = free_slot(h); weir__refusal_store_release(&h->refusals.last, last);'),
    ('REFUSAL_READ_AFTER', STATS, 'weir__refusal_read(h, &s);\n\tweir__read_unlock(&h->rcu);',
     'weir__read_unlock(&h->rcu);\n\tweir__refusal_read(h, &s);'),
    ('ALWAYS_BP', RCU, '.bulletproof = flavor == &urcu_bp_flavor };', '.bulletproof = true };'),
    ('WAITS_FOR_BP', RCU,
     'rcu->flavor->update_synchronize_rcu();',
     'urcu_bp_flavor.update_synchronize_rcu();'),
    ('DEADLOCK_UNSEEN', RCU, 'return inside != before;', 'return false;'),
    # begin and copy ([BEGIN-WAITS])
    ('BEGIN_NO_GRACE', STEPS,
     '\tweir__synchronize(&h->rcu); /* [BEGIN-WAITS] */\n'
     '\tfree(before);               /* [FREE-AFTER-GRACE] */\n',
     '\t(*out)->retired->records[1] = before;\n'),
    ('BEGIN_FREES_FIRST', STEPS,
     '\tweir__synchronize(&h->rcu); /* [BEGIN-WAITS] */\n'
     '\tfree(before);               /* [FREE-AFTER-GRACE] */\n',
     '\tfree(before);\n\tweir__synchronize(&h->rcu);\n'),
    ('BEGIN_WAITS_FIRST', STEPS,
     '\tstruct weir_generation *before = weir__publish(h, during);\n'
     '\tweir__synchronize(&h->rcu); /* [BEGIN-WAITS] */\n'
     '\tfree(before);               /* [FREE-AFTER-GRACE] */\n',
     '\tweir__synchronize(&h->rcu);\n\t(*out)->retired->records[1] = weir__publish(h, during);\n'),
    ('BEGIN_NO_PREVIOUS', STEPS,
     'weir__record(g->current, next, g->previous, g->number);',
     'weir__record(g->current, next, NULL, g->number);'),
    ('COPY_STORE', STEPS,
     'return err ? err : weir__merge(r->next, current, weir__pace_progress, &turns);',
     'const struct weir_filter *from = current;\n'
     '\tfor (uint64_t i = 0; i < 8 * from->array.lines; i++)\n'
     '\t\tatomic_store_explicit((_Atomic uint64_t *)(r->next->array.words + i),'
     ' weir__word_load_relaxed(from->array.words + i) |'
     ' weir__word_load_relaxed(r->next->array.words + i), memory_order_relaxed);\n\treturn 0;'),
    ('COPY_OVERWRITES', STEPS,
     'return err ? err : weir__merge(r->next, current, weir__pace_progress, &turns);',
     'const struct weir_filter *from = current;\n'
     '\tfor (uint64_t i = 0; i < 8 * from->array.lines; i++)\n'
     '\t\tatomic_store_explicit((_Atomic uint64_t *)(r->next->array.words + i),'
     ' weir__word_load_relaxed(from->array.words + i), memory_order_relaxed);\n\treturn 0;'),
    ('COPY_BEFORE_PUBLISH', STEPS,
     '\tduring->since = g->since;\n',
     '\tduring->since = g->since;\n\t(void)weir_merge(next, g->current);\n',
     'return err ? err : weir__merge(r->next, current, weir__pace_progress, &turns);',
     'return err;'),
    ('COPY_BEFORE_GRACE', STEPS,
     '\tweir__synchronize(&h->rcu); /* [BEGIN-WAITS] */\n',
     '\t(void)weir_merge(next, g->current);\n\tweir__synchronize(&h->rcu);\n',
     'return err ? err : weir__merge(r->next, current, weir__pace_progress, &turns);',
     'return err;'),
    # before the first set ([PLACEHOLDER])
    ('REPLAYED_BEFORE_GRACE', STEPS,
     '\tweir__synchronize(&h->rcu); /* [BEGIN-WAITS] */\n',
     '\tuint64_t dropped;\n\tif (h->absence)\n'
     '\t\t(void)weir__absence_replay(h->absence, next, &dropped);\n'
     '\tweir__synchronize(&h->rcu);\n',
     'int err = weir__absence_replay(absence, r->next, &dropped);',
     'int err = (int)(dropped = 0);'),
    ('REPLAY_FORGOTTEN', STEPS,
     'int err = weir__absence_replay(absence, r->next, &dropped);',
     'int err = (int)(dropped = 0);'),
    ('KEPT_FREED_ON_ABORT', STEPS,
     'bool defer = r->options.defer_free ||',
     'r->retired->absence = r->handle->absence;\n\tr->handle->absence = NULL;\n'
     '\tbool defer = r->options.defer_free ||'),
    ('KEPT_FREED_AT_ONCE', STEPS,
     '\tr->retired->absence = h->absence;\n', '\tweir__absence_free(h->absence);\n'),
    ('KEPT_LEAKED', RECORDS, '\tweir__absence_free(retired->absence);\n', ''),
    ('PLACEHOLDER_PREVIOUS', STEPS, 'r->options.keep_previous && !h->absence;',
     'r->options.keep_previous;'),
    ('KEPT_OR_IN_NEXT', BESIDE,
     'g->absence ? weir__absence_keep(g->absence, key) : 0;',
     'g->absence && !g->next ? weir__absence_keep(g->absence, key) : 0;'),
    ('KEPT_NOT_IN_NEXT', GENERATION,
     'return i == 1 ? g->next :', 'return i == 1 ? (g->absence ? NULL : g->next) :'),
    ('PUSH_RELAXED', ABSENT,
     'weir__kept_swap_release(&a->newest, &kept->older, kept)',
     '__atomic_compare_exchange_n(&a->newest, &kept->older, kept, false, __ATOMIC_RELAXED,'
     ' __ATOMIC_RELAXED)'),
    ('REPLAY_RELAXED', ABSENT,
     'const struct weir_kept *kept = weir__kept_load_acquire(&a->newest);',
     'const struct weir_kept *kept = weir__kept_load_relaxed(&a->newest);'),
    ('PUSH_BY_STORE', ABSENT,
     '\twhile (!weir__kept_swap_release(&a->newest, &kept->older, kept))\n\t\t;\n',
     '\t__atomic_store_n(&a->newest, kept, __ATOMIC_RELEASE);\n'),
    ('PUSHED_BEFORE_WRITTEN', ABSENT,
     '\tif (len)\n\t\tmemcpy(kept->bytes, bytes, len);\n\tpush(a, kept);\n',
     '\tpush(a, kept);\n\tif (len)\n\t\tmemcpy(kept->bytes, bytes, len);\n'),
    ('ROOM_PASSED', ABSENT,
     '!weir__figure_swap_relaxed(&a->reserved, &reserved, reserved + bytes)',
     '(weir__figure_add_relaxed(&a->reserved, bytes), false)'),
    # commit, abort, and the filters that they retire ([FREE-AFTER-GRACE])
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
    ('COMMIT_LEAKS', STEPS,
     'close_with(r, after, keep ? NULL : g->current,',
     'close_with(r, after, NULL,'),
    ('COMMIT_FREES_KEPT', STEPS,
     'close_with(r, after, keep ? NULL : g->current,',
     'close_with(r, after, g->current,'),
    ('COMMIT_LEAKS_PREVIOUS', STEPS,
     'g->current, g->previous, r->options.defer_free);',
     'g->current, NULL, r->options.defer_free);'),
    ('COMMIT_FREES_FIRST', STEPS,
     '\tclose_with(r, after, keep ? NULL : g->current, g->previous,',
     '\tif (!keep)\n\t\tweir_destroy(g->current);\n\tclose_with(r, after, NULL, g->previous,'),
    ('ABORT_FREES_FIRST', STEPS,
     'close_with(r, without_next(r), r->handle->generation->next, NULL, defer);',
     'weir_destroy(r->next);\n\tclose_with(r, without_next(r), NULL, NULL, defer);'),
    ('ABORT_LEAKS', STEPS,
     'close_with(r, without_next(r), r->handle->generation->next, NULL, defer);',
     'close_with(r, without_next(r), NULL, NULL, defer);'),
    ('ABORT_DROPS_PREVIOUS', STEPS,
     '{ .current = g->current, .previous = g->previous, .number = g->number, .since = g->since };',
     '{ .current = g->current, .number = g->number, .since = g->since };'),
    ('ABORT_WAITS_INSIDE', STEPS,
     'r->options.defer_free || weir__in_section(&r->handle->rcu);',
     'r->options.defer_free;'),
    # one writer at a time ([ONE-WRITER])
    ('CLAIM_BY_STORE', RECORDS,
     '\tif (!weir__flag_claim_acquire(&h->whole->claimed))\n',
     '\tbool taken = weir__flag_held_acquire(&h->whole->claimed);\n\tif (!taken)\n'
     '\t\tatomic_store_explicit(&h->whole->claimed, true, memory_order_relaxed);\n\tif (taken)\n'),
    ('CLAIM_RELAXED', RECORDS,
     'if (!weir__flag_claim_acquire(&h->whole->claimed))',
     'if (atomic_exchange_explicit(&h->whole->claimed, true, memory_order_relaxed))'),
    ('CLAIM_GIVEN_RELAXED', GENERATION,
     'weir__flag_release(&h->whole->claimed);',
     'atomic_store_explicit(&h->whole->claimed, false, memory_order_relaxed);'),
    ('CLAIM_GIVEN_EARLY', STEPS,
     '\t*r->after = after;\n',
     '\tweir__writer_release(h);\n\t*r->after = after;\n',
     '(r->builder);\n\tfree(r);\n\tweir__writer_release(h);\n',
     '(r->builder);\n\tfree(r);\n'),
    ('CLAIM_GIVEN_IN_BEGIN', RELOAD,
     '\tr->share = *share;\n',
     '\tr->share = *share;\n\tweir__writer_release(h);\n'),
    ('ROLLBACK_UNCLAIMED', ROLLBACK, 'err = weir__writer_begin(h, verb);', 'err = 0;'),
    ('ROLLBACK_RELEASES_TWICE', ROLLBACK,
     '\tweir__writer_release(h);\n\treturn err;',
     '\tweir__writer_release(h);\n\tweir__writer_release(h);\n\treturn err;'),
    ('ROLLBACK_RELEASES_EARLY_TOO', ROLLBACK,
     '\tweir__synchronize(&h->rcu); /* [FREE-AFTER-GRACE] */\n',
     '\tweir__writer_release(h);\n\tweir__synchronize(&h->rcu);\n'),
    ('COMMIT_RELEASES_TWICE', STEPS,
     '(r->builder);\n\tfree(r);\n\tweir__writer_release(h);\n',
     '(r->builder);\n\tfree(r);\n\tweir__writer_release(h);\n\tweir__writer_release(h);\n'),
    ('ROLLBACK_KEEPS_CLAIM', ROLLBACK, '\tweir__writer_release(h);\n', ''),
    # the previous filter ([PREVIOUS-WRITTEN])
    ('ROLLBACK_NO_GRACE', ROLLBACK,
     '\tweir__synchronize(&h->rcu); /* [FREE-AFTER-GRACE] */\n',
     '\tif (!rolls_back)\n\t\tweir__synchronize(&h->rcu);\n'),
    ('DROP_NO_GRACE', ROLLBACK,
     '\tweir__synchronize(&h->rcu); /* [FREE-AFTER-GRACE] */\n',
     '\tif (rolls_back)\n\t\tweir__synchronize(&h->rcu);\n'),
    ('ROLLBACK_WAITS_FIRST', ROLLBACK,
     '\tstruct weir_generation *before = weir__publish(h, record);\n'
     '\tweir__synchronize(&h->rcu); /* [FREE-AFTER-GRACE] */\n',
     '\tweir__synchronize(&h->rcu);\n'
     '\tstruct weir_generation *before = weir__publish(h, record);\n'),
    ('ROLLBACK_LEAKS', ROLLBACK, '\tweir__filter_free(goes);\n', '\t(void)goes;\n'),
    ('ROLLBACK_NAMES_REJECTED', ROLLBACK,
     'weir__record(stays, NULL, NULL, g->number + rolls_back);',
     'weir__record(stays, NULL, rolls_back ? goes : NULL, g->number + rolls_back);'),
    # destroy
    ('DESTROY_NO_GRACE', HANDLE,
     '\tweir__synchronize(&h->rcu);\n\tweir__handle_free(h);',
     '\tweir__handle_free(h);'),
    ('DESTROY_NO_BARRIER', HANDLE, '\tweir__retired_wait(h);', ''),
    ('DESTROY_LEAKS_PREVIOUS', HANDLE, '\tweir__filter_free(last->previous);\n', ''),
    # refresh
    ('REFRESH_NO_CARRY', REFRESH,
     'err = weir__merge(next, l->handle->generation->current, weir__run_progress, l);', 'err = 0;'),
    ('REFRESH_CARRIES_FIRST', REFRESH,
     '\tint err = begin(r, l, next);\n',
     '\tint err = l->options->carry ? weir_merge(next, l->handle->generation->current) : 0;\n'
     '\terr = begin(r, l, next);\n',
     'err = weir__merge(next, l->handle->generation->current, weir__run_progress, l);', 'err = 0;'),
    ('REFRESH_AT_ONCE', REFRESH,
     '\tint err = begin(r, l, next);\n',
     '\tstruct weir_handle *h = l->handle;\n'
     '\tint err = l->options->carry ? weir_merge(next, h->generation->current) : 0;\n'
     '\tstruct weir_generation *only = weir__record(next, NULL, NULL, h->generation->number + 1);'
     '\n\tif (only) {\n\t\tstruct weir_generation *before = weir__publish(h, only);\n'
     '\t\tweir__synchronize(&h->rcu);\n\t\tweir_destroy(before->current);\n\t\tfree(before);\n'
     '\t\tweir__figure_add_relaxed(&h->swaps, 1);\n\t\treturn 0;\n'
     '\t}\n\terr = begin(r, l, next);\n'),
    ('REFRESH_GATE_BEFORE_CARRY', REFRESH,
     '\tif (!err && carries(l)) {\n\t\t/* begin() has checked',
     '\tif (!err)\n\t\terr = weir__reload_ask(*r, weir__run_progress, l);\n'
     '\tif (!err && carries(l)) {\n\t\t/* begin() has checked',
     '\t\terr = weir__reload_ask(*r, weir__run_progress, l);\n\t}', '\t}'),
    ('REFRESH_REFUSED_STAYS', REFRESH, '\t\tweir__reload_drop(r);\n',
     '\t\tweir__reload_close(r, l->began);\n'),
    ('REFRESH_REFUSED_FREED_FIRST', REFRESH, '\telse if (err)\n\t\tweir__reload_drop(r);\n',
     '\telse if (err)\n\t\tweir__filter_free(next), weir__reload_drop(r);\n'),
    ('REFRESH_UNCLAIMED', REFRESH,
     'err = weir__writer_begin(h, "weir_handle_refresh");',
     'err = 0;'),
    # a sharded set: its claim, its routing, its sections
    ('SHARDS_CLAIM_ALONE', SHARDED, '\t(*shard)->whole = &set->handle; /* [SHARD-CLAIM] */\n', ''),
    ('SET_ALWAYS_BP', SHARDED,
     'err = weir__handle_init(&set->handle, view, options);',
     'err = weir__handle_init(&set->handle, view,'
     ' &(struct weir_handle_options){ .can = options->can });'),
    ('SET_DESTROY_UNCLAIMED', HANDLE,
     'int err = weir__destroy_begin(h, "weir_handle_destroy");',
     'int err = h->sharded ? 0 : weir__destroy_begin(h, "weir_handle_destroy");'),
    ('SET_DESTROY_NO_GRACE', HANDLE,
     '\tweir__synchronize(&h->rcu);\n\tweir__handle_free(h);',
     '\tif (!h->sharded)\n\t\tweir__synchronize(&h->rcu);\n\tweir__handle_free(h);'),
    ('SET_COMMITS_STOPPED', RELOAD,
     '\tif (err) {\n\t\tweir_reload_abort(r);',
     '\tif (err) {\n\t\t(void)!weir_reload_commit(r);'),
    ('SHARD_INSERT_UNTURNED', SHARDED_VERBS,
     'return weir__insert_hash(weir__shard_record(set, hash), weir__share_hash(set->bits, hash));',
     'return weir__insert_hash(weir__shard_record(set, hash), hash);'),
    ('SHARD_INSERT_FOUND_BEFORE', SHARDED_VERBS,
     'WEIR__IN_SECTION(&h->rcu, answer = insert_into_shard(set_of(h), hash));',
     'const struct weir_generation *g = weir__shard_record(set_of(h), hash);\n'
     '\tWEIR__IN_SECTION(&h->rcu, answer = weir__insert_hash(g,'
     ' weir__share_hash(set_of(h)->bits, hash)));'),
    ('SHARD_LOOKUP_UNTURNED', SHARDED_HEAD,
     'return weir_contains_hash(weir__shard_record(set, hash)->current,'
     ' weir__share_hash(set->bits, hash));',
     'return weir_contains_hash(weir__shard_record(set, hash)->current, hash);'),
    ('SHARD_LOOKUP_NO_SECTION', SHARDED_VERBS,
     'WEIR__IN_SECTION(&h->rcu, answer = weir__shard_contains(set_of(h), hash));',
     'answer = weir__shard_contains(set_of(h), hash);'),
    ('SHARD_BATCH_UNTURNED', SHARDED_VIEW,
     'answers |= (uint64_t)weir__shard_contains(set, hashes[i]) << i;',
     'answers |= (uint64_t)weir_contains_hash(weir__shard_record(set, hashes[i])->current,'
     ' hashes[i]) << i;'),
    ('SHARD_BATCH_OF_THE_FIRST', SHARDED_VIEW,
     'answers |= (uint64_t)weir__shard_contains(set, hashes[i]) << i;',
     'answers |= (uint64_t)weir_contains_hash(weir__shard_record(set, hashes[0])->current,'
     ' weir__share_hash(set->bits, hashes[i])) << i;'),
    ('SET_BATCH_NO_SECTION', BATCH,
     '\t\tweir__read_lock(&h->rcu);\n\t\tfound +=',
     '\t\tif (!h->sharded)\n\t\t\tweir__read_lock(&h->rcu);\n\t\tfound +=',
     'bitmap ? bitmap + at / 64 : NULL);\n\t\tweir__read_unlock(&h->rcu);\n\t}\n\treturn found;',
     'bitmap ? bitmap + at / 64 : NULL);\n\t\tif (!h->sharded)\n'
     '\t\t\tweir__read_unlock(&h->rcu);\n\t}\n\treturn found;'),
    ('SET_INSERTS_NO_SECTION', BATCH,
     '\t\tweir__read_lock(&h->rcu);\n\t\tint64_t answer = insert_section(',
     '\t\tif (!h->sharded)\n\t\t\tweir__read_lock(&h->rcu);\n'
     '\t\tint64_t answer = insert_section(',
     'weir_error_taken() : 0;\n\t\tweir__read_unlock(&h->rcu);',
     'weir_error_taken() : 0;\n\t\tif (!h->sharded)\n\t\t\tweir__read_unlock(&h->rcu);'),
    # a loader's sleeps ([PACE-NO-SECTION] in src/set/reload/pace.h)
    ('SLEEPS_IN_SECTION', PACE, 'p->asked && !weir__in_section(p->rcu) ?', 'p->asked ?'),
    ('SLEEPS_ONLINE', PACE, '\tif (online)\n\t\tflavor->thread_offline();\n', ''),
    ('WAKES_OFFLINE', PACE, '\tif (online)\n\t\tflavor->thread_online();\n', ''),
    ('SHARE_OF_OTHERS', RELOAD,
     'weir__share_shard(r->share.bits, hash) != r->share.shard',
     'weir__share_shard(r->share.bits, hash) == r->share.shard'),
    ('SHARE_UNTURNED', RELOAD, '\t\thash = weir__share_hash(r->share.bits, hash);\n', ''),
    ('SHARES_OF_OTHERS', SHARE,
     'weir__share_shard(share->bits, hash) == share->shard;',
     'weir__share_shard(share->bits, hash) != share->shard;'),
]

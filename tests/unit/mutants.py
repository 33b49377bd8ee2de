#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check that the unit tests find bugs. For each bug in MUTANTS: plant it into a copy of its source
file, compile the copy as BUILD does, link the test with it and the static library, and run the
test. The named test function must fail. Without a bug all tests must pass.

usage: mutants.py BUILD [NAME...]

BUILD is a build folder of meson in which the tests are built. It is not changed."""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 150
ASK, DISTINCT, DUAL_WRITE = 'src/guard/ask.c', 'src/build/distinct.c', 'src/set/dual_write.c'
PLAN, STATS, MAKE = 'src/filter/plan.c', 'src/filter/stats.c', 'src/build/make.c'
SPREAD, UNEVEN = 'src/kind/spread.c', 'src/kind/uneven.c'
LIVE_LOCK = 'src/image/live_lock.c'
ROOM = 'src/host/memory_limit.c'
MOVE, PLACEHOLDER, CHAIN = ('src/kinds/cuckoo/move.c', 'src/set/placeholder.c',
                            'src/set/follow/delta_chain.c')
# The name of the bug, the source file, the old and the new text, the test executable, and the test
# function that finds the bug.
MUTANTS = [
    # copies during moves
    ('CUCKOO_WALK_WITHOUT_STRIPE_0', MOVE,
     """	for (uint32_t stripe = 0; stripe < own->stripes; stripe++) /* [ONE-STRIPE] */
		(void)take_stripe(&f->array, stripe, WEIR_CUCKOO_WAIT);
}

void weir__cuckoo_let_go(const struct weir_filter *f)
{
	struct weir_cuckoo *own = f->own;
	weir__figure_sub_relaxed(&own->walks, 1);
	for (uint32_t stripe = 0;""",
     """	for (uint32_t stripe = own->stripes > 1; stripe < own->stripes; stripe++)
		(void)take_stripe(&f->array, stripe, WEIR_CUCKOO_WAIT);
}

void weir__cuckoo_let_go(const struct weir_filter *f)
{
	struct weir_cuckoo *own = f->own;
	weir__figure_sub_relaxed(&own->walks, 1);
	for (uint32_t stripe = own->stripes > 1;""",
     'unit/cuckoo_stripes', 'a_walk_owns_every_stripe'),
    ('CUCKOO_QUIET_WITHOUT_STRIPE_0', MOVE, 'for (uint32_t i = 0; i < own->stripes; i++) {',
     'for (uint32_t i = own->stripes > 1; i < own->stripes; i++) {',
     'unit/cuckoo_stripes', 'an_owned_stripe_is_no_quiet_moment'),
    ('MERGE_CALLS_IN_A_WALK', 'src/filter/merge.c', 'dst->kind->hold ? lines : PIECE_LINES;',
     'PIECE_LINES;', 'unit/cuckoo_stripes', 'progress_is_not_called_during_a_walk'),
    ('CUCKOO_COUNTS_ONE_BUCKET_TWICE', 'src/kinds/cuckoo/cuckoo.c',
     'if (p->bucket[0] != p->bucket[1])', '', 'unit/cuckoo',
     'copies_of_a_key_with_one_bucket_count_once'),
    # builders
    ('DISTINCT_LOSES_THE_LAST', DISTINCT, 'memcpy(less, bin->hashes, 8 * bin->n);',
     'memcpy(less, bin->hashes, bin->n ? 8 * bin->n - 8 : 0);',
     'unit/distinct', 'hashes_with_many_duplicates'),
    ('SPILLS_FROM_THE_FRONT', 'src/build/collect.c', '\t\tfrom += wrote;\n', '',
     'fault/builder_faults', 'interrupted_and_short'),
    ('EXCLUDES_NO_REST', 'src/build/build.c', '&& at + 1 < keys.n)', ')',
     'unit/forms', 'excluded_texts_are_absent'),
    ('TAKES_NONE_OF_A_PIECE', 'src/build/build.c', '(err ? 0 : hashed)', '(err ? hashed : 0)',
     'unit/forms', 'builders_report_how_many_texts_were_added'),
    ('RELOAD_TAKES_NONE_OF_A_PIECE', 'src/set/reload/built.c',
     'return weir__stopped(at + weir_error_taken(), err);', 'return weir__stopped(at, err);',
     'unit/forms', 'builders_report_how_many_texts_were_added'),
    # handles: without a set, of a filter that refuses keys, and the ages of their filters
    ('KEPT_TEXT_NOT_NOTED', PLACEHOLDER, 'err = weir__given_hash(next, &key, &hash);',
     'err = key.number || next->text.steps != WEIR_TEXT_SUFFIXES ?'
     ' weir__given_hash(next, &key, &hash) :'
     ' weir__key_hash_of(next, key.key, key.len, &hash);',
     'unit/texts', 'test_the_first_set_has_the_lengths_of_kept_texts'),
    ('ROOM_OF_A_BYTE_LESS', PLACEHOLDER,
     'reserved > a->limit - bytes)', 'reserved >= a->limit - bytes)',
     'unit/kept_keys', 'test_keep_inserts_is_exact_to_the_byte'),
    ('ROOM_OF_A_BYTE_MORE', PLACEHOLDER, 'reserved > a->limit - bytes)',
     'reserved > a->limit - bytes + 1)',
     'unit/kept_keys', 'test_keep_inserts_is_exact_to_the_byte'),
    ('LAST_ANSWER_STAYS', DUAL_WRITE, 'if (bitmap && at < n && at % 64)',
     'if (bitmap && at + 1 < n && at % 64)', 'unit/full_batches', 'a_batch_during_a_reload'),
    ('COUNTS_FROM_THE_FRONT', 'src/set/batches.c', 'counts + at);', 'counts);',
     'unit/full_batches', 'a_batch_in_several_sections_counts_all_keys'),
    ('YOUNGER_BY_A_DROP', 'src/set/rollback.c', 'record->since = g->since;', ';',
     'unit/handle', 'test_the_age_is_that_of_the_current_filter'),
    ('OLDER_BY_AN_ABORT', 'src/set/reload/steps.c',
     '.number = g->number,\n\t                                 .since = g->since };',
     '.number = g->number };', 'unit/handle', 'test_the_age_is_that_of_the_current_filter'),
    ('GIVEN_FILTER_IS_ASKED', 'src/set/reload/reload.c',
     'r->options.gate || r->options.next ||', 'r->options.gate ||',
     'unit/reload_given', 'test_a_given_filter_may_have_uneven_hashes'),
    # followed files
    ('CUT_IMAGE_WITHOUT_A_REMEDY', 'src/set/follow/read.c',
     'return n < (ssize_t)sizeof begin || memcmp(', 'return n >= (ssize_t)sizeof begin && memcmp(',
     'unit/refresh', 'test_a_refusal_names_its_remedy'),
    ('DELTA_OF_THE_SECOND', CHAIN,
     """(uint64_t)st.st_mtim.tv_nsec,
			                         (uint64_t)st.st_ctim.tv_sec,
			                         (uint64_t)st.st_ctim.tv_nsec };""",
     '0, (uint64_t)st.st_ctim.tv_sec };',
     'unit/refresh_deltas', 'nanoseconds_of_the_times_count'),
    ('DELTA_OF_ITS_BYTES_TIME', CHAIN, '(uint64_t)st.st_ctim.tv_nsec };', '0 };',
     'unit/refresh_deltas', 'a_new_ctime_of_a_delta_counts'),
    # guards
    ('BYPASSED_OF_ANOTHER_PART', ASK, 'bypassed ? bypassed[i] & bitmap[i] : 0', 'bypassed ?'
     ' bypassed[i] : 0', 'unit/guard_batch', 'a_bypassed_batch_may_be_reported_in_halves'),
    ('OWN_SET_OF_EIGHT_BYTES', ASK, 'i * keys.width, keys.width);', 'i * 8, 8);',
     'unit/guard_batch', 'the_callers_set_gets_each_key_unchanged'),
    # windows
    ('WAKES_A_KEY_LATE', 'src/window/insert.c', '&w->counted[slot], 1) + 1 == w->enough)',
     '&w->counted[slot], 1) == w->enough)',
     'unit/window_timer', 'test_only_the_last_key_of_a_generation_wakes'),
    ('SLEEPS_A_WHOLE_PERIOD', 'src/window/advance.c', 'w->period - age : 0;', 'w->period : 0;',
     'unit/window_timer', 'test_the_timer_sleeps_until_an_advance_is_due'),
    ('SLEEPS_WHERE_BUSY', 'src/window/timer.c', 'wait = ANOTHER_IS_AT_IT;',
     'wait = ANOTHER_IS_AT_IT * UINT64_C(100000);',
     'unit/window_timer', 'test_the_timer_returns_to_a_busy_window'),
    ('LATE_IS_THE_LATEST', 'src/window/advance.c',
     'age - w->period > weir__figure_load_relaxed(&w->late))',
     'age > weir__figure_load_relaxed(&w->late))', 'unit/window', 'test_a_late_tick_advances_once'),
    # plans
    ('FULL_BITS_OF_ONE_SIZE', PLAN,
     'plan.growing.full_bits_per_key = plan.growing.worst_bits_per_key =', '',
     'unit/plan', 'filters_that_cannot_grow_are_full_at_capacity'),
    ('MOST_KEYS_BUT_ONE', PLAN, 'over = most + 1;', 'over = most;',
     'unit/hash_bits', 'sixty_hash_bits_cost_no_capacity'),
    ('ANY_RATE_LEFT', PLAN, 'p->fp_rate - floor_of(&plan, p->hash_bits) < 1e-9)',
     'p->fp_rate - floor_of(&plan, p->hash_bits) <= 0)',
     'unit/hash_bits', 'the_rate_above_the_floor_has_a_minimum'),
    ('OPEN_BUILDER_OF_64_BITS', MAKE, 'err = weir__params_settle(&b->params);', '',
     'unit/hash_bits', 'without_a_capacity_the_builder_plans_after_counting'),
    # statistics
    ('SATURATED_AS_A_WHOLE', STATS, '3 * sqrt((double)s->capacity / s->sampled) + 1;',
     '3 * sqrt((double)s->capacity) + 1;', 'unit/stats',
     'a_surplus_within_the_error_is_not_saturated'),
    ('STUCK_IN_THE_SAMPLE', STATS, 'llround((double)all.stuck / s->sampled);', 'all.stuck;',
     'unit/stats', 'a_sample_scales_stuck_counters'),
    ('RATES_ADDED', STATS,
     's->fp_rate_estimated += (1 - s->fp_rate_estimated) * one->fp_rate_estimated;',
     's->fp_rate_estimated += one->fp_rate_estimated;', 'unit/stats',
     'the_rate_includes_every_layer'),
    ('ERRORS_ADDED', STATS, 's->keys_error = hypot(s->keys_error, one->keys_error);',
     's->keys_error += one->keys_error;', 'unit/stats', 'errors_of_layers_add_up_as_squares'),
    ('SAMPLE_BEHIND_THE_LAST_SHARD', STATS,
     'draw(&w->sample, least(w->sample.step, w->f->shards - shard));',
     'draw(&w->sample, w->sample.step);',
     'unit/survey', 'test_a_random_sample_ends_at_the_last_shard'),
    ('PROGRESS_ANEW_OF_EACH_MEMBER', STATS, 'part.before += member[i].f->bytes;', '',
     'unit/survey', 'test_progress_continues_over_the_members'),
    ('SAVE_LOOKS_AT_THE_FIRST_MEMBER', STATS, """	for (unsigned i = 0; i < n; i++)
		if (judge(""", """	for (unsigned i = 0; i < n && !i; i++)
		if (judge(""", 'unit/uneven_parts', 'a_save_refuses_uneven_hashes_in_any_layer'),
    ('DONE_AFTER_A_PART_THAT_FAILED', MAKE, '\t\tb->done = begun;\n', '',
     'unit/built_retries', 'progress_counts_each_part_once_if_another_part_fails'),
    # hashes that are not uniform
    ('SAVE_WITHOUT_THE_ENDS', SPREAD, '\tlook_at_ends(s);\n', '',
     'unit/uneven_parts', 'uneven_hashes_at_the_ends_are_reported'),
    ('SAMPLE_WITHOUT_THE_ENDS', STATS, '\t\tread_ends(&w);\n', '',
     'unit/hashes_uneven', 'a_sample_includes_both_ends'),
    ('UPPER_HALF_IS_THE_LOWER', SPREAD, 'bits >> (32 * (word % 2)) & UINT32_MAX',
     'bits & UINT32_MAX', 'unit/uneven_parts', 'uneven_hashes_in_one_word_are_reported'),
    ('ENDS_BY_STEPS', SPREAD, '\ts->step = 1;\n', '',
     'unit/uneven_parts', 'uneven_hashes_at_the_ends_are_reported'),
    ('NEARLY_FULL_IS_EVEN', UNEVEN, '|| share > 0.97)', ')',
     'unit/uneven_parts', 'nearly_full_blocks_give_no_verdict'),
    ('KEYS_OF_ONE_WORD', UNEVEN, 's->law.words * s->law.z < fewest_keys',
     's->law.words < fewest_keys', 'unit/uneven_parts', 'a_verdict_needs_enough_keys'),
    ('PAIRS_OF_NEIGHBOURS', SPREAD, 'for (unsigned at = *chain; at; at = next[at - 1])',
     'for (unsigned at = *chain; at; at = 0)',
     'unit/cuckoo_stripes', 'copies_with_one_partner_are_uneven'),
    ('COUNTERS_OF_FOUR_BITS_OVERFLOW', SPREAD, 'portion = width == 4 ? 15 : PORTION;',
     'portion = PORTION;', 'unit/spread', 'each_cell_is_counted_for_every_width'),
    ('LAST_LANES_OF_A_TILE', SPREAD, 'counts = place < n;', 'counts = place < TILE;',
     'unit/spread', 'pairs_of_blocks_are_summed_as_defined'),
    ('EVERY_PAIR', SPREAD, 'deviations = r / TILE - 2.0;', 'deviations = -1e9;',
     'unit/spread', 'pairs_that_show_nothing_end_the_comparison'),
    ('PAIRS_END_A_DEVIATION_EARLY', SPREAD, 'deviations = r / TILE - 2.0;',
     'deviations = r / TILE - 1.0;', 'unit/spread',
     'pairs_that_show_a_little_continue_the_comparison'),
    ('SIXTEEN_BLOCKS_UNCOUNTED', SPREAD, 'n >= FEW && i < 64 * wide', 'n > FEW && i < 64 * wide',
     'unit/spread', 'each_cell_is_counted_for_every_width'),
    ('FULLEST_IS_THE_FIRST_FULL_WORD', SPREAD,
     's->notable = score < law->cells ? score + 1 : law->cells;', 's->notable = score + 1;',
     'unit/spread', 'the_fullest_of_several_full_words_is_found'),
    ('UNEVEN_AT_ONE_LOOK', SPREAD, 'for (unsigned i = 0; i < LOOKS; i++) {',
     'for (unsigned i = 0; i < 1; i++) {', 'unit/spread',
     'there_is_no_verdict_while_keys_are_inserted'),
    ('ONE_SLOT_IS_JUDGED', 'src/window/stats.c', '.base = b->words + slot * b->slot_step,',
     '.base = b->words,', 'unit/hashes_crowded', 'a_window_reports_uneven_hashes'),
    ('ROUTER_SATURATED_AS_A_WHOLE', 'src/router/stats.c',
     'capacity + 3 * sqrt(capacity / s->sampled) + 1;', 'capacity + 3 * sqrt(capacity) + 1;',
     'unit/router', 'a_sample_within_its_error_is_not_saturated'),
    # images
    ('STREAMS_BITS_THAT_MOVE', 'src/image/save.c',
     'if (f->kind->hold || to.form == WEIR_LOCATION_FD)', 'if (f->kind->hold)',
     'unit/image_stream', 'test_an_image_streamed_during_inserts_is_valid'),
    ('PROGRESS_UP_TO_THE_LAST_PIECE', 'src/image/delta_apply.c', 'i * WEIR_DELTA_PIECE + n,',
     'i * WEIR_DELTA_PIECE,', 'unit/delta_refused', 'progress_reaches_its_total'),
    # live images
    ('FAILED_SEAL_KEEPS_THE_IMAGE', LIVE_LOCK, """	(void)set_lock(&m->lock.image, F_RDLCK);
}""", '}', 'fault/image_live', 'test_a_seal_that_fails_locks_nobody_out'),
    ('SEALS_BESIDE_ANOTHER_LOCK_FILE', LIVE_LOCK,
     'return keeps_name(l) ? claim_image(a) : CHANGED;', 'return claim_image(a);',
     'fault/image_live', 'test_may_a_process_seal_what_its_child_has_sealed'),
    ('JOINS_AND_LEAKS', LIVE_LOCK, '\tclose_held(&old);\n', '',
     'fault/image_live', 'test_may_a_process_seal_what_its_child_has_sealed'),
    ('REMOVES_THE_LOCK_FILE_OF_OTHERS', LIVE_LOCK, '== 0 && keeps_name(l) && !is_home(l))',
     '== 0 && !is_home(l))',
     'fault/image_live', 'test_is_the_lock_file_of_a_new_mapper_removed'),
    ('ENTERS_WITHOUT_A_HOME', LIVE_LOCK, 'return is_home(l) ? 0 : weir__fail(-EBUSY,',
     'return true ? 0 : weir__fail(-EBUSY,',
     'fault/image_live', 'test_has_a_live_mapping_its_home'),
    ('LIST_STAYS_AND_OPENS', LIVE_LOCK, 'mode & ~(mode_t)S_IRWXG);', 'mode);',
     'fault/image_live', 'test_does_a_list_that_stays_open_the_lock_file'),
    ('GROUP_THAT_ONLY_READS', LIVE_LOCK,
     '(a->st.st_mode & S_IWGRP && file->st_gid', '(file->st_gid',
     'unit/live_lock', 'test_a_file_of_a_mere_reader_is_not_used_as_the_lock'),
    ('MASK_TAKEN_AS_THE_GROUP', LIVE_LOCK, 'S_IWGRP && !a->acl && group', 'S_IWGRP && group',
     'unit/live_lock', 'test_with_an_access_list_the_group_cannot_lock'),
    ('LOCK_FILE_OPEN_TO_READERS', LIVE_LOCK, '& ~allowed && fchmod(fd, allowed))',
     '& ~allowed && false && fchmod(fd, allowed))',
     'unit/live_lock', 'test_readers_of_the_image_cannot_open_the_lock_file'),
    ('LOCK_FILE_THAT_STAYS_OPEN', LIVE_LOCK, '& ~allowed && fchmod(fd, allowed))',
     '& ~allowed && fchmod(fd, allowed) && false)',
     'unit/live_lock', 'test_readers_of_the_image_cannot_open_the_lock_file'),
    ('LIST_OF_THE_FOLDER', LIVE_LOCK, 'fd < 0 || weir__acl_has(fd);', 'fd < 0;',
     'unit/live_lock', 'test_a_lock_file_of_a_group_member_may_be_used'),
    ('FOLDER_THAT_CANNOT_BE_READ', LIVE_LOCK, 'fd < 0 || weir__acl_has(fd);',
     'fd >= 0 && weir__acl_has(fd);',
     'unit/live_lock', 'test_a_lock_file_of_a_group_member_may_be_used'),
    ('FOLDER_OF_ANOTHER_GROUP', LIVE_LOCK, 'st.st_gid != a->st.st_gid || folder_acl', 'folder_acl',
     'unit/live_lock', 'test_a_lock_file_of_a_group_member_may_be_used'),
    ('LOCK_THAT_FAILS_IS_ELSEWHERE', LIVE_LOCK,
     '? ELSEWHERE : cannot_lock(a->image->name);', '? ELSEWHERE : ELSEWHERE;',
     'fault/live_locks', 'test_what_if_a_lock_fails'),
    ('LOCK_STAYS_EXCLUSIVE', LIVE_LOCK, 'if (!err && adopt && set_lock(&l->image, F_RDLCK))',
     'if (!err && adopt && set_lock(&l->image, F_RDLCK) && false)',
     'fault/live_locks', 'test_what_if_a_lock_fails'),
    ('LOCK_FILE_THAT_FAILS_IS_BUSY', LIVE_LOCK, '? SEALING : cannot_lock(a->image->name);',
     '? SEALING : SEALING;', 'fault/live_locks', 'test_what_if_a_lock_fails'),
    ('LOCK_FILE_OF_ANOTHER_MAKER', LIVE_LOCK, 'new && errno == EEXIST ? CHANGED', 'new ? -EEXIST',
     'fault/live_locks', 'test_do_two_mappers_at_once_have_one_lock'),
    # files that replace others
    ('LINK_REFUSED_OVER_A_FILE', 'src/image/replace.c', '''return errno == EEXIST ||
		       fstatat(t->folder, t->base, &st, AT_SYMLINK_NOFOLLOW) == 0 ?''',
     '''(void)st;
		return errno == EEXIST ?''', 'fault/image_sandbox',
     'test_does_a_save_without_links_replace_a_file_that_came_where_none_stood'),
    ('CLAIM_OF_A_DEAD_SAVER', 'src/image/temporary.c',
     'if (!remove_if_killed(t->target, name, false))', 'if (true)',
     'fault/image_sandbox', 'test_is_a_save_kept_out_by_one_under_way_and_by_no_dead_one'),
    ('CLAIM_OF_A_REFUSED_SAVER', 'src/image/temporary.c',
     '\tmemcpy(t->name, name, sizeof name);\n\tt->named = true;',
     '\tmemcpy(t->name, name, sizeof name);', 'fault/image_replaces',
     'test_do_two_saves_replace_an_image_that_a_reader_has_locked'),
    ('CLAIM_OF_A_SAVER_AT_WORK', 'src/image/temporary.c',
     'bool removes = all || (read && heir);', 'bool removes = true;',
     'fault/image_sandbox', 'test_is_a_save_kept_out_by_one_under_way_and_by_no_dead_one'),
    ('OVERFULL_BY_THE_CAPACITY_ALONE', 'src/set/follow/sanity.c', 'above > 1 / fmax(lines, 10)',
     'above > 1 + lines', 'unit/sanity', 'test_the_claimed_capacity_does_not_matter'),
    ('CLAIM_THAT_A_READER_LOCKS', 'src/image/temporary.c', '|| (read && heir);', ';',
     'unit/image_savers', 'test_a_readers_lock_on_a_dead_claim_denies_no_save'),
    ('CLAIM_OF_A_STRANGER', 'src/image/temporary.c', '!(folder.st_mode & S_ISVTX))', 'true)',
     'unit/image_savers', 'test_a_claim_of_another_user_denies_no_save'),
    ('CLAIM_OPEN_BEFORE_THE_RENAME', 'src/image/replace.c', 'fchmod(r->new.fd, 0600) ?',
     'fchmod(r->new.fd, r->last) ?', 'fault/image_sandbox',
     'test_claim_is_private_until_it_is_renamed'),
    ('UNREADABLE_TAKEN_AS_ANOTHER', 'src/image/target.c', 't->held < 0 && errno == ENOENT)',
     't->held < 0)', 'unit/image_rights',
     'test_options_replaces_needs_read_permission'),
    # images and numbers that weir never writes
    ('SPLIT_WITH_A_SECRET_HASH', 'src/image/preface.c', '(p->kind->as_is || h->hash', '(h->hash',
     'unit/split', 'a_forged_hash_is_refused'),
    ('NO_LAYERS', 'src/growing/growing.c', 'return layers >= 1 && layers', 'return layers',
     'unit/growing_image', 'each_field_of_the_head_is_checked'),
    ('ANY_NUMBER_OF_LAYERS', 'src/growing/growing.c', '&& layers <= WEIR__LAYERS_MOST', '',
     'unit/growing_image', 'each_field_of_the_head_is_checked'),
    ('CAPACITY_THAT_THE_KEYS_HAVE', 'src/router/plan.c', 'p->capacity && p->capacity != most',
     'p->capacity', 'unit/router_sizes', 'the_plan_follows_the_largest_set'),
    ('IMPORT_OF_ONE_SHARD', 'src/parquet/split_block.c', '\t\tshards *= 2;\n', '\t\tbreak;\n',
     'unit/parquet_blocks', 'large_imports_have_shards'),
    ('IMPORT_OF_SMALL_SHARDS', 'src/parquet/split_block.c',
     ' && lines / (2 * shards) >= WEIR__SHARD_LINES)', ' && lines / (2 * shards) >= 512)',
     'unit/parquet_blocks', 'large_imports_have_shards'),
    ('IMPORT_OF_UNEQUAL_SHARDS', 'src/parquet/split_block.c', 'lines % (2 * shards) == 0 && ', '',
     'unit/parquet_blocks', 'large_imports_have_shards'),
    ('PLAIN_STORES_INTO_SHARED_BITS', 'src/filter/batches.c', '!f->memory.shared && ', '',
     'unit/image_map_live', 'test_a_fill_of_a_live_map_stores_no_bit_twice'),
    # refused inserts
    ('WRONG_ANSWERS_BEFORE_AN_ERROR', DUAL_WRITE,
     '(void)weir__answer_all(answers, n, bitmap);\n\t\tforget',
     '(void)weir__answer_all(true, n, bitmap);\n\t\tforget',
     'unit/full_batches', 'a_batch_before_the_first_set'),
    ('RETURNS_WITHOUT_A_KEY', DUAL_WRITE, 'return is_void ? 0 : err;',
     'return is_void || i == 2 ? 0 : err;', 'unit/full_batches',
     'a_full_filter_that_a_rollback_returns_to_refuses'),
    ('TAKEN_OF_THE_LAST_PIECE', 'src/set/reload/one_shard.c',
     'taken = at + weir_error_taken()', 'taken = weir_error_taken()',
     'unit/sharded_inserts', 'test_a_shards_loader_reports_how_many_were_inserted'),
    ('ANSWERS_BEHIND_THE_REFUSED', 'src/set/reload/one_shard.c',
     'weir__answer_all(false, keys.n - rest,', 'weir__answer_all(false, 0 * rest,',
     'unit/sharded_inserts', 'test_a_shards_loader_clears_the_answers_after_a_refusal'),
    ('MARK_TAKEN_AS_A_BUCKET', 'src/kinds/cuckoo/search.c', 'bool found = false;',
     'bool found = true;', 'unit/cuckoo_stripes', 'a_bucket_that_shares_a_mark_is_searched'),
    # the tool
    ('ACTIVE_FILES_ARE_IN_USE', ROOM, 'for (unsigned i = 0; i < 2; i++)\n\t\tuse -=',
     'for (unsigned i = 0; i < 1; i++)\n\t\tuse -=', 'unit/memory_limit',
     'limits_of_version_2_are_read'),
    ('ANY_MOUNT_OF_VERSION_1', ROOM, 'return v == &newer || has_word(rest, "memory");',
     'return true;', 'unit/memory_limit', 'limits_of_version_1_are_read'),
]


class Build:
    def __init__(self, folder, work):
        self.folder, self.work = Path(folder).resolve(), work
        self.compile = json.loads((self.folder / 'compile_commands.json').read_text())
        library = next(found for found in (self.folder / 'src').glob('libweir.so.*.*.*')
                       if found.is_file())
        self.needs = [word for word in self.link_of(library.relative_to(self.folder))
                      if re.search(r'/lib[\w+-]+\.so$|^-l', word)]

    def link_of(self, target):
        said = subprocess.run(['ninja', '-C', self.folder, '-t', 'commands', str(target)],
                              check=True, capture_output=True, text=True).stdout
        return shlex.split(said.rstrip().splitlines()[-1].split(' && ')[0])

    def run(self, command):
        subprocess.run(command, cwd=self.folder, check=True, stdout=subprocess.DEVNULL)

    def object_of(self, file, text, out):
        own = os.path.relpath(ROOT / file, self.folder)
        command = next(shlex.split(entry['command']) for entry in self.compile
                       if entry['file'] == own and 'tests/' not in entry['output'])
        mutated = out / Path(file).name
        mutated.write_text(text)
        command[command.index('-o') + 1] = out / 'mutated.o'
        command[command.index('-c') + 1] = mutated
        command[command.index('-MF') + 1] = out / 'mutated.d'
        self.run([*command, '-w', '-iquote', ROOT / Path(file).parent])
        return out / 'mutated.o'

    def program_of(self, test, mutated, out, file=''):
        """@mutated: objects to link before the library. They replace the test's own object of
        @file, if it has one."""
        own = file.replace('/', '_') + '.o'
        folder, name = test.split('/')
        target = f'tests/{folder}/test_{name}'
        command = []
        for word in self.link_of(target):
            if mutated and word.endswith(own):
                continue
            is_library = re.fullmatch(r'src/libweir\.(a|so[\d.]*)', word)
            command += [*mutated, 'src/libweir.a', *self.needs] if is_library else [word]
        command[command.index('-o') + 1] = out / 'test'
        self.run(command)
        return out / 'test'


def ask(program):
    """Return: the test functions that failed (ERROR if the teardown failed, too), or the one in
    which the test crashed or hung."""
    try:
        ended = subprocess.run([program], capture_output=True, text=True, timeout=PATIENCE,
                               cwd=program.parent)
        output, status = ended.stdout + ended.stderr, ended.returncode
    except subprocess.TimeoutExpired as late:
        output, status = (late.stdout or b'').decode(), -1
    failed = re.findall(r'^\[  (?:FAILED|ERROR )  \] (\w+)$', output, re.M)
    return failed if failed or not status else re.findall(r'^\[ RUN      \] (\w+)$', output,
                                                          re.M)[-1:]


def judge(build, name, file, old, new, test, question):
    out = build.work / name
    out.mkdir()
    text = (ROOT / file).read_text()
    if text.count(old) != 1:
        raise SystemExit(f'{file}: this stands there {text.count(old)} times, not once: adapt '
                         f'mutants.py\n{old}')
    mutated = build.object_of(file, text.replace(old, new), out)
    return question in ask(build.program_of(test, [mutated], out, file))


def plain(build, test):
    out = build.work / test.replace('/', '_')
    out.mkdir()
    return ask(build.program_of(test, [], out))


def main(folder, *names):
    chosen = [mutant for mutant in MUTANTS if not names or mutant[0] in names]
    missed = 0
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(2) as pool:
        build = Build(folder, Path(work))
        tests = sorted({mutant[-2] for mutant in chosen})
        for test, failed in zip(tests, pool.map(lambda test: plain(build, test), tests)):
            if failed:
                raise SystemExit(f'without any bug: {test}: {failed}')
        for mutant, found in zip(chosen, pool.map(lambda m: judge(build, *m), chosen)):
            print(f'{mutant[0]:32}{"found" if found else "MISSED"}  {mutant[-2]} {mutant[-1]}',
                  flush=True)
            missed += not found
    print(f'{len(chosen)} planted, {missed} missed')
    return 1 if missed or not chosen else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

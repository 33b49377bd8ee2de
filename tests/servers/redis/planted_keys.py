# SPDX-License-Identifier: MIT
"""Bugs for mutants.py in BF.* and CF.* keys: name, file, quote, what replaces the quote, and the
test that must fail. A test without a dot is a C program, test_NAME.c."""

TO_REPLICAS = 'test_new_key_is_sent_with_its_seed'
LIMIT_BF = 'keeping BF.test_limit_refuses_and_replica_has_the_same_bits'
LIMIT_CF = 'keeping CF.test_limit_refuses_and_replica_has_the_same_fingerprints'
REPLICA_LIMIT = 'takeover Takeover.test_replica_under_a_limit'
KEPT = 'takeover Takeover.test_save_and_restart'
REWRITTEN = 'takeover Takeover.test_rewritten_append_only_files'
SCAN = 'takeover Takeover.test_scandump_gives_back_the_same_bytes'
COUNTED = 'takeover Takeover.test_items_are_counted'
RESTORE = 'takeover Takeover.test_restore'
SAME_WRITES = 'takeover Takeover.test_equal_writes_give_redisblooms_bytes'
HEADERS = 'takeover_refused Refused.test_headers_that_redisbloom_refuses_are_refused'
CHUNKS = 'takeover_refused Refused.test_chunks_that_do_not_fit_are_refused'

MUTANTS = [
    # chains
    ('COPY_LACKS_ITEMS', 'chain.c', '\tto->items = from->items;\n', '', 'chain'),
    ('COPY_HAS_ANOTHER_SEED', 'chain.c', '{ c->error, c->capacity, c->seed,',
     '{ c->error, c->capacity, c->seed != 0,', 'chain'),
    ('GROWS_WITHOUT_EXPANSION', 'chain.c', 'c->links < (chain_scales(c) ? CHAIN_LINKS : 1)',
     'c->links < CHAIN_LINKS', 'chain'),
    ('GROWS_WITHOUT_SCALING', 'chain.c',
     'return c->expansion && !(c->options & REDISBLOOM_NO_SCALING);', 'return c->expansion;',
     'redisbloom'),
    ('LIMIT_OF_ONE_LINK', 'chain.c', '(form->bytes <= most && bytes <= most - form->bytes)',
     'form->bytes <= most', 'chain_fails'),
    ('LEAKS_BITS', 'chain.c', '\t\tc->memory->put(l->bits - l->pad);\n', '', 'chain'),
    ('LEAKS_A_REFUSED_LINK', 'chain.c', '\terr = fill_link(c, l, form);\n\tif (err)\n'
     '\t\tc->memory->put(l);\n', '\terr = fill_link(c, l, form);\n', 'chain_fails'),
    ('BITS_BEHIND_THE_END', 'chain.c', 'c->memory->get(form->bytes + LINE)',
     'c->memory->get(form->bytes + LINE / 2)', 'chain'),
    ('USAGE_LACKS_LINKS', 'chain.c', 'sum += l->older ? c->memory->size(l) : 0;', ';', 'chain'),
    ('FIRST_LINK_HAS_THE_WHOLE_RATE', 'form.c', '* sqrt(n + 1)) : 0.5;', '* sqrt(n + 1)) : 1;',
     'chain'),
    ('RATES_DO_NOT_SHRINK', 'form.c', '0.31 / ((n + 1) * sqrt(n + 1))', '0.31', 'chain'),
    ('SIZE_OF_ANOTHER_RATE', 'form.c', 's->error == error ?', 's->error > 0 ?', 'chain'),
    ('CAPACITY_WITHOUT_END', 'form.c', 'capacity > CHAIN_CAPACITY_MOST / s->expansion ?', '0 ?',
     'chain'),
    ('COMPACT_WITH_WORDS', 'form.c', '&& !f->words_per_key && !f->bits_per_word;', ';',
     'chain_fails'),
    ('N2_LEFT_OUT', 'form.c', '.error = l.error, .n2 = l.n2 };', '.error = l.error };',
     'redisbloom'),
    ('OLDEST_LINK_NOT_ASKED', 'items.c', 'for (; l; l = l->older)\n\t\tif (link_has',
     'for (; l && (l->older || c->links == 1); l = l->older)\n\t\tif (link_has', 'chain'),
    ('OLDER_LINKS_GET_DUPLICATES', 'items.c', 'has(c, full ? l : l->older,',
     'full && has(c, l,', 'chain'),
    ('ITEMS_NOT_COUNTED', 'items.c', '\tl->items += answer > 0;\n', '', 'chain'),
    ('DUPLICATES_COUNTED', 'items.c', 'l->items += answer > 0;', 'l->items += answer >= 0;',
     'chain'),
    ('GROWS_ONE_ITEM_LATE', 'items.c', 'l->items >= l->capacity', 'l->items > l->capacity',
     'chain'),
    ('LAST_PROBE_NOT_ASKED', 'items.c', 'for (uint32_t i = 0; i < l->probes; i++, x = next(x)) {\n'
     '\t\tuint64_t bit = probe(l, x);\n\t\tif', 'for (uint32_t i = 1; i < l->probes; i++, '
     'x = next(x)) {\n\t\tuint64_t bit = probe(l, x);\n\t\tif', 'chain'),
    ('MANY_ASK_THE_NEWEST', 'items.c', 'l; l = l->older)\n\t\t\tanswers',
     'l; l = NULL)\n\t\t\tanswers', 'chain'),
    ('N2_IGNORED', 'redisbloom.c', 'return n2 ? UINT64_C(1) << n2 : 8 * bytes;',
     'return 8 * bytes;', 'redisbloom'),
    ('SERVER_HASH_WITH_64_BITS', 'redisbloom.c', 'h.b = murmur64a(item, len, (uint32_t)h.a);',
     'h.b = murmur64a(item, len, h.a);', RESTORE),
    ('BITS_ROUNDED_DOWN', 'redisbloom.c', '(out->bits + 63) / 64 * 8', '(out->bits + 7) / 64 * 8',
     'redisbloom'),
    ('CAPACITY_NOT_RAISED', 'redisbloom.c', 'out->capacity += (uint64_t)(floor',
     '(void)(uint64_t)(floor', 'redisbloom'),
    ('ANY_PROBES', 'redisbloom.c', 'l->probes != probes_for(l->bits_per_item)', '0', 'redisbloom'),
    # cuckoo filters
    ('OLDEST_SUB_FILTER_FIRST', 'cuckoo.c', 'for (unsigned j = c->subs; j-- > 0;) {\n'
     '\t\tunsigned char *slot', 'for (unsigned j = 0; j < c->subs; j++) {\n'
     '\t\tunsigned char *slot', 'cuckoo'),
    ('UNDO_IN_ANOTHER_ORDER', 'cuckoo.c', '\t\te.bucket = other(e.bucket, e.fp) & mask;\n'
     '\t\texchange(c, j, &e);\n\t}', '\t\texchange(c, j, &e);\n'
     '\t\te.bucket = other(e.bucket, e.fp) & mask;\n\t}', 'cuckoo'),
    ('FIRST_MOVE_NOT_UNDONE', 'cuckoo.c', 'while (--moves > 0)', 'while (--moves > 1)', 'cuckoo'),
    ('ONE_MOVE_MORE', 'cuckoo.c', 'moves++ < c->iterations', 'moves++ <= c->iterations',
     'cuckoo'),
    ('ONE_MOVE_LESS', 'cuckoo.c', 'moves++ < c->iterations', '++moves < c->iterations', 'cuckoo'),
    ('OLDEST_IS_FILLED_FIRST', 'cuckoo.c', 'for (unsigned j = c->subs; j-- > 0;)\n'
     '\t\tif (put_free', 'for (unsigned j = 0; j < c->subs; j++)\n\t\tif (put_free', SAME_WRITES),
    ('EXPANSION_NOT_COPIED', 'cuckoo.c', 'c->expansion, c->old_hash };', '1, c->old_hash };',
     'cuckoo'),
    ('SEED_NOT_USED', 'cuckoo.c', 'murmur64a(item, len, c->seed)', 'murmur64a(item, len, 0)',
     'cuckoo'),
    ('FREE_SLOT_AS_FINGERPRINT', 'cuckoo.c', '(unsigned char)(h >> 24) : 7;',
     '(unsigned char)(h >> 24) : 0;', 'cuckoo'),
    ('COMPACTION_LOSES', 'cuckoo.c', '\t\t\tif (moved)\n\t\t\t\t*at = 0;', '\t\t\t*at = 0;',
     'cuckoo'),
    ('COMPACTION_DOUBLES', 'cuckoo.c', '\t\t\tif (moved)\n\t\t\t\t*at = 0;', '\t\t\t;', 'cuckoo'),
    ('NEVER_COMPACTED', 'cuckoo.c', '\t\tc->deleted++;\n', '', 'cuckoo'),
    ('SECOND_BUCKET_NOT_COUNTED', 'cuckoo.c', '(a != b && b[slot] == i.fp)', '0', 'cuckoo'),
    ('ONE_BUCKET_COUNTED_TWICE', 'cuckoo.c', '(a != b && b[slot]', '(b[slot]', 'cuckoo'),
    ('LIST_TOO_SHORT', 'cuckoo.c', 'c->memory->get(2 * c->subs * sizeof *longer)',
     'c->memory->get(c->subs * sizeof *longer)', 'cuckoo'),
    ('LIMIT_OF_ONE_SUB_FILTER', 'cuckoo.c', '(bytes > most || all > most - bytes)',
     '(bytes > most)', LIMIT_CF),
    # dumps
    ('DUMP_LACKS_THE_EXPANSION', 'dump.c', '(uint64_t)c->expansion << 32 | (uint64_t)c->subs << 48',
     '(uint64_t)c->subs << 48', 'dumps CF.test_loaded_dump_equals_the_key'),
    ('DUMP_LACKS_THE_SEED', 'dump.c', '0, c->capacity, c->seed,', '0, c->capacity, 1,',
     'dumps BF.test_loaded_dump_equals_the_key'),
    ('DUMP_OF_TWO_STATES', 'dump.c', 'c->deleted, c->changes', 'c->deleted, 0',
     'dumps CF.test_change_ends_a_dump'),
    ('ITERATOR_COUNTS_BYTES', 'dump.c', 'return 1 + offset / unit_of(k);', 'return 1 + offset;',
     SCAN),
    ('ANY_CHECKSUM', 'dump.c', 'return f[3] == sum_of(', 'return f[3] != 1 + sum_of(',
     'dumps BF.test_damaged_and_foreign_chunks_are_refused'),
    ('RAW_LACKS_THE_SERVER_HASH', 'raw.c', 'give(&at, c->options, 4);',
     'give(&at, c->options & REDISBLOOM_OPTIONS, 4);', REWRITTEN),
    ('RAW_BITS_ARE_0', 'raw.c', 'l.n2 ? 8 * l.bytes : l.bits', 'l.bits', SCAN),
    ('GROWTH_IS_2', 'raw.c', 'growth = (uint32_t)take(&r, 4);', 'take(&r, 4);', SAME_WRITES),
    ('ITEMS_OF_LINKS_LEFT_OUT', 'raw.c', '(*c)->newest->items = l->items;', ';', SCAN),
    ('ANY_SUM_OF_ITEMS', 'raw.c', 'if (!err && sum != items)', 'if (0)', HEADERS),
    ('DELETED_LEFT_OUT', 'raw.c', '(*out)->deleted = deleted;', ';', SCAN),
    ('NEW_HEADER_FOR_THE_OLD_HASH', 'raw.c', '\tif (c->old_hash)\n\t\treturn (size_t)(at - out);\n',
     '', SCAN),
    ('OTHER_HASH_EVERYWHERE', 'raw.c', 'options & REDISBLOOM_HASH64 && key_options.server_hash',
     'options & REDISBLOOM_HASH64', RESTORE),
    # files
    ('FILE_LACKS_THE_SEED', 'rdb.c', 'redis.SaveUnsigned(io, c->capacity);\n'
     '\tredis.SaveUnsigned(io, c->seed);', 'redis.SaveUnsigned(io, c->capacity);\n'
     '\tredis.SaveUnsigned(io, c->seed != 0);', 'keeping BF.test_rdb_file_keeps_the_key'),
    ('FILE_LACKS_THE_OPTIONS', 'rdb.c', '.options = packed >> 8 & 0xff,', '.options = 0,', KEPT),
    ('FILE_LACKS_N2', 'rdb.c', ' | (uint64_t)f.n2 << 48);', ');', KEPT),
    ('FILE_LACKS_ITEMS', 'rdb.c', '(*c)->newest->items = items;', ';', KEPT),
    ('FILE_LACKS_THE_OLD_HASH', 'rdb.c', '(uint64_t)c->old_hash << 8 |', '', KEPT),
    ('FILE_LACKS_DELETED', 'rdb_sub.c', '(*c)->deleted = deleted;', ';', COUNTED),
    ('ITEMS_OF_LATER_SUB_FILTERS', 'rdb_sub.c',
     'c->items += cuckoo_fingerprints(text, bytes);', ';',
     COUNTED),
    ('COPY_IS_EMPTY', 'rdb.c', 'return chain_copy(&c, value) ? NULL : c;',
     'struct chain_settings s = chain_settings_of(value);\n'
     '\treturn chain_create(&c, &s, 0, &key_memory) ? NULL : c;',
     'takeover Takeover.test_dump_and_copy'),
    ('OPTIONS_IN_VERSION_1', 'rdb_old.c', 'version > 1 ?', 'version > 0 ?', RESTORE),
    ('GROWTH_BEFORE_VERSION_4', 'rdb_old.c', 'version > 3 ? redis.LoadUnsigned(io) : 2',
     'version > 3 ? redis.LoadUnsigned(io) : 1', COUNTED),
    ('OTHER_HASH_IN_VERSION_4', 'rdb_old.c', 'if (version == 3)\n\t\toptions',
     'if (1)\n\t\toptions', RESTORE),
    ('NEW_HASH_IN_VERSION_3', 'rdb_old.c', '.old_hash = true', '.old_hash = false', RESTORE),
    ('BITS_NOT_LOADED', 'rdb_old.c', 'memcpy((*c)->newest->bits, bits, bytes);', ';', RESTORE),
    # chunks
    ('CHUNK_CLEARS_BITS', 'loadchunk.c', 'to[i] |= data[i];', 'to[i] = data[i];',
     'takeover Takeover.test_a_chunk_that_comes_again_keeps_later_items'),
    ('CHUNK_IS_NOT_COUNTED', 'loadchunk.c',
     'c->items += cuckoo_fingerprints(data, bytes) - cuckoo_fingerprints(to, bytes);', ';', SCAN),
    ('CHUNK_TAKEN_FOR_A_HEADER', 'loadchunk.c', '(!cuckoo || cuckoo->seed)', '1',
     'takeover Takeover.test_large_cuckoo_chunks'),
    ('CHUNK_BEHIND_THE_END', 'loadchunk.c', '\tif (bytes > all - at)\n\t\treturn too_big;\n'
     '\tif (k->chain)\n\t\tadd_bits(to', '\tif (k->chain)\n\t\tadd_bits(to', CHUNKS),
    ('CHUNK_BEFORE_THE_BEGINNING', 'loadchunk.c', '\tif (at < bytes)\n\t\treturn bad_data;\n', '',
     CHUNKS),
    ('CHUNK_OF_ANOTHER_KEY', 'loadchunk.c', 'if (f.name != name)', 'if (0)',
     'dumps BF.test_damaged_and_foreign_chunks_are_refused'),
    ('CHUNK_NOT_REPLICATED', 'loadchunk.c', '\t\t\tredis.ReplicateVerbatim(context);\n', '',
     'takeover Takeover.test_replica'),
    # replication
    ('BFMAKE_WITHOUT_ITEMS', 'bf_write.c', '\t\treplicate_new(context, t, c, taken);',
     '\t\treplicate_new(context, t, c, 0);', 'keeping BF.' + TO_REPLICAS),
    ('BFMAKE_WITHOUT_SEED', 'bf_write.c', '{ 0, c->capacity, c->seed,', '{ 0, c->capacity, 1,',
     'keeping BF.' + TO_REPLICAS),
    ('BFMAKE_WITHOUT_EXPANSION', 'bf_write.c', 'c->seed, c->expansion };\n\tmemcpy(&s[0]',
     'c->seed, 2 };\n\tmemcpy(&s[0]', 'keeping BF.' + TO_REPLICAS),
    ('REFUSED_BUT_VERBATIM', 'bf_write.c', 'else if (changed && taken == t->n)',
     'else if (changed)', LIMIT_BF),
    ('REFUSED_ITEMS_SENT', 'bf_write.c', '"BF.MADD", "sv", t->name, t->items, (size_t)taken)',
     '"BF.MADD", "sv", t->name, t->items, (size_t)t->n)', LIMIT_BF),
    ('UNCHANGED_BUT_SENT', 'bf_write.c', 'changed += err;', 'changed++;',
     'keeping BF.test_nothing_new_is_not_sent'),
    ('CFMAKE_WITHOUT_ITEMS', 'cf_write.c', 'replicate_new(context, t, c, added, n);',
     'replicate_new(context, t, c, added, 0);', 'keeping CF.' + TO_REPLICAS),
    ('CFMAKE_WITHOUT_EXPANSION', 'cf_write.c', '(long long)c->expansion, items, n);',
     '1LL, items, n);', 'keeping CF.' + TO_REPLICAS),
    ('REFUSED_BUT_VERBATIM_CF', 'cf_write.c', 'else if (n && !limited)', 'else if (n)',
     REPLICA_LIMIT),
    ('FAILED_REPLICATED', 'cf_write.c', 'if (answered == 1)', 'if (answered)', REPLICA_LIMIT),
    ('REMOVAL_NOT_REPLICATED', 'cf_remove.c', '\t\tif (found)\n\t\t\tredis.Rep',
     '\t\tif (0)\n\t\t\tredis.Rep', 'takeover Takeover.test_replica'),
    ('LIMIT_WHILE_LOADING', 'keys.c', '(REDIS_REPLICATED | REDIS_LOADING)', 'REDIS_REPLICATED',
     LIMIT_BF),
    ('LIMIT_OF_REPLICAS', 'keys.c', '(REDIS_REPLICATED | REDIS_LOADING)', 'REDIS_LOADING',
     LIMIT_BF),
]

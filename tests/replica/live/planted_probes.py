# SPDX-License-Identifier: MIT
"""Of planted.py: what tests passed by until somebody planted it."""

SRC = "src/replica/"
ASK, BEGIN, DUE, INSERT, ROUND, STATS = (SRC + "service/%s.c" % f for f in (
    "ask", "begin", "due", "insert", "round", "stats"))
COMING, LEASE = SRC + "redis/coming.c", SRC + "redis/lease.c"
FOLLOW, PUBLISH = ("src/tool/commands/replicate/%s.c" % f for f in ("follow", "publish"))

ROOM = "filter + filter / 16 + (6 << 20)"
SIZED = "room Room.test_of_another_size"

PROBES = [
    # ---- follow ----
    ("SAID_ALL_THE_TIME", FOLLOW, "if (err && err != last)", "if (err)",
     "follow Follow.test_a_failure_is_said_once"),
    ("NEWER_NUMBERS_ALONE", FOLLOW, "atomic_exchange(&f->another, false) || s.generation != f",
     "s.generation > f",
     "follow Follow.test_a_set_begun_anew"),
    ("FILE_WITHOUT_ITS_NUMBER", FOLLOW, "\to.generation = s.generation;\n", "",
     "follow Follow.test_its_number"),
    ("FOLLOWS_WITHOUT_ZSTD", FOLLOW, "\to.zstd_level = f->r->zstd_level;\n", "",
     "follow Follow.test_compressed"),
    ("ANY_TRAITS_ARE_REPLACED", FOLLOW, "status = keeps(r, replica);", "status = TOOL_OK;",
     "follow Follow.test_does_an_image_of_other_traits_stay"),
    ("LIVE_IS_REPLACED", FOLLOW, "f->force ? 0 : standing(path);", "0;",
     "follow Follow.test_does_a_live_image_stay_until_it_is_sealed"),
    # ---- publish ----
    ("BEGINS_THOUGH_IT_FAILED", PUBLISH, "if (!err && !r->quiet) /* which",
     "if (!r->quiet) /* which", "operate Operate.test_the_first_is_refused"),
    ("FIRST_WITHOUT_ITS_KEYS", "src/tool/commands/replicate/publish.c",
     "int err = weir_replica_publish_with(replica, f);", "int err = weir_replica_publish(replica);",
     "operate Operate.test_another_is_first_meanwhile"),
    ("BYTES_CHANGE_UNSAID", PUBLISH,
     "old.capacity == new.capacity &&\n\t    old.bytes == new.bytes)",
     "old.capacity == new.capacity)", "operate Operate.test_another_rate"),
    ("RATE_OF_THE_OLD", PUBLISH, "new.capacity, new.fp_rate);", "new.capacity, old.fp_rate);",
     "operate Operate.test_another_rate"),
    ("NOT_OPEN_IS_REFUSED", PUBLISH,
     "\terr = weir_replica_open(&replica, &r->options);\n\tif (err)\n\t\treturn not_open(r);",
     "\terr = weir_replica_open(&replica, &r->options);\n\tif (err)\n\t\t"
     "return failed(r, err);", "refusals Refusals.test_refused"),
    ("PEER_FOR_SET", BEGIN, "o->set, weir__wire_peer(r->wire));",
     "weir__wire_peer(r->wire), o->set);", "refusals Refusals.test_refused"),
    # ---- room in redis, and the lease ----
    ("NO_SIXTEENTH", BEGIN, ROOM, "filter + (6 << 20)", SIZED),
    ("FIVE_MEBIBYTES", BEGIN, ROOM, ROOM.replace("6 <<", "5 <<"), SIZED),
    ("ROOM_FOR_HALF", BEGIN, ROOM, "filter / 2 + filter / 16 + (6 << 20)", SIZED),
    ("ROOM_FOR_TWO", BEGIN, ROOM, "2 * " + ROOM, SIZED),
    ("ROOM_FOR_HALF_LATER", DUE, "weir__service_reserve(r, filter->bytes);",
     "weir__service_reserve(r, filter->bytes / 2);", SIZED),
    ("ROOM_GROWS_ALONE", BEGIN, "\tr->redis.reserve = " + ROOM,
     "\tuint64_t w = " + ROOM + ";\n\tr->redis.reserve = w > r->redis.reserve ? w : "
     "r->redis.reserve", SIZED),
    ("NO_ROOM_BEFORE_A_REPORT", BEGIN,
     "\tweir__service_reserve(r, current.bytes);\n\treturn 0;", "\treturn 0;",
     "room Room.test_before_it_reports"),
    ("A_LEASE_OF_60_MS", ASK, "uint64_t ms = 60000 +", "uint64_t ms = 60 +",
     "room Room.test_before_it_reports"),
    ("A_WHOLE_MEBIBYTE", LEASE, ".chunk_bytes = WEIR_SET_CHUNK,", ".chunk_bytes = 1 << 20,",
     "room Room.test_a_chunk"),
    # ---- what others see of a node's thread ----
    ("CLOSED_BEFORE_CONFIRMED", INSERT, "int err = r->confirmed >= ticket ? 0 :",
     "int err = r->stopping ? -ECANCELED : r->confirmed >= ticket ? 0 :", "seen"),
    ("CLOSED_BEFORE_FAILED", INSERT,
     "\t          r->failed >= ticket    ? r->failure :\n"
     "\t          r->stopping            ? -ECANCELED :",
     "\t          r->stopping            ? -ECANCELED :\n"
     "\t          r->failed >= ticket    ? r->failure :", "seen"),
    ("DUE_BEFORE_THE_ROUND", STATS, "const char *error = err                 ? "
     "weir_error_detail() :", "const char *error = r->publish_error[0] ? r->publish_error :\n\t"
     "err ? weir_error_detail() :", "seen"),
    ("SAVED_FIRST", STATS, "r->publish_error[0] ? r->publish_error :\n\t"
     "                                          r->save_error;",
     "r->save_error[0] ? r->save_error : r->publish_error;", "seen"),
    # ---- an image on its way ----
    ("NO_REPLICA_GAVE", COMING, "c->file.away, c->file.mixed);", "c->file.away, false);",
     "coming_thread"),
    ("A_REPLICA_GAVE", COMING, "c->file.away, c->file.mixed);", "c->file.away, true);",
     "coming_thread"),
    ("WHY_IS_LOST", COMING, 'int err = c->err ? weir_fail(c->err, "%s", c->sentence) : 0;',
     "int err = c->err;", "coming_thread"),
    # ---- a set that is saved ----
    ("SAVING_WAITS_FOR_REDIS", ASK, "return weir__service_ask_local(r, save, &s);",
     "return weir__service_ask(r, save, &s);", "promises Promises.test_saved_without_redis"),
    ("SAVED_AS_PUBLISHED", ASK, "snprintf(r->save_error, sizeof r->save_error,",
     "snprintf(r->publish_error, sizeof r->publish_error,",
     "promises Promises.test_saved_and_published"),
    # ---- what a node's thread is asked for ----
    ("KEPT_MEANWHILE_IS_PUBLISHED", ASK,
     "\tuint64_t kept = atomic_load_explicit(&r->not_replicated, memory_order_acquire);\n"
     "\tint err = weir__node_publish(&r->node, more);\n",
     "\tint err = weir__node_publish(&r->node, more);\n"
     "\tuint64_t kept = atomic_load_explicit(&r->not_replicated, memory_order_acquire);\n", "ask"),
    ("KEPT_IS_NONE", ASK,
     "atomic_fetch_sub_explicit(&r->not_replicated, kept, memory_order_relaxed);",
     "atomic_store(&r->not_replicated, 0);", "ask"),
    ("KEPT_THOUGH_IT_FAILED", ASK, "\tif (!err)\n\t\tatomic_fetch_sub", "\tatomic_fetch_sub",
     "ask"),
    ("LEASE_THOUGH_IT_FAILED", ASK, "\tif (!err && keep)\n\t\treturn weir__redis_lease(&r->redis, "
     "keep, false);\n", "\tint held = keep ? weir__redis_lease(&r->redis, keep, false) : 0;\n"
     "\tif (keep)\n\t\treturn err ? err : held;\n", "ask"),
    ("LEASE_FOR_ONE_TIME", ASK, "false, 2 * r->publish_ms,", "false, r->publish_ms,", "ask"),
    ("LEASE_OF_WHO_ASKED", ASK, "return under_lease(r, true, 0, publish, arg);",
     "return under_lease(r, true, 2 * r->publish_ms, publish, arg);", "ask"),
    ("LEASE_WHILE_IT_COMES", ASK,
     "\tif (looked.err == -EINPROGRESS)\n\t\treturn looked.err;\n", "", "ask"),
    ("RELEASE_FAILED_INSTEAD", ASK,
     "\t(void)weir__redis_release(&r->redis); /* it ends by itself */\n",
     "\tint left = weir__redis_release(&r->redis);\n\terr = left ? left : err;\n", "ask"),
    ("WAITS_FOR_WHAT_FAILED", ASK, "if (result == -EINPROGRESS && r->look_err)", "if (0)", "ask"),
    ("NO_IMAGE_IS_WHY", ASK, "if (result == -EINPROGRESS && r->look_err)",
     "if (result && r->look_err)", "ask"),
    ("SAVED_WHEN_CLOSED", ASK, "(q->local && err != -ECANCELED)", "q->local", "ask"),
    ("NOTED_AS_A_REQUEST", ASK, 'weir__service_note(r, err ? weir_fail(err, "%s", why) : 0);',
     "weir__service_note(r, err);", "ask"),
    ("UNSEEN_IS_WHY_OF_ALL", ASK, "return looked->err && err == -EEXIST ?",
     "return looked->err && err ?",
     "ask"),
    ("UNSEEN_IN_OTHER_WORDS", ASK, "weir__failure_answer(looked) : err", "looked->err : err",
     "ask"),
    ("NEVER_WITHOUT_A_COPY", ASK, "if (err && !weir__node_lacks_image(&r->node))", "if (0)", "ask"),
    ("TRIED_ONCE_MORE", ASK, "err == -EEXIST && tries < 3", "err == -EEXIST && tries < 4", "ask"),
    # ---- a round of it ----
    ("IMAGE_THAT_NOBODY_WANTS", ROUND, "weir__node_wants_image(n) ? &n->seen : NULL", "&n->seen",
     "round"),
    ("LOOK_FAILED_ONCE", ROUND,
     "\t\tr->look_err = 0; /* an image that failed before comes all the same, say */\n",
     "\t\tr->look_err = settled ? 0 : r->look_err;\n", "round"),
    ("LOOK_FAILED_AND_SETTLED", ROUND,
     "\t\tr->look_err = 0; /* an image that failed before comes all the same, say */\n",
     "\t\tr->look_err = settled ? r->look_err : 0;\n", "round"),
    ("FAILS_WHILE_IT_COMES", ROUND, "r->look_err = err == -EINPROGRESS ? 0 : err;",
     "r->look_err = err;", "round"),
    ("SENDS_WHAT_IS_JOINED_ALONE", ROUND, "if (r->node.epoch[0] && weir__wire_fd(r->wire) >= 0)",
     "if (!err && r->node.epoch[0] && weir__wire_fd(r->wire) >= 0)", "round"),
    ("SENDS_THOUGH_CUT_OFF", ROUND, "if (r->node.epoch[0] && weir__wire_fd(r->wire) >= 0)",
     "if (r->node.epoch[0])", "round"),
    ("SENT_AGAIN_ONCE", ROUND, "err == -ESTALE && tries < 3", "err == -ESTALE && tries < 1",
     "round"),
    ("CONFIRMED_IN_ANOTHER_EPOCH", ROUND, "!err && strcmp(epoch, r->node.epoch) == 0 &&", "!err &&",
     "round"),
    ("TOLD_OF_HIGHER_ALONE", ROUND, "n->joined.generation != before.generation",
     "n->joined.generation > before.generation", "round"),
    ("JOINED_ANEW_UNSAID", ROUND, "\t\terr = look_now(r);\n\tif (err && is_own",
     "\t\terr = weir__node_look(&r->node);\n\tif (err && is_own", "round"),
    ("JOINED_WHILE_SENDING_UNSAID", ROUND, "err = look_now(r); /* L1", "err = weir__node_look("
     "&r->node); /* L1", "round"),
    ("FULL_HIDES_THE_CUT", ROUND, "if (err && is_own(first.err))", "if (0)", "round"),
    ("FULL_IS_OWN_TOO", ROUND, "return err == -ENOBUFS || err == -ENOMEM;",
     "return err == -ENOBUFS || err == -ENOMEM || err == -ENOSPC;", "round"),
    ("FIRST_IN_OTHER_WORDS", ROUND,
     "\tweir__failure_take(first, err);", "\tfirst->err = err;", "round"),
    ("LAST_IS_SAID", ROUND, "if (!err || first->err)", "if (!err)", "round"),
    ("UNSAID_WHILE_SENDING", ROUND, "\t\tnote(first, err);\n\t\t/* a manifest",
     "\t\t/* a manifest", "round"),
]

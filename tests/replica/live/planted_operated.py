# SPDX-License-Identifier: MIT
"""Of planted.py: what is done to redis by its own commands, to keys that sign, and meanwhile."""
CALL, MANIFEST = ("src/replica/redis/%s.c" % f for f in ("call", "manifest"))
TOOL = "src/tool/commands/replicate/"
REPLICATE = TOOL + "publish.c"
STATS, DUE = ("src/replica/service/%s.c" % f for f in ("stats", "due"))
JOIN, PUBLISH = ("src/replica/node_%s.c" % f for f in ("join", "publish"))

OPERATED = [
    # ---- redis is configured ----
    ("NOT_SAVED_UNSAID", CALL, '"the server cannot save"', '"no"',
     "configured Configured.test_it_cannot_save"),
    ("REPLICAS_UNSAID", CALL, '"the server has too few replicas to take writes"', '"no"',
     "configured Configured.test_replicas_are_demanded"),
    ("NO_WRITES_UNSEEN", "src/replica/format/scripts.c", "'NOREPLICAS.*') or", "'READONLY.*') or",
     "configured Configured.test_replicas_are_demanded"),
    ("NOT_SAVED_UNSEEN", "src/replica/format/scripts.c", "'MISCONF.*') or", "'READONLY.*') or",
     "configured Configured.test_it_cannot_save"),
    ("NO_WRITES_UNSAID", TOOL + "status.c", "if (v->no_writes[0])", "if (0)",
     "status Figures.test_no_writes_are_taken"),
    ("WRITES_ALWAYS_TAKEN", TOOL + "status_json.c", "v->no_writes[0] == '\\0'", "1",
     "status Figures.test_no_writes_are_taken"),
    ("ASKED_BY_A_CHANGE", "src/replica/format/scripts.c", "redis.pcall('HDEL', nodes, \"\");",
     "redis.pcall('HSET', nodes, '-', 1);", "shell Shell.test_status_changes_nothing"),
    # ---- what is refused now and then ----
    ("WELL_BETWEEN_TRIES", STATS, "!r->redis.full && !is_failing(r)) {", "!r->redis.full) {",
     "said Said.test_no_writes_are_taken"),
    ("UNSEEN_BETWEEN_TRIES", STATS, "failing             ? failing->why :",
     "0 ? failing->why :", "said Said.test_no_writes_are_taken"),
    ("LACKS_IN_TURN", STATS, "if (!err && !is_failing(r))", "if (!err)", "seen"),
    ("WELL_UNPUBLISHED", STATS, "weir__service_failing(r) || r->publish_error[0];",
     "weir__service_failing(r);", "seen"),
    ("SCRIPT_OF_EACH", CALL, "return end ? (size_t)(end - text) : len;", "return len;",
     "said Said.test_no_writes_are_taken"),
    ("OVER_IS_NOT_REPORTED", DUE, "\tif (over)\n\t\tweir__due_now(&r->status);", "(void)over;",
     "gone"),
    ("EACH_IN_ITS_TURN", DUE, "weir__failure_answer(before ? t : now);",
     "weir__failure_answer(now);", "gone"),
    ("NOT_DUE_IS_WELL", DUE, "\t\tif (err == NOT_DUE)\n\t\t\tcontinue;\n",
     "\t\terr = err == NOT_DUE ? 0 : err;\n", "gone"),
    ("BROKEN_FOR_LONG", DUE, "if (err == -ESTALE || weir__wire_fd(r->wire) < 0)",
     "if (err == -ESTALE)", "gone"),
    ("BEGAN_ANEW_FAILS", DUE, "if (err == -ESTALE || weir__wire_fd(r->wire) < 0)",
     "if (weir__wire_fd(r->wire) < 0)", "gone"),
    ("TEXT_CUT", CALL, "TEXT = 400", "TEXT = 200", "said Said.test_it_cannot_save"),
    ("NO_WRITES_CUT", "src/replica/format/scripts.c", "string.sub(why, 1, 400)",
     "string.sub(why, 1, 200)", "said Said.test_it_cannot_save"),
    ("LATE_AND_UNSAID", "src/replica/service/insert.c", "*why ? \": \" : \"\", why);",
     "\"\", \"\");", "said Said.test_it_cannot_save"),
    ("SET_TWICE", "src/replica/service/insert.c", "if (strncmp(why, own, n) == 0)", "if (0)",
     "seen"),
    # ---- what is in the way is said with a way out ----
    ("TOO_MUCH_TO_SAY", "src/replica/service/view.c", "err == -EMSGSIZE ? too_much(x) : err",
     "err", "status Figures.test_an_answer_that_is_too_long"),
    ("NO_WAY_FROM_JUNK", REPLICATE, "\tif (err == -EBADMSG)\n\t\treturn unreadable(r);\n", "",
     "shell Shell.test_what_is_no_manifest"),
    ("AWAY_WITH_LATER_ONES", REPLICATE, "\tif (err == -EBADMSG)\n", "\tif (err < 0)\n",
     "shell Shell.test_what_is_no_manifest"),
    # ---- a shell, meanwhile ----
    ("READ_IN_ANOTHER_EPOCH", PUBLISH, "if (strcmp(mark->epoch, n->epoch) != 0)", "if (0)",
     "shell_meanwhile Meanwhile.test_redis_restarts"),
    # ---- who signs ----
    ("ANY_SIGNER", MANIFEST, "int err = r->trust ? weir__trust_check(",
     "int err = 0 ? weir__trust_check(", "secret Secret.test_another_signs_and_it_is_taken_back"),
    # ---- an older generation is shown, by its epoch ----
    ("RECORD_OF_ANY_TIME", JOIN, "&&\n\t       is_newer(n, m, now);", ";",
     "replayed Replayed.test_it_is_shown_by_a_liar"),
    ("RECORD_BESIDE_A_GAP", JOIN, "if (!p->gap && is_of_record(n, m, now)) {",
     "if (m->source == WEIR_SOURCE_RECORD) {", "replayed Replayed.test_it_is_put_back"),
    # ---- what stands in the place of a file ----
    ("WAITS_AT_A_PIPE", TOOL + "follow.c", "\tif (stat(path, &f->file) != 0 ||",
     "\tclose(open(path, 0));\n\tif (stat(path, &f->file) != 0 ||",
     "follow_devices Devices.test_it_ends_at_a_pipe"),
    # ---- a user of redis ----
    ("PASSWORD_READ_ONCE", "src/replica/wire/wire.c",
     "weir__secret_read(&password, w->password_file) : 0;",
     "(w->password ? 0 : weir__secret_read(&w->password, w->password_file)) : 0;\n"
     "\tpassword = w->password;",
     "user_forgotten UserForgotten.test_it_is_back_by_another_password"),
]

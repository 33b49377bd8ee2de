# SPDX-License-Identifier: MIT
"""Of planted.py: what tests passed by until somebody planted it."""

SRC = "src/replica/"
BEGIN = SRC + "service/begin.c"
FOLLOW, PUBLISH = ("src/tool/replicate/%s.c" % f for f in ("follow", "publish"))

PROBES = [
    # ---- follow ----
    ("SAID_ALL_THE_TIME", FOLLOW, "if (err && err != last)", "if (err)",
     "follow Follow.test_a_failure_is_said_once"),
    ("NEWER_NUMBERS_ALONE", FOLLOW, "s.generation == *saved", "s.generation <= *saved",
     "follow Follow.test_a_set_begun_anew"),
    ("FILE_WITHOUT_ITS_NUMBER", FOLLOW, "\to.generation = s.generation;\n", "",
     "follow Follow.test_its_number"),
    ("FOLLOWS_WITHOUT_ZSTD", FOLLOW, "\to.zstd_level = r->zstd_level;\n", "",
     "follow Follow.test_compressed"),
    ("ANY_FILE_IS_REPLACED", FOLLOW,
     "return stat(path, &st) != 0 || st.st_size == 0 || image_begins(path);",
     "return stat(path, &st) != 0 || true;", "follow Follow.test_what_is_no_image_stays"),
    # ---- publish ----
    ("BEGINS_THOUGH_IT_FAILED", PUBLISH, "if (!err && !r->quiet) /* which",
     "if (!r->quiet) /* which", "operate Operate.test_the_first_is_refused"),
    ("FIRST_WITHOUT_ITS_KEYS", PUBLISH, "err = weir_replica_publish_with(replica, f); /*",
     "err = weir_replica_publish(replica); /*",
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
]

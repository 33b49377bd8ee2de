# SPDX-License-Identifier: MIT
"""Of planted.py: what comes from outside, by hand or drawn by seed."""
REDIS = "src/replica/redis/"

BEGIN, DUE = ("src/replica/service/" + f for f in ("begin.c", "due.c"))

OUTSIDE = [
    ("SIGNS_ANYTHING", REDIS + "manifest.c", "if (!r->signer || r->trust)", "if (1)",
     "shell Shell.test_a_signed_generation_is_taken_back"),
    ("OTHER_STEPS", "src/replica/node_publish.c", "return err ? err : check_steps(n, f);",
     "return err;", "shell Shell.test_other_steps"),
    ("FIRST_IS_UNITED", "src/tool/replicate/publish.c",
     "return err == -ENOTSUP ? weir_replica_publish_from(replica, copy_of, f) : err;",
     "return err;", "shell Shell.test_a_kind_that_takes_no_inserts"),
    ("NAME_OF_A_MOMENT", REDIS + "image.c", "&& after ? after + 2 : why;", "&& 0 ? after : why;",
     "shell Shell.test_a_key_where_there_is_none"),
    ("OPEN_BEFORE_IT_HAS_ALL", BEGIN, "return err ? err : catch_up(r);", "return err;",
     "begins Begins.test_open_has_all"),
    ("CLOSED_AND_WELL", "src/replica/service/open.c", "if (foreign && kept)", "if (0)",
     "promises Promises.test_closed_when_the_set_is_another"),
    ("GROWTH_UNWATCHED", DUE, "\twatch(r, now);\n", "",
     "due Due.test_room_for_a_set_that_has_grown"),
    ("REPLICA_HOLDS_THE_CLOSING", REDIS + "coming.c",
     "\t\tweir__wire_interrupt(c->redis.read_wire);", "\t\t;",
     "closed Closed.test_at_any_moment"),
    ("SERVED_GOES_BY_ITSELF", REDIS + "scripts.c", "redis.call('PERSIST', names .. i);", "",
     "faults Faults.test_faults"),
    ("MANIFEST_OF_ANY_SHAPE", REDIS + "manifest.c",
     "a->type == REDIS_REPLY_ARRAY && a->elements == 3 &&", "",
     "mutated_tool MutatedTool.test_answers_that_are_not_what_it_said"),
    ("HEARD_FOR_EVER", "src/replica/service/thread.c",
     "\t\t(void)weir__wire_heard(r->ear);", "\t\t;", "meddled Meddled.test_hints_of_anybody"),
]

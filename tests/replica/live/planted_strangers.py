# SPDX-License-Identifier: MIT
"""Planted bugs that tests of what strangers do must find, by seed or by hand; as in planted.py."""
REDIS = "src/replica/redis/"

STRANGERS = [
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

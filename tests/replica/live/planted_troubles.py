# SPDX-License-Identifier: MIT
"""Of planted.py: what an operator sees of troubles, of wrong uses and of disks that are full."""

FOLLOW = "src/tool/commands/replicate/follow.c"
OPTIONS = "src/replica/service/options.c"
LOOK, AGAIN = ("src/replica/" + f for f in ("node_look.c", "node_publish.c"))

TROUBLES = [
    # ---- follow, and its disk ----
    ("SAVED_THOUGH_IT_IS_FULL", FOLLOW, "f->saved = !err;", "f->saved = true;",
     "disk Disk.test_full_later"),
    ("FULL_AT_FIRST_UNSAID", FOLLOW, "status = trouble_weir(err, r->output);",
     "status = TOOL_OK;", "disk Disk.test_full_at_the_beginning"),
    ("REMOVED_STAYS_AWAY", FOLLOW,
     " && !another && (is_as_saved(f) || is_anothers(f, replica));", " && !another;",
     "disk Disk.test_deleted"),
    # ---- a day's troubles ----
    ("OTHERS_HAVE_WHAT_IS_KEPT", AGAIN, "!more && !has_more && !n->ahead && sent;",
     "!more && !n->ahead;", "troubles Troubles.test_a_node_has_no_room"),
    ("KEPT_FOR_EVER", "src/replica/service/ask.c", "\tif (!err)\n\t\tatomic_fetch_sub_explicit(",
     "\tif (0)\n\t\tatomic_fetch_sub_explicit(", "troubles Troubles.test_a_node_has_no_room"),
    ("NO_ROOM_AND_NO_JOIN", "src/replica/node_join.c", "\treturn weir__pending_show(",
     "\tint full = weir__node_collect(n);\n\treturn full ? full : weir__pending_show(",
     "troubles Troubles.test_redis_restarts_and_a_node_has_no_room"),
    ("RETURNED_TO_ALONE", AGAIN, "\tm->cursor = (struct weir_cursor){ .consumed = gone };\n",
     "\tm->cursor = n->cursor;\n", "troubles Troubles.test_back_and_forth"),
    ("THE_WAY_OUT_UNSAID", LOOK,
     "\" (DEL the set's keys, and a node of either can publish its own)\"", "\"\"",
     "troubles Troubles.test_a_wrong_seed_over_deleted_keys"),
    # ---- wrong uses ----
    ("READ_URL_UNNAMED", OPTIONS, "replicas that are read (read_url, --read-url): %s", "%s",
     "refusals Refusals.test_refused"),
    ("ANYTHING_IS_REPLACED", FOLLOW, "int status = place_ask(r->output, r->force, NULL);",
     "int status = TOOL_OK;",
     "follow Follow.test_what_is_no_image_stays"),
    # ---- replicas ----
    ("ONE_THAT_BEGINS_IS_NONE", "src/replica/redis/lease.c",
     "\tif (*wanted < come)\n\t\t*wanted = come;\n", "",
     "promises Promises.test_a_replica_begins"),
]

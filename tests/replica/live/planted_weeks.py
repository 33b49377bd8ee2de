# SPDX-License-Identifier: MIT
"""Of planted.py: what whoever operates redis does to it in a week, or what happens to it."""
LOOK, JOIN = ("src/replica/" + f for f in ("node_look.c", "node_join.c"))
SCRIPTS = "src/replica/redis/scripts.c"

WEEKS = [
    # ---- redis's files of before ----
    ("EPOCH_OF_THE_SET_ALONE", SCRIPTS, "string.match(info, 'master_replid:(%x+)') .. token;",
     "string.rep('0', 40) .. token;", "backups Backups.test_inserts_since"),
    ("OLDER_IS_TAKEN", JOIN, " && n->joined.generation <= m->generation;", ";",
     "backups Backups.test_generations_since"),
    ("REPLACED_COMES_BACK", LOOK, "if (was_replaced(n, m) || (lacks", "if ((lacks",
     "backups Keys.test_a_record_since"),
    # ---- a week ----
    ("LEASE_OF_THE_DEAD", SCRIPTS, "(ARGV[3] == '1' or redis.call('PTTL', lease) == -1)",
     "redis.call('PTTL', lease) == -1", "weeks Weeks.test_a_publisher_is_killed_with_the_lease"),
    # ---- keys and fields that go ----
    ("GONE_UNSEEN", LOOK,
     "\tif (!text)\n\t\tn->seen = (struct weir_manifest){ .generation = 0 };\n", "",
     "deleted Deleted.test_a_key"),
]

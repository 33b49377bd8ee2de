# SPDX-License-Identifier: MIT
"""Of planted.py: what whoever operates redis does to it in a week, or what happens to it."""
LOOK, JOIN = ("src/replica/" + f for f in ("node_look.c", "node_join.c"))
SCRIPTS = "src/replica/format/scripts.c"

WEEKS = [
    # ---- redis's files of before ----
    ("FORGOTTEN_IN_AN_EPOCH", LOOK, "\tweir__retained_anew(&n->retained);\n",
     "\tweir__retained_free(&n->retained);\n", "backups Backups.test_inserts_since"),
    ("OLDER_IS_TAKEN", JOIN, " && n->joined.generation <= m->generation;", ";",
     "backups Backups.test_generations_since"),
    ("REPLACED_COMES_BACK", LOOK, "(was_replaced(n, m) || has_all", "(has_all",
     "backups Keys.test_a_record_since"),
    ("ANY_SEED_IS_JOINED", JOIN,
     "if (!p->gap && is_of_record(n, m, now)) {",
     "if (!p->gap) {", "lineages AnotherBegins.test_of_keys"),
    # ---- a week ----
    ("LEASE_OF_THE_DEAD", SCRIPTS, " and ARGV[3] ~= '1' and left", " and left",
     "weeks Weeks.test_a_publisher_is_killed_with_the_lease"),
    # ---- keys and fields that go ----
    ("GONE_UNSEEN", LOOK,
     "\tif (!text)\n\t\tn->seen = (struct weir_manifest){ .generation = 0 };\n", "",
     "deleted Deleted.test_a_key"),
    # ---- redis is away ----
    ("CLOSED_AT_ONCE", "src/replica/service/open.c",
     "uint32_t patience = there ? r->confirm_ms : ONE_TRY_MS;",
     "uint32_t patience = there ? 100 : ONE_TRY_MS;", "away Away.test_closed_when_it_goes_on"),
    # ---- the file that is followed ----
    ("CHANGED_IS_WRITTEN", "src/tool/commands/replicate/follow.c",
     "st.st_mtim.tv_sec == was->st_mtim.tv_sec &&",
     "st.st_mtim.tv_sec == was->st_mtim.tv_sec && st.st_ctim.tv_nsec == was->st_ctim.tv_nsec &&",
     "follow_moments Moments.test_whose_it_is"),
    # ---- redis has what was before, and nobody publishes ----
    ("LEFT_ALONE_UNSAID", "src/replica/service/stats.c", "if (!is_left_alone(r))", "if (1)",
     "backups Backups.test_generations_since"),
    # ---- what is done when redis has lost what it had last ----
    ("AGAIN_TAKES_AWAY", JOIN, "\t\treturn n->apart;\n", "\t\treturn false;\n",
     "losses Losses.test_a_rollback_to_the_current_one"),
    ("APART_NO_MORE", JOIN, "\tn->apart |= n->alone;\n", "\tn->apart = n->alone;\n",
     "losses Losses.test_a_rollback_after_a_generation"),
    ("SHELLS_DO_NOT_WAIT", "src/tool/commands/replicate/publish.c",
     "\twait_until_complete(r, replica);\n\treturn", "\treturn",
     "losses Losses.test_a_file_that_was_saved"),
    ("PUBLISHED_TOO_SOON", "src/replica/service/due.c", " || is_not_owed(r, now))", ")",
     "losses WaysOut"),
    ("UNSIGNED_OVER_SIGNED", "src/replica/redis/manifest.c", "if (r->is_signed && !r->signer)",
     "if (0)", "shell Shell.test_a_secret_that_was_forgotten"),
    ("KEPT_BY_ANY_NUMBER", "src/replica/redis/manifest.c", "return strstr(text, line) ? 0 :",
     "return 1 ? 0 :", "shell Shell.test_another_is_kept_by_its_number"),
    ("LAST_NUMBER_LASTS", "src/replica/node_publish.c",
     " && n->newest - there <= UINT32_MAX ?", " ?",
     "meddled Meddled.test_the_last_number_there_is"),
    ("REFUSED_IMAGES_STAY", "src/replica/redis/manifest.c", "\t\tweir__redis_unstore(r, m);\n",
     "\t\t;\n", "asked Chunks.test_of_what_nobody_published"),
]

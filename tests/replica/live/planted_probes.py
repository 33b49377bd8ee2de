# SPDX-License-Identifier: MIT
"""Of planted.py: what tests passed by until somebody planted it."""

SRC = "src/replica/"
FOLLOW = "src/tool/replicate/follow.c"

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
]

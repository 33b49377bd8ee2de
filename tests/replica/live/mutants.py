#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the live tests find bugs? Plants each bug into a copy of src/replica, builds a node with it,
and runs the named test, which must fail. Without a bug it must pass.

usage: mutants.py BUILD_FOLDER [NAME...]          CC chooses the compiler"""
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HERE = ROOT / "tests/replica/live"
CC = shlex.split(os.environ.get("CC", "gcc")) + "-std=gnu11 -D_GNU_SOURCE -w -O1".split()
# Name, file of src/replica, old text, new text, and the test.
MUTANTS = [
    ("ACKNOWLEDGES_WHAT_WAITS", "node/node.c", "waits < owed ? waits : owed;", "owed;",
     "room full_and_then_not"),
    ("RESENDS_NOTHING", "node/touch.c", "weir__ring_requeue(&n->ring, base, most, false);", "",
     "faults loses_power"),
    ("NO_RING_IN_DOUBT", "node/touch.c", "weir__ring_requeue(&n->ring, none, most, false);", "",
     "faults redis_begins_empty"),
    ("OWES_NOTHING", "node/insert.c", "&& !head_has(n, d->id) ? d->stamp", "&& 0 ? d->stamp",
     "faults FLUSHALL"),
    ("WAITS_FOR_NO_REPLICA", "service/confirm.c", "replicas ? wait_for(r, replicas) : 0", "0",
     "replicas one_that_is_stopped"),
    ("SENDS_NOTHING_AT_CLOSE", "service/open.c", "(void)!weir_replica_flush(r, patience_ms);", "",
     "speed closed_at_once"),
    ("CONFIRMS_WHAT_MAY_BE_EVICTED", "service/confirm.c", "if (r->evicts.err)", "if (0)",
     "room evicts_some"),
    ("FULL_FOR_EVER", "node/publish.c", "(n->log_bytes || h->full)", "n->log_bytes",
     "room makes_room"),
    ("TWO_UPLOADS", "node/publish.c", "if (!err && n->publishing)", "if (0)",
     "speed record_while"),
    ("TRUSTS_ALL", "service/options.c", "r->trust ? weir__trust_accept(", "0 ? weir__trust_accept(",
     "trust unsigned_node"),
    ("OLD_HEADS_ARE_REFUSED", "service/options.c", "if (err == -EKEYREJECTED && is_old(r, m))",
     "if (0)", "trust over_an_old_dump"),
    ("OLD_IMAGES_ARE_MERGED", "node/join.c", "if (weir__node_head_is_old(n)) {", "if (0) {",
     "trust over_a_dump_of_an_old_era"),
    ("HELD_BACK_AND_WELL", "service/stats.c", "|| lacking_ms < WEIR_SERVICE_SLOW_MS", "|| 1",
     "hostile held_back"),
    ("WAITS_IN_SILENCE", "service/options.c", ".waiting = weir__service_waiting,", "",
     "hostile held_back"),
    ("SIGNS_ONCE", "service/thread.c", "int err = weir__node_republish(n);", "int err = 0;",
     "trust signs_again"),
]


def build(folder, library, file=None, old=None, new=None):
    shutil.copytree(ROOT / "src/replica", folder / "replica")
    if file:
        text = (folder / "replica" / file).read_text()
        if text.count(old) != 1:
            raise SystemExit("%s has %s %d times" % (file, old, text.count(old)))
        (folder / "replica" / file).write_text(text.replace(old, new))
    sources = [s for s in (folder / "replica").glob("*/*.c") if s.name != "no_tls.c"]
    made = [p.parent for p in (library / "src/replica").rglob("*.lua.h")]
    subprocess.run([*CC, *("-I%s" % i for i in (*set(made), folder / "replica",
                                                 ROOT / "include", library / "include")),
                    HERE / "node.c", *sources, "-o", folder / "node", "-L", library / "src",
                    "-Wl,-rpath,%s" % (library / "src"),
                    *"-lweir -lhiredis -lsodium -lssl -lcrypto -lpthread".split()], check=True)


def fails(folder, test):
    of, name = test.split(" ")
    more = {"faults": ["0", "1"], "speed": ["1000000"], "hostile": ["1"]}.get(of, [])
    run = subprocess.run(["/usr/bin/python3", "-B", "-W", "ignore", HERE / ("test_%s.py" % of),
                          folder / "node", *more, "-k", name], capture_output=True, text=True,
                         env={**os.environ, "WEIR_TEST_PATIENCE": "20"})
    if "Ran 0 tests" in run.stderr:
        raise SystemExit("there is no test %s" % test)
    return run.returncode != 0


def main():
    library, names, well = Path(sys.argv[1]).resolve(), sys.argv[2:], True
    for name, *mutant, test in [m for m in MUTANTS if not names or m[0] in names]:
        with tempfile.TemporaryDirectory(prefix="weir-mutant-") as folder:
            build(Path(folder), library, *mutant)
            found = fails(Path(folder), test)
        print("%-30s %s %s" % (name, "found by" if found else "NOT FOUND by", test), flush=True)
        well = well and found
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())

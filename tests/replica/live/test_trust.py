# SPDX-License-Identifier: MIT
"""A signed set in a redis that lies, or that others can write to. A running node keeps its keys and
reports what is wrong, and no node opens with fewer keys than it had. test_trust.py PROGRAM"""
import errno
import os
import subprocess
import sys
import time
import unittest

import live

HEAD = live.SET + "head"
SAYS = ("version", "generation", "manifest", "signature") # a publication sets these fields
CLOCK = r"""
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *t)
{
	int err = (int)syscall(SYS_clock_gettime, clock, t);
	if (clock == CLOCK_REALTIME)
		t->tv_sec += atol(getenv("SECONDS_AHEAD"));
	return err;
}
"""
DAY = 86400


class Set(unittest.TestCase):
    """A set with a generation of 100 keys. next() publishes 100 more."""
    signer_options = ()

    def setUp(self):
        self.w = live.World(options=("capacity=10000", "keep=3"), appendonly="no")
        self.addCleanup(self.w.close)
        self.client = self.w.master.client
        self.signer = self.w.start(*self.w.signed("signer", True), *self.signer_options)
        self.old = self.publish(0)
        self.reader = self.w.start(*self.w.signed("reader"))

    def publish(self, i, signer=None):
        """Return: the head after the publication."""
        signer = signer or self.signer
        self.assertGreaterEqual(signer.insert(100 * i, 100 * (i + 1))["result"], 0)
        self.assertEqual(signer.ask("publish")["result"], 0)
        return self.head()

    def head(self, key=HEAD):
        return dict(zip(SAYS, self.client.hmget(key, *SAYS)))

    def next(self):
        new = self.publish(1)
        live.wait_until("the reader has it", lambda: self.reader.stats()["joined"] ==
                        self.signer.stats()["joined"])
        return new

    def keeps_all(self, node, n=200):
        self.assertEqual(node.missing(0, n), 0)

    def says(self, node, *words):
        live.wait_until("it says %s: %s" % (words, node.stats()), lambda: all(
            word in node.stats()["error"] for word in words), 3 * live.PATIENCE)
        self.assertTrue(any(word in node.reports() for word in words), node.reports())
        print("%s: %s" % (self.id().split(".")[-1], node.stats()["error"]), flush=True)

    def refuses(self, state, result=-errno.EKEYREJECTED, *words, **more):
        node = self.w.start(*self.w.signed(state), opens=result, **more)
        for word in words:
            self.assertIn(word, node.opened["error"])
        return node

    def state(self, name):
        with open(os.path.join(self.w.folder, name), "rb") as f:
            return f.read()


class Signed(Set):
    # ---- an older head ----

    def test_an_old_generation_is_put_back(self):
        self.next()
        self.signer.quit()
        kept = self.state("reader")
        self.client.hset(HEAD, mapping=self.old)
        self.says(self.reader, "older than")
        self.keeps_all(self.reader)
        self.assertEqual(self.state("reader"), kept)
        self.reader.quit()
        self.refuses("reader", -errno.EKEYREJECTED, "older")
        self.assertEqual(self.state("reader"), kept)

    def test_all_keys_are_put_back(self):
        """RESTORE puts an old dump of all keys back while redis runs."""
        names = self.client.keys("{weir:seen}:*")
        dumps = {name: self.client.dump(name) for name in names}
        self.next()
        self.signer.quit()
        with self.client.pipeline(transaction=True) as p:
            p.delete(*self.client.keys("{weir:seen}:*"))
            for name, dump in dumps.items():
                if dump:
                    p.restore(name, 0, dump, replace=True)
            p.execute()
        self.says(self.reader, "older than")
        self.keeps_all(self.reader)
        self.reader.quit()
        self.refuses("reader")

    def put_back(self, how):
        """Publish by @how and kill the publisher. Return: another signer, a dump from before, and
        the version that the nodes hold."""
        signer = self.w.start(*self.w.signed("another signer", True))
        with self.client.pipeline(transaction=True) as p:
            names = self.client.keys("{weir:seen}:*")
            for name in names:
                p.dump(name)
            dumps = dict(zip(names, p.execute()))
        how()
        held = self.signer.stats()["newest"]
        for node in (self.reader, signer):
            live.wait_until("it has that", lambda: node.stats()["joined"] == held)
        self.w.kill(self.signer)
        return signer, dumps, held

    def is_well_again(self, signer, held):
        """A running signer publishes its newer keys again, above version @held."""
        live.wait_until("a newer one: %s" % signer.stats(),
                        lambda: signer.stats()["newest"] > held)
        for node in (signer, self.reader):
            live.wait_until("it is well: %s" % node.stats(), node.well)
            self.assertGreaterEqual(node.insert(7, 8, "confirmed")["result"], 0)
        self.reader.quit()
        for name in ("reader", "newcomer"):
            node = self.w.start(*self.w.signed(name))
            self.assertEqual(node.missing(100, 200), 0)
        return node

    def restore(self, dumps):
        with self.client.pipeline(transaction=True) as p:
            p.flushall()
            for name, dump in dumps.items():
                if dump:
                    p.restore(name, 0, dump)
            p.execute()

    def test_a_signer_publishes_again_over_an_old_head(self):
        signer, _, held = self.put_back(self.next)
        self.client.hset(HEAD, mapping=self.old)
        self.is_well_again(signer, held)

    def test_a_signer_publishes_again_over_an_old_dump(self):
        signer, dumps, held = self.put_back(self.next)
        self.restore(dumps)
        self.client.execute_command("DEBUG", "CHANGE-REPL-ID") # as after a restart
        self.is_well_again(signer, held)

    def record(self):
        self.assertEqual(self.signer.ask("record", 100, 200)["result"], 0)

    def test_a_signer_publishes_again_over_an_old_era(self):
        signer, _, held = self.put_back(self.record)
        self.client.hset(HEAD, mapping=self.old)
        self.assertGreater(self.is_well_again(signer, held).missing(0, 100), 90)

    def test_a_signer_publishes_again_over_a_dump_of_an_old_era(self):
        """No removed key comes back."""
        signer, dumps, held = self.put_back(self.record)
        self.restore(dumps)
        self.client.hset(HEAD, "mark", "%016x" % 7) # an epoch that no node knows: doubt
        self.assertGreater(self.is_well_again(signer, held).missing(0, 100), 90)

    # ---- a forged head ----

    def test_unsigned(self):
        self.client.hset(HEAD, "signature", "")
        self.keeps_all(self.reader, 100)
        self.refuses("newcomer")
        self.client.hset(HEAD, mapping={"version": "1.9", "generation": "%016x" % 7})
        self.client.hset(HEAD, "manifest", self.old["manifest"].replace(
            b"version 1.1\n", b"version 1.9\n").replace(b"\nid ", b"\nid 7", 1))
        live.wait_until("it says so", lambda: self.reader.stats()["error"])
        self.keeps_all(self.reader, 100)

    def test_an_unsigned_node_publishes(self):
        """A node without signing keys publishes a higher era. Nodes that trust keys refuse it."""
        refused = self.w.start().ask("record", 1000, 1100)
        self.assertEqual(refused["result"], -errno.EKEYREJECTED, refused)
        self.client.hset(HEAD, "signature", "")
        self.assertEqual(self.w.start().ask("record", 1000, 1100)["result"], 0)
        self.says(self.reader, "signature")
        self.keeps_all(self.reader, 100)
        self.refuses("newcomer")

    def test_another_key(self):
        other = self.w.start(*self.w.signed("other", True, key="other"),
                             opens=-errno.EKEYREJECTED)
        self.assertIn("trusted", other.opened["error"])

    def test_another_sets_manifest(self):
        other = live.Node(90, self.w.folder, "url=" + self.w.url, "set=other", "capacity=10000",
                          "kind=%d" % live.CLASSIC, "seed=5", *self.w.signed("b", True))
        self.addCleanup(other.close)
        self.assertEqual(other.opened["result"], 0)
        self.assertEqual(other.ask("publish")["result"], 0)
        theirs = self.head(HEAD.replace("seen", "other"))
        self.client.hset(HEAD, mapping=theirs)
        self.says(self.reader, "set other")
        self.keeps_all(self.reader, 100)
        self.reader.quit()
        node = live.Node(91, self.w.folder, "url=" + self.w.url, "set=seen",
                         *self.w.signed("reader"))
        self.addCleanup(node.close)
        self.assertIn(node.opened["result"], (-errno.EKEYREJECTED, -errno.EBADMSG))

    def test_mixed(self):
        """The newest manifest with the image of the generation before."""
        def images():
            return set(self.client.keys(live.SET + "img:*:0"))
        before = images()
        old = next(key for key in before if key.split(b":")[-2] in self.old["manifest"])
        self.next()
        self.client.copy(old, (images() - before).pop(), replace=True)
        self.keeps_all(self.reader)
        self.signer.quit()
        node = self.refuses("newcomer", -errno.EBADMSG)
        print("mixed: %s" % node.opened["error"], flush=True)

    # ---- state files ----

    def test_a_state_file_over_restarts(self):
        self.next()
        self.reader.quit()
        again = self.w.start(*self.w.signed("reader"))
        self.keeps_all(again)
        again.process.kill()
        self.keeps_all(self.w.start(*self.w.signed("reader")))

    def test_a_damaged_state_file(self):
        self.reader.quit()
        with open(os.path.join(self.w.folder, "reader"), "r+b") as f:
            f.write(b"x")
        self.refuses("reader", -errno.EBADMSG)


class Expiring(Set):
    """A set whose generations expire. Redis freezes it once its signer has ended."""
    signer_options = ("expires_seconds=6",)

    def test_frozen(self):
        self.next()
        self.signer.process.kill()
        self.says(self.reader, "expired")
        self.keeps_all(self.reader)
        self.refuses("newcomer", -errno.EKEYEXPIRED)
        self.reader.quit()
        self.refuses("reader", -errno.EKEYEXPIRED)

    def test_a_signer_signs_again_in_time(self):
        begun = self.reader.stats()["newest"]
        time.sleep(9)
        self.assertGreater(self.reader.stats()["newest"], begun)
        self.w.start(*self.w.signed("newcomer"))
        self.assertNotIn("expired", self.reader.reports())

    def at(self, ahead):
        """Return: the environment of a process whose clock is @ahead seconds ahead."""
        source, clock = self.w.folder + "/clock.c", self.w.folder + "/clock.so"
        with open(source, "w") as f:
            f.write(CLOCK)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", clock, source], check=True)
        return {"LD_PRELOAD": clock, "SECONDS_AHEAD": str(ahead)}

    def test_a_clock_that_was_set_back(self):
        """The node counts its time from the signing of the generation."""
        reader = self.w.start(*self.w.signed("behind"), environment=self.at(-DAY))
        self.signer.process.kill()
        self.says(reader, "expired")
        self.keeps_all(reader, 100)
        reader.quit()
        self.refuses("behind", -errno.EKEYEXPIRED, environment=self.at(-DAY))

    def test_a_signer_whose_clock_is_wrong(self):
        self.signer.quit()
        for ahead in (-DAY, DAY):
            node = live.Node(92 + (ahead > 0), self.w.folder, "url=" + self.w.url, "set=seen",
                             *self.w.signed("wrong%d" % ahead, True), environment=self.at(ahead))
            self.addCleanup(node.close)
            if node.opened["result"] == 0:
                answer = node.ask("publish")
                self.assertEqual(answer["result"], -errno.ERANGE, answer)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])

# SPDX-License-Identifier: MIT
"""Ways that a set is published and taken back from a shell, to their end: nodes take what the
command said it did. test_shell.py PROGRAM WEIR"""
import functools
import os
import re
import subprocess
import sys
import time
import unittest

import group
import liar
import nodes
import tool


class Shell(tool.Tool):
    def served(self, key, *options):
        """A follower that begins now has that key."""
        path = os.path.join(self.folder, "served")
        process, _ = self.follow("served", *options)
        group.wait_until("it is served", lambda: os.path.exists(path) and self.query(path, key))
        process.terminate()
        process.wait(60)
        os.unlink(path)

    def test_a_signed_generation_is_taken_back(self):
        """Whoever signs what redis has kept is told by a signature whose it is."""
        self.weir("replicate", "key", "secret", "public")
        secret, trusted = ("--%s=%s/%s" % (option, self.folder, name) for option, name in (
            ("secret", "secret"), ("trusted", "public")))
        self.build("a", 0, 100, "-n", "1000")
        self.build("b", 500, 600, "--like=a")
        self.replicate("publish", secret, "a")
        self.replicate("publish", "--replace", secret, "b", "--", "true")
        self.assertIn("who signs a generation that redis has kept must know whose it is: trusted "
                      "keys", self.replicate("rollback", "--generation=1", secret, status=1))
        self.assertEqual(self.status()["current"]["generation"], 2)
        self.replicate("rollback", "--generation=1", secret, trusted)
        self.served(50, trusted)
        self.weir("replicate", "key", "secret2", "public2")
        with open(self.folder + "/public") as one, open(self.folder + "/public2", "a") as other:
            other.write(one.read())
        self.replicate("rollback", "--generation=3", secret + "2", trusted + "2")
        self.assertIn("none of the 1 that are trusted: their file is read when a node begins",
                      self.replicate("follow", "-o", "x", trusted, status=2))
        self.served(50, trusted + "2")

    def test_a_secret_that_was_forgotten(self):
        """Nodes would refuse what is not signed, and everybody after it could publish nothing."""
        keys = ["secret", "public"]
        self.weir("replicate", "key", *keys)
        self.build("a", 0, 100, "-n", "1000")
        self.replicate("publish", "--secret=secret", "a")
        for more in ([], ["--replace"]):
            self.assertIn("this one would not be: publish with a secret key", self.replicate(
                "publish", *more, "a", *(["--", "true"] if more else []), status=1))
        self.assertIn("would not be", self.replicate("rollback", "--generation=1", status=1))
        self.assertEqual(self.status()["current"]["generation"], 1)
        self.replicate("publish", "--secret=secret", "--trusted=public", "a")
        self.server.client.delete(*self.server.client.keys("*"))
        self.replicate("publish", "a")

    def test_what_is_no_manifest(self):
        """Where no node has the set its file begins it, when that is out of the way; what a later
        version wrote is not."""
        text = functools.partial(self.server.client.hset, "{weir:seen}:manifest", "text")
        self.build("a", 0, 100, "-n", "1000")
        self.replicate("publish", "a")
        later = self.server.client.hget("{weir:seen}:manifest", "text").replace(b"t 1", b"t 2", 1)
        for command in (("publish", "a"), ("publish", "--replace", "a", "--", "true"),
                        ("rollback", "--generation=1")):
            text(later)
            self.assertRegex(self.replicate(*command, status=2), "version 2.* on the nodes that "
                             "read\n$")
            text("junk")
            said = self.replicate(*command, status=2)
            self.assertIn("it is not weir-manifest: a node that serves", said)
        key, field = re.search("redis-cli HDEL '(.*)' (.*), and then weir replicate publish",
                               said).groups()
        self.server.client.hdel(key, field)
        self.replicate("publish", "a")
        self.served(50)

    def test_redis_has_lost_it(self):
        """A file that was followed begins it again, and nodes that run unite with it."""
        ledger = self.nodes()
        ledger.capacity = 1000
        node = ledger.start()
        node.ask("burst 100")
        self.assertEqual(node.ask("publish"), "0 ")
        follower, path = self.follow("served")
        group.wait_until("it is followed", lambda: self.has(path, node, 0))
        self.server.client.flushall()
        group.wait_until("it says so", lambda: "or a file that was saved from one, or followed "
                         "(weir replicate publish FILE)" in node.stats()["error"])
        self.replicate("publish", path)
        group.wait_until("it says that it may have more", lambda: "what this node has beside it" in
                         node.stats()["error"])
        self.assertEqual(node.ask("publish"), "0 ")
        nodes.settle(self, ledger)
        self.end(ledger, follower)

    def test_another_is_kept_by_its_number(self):
        """It has a signature that is good."""
        self.weir("replicate", "key", "secret", "public")
        own = ["--secret=secret", "--trusted=public"]
        self.build("a", 0, 100, "-n", "1000")
        for _ in range(3):
            self.replicate("publish", *own, "a")
        kept = "{weir:seen}:kept"
        self.server.client.hset(kept, 2, self.server.client.hget(kept, 3))
        self.assertIn("what is kept as generation 2 is another",
                      self.replicate("rollback", *own, "--generation=2", status=2))
        self.assertEqual(self.status()["current"]["generation"], 3)

    def test_a_kind_that_takes_no_inserts(self):
        self.build("a", 0, 100, "-k", "fuse", "--seed=7")
        self.replicate("publish", "a")
        self.served(50)
        self.build("b", 500, 600, "-k", "fuse", "--seed=7")
        self.replicate("publish", "b", status=1)
        self.replicate("publish", "--replace", "b", "--", "true")
        self.served(550)

    def test_an_image_that_has_gone(self):
        """Somebody deleted it, or a part: nobody asks for it before a node begins."""
        self.build("a", 0, 100, "-n", "3000000")
        self.replicate("publish", "a")
        self.assertEqual(self.status()["current"]["chunks_absent"], 0)
        chunks = self.server.client.keys("{weir:seen}:c:*")
        self.assertGreater(len(chunks), 2)
        self.server.client.delete(*chunks[1:])
        self.assertIn("%d pieces of the image have gone" % (len(chunks) - 1),
                      self.status(status=1)["alerts"][0])
        os.mkdir(self.folder + "/images")
        at = "--image-folder=%s/images" % self.folder
        self.server.client.delete(*self.server.client.keys("*"))
        self.replicate("publish", at, "a") # it is in no redis
        self.assertEqual(self.status()["current"]["chunks_absent"], 0)

    def test_a_kept_image_that_has_gone(self):
        """One sees it before a rollback to it is wanted, which says what else there is."""
        self.build("a", 0, 100, "-n", "10000", "--seed=7")
        self.replicate("publish", "a")
        first = self.server.client.keys("{weir:seen}:c:*")
        self.build("b", 500, 600, "--like=a")
        self.replicate("publish", "b")
        self.assertEqual(self.status()["alerts"], [])
        self.server.client.delete(*first)
        said = self.status(status=1)
        self.assertEqual([g["chunks_absent"] for g in said["kept"]], [0, 1])
        self.assertEqual(said["current"]["chunks_absent"], 0)
        self.assertEqual(said["alerts"], [
            "1 piece of the image of generation 1, which is kept, has gone from redis: there is "
            "no way back to it, and it goes when newer ones are published"])
        self.assertIn("not signed, 1 of its pieces not there\nstream",
                      self.replicate("status", status=1))
        self.assertIn("a chunk of the image has gone: publish another (if this is a rollback: the "
                      "record, with --replace)",
                      self.replicate("rollback", "--generation=1", status=1))
        self.replicate("publish", "--replace", "a", "--", "true")
        self.assertEqual(self.status()["alerts"], [])
        self.served(50)

    def test_status_changes_nothing(self):
        """Nor does it say anything to a replica or a file of redis."""
        self.build("a", 0, 100, "-n", "1000")
        self.replicate("publish", "a")
        client = self.server.client
        before = client.info()
        self.assertEqual(self.status()["alerts"], [])
        self.assertEqual([client.info()[k] for k in ("rdb_changes_since_last_save",
                                                     "master_repl_offset")],
                         [before[k] for k in ("rdb_changes_since_last_save",
                                              "master_repl_offset")])

    def aged(self):
        """Nobody reports for half a minute and more."""
        at = "{weir:seen}:nodes"
        for node, report in self.server.client.hgetall(at).items():
            ms, _, words = report.decode().partition(" ")
            self.server.client.hset(at, node, "%d %s" % (int(ms) - 31000, words))

    def test_a_publisher_that_was_killed(self):
        """It is not missed: another is started when it is time."""
        self.build("a", 0, 100, "-n", "1000")
        self.replicate("publish", "a")
        with subprocess.Popen([tool.WEIR, "replicate", "publish", "--set=seen", "--replace", "a",
                               "--", "sh", "-c", "echo; exec sleep 60"], cwd=self.folder,
                              env=self.environment, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            group.wait_until("it reports", lambda: self.status()["nodes"])
            process.kill()
        self.assertTrue(self.status()["nodes"][0]["passing"])
        self.aged()
        self.assertEqual(self.status()["nodes"], [])
        process, path = self.follow("served")
        group.wait_until("it reports", lambda: self.status()["nodes"])
        process.kill()
        process.wait()
        self.aged()
        self.assertIn("has not reported for", self.status(status=1)["alerts"][0])

    def test_commands_that_cannot_say_that_they_end(self):
        """None of them is missed."""
        self.build("a", 0, 100, "-n", "1000")
        between = liar.Liar(self.server.socket)
        self.addCleanup(between.close)
        between.refusals["hdel"] = 0
        for i, command in enumerate((["publish", "a"], ["publish", "a"],
                                     ["publish", "--replace", "a", "--", "true"],
                                     ["rollback", "--generation=2"])):
            self.replicate(*command[:1], "--url=" + between.url, *command[1:])
            self.assertEqual([n["passing"] for n in self.status(status=None)["nodes"]],
                             [True] * (i + 1))

    def test_a_rollback_that_is_refused(self):
        """The image is of what is kept, and stays."""
        self.build("a", 0, 100, "-n", "1000")
        for _ in range(2):
            self.replicate("publish", "a")
        between = liar.Liar(self.server.socket)
        self.addCleanup(between.close)
        for why in (b"WEIRBASE 9", b"WEIRLEASE another", b"OOM"):
            between.refusals["publish"] = liar.Error(why)
            self.replicate("rollback", "--generation=1", "--url=" + between.url, status=1)
        self.assertEqual([g["chunks_absent"] for g in self.status()["kept"]], [0, 0])

    def test_images_here_and_there(self):
        """What is in a folder is not looked for in redis, and what is there is."""
        self.build("a", 0, 100, "-n", "1000")
        os.mkdir(self.folder + "/images")
        self.replicate("publish", "a")
        chunks = self.server.client.keys("{weir:seen}:c:*")
        self.replicate("publish", "--image-folder=%s/images" % self.folder, "a")
        self.assertEqual(self.status()["alerts"], [])
        self.server.client.delete(*chunks)
        self.assertEqual([g["chunks_absent"] for g in self.status(status=1)["kept"]], [0, 1])

    def test_when_it_was_signed(self):
        """By the clock of who signs: what redis says of the time nobody has signed."""
        between = liar.Liar(self.server.socket)
        self.addCleanup(between.close)
        between.lies["time"] = lambda *_: [b"1", b"0"]
        self.weir("replicate", "key", "secret", "public")
        self.build("a", 0, 100, "-n", "1000")
        self.replicate("publish", "--secret=secret", "--url=" + between.url, "a")
        self.assertLess(abs(self.status()["current"]["age_seconds"]), 60)

    def test_an_image_that_has_gone_beside_made_up_ones(self):
        """They do not hide it, be they of many pieces or of more than are looked for."""
        kept = "{weir:seen}:kept"
        self.build("a", 0, 100, "-n", "1000")
        self.replicate("publish", "a")
        client = self.server.client
        first = client.keys("{weir:seen}:c:*")
        self.replicate("publish", "a")
        client.delete(*first)
        there = client.hgetall(kept)
        for pieces in 5000, 10 ** 15:
            client.delete(kept)
            client.hset(kept, mapping={"x%d" % i: "\n\nchunks %d 10 %s\n" % (pieces, "ab" * 8)
                                       for i in range(9)})
            client.hset(kept, mapping=there)
            if pieces == 5000:
                self.assertEqual([g["chunks_absent"] for g in self.status(status=1)["kept"][:2]],
                                 [0, 1])
        client.delete(*client.keys("{weir:seen}:c:*"))
        self.assertEqual(self.status(status=1)["current"]["chunks_absent"], 1)

    def test_an_image_of_more_than_there_can_be(self):
        """Whatever a text says of pieces, redis is not kept busy by the question for them."""
        self.build("a", 0, 100, "-n", "1000")
        self.replicate("publish", "a")
        for n, name in ((10 ** 15, "ab" * 8), (10 ** 5, "a" * 4000000)):
            self.server.client.hset("{weir:seen}:manifest", "text",
                                    "weir-manifest\nchunks %d 10 %s\n" % (n, name))
            begun = time.monotonic()
            self.replicate("status", status=None)
            self.assertLess(time.monotonic() - begun, 8) # it waits 10 s for an answer
        for i in range(500):
            self.server.client.hset("{weir:seen}:kept", i, "\n\nchunks %d 10 %s\n"
                                    % (10 ** 15, "ab" * 8))
        begun = time.monotonic()
        self.replicate("status", status=None)
        self.assertLess(time.monotonic() - begun, 8)

    def test_other_steps(self):
        """What would be asked for in another form is not published."""
        self.build("a", 0, 100, "-n", "1000", "--seed=7")
        self.build("b", 500, 600, "-n", "1000", "--seed=7", "--lowercase")
        self.replicate("publish", "a")
        for options in (["b"], ["--replace", "b", "--", "true"]):
            self.assertIn("what is done to the keys", self.replicate("publish", *options,
                                                                     status=1))
        self.assertEqual(self.status()["current"]["generation"], 1)
        self.server.client.flushall()
        self.replicate("publish", "b")
        self.build("c", 700, 800, "--like=b")
        self.replicate("publish", "c")
        self.served(550)

    def test_a_key_where_there_is_none(self):
        with open(self.folder + "/key", "w") as f:
            f.write("sixteen bytes...")
        os.chmod(self.folder + "/key", 0o600)
        self.build("a", 0, 100, "-n", "1000")
        self.replicate("publish", "a")
        self.build("b", 0, 100, "-n", "1000", "--keyed-by=key")
        for options in (["b"], ["--replace", "b", "--", "true"]):
            said = self.replicate("publish", "--keyed-by=key", *options, status=None) + self.aside
            self.assertIn("the image of generation 1: is not keyed, and a key was given", said)
            self.assertNotIn("descriptor", said)
            self.assertNotIn("nobody else", said)
        self.assertIn("who has the set's keys (--keyed-by, --trusted), or none where it has none",
                      said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

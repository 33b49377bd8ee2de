# SPDX-License-Identifier: MIT
"""A shell publishes, replaces and rolls back a set: nodes that start after that have what the
command reported. test_publish.py WEIR"""
import os
import shutil
import signal
import subprocess
import sys
import unittest

import tool
from redis_server import wait_until

SIZE = ("-n", "10000", "-p", "1e-6", "--seed=7")


class Publish(tool.Tool):
    def three(self):
        """Publish 1.1 with keys 0 to 99 from file a, and 1.2 with keys 500 to 599 too."""
        self.build("a", 0, 100, *SIZE)
        self.build("b", 500, 600, "--like=a")
        self.assertEqual(self.replicate("publish", "--keep=8", "a"), "set seen: generation 1.1\n")
        self.assertIn("redis had no generation of it: it begins with this image", self.aside)
        self.assertEqual(self.replicate("publish", "--keep=8", "b"), "set seen: generation 1.2\n")
        self.assertEqual(self.aside, "")

    def replace(self, image, *more, status=0):
        return self.replicate("publish", "--keep=8", "--replace", *more, "c", "--", "cp", image,
                              "c", status=status)

    def test_united_replaced_and_taken_back(self):
        self.three()
        self.assertTrue(self.served(50) and self.served(550))
        self.assertEqual(self.replace("b"), "set seen: generation 2.1\n")
        self.assertEqual(self.aside, "")
        self.assertTrue(not self.served(50) and self.served(550))
        self.assertEqual(self.replicate("rollback", "--generation=1.1"),
                         "set seen: generation 3.1\n")
        self.assertTrue(self.served(50) and not self.served(550))
        self.assertEqual(self.kept()[-4:], ["3.1", "2.1", "1.2", "1.1"]) # 3.2 may add the log
        said = self.status()
        self.assertEqual([g["source"] for g in said["kept"]][-4:],
                         ["rollback", "record", "set", "set"])
        self.assertEqual((said["alerts"], said["nodes"]), ([], []))
        self.assertIn("not kept", self.replicate("rollback", "--generation=2.7", status=1))

    def test_nothing_is_there(self):
        self.build("a", 0, 100, *SIZE)
        for command, why in (
                (("publish", "--replace", "a", "--", "true"),
                 "redis has no generation of it: publish an image first"),
                (("rollback", "--generation=1.1"), "there is no such set at this redis")):
            self.assertIn(why, self.replicate(*command, status=2))
        self.assertEqual(self.version(), "0.0")

    def test_two_begin_at_once(self):
        """The keys of the second command are in the set as well."""
        self.build("a", 0, 100, *SIZE)
        self.build("b", 500, 600, "--like=a")
        self.publish_at_once("a", "b")
        self.assertTrue(self.served(50) and self.served(550))

    def publish_at_once(self, *images):
        all_of = [subprocess.Popen([tool.WEIR, "replicate", "publish", "--set=seen", "--keep=8",
                                    "--zstd=19", "-q", name], cwd=self.folder,
                                   env=self.environment) for name in images]
        for p in all_of:
            self.addCleanup(p.kill)
        self.assertEqual([p.wait(120) for p in all_of], [0] * len(images))

    def test_several_publish_at_once(self):
        """Several commands publish at once. The set gets all their keys, and lacks no chunk."""
        size = ("-n", "200000", "-p", "1e-6", "--seed=7")
        self.build("a", 0, 100000, *size)
        self.replicate("publish", "a")
        for i, name in enumerate("bcd"):
            self.build(name, 10 ** (6 + i), 10 ** (6 + i) + 100000, "--like=a")
        self.publish_at_once(*"bcd")
        said = self.status()
        self.assertEqual(said["alerts"], [])
        self.assertEqual({g["chunks_absent"] for g in said["kept"]}, {0})
        for key in (50, 1000050, 10000050, 100000050):
            self.assertTrue(self.served(key))

    def test_a_kind_that_takes_no_inserts(self):
        self.build("a", 0, 100, "-k", "fuse", "--seed=7")
        self.build("b", 500, 600, "-k", "fuse", "--seed=7")
        self.replicate("publish", "a")
        self.assertTrue(self.served(50))
        self.replicate("publish", "b", status=1)
        self.replicate("publish", "--replace", "b", "--", "true")
        self.assertTrue(self.served(550))

    def test_it_becomes_another(self):
        """A record that grew may need a larger filter. The command reports the change."""
        self.three()
        self.build("big", 0, 100, "-n", "20000", "-p", "1e-6", "--seed=7")
        self.replace("big")
        self.assertRegex(self.aside, r"becomes another: blocked of 10000 keys at \S+ -> blocked of "
                         r"20000 keys at \S+\n")
        self.assertTrue(self.served(50))

    def test_a_command_that_fails(self):
        self.three()
        self.assertIn("sh: ended by exit status 7: nothing is published", self.replicate(
            "publish", "--replace", "c", "--", "sh", "-c", "exit 7", status=2))
        self.assertIn("sh: ended by signal 9", self.replicate(
            "publish", "--replace", "c", "--", "sh", "-c", "kill -9 $$", status=2))
        self.assertEqual(self.version(), "1.2")

    def test_keyed(self):
        """Only a node with the key joins. The image is compressed, too."""
        for name in ("key", "key2"):
            with open(os.open(self.path(name), os.O_CREAT | os.O_WRONLY, 0o600), "w") as f:
                f.write(name.ljust(16))
        self.build("a", 0, 100, *SIZE[:4], "--keyed-by=key")
        self.replicate("publish", "--keyed-by=key", "--zstd", "a")
        self.assertLess(self.status()["current"]["image_bytes"],
                        os.path.getsize(self.path("a")) // 2)
        for options in ([], ["--keyed-by=key2"]):
            self.assertIn("key", self.replicate("follow", "-o", "x", *options, status=2))
        self.replicate("publish", "--keyed-by=key", "a")
        self.assertEqual(self.version(), "1.2")

    # ---- signatures ----

    def test_signed(self):
        """A signed set stays signed, and a rollback needs the trusted keys."""
        self.build("a", 0, 100, *SIZE)
        self.build("b", 500, 600, "--like=a")
        secret, trusted = self.keys()
        trusted = (trusted, "--state=" + self.path("state"))
        self.replicate("publish", secret, *trusted, "--expires=1000", "a")
        said = self.status(*trusted)["current"]
        self.assertEqual((said["is_signed"], said["trusted"]), (True, "yes"))
        self.assertTrue(990 < said["expires_in"] <= 1000)
        for command in (("publish", "b"), ("publish", "--replace", "b", "--", "true"),
                        ("rollback", "--generation=1.1")):
            self.replicate(*command, status=1)
        self.assertEqual(self.version(), "1.1")
        self.replicate("publish", secret, *trusted, "b")
        self.replicate("rollback", "--generation=1.1", secret, *trusted)
        self.assertIn("2.1", self.kept())
        self.assertTrue(self.served(50, *trusted) and not self.served(550, *trusted))
        _, other = self.keys("secret2", "public2")
        self.assertIn(": no trusted key has signed it",
                      self.replicate("status", other, "--state=x.state", status=1))
        self.assertIn("not by one of the 1 of trusted_keys", self.replicate(
            "follow", "-o", "x", other, "--state=x.state", status=2))

    def test_an_older_one_that_was_signed(self):
        """A node that took a newer generation refuses an older signed one, and keeps its file."""
        self.build("a", 0, 100, *SIZE)
        self.build("b", 500, 600, "--like=a")
        secret, trusted = self.keys()
        signs = (secret, trusted, "--state=publisher")
        self.replicate("publish", *signs, "a")
        old = self.client.hgetall(tool.SET + "head")
        self.replicate("publish", *signs, "b")
        process, path = self.follows("served", trusted, "--state=state")
        self.assertTrue(self.has(path, 550))
        before = os.stat(path)
        new = self.client.hgetall(tool.SET + "head")
        self.client.hset(tool.SET + "head", mapping={
            k: old[k] for k in (b"version", b"generation", b"manifest", b"signature")})
        wait_until("one that runs says so", lambda: any(
            "generation 1.1, which is older than 1.2" in n["error"]
            for n in self.status(status=None)["nodes"]))
        self.ends(process)
        said = self.replicate("follow", "-o", "served", trusted, "--state=state", status=2)
        self.assertIn("version 1.1 of set seen is older than 1.2", said)
        self.assertEqual(os.stat(path), before)
        self.client.hset(tool.SET + "head", mapping=new)
        os.unlink(path)
        self.assertTrue(self.served(550, trusted, "--state=state"))

    def test_publish_above_what_an_old_dump_has(self):
        """The state file is newer than redis. The keys in redis stay, unless --replace is given."""
        self.build("a", 0, 100, *SIZE)
        self.build("b", 500, 600, "--like=a")
        shutil.copy(self.path("a"), self.path("large"))  # so large has the seed of a
        self.build("large", 500, 600, "-n", "90000")
        signs = (*self.keys(), "--state=" + self.path("state"))
        self.replicate("publish", *signs, "a")
        old = self.client.hgetall(tool.SET + "head")
        self.replicate("publish", *signs, "b")
        self.replicate("publish", *signs, "b")

        def put_back():
            self.client.delete(tool.SET + "head", tool.SET + "log")
            self.client.hset(tool.SET + "head", mapping=old)
        put_back()
        self.assertIn("weir build --like", self.replicate("publish", *signs, "large", status=1))
        self.assertIn("generation 1.4", self.replicate("publish", *signs, "b"))
        self.assertIn("redis had been put back", self.aside)
        self.assertTrue(self.served(50, *signs[1:]) and self.served(550, *signs[1:]))
        put_back()
        self.replicate("publish", *signs, "--replace", "b", "--", "true")
        self.assertEqual(self.version(), "2.1")
        put_back()
        said = self.replicate("publish", *signs, "b", status=1)
        self.assertIn("redis has version 1.1, of an earlier era than 2.1 here", said)
        self.client.hset(tool.SET + "head", "signature", "")
        self.assertIn("signature", self.replicate("publish", *signs, "b", status=None) +
                      self.aside)

    # ---- events while the record is made ----

    def replacing(self):
        """Return: a publication whose command runs until the file done exists."""
        process = subprocess.Popen(
            [tool.WEIR, "replicate", "publish", "--set=seen", "--timeout=2", "--replace", "c",
             "--", "sh", "-c", "touch runs; until [ -e done ]; do sleep 0.02; done; cp a c"],
            cwd=self.folder, env=self.environment, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until("it runs", lambda: os.path.exists(self.path("runs")))
        return process

    def let(self, process):
        """Let the command end. Return: the exit status and the output."""
        with open(self.path("done"), "w"):
            pass
        said = process.stdout.read()
        return process.wait(60), said

    def test_redis_restarts_while_the_record_is_read(self):
        self.three()
        process = self.replacing()
        self.server.again()
        self.client = self.server.client
        code, said = self.let(process)
        self.assertEqual(code, 1, said)
        self.assertEqual(self.version(), "1.2")
        self.replace("a")
        self.assertTrue(self.served(50) and not self.served(550))

    def test_another_publishes_while_the_record_is_read(self):
        self.three()
        process = self.replacing()
        self.replicate("publish", "b")
        code, said = self.let(process)
        self.assertEqual(code, 1, said)
        self.assertEqual(self.version(), "1.3")

    def test_a_node_owes(self):
        """A removal is refused while a node has unsent keys, which would bring keys back."""
        self.three()
        process, _ = self.follows("served")
        wait_until("it reports", lambda: self.client.hlen(tool.SET + "nodes"))
        process.send_signal(signal.SIGSTOP) # a running node would report again
        (node, report), = self.client.hgetall(tool.SET + "nodes").items()
        self.client.hset(tool.SET + "nodes", node, report.replace(b" state ", b" owes 1 state "))
        for command in (("publish", "--replace", "a", "--", "true"),
                        ("rollback", "--generation=1.1")):
            self.assertIn("holds keys that redis lacks, and would bring back what is to be "
                          "removed", self.replicate(*command, status=1))
            self.assertEqual(self.version(), "1.2")
        self.replicate("rollback", "--generation=1.1", "--force")
        process.send_signal(signal.SIGCONT)

    # ---- what redis has lost ----

    def test_pieces_that_have_gone(self):
        """Status shows missing pieces of kept generations. A rollback to those is refused."""
        self.three()
        pieces = [self.client.keys(tool.SET + "img:%s:*" % g["image"])
                  for g in self.status()["kept"]]
        self.client.delete(*pieces[1])
        said = self.status(status=1)
        self.assertEqual([g["chunks_absent"] for g in said["kept"]], [0, 1])
        self.assertEqual(said["alerts"], [
            "1 of the pieces of generation 1.1's image gone from redis: there is no way back to "
            "it, and it goes when newer ones are published"])
        self.replicate("rollback", "--generation=1.1", status=1)
        self.client.delete(*pieces[0])
        self.assertIn("1 of the pieces of generation 1.2's image gone from redis: a node that",
                      self.status(status=1)["alerts"][0])
        self.replicate("publish", "b", status=2)
        self.replicate("publish", "--replace", "new", "--", "cp", "a", "new", status=2)
        self.replicate("publish", "--replace", "b", "--", "cp", "a", "b")
        self.assertIn("it is replaced without it", self.aside)
        self.assertIn("2.1", self.kept()) # a call for an image may add 2.2
        self.assertTrue(self.served(50) and not self.served(550))

    def test_a_manifest_that_cannot_be_read(self):
        """If the manifest cannot be read, the remedy that the message names works."""
        self.three()
        self.client.hset(tool.SET + "head", "manifest", "junk")
        self.assertIn("manifest cannot be read", self.status(status=1)["alerts"][0])
        for command in (("publish", "a"), ("rollback", "--generation=1.1")):
            said = self.replicate(*command, status=2)
            self.assertIn("let a node that has the set publish it", said)
        self.client.delete(tool.SET + "head")
        self.replicate("publish", "a")
        self.assertTrue(self.served(50))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])

# SPDX-License-Identifier: MIT
"""weir replicate for who operates it: what it refuses, its exit statuses, what is documented for a
user of redis. test_operate.py PROGRAM WEIR SOURCE"""
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import unittest

import group
import liar
import nodes
import tool


class Operate(tool.Tool):
    def test_options_without_effect(self):
        """They are refused, before anything is done."""
        for verb, option in (("status", "--keep=3"), ("status", "--trusted=x"),
                             ("status", "--zstd"), ("status", "--keyed-by=x"),
                             ("status", "--replace"), ("status", "--generation=1"),
                             ("status", "--output=x"), ("publish", "--output=x"),
                             ("publish", "--max-age=5"), ("publish", "--json"),
                             ("publish", "--generation=1"), ("follow", "--keep=3"),
                             ("follow", "--secret=x"), ("follow", "--image-folder=x"),
                             ("rollback", "--zstd"), ("rollback", "--prometheus"),
                             ("rollback", "--image-folder=x"), ("rollback", "--replace")):
            self.assertIn("%s has no effect here" % option.split("=")[0],
                          self.replicate(verb, option, status=2))
        self.assertIn("--set has no effect", self.replicate("key", status=2))
        for form in ("--json", "--prometheus"):
            self.assertIn("--quiet and %s exclude" % form,
                          self.replicate("status", form, "-q", status=2))
        for options in (["--image-http"], ["--image-ca=x"]):
            self.assertIn("--image-url, which is missing",
                          self.replicate("follow", "-o", "x", *options, status=2))
        self.assertIn("no effect beside", self.replicate(
            "status", "--insecure", "--ca-file=x", status=2))
        self.assertEqual(self.server.client.keys(), [])

    def replace(self, *options):
        done = subprocess.run([tool.WEIR, "replicate", "publish", "--set=seen", "--replace",
                               *options], text=True, capture_output=True, cwd=self.folder,
                              env=self.environment, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_another_size(self):
        """Whoever replaces the set by one of another size reads so, and it is taken."""
        self.build("a", 0, 1000, "-n", "10000", "-p", "1e-6")
        self.replicate("publish", "a")
        shutil.copy(self.folder + "/a", self.folder + "/b") # its seed stays
        self.build("b", 0, 900, "-n", "2000", "-p", "1e-6")
        self.assertRegex(self.replace("c", "--", "cp", "b", "c"),
                         r"becomes another: .* 10000 keys at (1e-06|9\.\S+e-07)"
                         r" -> .* 2000 keys at (1e-06|9\.\S+e-07)\n$")
        self.assertEqual(self.replace("c", "--", "true"), "")
        self.assertEqual(self.replace("-q", "a", "--", "true"), "")
        self.assertEqual((self.replicate("publish", "-q", "a"), self.aside), ("", ""))
        self.server.client.flushall()
        self.assertEqual((self.replicate("publish", "-q", "a"), self.aside), ("", ""))

    def test_exit_statuses(self):
        """As weir(1) has them."""
        self.replicate("status", status=1)
        self.replicate("follow", "-o", "x", status=2)
        self.assertIn("publish an image first", self.replicate(
            "publish", "--replace", "x", "--", "true", status=2))
        self.weir("replicate", "status", "--set=seen", "--url=unix:///nowhere", status=2)
        self.weir("replicate", "publish", "--set=seen", "--url=unix:///nowhere", "x", status=2)
        self.build("a", 0, 10, "--seed=7")
        self.replicate("publish", "a")
        self.assertIn("redis had no generation of it", self.aside)
        self.replicate("publish", "a")
        self.assertEqual(self.aside, "")
        self.replicate("status")
        self.replicate("rollback", "--generation=9", status=1)
        self.build("b", 0, 10) # of another seed
        self.assertIn("another seed", self.replicate("publish", "b", status=1))
        self.assertNotIn("replace", self.aside)
        self.build("c", 0, 10, "-n", "100000", "--seed=7")
        self.assertIn("could replace it", self.replicate("publish", "c", status=1))
        self.replicate("publish", "--replace", "b", "--", "true", status=1)
        self.build("e", 0, 10, "-n", "100000") # of another seed, and larger, which it will not be
        self.assertNotIn("becomes", self.replicate("publish", "--replace", "e", "--", "true",
                                                   status=1))
        self.assertIn("--replace", self.replicate("publish", "a", "--", "true", status=2))
        for command in (["a"], ["--replace", "a", "--", "true"]):
            said = self.weir("replicate", "publish", "--set=seen", "--url=unix:///nowhere",
                             *command, status=2)
            self.assertRegex(said, r"unix:///nowhere: no such file or directory\n$")
            self.assertNotIn("nobody", said)
        self.assertIn("signal 9", self.replicate("publish", "--replace", "a", "--", "sh", "-c",
                                                 "kill -9 $$", status=2))
        self.assertIn("nowhere", self.replicate("publish", "--replace", "a", "--", "./nowhere",
                                                status=2))
        said = self.replicate("publish", "--replace", "x", "--", "true", status=2)
        self.assertEqual(said.count("\n"), 1, said) # once
        self.weir("build", "-q", "-k", "fuse", "-o", "d", "keys")
        self.assertIn("takes inserts", self.replicate("publish", "--replace", "d", "--", "true",
                                                      status=1))
        self.assertIn("no/folder", self.replicate("publish", "--image-folder=no/folder", "a",
                                                  status=2))
        said = self.replicate("publish", "--stream=hash", "a", status=2)
        self.assertEqual(said.count("--help"), 1, said)
        self.server.client.config_set("maxmemory", 1)
        self.assertIn("full", self.replicate("publish", "a", status=1))
        self.server.client.config_set("maxmemory", 0)
        self.weir("replicate", "key", "secret", "public")
        self.weir("replicate", "key", "secret", "public", status=1)
        self.weir("replicate", "key", "no/folder", "public", status=2)
        process, path = self.follow("served")
        group.wait_until("the file", lambda: os.path.exists(path))
        process.terminate()
        self.assertEqual(process.wait(60), 0)

    def between(self):
        between = liar.Liar(self.server.socket)
        self.addCleanup(between.close)
        self.environment["WEIR_REDIS_URL"] = between.url
        return between

    def test_another_has_the_lease(self):
        """That is no trouble: whoever comes later may have it. Nor is what else passes."""
        self.build("a", 0, 10)
        self.replicate("publish", "a")
        between = self.between()
        for refusal, why in ((b"WEIRLEASE another", "the lease"), (b"WEIRSTALE x", "began anew"),
                             (b"WEIRBASE 7", "meanwhile"), (b"WEIRCHUNK 0", "has gone")):
            between.refusals["publish"] = liar.Error(refusal)
            self.assertIn(why, self.replicate("publish", "a", status=1))

    def test_another_rate(self):
        """As large a set, and other bytes."""
        for name, rate in (("a", "1e-6"), ("b", "1e-2")):
            self.build(name, 0, 100, "-n", "10000", "-p", rate, "--seed=7")
        self.replicate("publish", "a")
        self.assertRegex(self.replace("b", "--", "true"),
                         r"becomes another: .* 10000 keys at (1e-06|9\.\S+e-07)"
                         r" -> .* 10000 keys at 0\.0\d+\n$")

    def test_the_first_is_refused(self):
        """Then nothing has begun."""
        self.build("a", 0, 10)
        self.between().refusals["publish"] = liar.Error(b"WEIRCHUNK 0")
        said = self.replicate("publish", "a", status=1)
        self.assertIn("has gone", said)
        self.assertNotIn("begins", said)

    def test_another_is_first_meanwhile(self):
        """Its keys stay, and those of who is second come."""
        for name, first in (("a", 0), ("b", 100)):
            self.build(name, first, first + 10, "--seed=7", "-n", "1000", "-p", "1e-6")
        self.replicate("publish", "a")
        between = self.between()

        def hide(name, *elements):
            """Once: the first look finds nothing."""
            def lie(args, answer, send):
                del between.lies[name]
                return [None if i in elements else of for i, of in enumerate(answer)]
            between.lies[name] = lie
        hide("manifest", 1, 2)
        hide("status", 2)
        self.replicate("publish", "b")
        self.assertEqual(between.lies, {})
        _, path = self.follow("served")
        group.wait_until("the file", lambda: os.path.exists(path))
        self.assertTrue(self.query(path, 5) and self.query(path, 105))

    def test_a_server_that_says_nothing(self):
        """--timeout is how long an answer is waited for, too."""
        with socket.create_server(("127.0.0.1", 0)) as silent:
            begun = time.monotonic()
            self.weir("replicate", "status", "--set=seen", "--timeout=0.2",
                      "--url=redis://127.0.0.1:%d" % silent.getsockname()[1], status=2)
            self.assertLess(time.monotonic() - begun, 8) # the default: 10 seconds

    def test_a_node_that_was_killed(self):
        """Its report stays, and goes as weir(1) says."""
        node = self.nodes().start()
        group.wait_until("it reports", lambda: self.status()["nodes"])
        node.kill()
        name = self.status()["nodes"][0]["node"]
        subprocess.run(["redis-cli", "-s", self.server.socket, "HDEL", "{weir:seen}:nodes", name],
                       check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(self.status()["nodes"], [])

    def user(self):
        """With the line of the README alone. The URL."""
        with open(os.path.join(os.path.abspath(sys.argv[3]), "src/replica/README.md")) as f:
            line = re.search(r"(?m)^      (ACL SETUSER (?:.|\n       )*)$", f.read())[1]
        words = line.replace("NAME", "seen").replace("PASSWORD", "pw").split()
        self.server.client.execute_command(*words)
        return "unix://weir:pw@%s" % self.server.socket

    def test_a_user_of_redis(self):
        """Whatever a node or the command does is allowed."""
        url = self.environment["WEIR_REDIS_URL"] = self.user()
        ledger = nodes.Ledger(tool.PROGRAM, "set=seen", "url=" + url, "poll=20", "idle=200",
                              "confirm=4294967295", "replicas=4294967295",
                              "record=%s/record" % self.folder, errors=self.errors)
        self.addCleanup(ledger.close)
        ledger.start(seconds=1)
        other = ledger.start()
        process, path = self.follow("served")
        for n in ledger.nodes:
            n.rate(2000)
        other.ask("confirm 1")
        self.assertEqual(other.ask("record"), "0 ")
        self.server.client.delete("{weir:seen}:stream") # so that nodes ask for what is lacking
        nodes.settle(self, ledger)
        self.assertEqual(other.ask("publish"), "0 ")
        self.replicate("rollback", "--generation=%d" % self.status()["current"]["generation"])
        self.weir("build", "-q", "--like=served", "-o", "more", "--allow-empty",
                  "/dev/null")
        self.replicate("publish", "more")
        self.replicate("status")
        group.wait_until("somebody listens",
                         lambda: self.server.client.pubsub_numsub("{weir:seen}:hint")[0][1])
        for n in ledger.nodes:
            n.quit()
        process.terminate()
        self.assertEqual(process.wait(60), 0)
        self.assertEqual(self.server.client.acl_log(), [])
        call = group.redis.Redis(unix_socket_path=self.server.socket, username="weir",
                                 password="pw")
        for command in (["GET", "x"], ["GET", "{weir:other}:lease"], ["KEYS", "*"],
                        ["FLUSHALL"], ["CONFIG", "GET", "*"], ["PUBLISH", "x", "y"]):
            with self.assertRaises(group.redis.exceptions.NoPermissionError):
                call.execute_command(*command)


    def test_a_rule_is_lacking(self):
        """A command is refused within a script: nobody takes that for nothing to read. The channel
        is a hint."""
        ledger = nodes.Ledger(tool.PROGRAM, "set=seen", "url=" + self.user(), "poll=20", "idle=200",
                              errors=self.errors)
        self.addCleanup(ledger.close)
        one, other = ledger.start(), ledger.start()
        self.server.client.execute_command("ACL", "SETUSER", "weir", "-xrange", "resetchannels")
        one.ask("burst 1")
        for node in (one, other):
            group.wait_until("it says so", lambda: "a rule (ACL)" in node.stats()["error"])
        self.server.client.execute_command("ACL", "SETUSER", "weir", "+xrange")
        nodes.settle(self, ledger)
        self.assertEqual(one.ask("publish"), "0 ")

if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])

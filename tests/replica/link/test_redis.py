# SPDX-License-Identifier: MIT
"""Links to a real redis: passwords, users, and a Cluster. test_redis.py PROGRAM"""
import os
import subprocess
import sys
import tempfile
import time
import unittest

from ends import Caller, Server, wait_until


class Real(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def serve(self, *options):
        return Server(self, *options)

    def test_commands(self):
        s = self.serve()
        for url in ("redis://127.0.0.1:%d" % s.port, "redis://localhost:%d/3" % s.port,
                    "unix://%s?db=3" % s.socket):
            call = Caller(self, "url=" + url, "client=weir-test")
            self.assertEqual(call("SET x y"), "OK OK")
            self.assertEqual(call("GET x"), "OK y")
            self.assertEqual(call("GET nothing"), "OK nil")
            self.assertEqual(call("CLIENT GETNAME"), "OK weir-test")
            self.assertEqual(call("GET " + "k" * 500000), "OK nil")
        self.assertEqual(s.client.execute_command("INFO", "keyspace")["db3"]["keys"], 1)
        call = Caller(self, "url=redis://localhost:%d/99999" % s.port)
        self.assertRegex(call("PING"), "SELECT is refused: .*out of range")

    def test_the_server_restarts(self):
        s = self.serve()
        call = Caller(self, "url=unix://" + s.socket)
        self.assertEqual(call("PING"), "OK PONG")
        s.again()
        self.assertTrue(call("PING").startswith("ECONNRESET "))
        self.assertEqual(call("PING"), "OK PONG")
        self.assertEqual(call("@number"), "OK 2")

    def test_passwords(self):
        s = self.serve()
        s.client.execute_command("ACL", "SETUSER", "weir", "on", ">p w", "~*", "+get", "+ping")
        s.client.execute_command("CONFIG", "SET", "requirepass", "main")
        path = os.path.join(self.folder.name, "password")
        with open(path, "w") as f:
            f.write("main\nnot this\n")
        at = "127.0.0.1:%d" % s.port
        for options in (["url=redis://:main@" + at], ["url=redis://" + at, "password=main"],
                        ["url=redis://" + at, "password_file=" + path],
                        ["url=redis://weir:p%20w@" + at]):
            call = Caller(self, *options)
            self.assertEqual(call("GET x"), "OK nil")
        self.assertTrue(call("SET x y").startswith("OK error:NOPERM"))
        self.assertTrue(Caller(self, "url=redis://weir:p%20w@" + at + "/1")("GET x")
                        .startswith("EACCES "))
        for options in (["url=redis://:wrong@" + at, "password=main"],
                        ["url=redis://:wrong@" + at, "password=wrong", "password_file=" + path],
                        ["url=redis://nobody:wrong@" + at, "user=weir", "password=p w"],
                        ["url=redis://nobody:main@" + at, "user=default"]):
            self.assertEqual(Caller(self, *options)("GET x"), "OK nil", options)
        call = Caller(self, "url=redis://:WRONG@" + at)
        answer = call("GET x")
        self.assertTrue(answer.startswith("EACCES ") and "WRONG@" not in answer, answer)
        answer = Caller(self, "url=redis://" + at)("GET x")
        self.assertTrue(answer.startswith("EACCES ") and "password_file" in answer, answer)
        call = Caller(self, "url=redis://" + at, "password_file=" + path)
        with open(path, "w") as f:
            f.write("wrong\n")
        self.assertTrue(call("GET x").startswith("EACCES "))
        with open(path, "w") as f: # each connection reads the file
            f.write("main\n")
        self.assertEqual(call("GET x"), "OK nil")
        with open(path, "w"):
            pass
        call = Caller(self, "url=redis://" + at, "password_file=" + path)
        self.assertIn("is empty", call("GET x"))
        with open(path, "w") as f:
            f.write("x" * 5000)
        self.assertIn("is too long", call("GET x"))
        os.remove(path)
        self.assertTrue(call("GET x").startswith("ENOENT "))
        os.mkfifo(path) # a FIFO does not block the link, with or without a writer
        self.assertTrue(call("GET x").startswith("EINVAL "))
        writer = os.open(path, os.O_RDWR)
        self.addCleanup(os.close, writer)
        os.write(writer, b"main\n")
        self.assertTrue(call("GET x").startswith("EINVAL "))

    def make(self, *command):
        subprocess.run(command, check=True, cwd=self.folder.name, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def test_a_cluster(self):
        """Three masters: a link that begins at any of them finds each key."""
        servers = [self.serve("--cluster-enabled", "yes", "--cluster-node-timeout", "2000")
                   for _ in range(3)]
        self.make("redis-cli", "--cluster", "create",
                  *["127.0.0.1:%d" % s.port for s in servers], "--cluster-yes")

        def ready():
            return all(b"cluster_state:ok" in s.client.execute_command("CLUSTER", "INFO")
                       if isinstance(s.client.execute_command("CLUSTER", "INFO"), bytes)
                       else s.client.execute_command("CLUSTER", "INFO")["cluster_state"] == "ok"
                       for s in servers)
        wait_until("the cluster is ready", ready)
        call = Caller(self, "url=redis://" + ",".join("127.0.0.1:%d" % s.port
                                                      for s in servers))
        for i in range(20):
            self.assertEqual(call("SET key%d %d" % (i, i)), "OK OK")
        call = Caller(self, "url=redis://127.0.0.1:%d" % servers[1].port)
        for i in range(20):
            self.assertEqual(call("GET key%d" % i), "OK %d" % i)
        self.assertEqual(call("@beside PING"), "OK PONG")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])

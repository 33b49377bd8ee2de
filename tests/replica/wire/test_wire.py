# SPDX-License-Identifier: MIT
"""The connection, and every other end that there may be: a real redis with passwords, users, TLS,
Sentinel's and Cluster's answers, and one that lies. test_wire.py PROGRAM"""
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../live"))
import group  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])


class Caller:
    def __init__(self, test, *options):
        self.process = subprocess.Popen([PROGRAM, *options], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        test.addCleanup(self.close)

    def __call__(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n")

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


class Liar:
    """Accepts connections; each gets what is said for it: bytes are sent after a command has come,
    numbers are seconds of silence, None closes."""

    def __init__(self, test, *lives, path=None):
        self.lives, self.seen = list(lives), []
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(10)
        self.port = self.listener.getsockname()[1]
        self.url = "redis://127.0.0.1:%d" % self.port
        test.addCleanup(self.listener.close)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while self.lives:
            try:
                s, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.live, args=(s, self.lives.pop(0)),
                             daemon=True).start()

    def live(self, s, script):
        try:
            for said in script:
                if said is None:
                    break
                if isinstance(said, (int, float)):
                    time.sleep(said)
                    continue
                if isinstance(said, tuple): # go on without a command
                    s.sendall(said[0])
                    continue
                got = s.recv(1 << 20)
                if not got:
                    break
                self.seen.append(got)
                s.sendall(said)
            else:
                s.recv(1)
        except OSError:
            pass
        s.close()


class Hostile(unittest.TestCase):
    def lie(self, said, error, *more, then=b"+again\r\n"):
        """What is said fails so, and the next call has another connection."""
        liar = Liar(self, [said, *more], [then])
        call = Caller(self, "url=" + liar.url, "answer=500", "max=1000000")
        answer = call("PING")
        self.assertTrue(answer.startswith(error + " "), answer)
        self.assertIn(str(liar.port), answer)
        self.assertEqual(call("PING"), "OK again")
        rss = int(call("@rss").split(" ")[1])
        self.assertLess(rss, 60000)

    def test_no_redis(self):
        for said in (b"HTTP/1.0 400 Bad Request\r\n\r\n", b"\x16\x03\x01\x00\x05", b"\0" * 100,
                     b"*x\r\n", b"$x\r\n", b":x\r\n", b"$-2\r\n", b"*-2\r\n", b"!oops\r\n",
                     b"*99999999999999999999\r\n", b"$99999999999999999999\r\n"):
            with self.subTest(said=said):
                self.lie(said, "EPROTO")

    def test_declared_too_much(self):
        self.lie(b"*1048577\r\n", "EMSGSIZE")
        self.lie(b"*2147483647\r\n", "EMSGSIZE")
        self.lie(b"*2\r\n*1048000\r\n" + b":1\r\n" * 1048000 + b"*600\r\n", "EMSGSIZE")
        # each is small, all together are not
        self.lie(b"*1000\r\n" + b"*1048\r\n" * 1 + (b":1\r\n" * 1048 + b"*1048\r\n") * 999,
                 "EMSGSIZE")

    def test_each_answer_has_the_whole_limit(self):
        many, long = b"*600000\r\n" + b":1\r\n" * 600000, b"$600000\r\n" + b"x" * 600000
        liar = Liar(self, [many, many])
        call = Caller(self, "url=" + liar.url, "max=4000000")
        for _ in range(2):
            self.assertTrue(call("GET x").startswith("OK [1 1"))
        call = Caller(self, "url=" + Liar(self, [long + b"\r\n"] * 2).url, "max=1000000")
        for _ in range(2):
            self.assertTrue(call("GET x").startswith("OK xxx"))

    def test_a_long_string_that_does_not_come(self):
        self.lie(b"$900000000\r\nabc", "ETIMEDOUT")

    def test_without_end(self):
        self.lie(b"$5000000\r\n" + b"x" * 3000000, "EMSGSIZE")
        self.lie(b"+" + b"x" * 3000000, "EPROTO")

    def test_nested(self):
        self.lie(b"*1\r\n" * 100, "EPROTO")

    def test_half_an_answer(self):
        self.lie(b"$10\r\nabc", "ETIMEDOUT")
        self.lie(b"$10\r\nabc", "ECONNRESET", None)
        self.lie(b"*2\r\n:1\r\n", "ECONNRESET", None)

    def test_nothing(self):
        self.lie(b"", "ETIMEDOUT")
        self.lie(b"", "ECONNRESET", None)

    def test_slow_but_true(self):
        said = [(bytes([c]),) for c in b"5\r\nhello\r\n"]
        slow = [b"$"]
        for one in said:
            slow += [0.1, one]
        liar = Liar(self, slow)
        call = Caller(self, "url=" + liar.url, "answer=20000")
        self.assertEqual(call("GET x"), "OK hello")

    def test_slow_for_ever(self):
        """Each piece comes in time, and there is no end."""
        slow = [b"$1000\r\n"]
        for _ in range(100):
            slow += [0.1, (b"x",)]
        liar = Liar(self, slow)
        call = Caller(self, "url=" + liar.url, "answer=500")
        answer = call("GET x")
        self.assertTrue(answer.startswith("ETIMEDOUT ") and "no end" in answer, answer)

    def test_not_now(self):
        for word, stays in (("LOADING", True), ("BUSY", True), ("TRYAGAIN", True),
                            ("MASTERDOWN", False), ("CLUSTERDOWN", False),
                            ("READONLY", False)):
            with self.subTest(word=word):
                liar = Liar(self, [b"-%s x\r\n" % word.encode(), b"+same\r\n"],
                            [b"+other\r\n"])
                call = Caller(self, "url=" + liar.url)
                self.assertTrue(call("GET x").startswith("EAGAIN "))
                self.assertEqual(call("GET x"), "OK same" if stays else "OK other")

    def test_an_error_of_the_command(self):
        liar = Liar(self, [b"-ERR no\r\n", b"-NOPERM no\r\n", b"-NOAUTH no\r\n"])
        call = Caller(self, "url=" + liar.url)
        self.assertEqual(call("X"), "OK error:ERR no")
        self.assertEqual(call("X"), "OK error:NOPERM no")
        self.assertTrue(call("X").startswith("EACCES "))

    def test_sent_elsewhere(self):
        there = Liar(self, [b"+there\r\n", b"+there again\r\n"])
        here = Liar(self, [b"-MOVED 1 127.0.0.1:%d\r\n" % there.port])
        call = Caller(self, "url=" + here.url)
        self.assertEqual(call("GET x"), "OK there")
        self.assertEqual(call("GET x"), "OK there again")

    def test_ask_is_for_one_call(self):
        there = Liar(self, [b"+OK\r\n", b"+asked\r\n"])
        here = Liar(self, [b"-ASK 1 127.0.0.1:%d\r\n" % there.port, b"+here\r\n"])
        call = Caller(self, "url=" + here.url)
        self.assertEqual(call("GET x"), "OK asked")
        self.assertIn(b"ASKING", there.seen[0])
        self.assertEqual(call("GET x"), "OK here")

    def test_sent_in_a_circle(self):
        here = Liar(self, *([b"-MOVED 1 :%d\r\n"] * 0))
        here.lives += [[b"-MOVED 1 :%d\r\n" % here.port]] * 7
        threading.Thread(target=here.serve, daemon=True).start()
        call = Caller(self, "url=" + here.url)
        answer = call("GET x")
        self.assertTrue(answer.startswith("EAGAIN ") and "5 times" in answer, answer)

    def test_nonsense_of_a_cluster(self):
        for said in (b"-MOVED\r\n", b"-MOVED 1 h\r\n", b"-MOVED 1 h:99999\r\n",
                     b"-MOVED 1 " + b"h" * 400 + b":1\r\n", b"-ASK 1\r\n"):
            liar = Liar(self, [said])
            call = Caller(self, "url=" + liar.url)
            self.assertTrue(call("GET x").startswith("OK error:"))

    def test_a_sentinel_that_lies(self):
        for said in (b":1\r\n", b"*1\r\n$1\r\nx\r\n", b"*2\r\n:1\r\n:2\r\n",
                     b"*2\r\n$1\r\nx\r\n$1\r\nx\r\n", b"*2\r\n$0\r\n\r\n$1\r\n1\r\n"):
            liar = Liar(self, [said])
            call = Caller(self, "url=redis+sentinel://127.0.0.1:%d/m" % liar.port)
            self.assertTrue(call("GET x").startswith("EPROTO "))

    def test_a_sentinel_that_is_late(self):
        """It names a server that is no master any more; the next one knows."""
        old = Liar(self, [b"*3\r\n$5\r\nslave\r\n:1\r\n*0\r\n"])
        new = Liar(self, [b"*3\r\n$6\r\nmaster\r\n:1\r\n*0\r\n", b"+new\r\n"])

        def names(port):
            return [b"*2\r\n$9\r\n127.0.0.1\r\n$%d\r\n%d\r\n" % (len(str(port)), port)]
        late = Liar(self, names(old.port), names(new.port))
        call = Caller(self, "url=redis+sentinel://127.0.0.1:%d/m" % late.port)
        answer = call("GET x")
        self.assertTrue(answer.startswith("EAGAIN "), answer)
        self.assertEqual(call("GET x"), "OK new")

    def test_a_sentinel_that_knows_nothing(self):
        unknowing, dead = Liar(self, [b"*-1\r\n"]), group.free_port()
        call = Caller(self, "url=redis+sentinel://127.0.0.1:%d,127.0.0.1:%d/m"
                      % (dead, unknowing.port))
        answer = call("GET x")
        self.assertTrue(answer.startswith("EAGAIN ") and "knows no master" in answer, answer)

    def test_nobody_is_there(self):
        call = Caller(self, "url=redis://127.0.0.1:%d" % group.free_port())
        self.assertTrue(call("PING").startswith("ECONNREFUSED "))
        call = Caller(self, "url=redis://nowhere.invalid")
        self.assertTrue(call("PING").startswith("EHOSTUNREACH "))
        call = Caller(self, "url=unix:///nowhere")
        self.assertTrue(call("PING").startswith("ENOENT "))


class Real(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def serve(self, *options):
        server = group.Server(options)
        self.addCleanup(server.close)
        return server

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

    def test_the_server_restarts(self):
        s = self.serve()
        call = Caller(self, "url=unix://" + s.socket)
        self.assertEqual(call("PING"), "OK PONG")
        s.again()
        self.assertTrue(call("PING").startswith("ECONNRESET "))
        self.assertEqual(call("PING"), "OK PONG")
        self.assertEqual(call("@number"), "OK 2")

    def test_channel(self):
        s = self.serve()
        call = Caller(self, "url=unix://" + s.socket)
        self.assertEqual(call("@subscribe news"), "OK 0")
        self.assertEqual(call("@heard"), "OK 0")
        s.client.publish("news", "one")
        s.client.publish("news", "two")
        time.sleep(0.2)
        self.assertEqual(call("@heard"), "OK 2")
        s.kill()
        self.assertTrue(call("@heard").startswith("ECONNRESET "))

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
        call = Caller(self, "url=redis://:WRONG@" + at)
        answer = call("GET x")
        self.assertTrue(answer.startswith("EACCES ") and "WRONG@" not in answer, answer)
        self.assertTrue(Caller(self, "url=redis://" + at)("GET x").startswith("EACCES "))
        call = Caller(self, "url=redis://" + at, "password_file=" + path)
        with open(path, "w") as f:
            f.write("wrong\n")
        self.assertTrue(call("GET x").startswith("EACCES "))
        with open(path, "w") as f: # it is read at each connection
            f.write("main\n")
        self.assertEqual(call("GET x"), "OK nil")
        with open(path, "w"):
            pass
        call = Caller(self, "url=redis://" + at, "password_file=" + path)
        self.assertIn("is empty", call("GET x"))

    def make(self, *command):
        subprocess.run(command, check=True, cwd=self.folder.name, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def certificate(self, name, names):
        self.make("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-keyout", name + ".key",
                  "-subj", "/CN=" + name, "-out", name + ".csr")
        with open(os.path.join(self.folder.name, name + ".ext"), "w") as f:
            f.write("subjectAltName=" + names)
        self.make("openssl", "x509", "-req", "-in", name + ".csr", "-CA", "ca.crt", "-CAkey",
                  "ca.key", "-CAcreateserial", "-days", "30", "-extfile", name + ".ext",
                  "-out", name + ".crt")

    def test_tls(self):
        self.make("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout",
                  "ca.key", "-subj", "/CN=test authority", "-days", "30", "-out", "ca.crt")
        self.certificate("server", "DNS:redis.example,IP:127.0.0.1")
        self.certificate("client", "DNS:client")
        at, port = self.folder.name, group.free_port()
        self.serve("--tls-port", str(port), "--tls-cert-file", at + "/server.crt",
                   "--tls-key-file", at + "/server.key", "--tls-ca-cert-file", at + "/ca.crt")
        url = "url=rediss://127.0.0.1:%d" % port
        ca, own = "ca=%s/ca.crt" % at, ["cert=%s/client.crt" % at, "key=%s/client.key" % at]
        call = Caller(self, url, ca, *own)
        self.assertEqual(call("SET big " + "x" * 500000), "OK OK")
        self.assertEqual(call("STRLEN big"), "OK 500000")
        self.assertEqual(Caller(self, url, ca, "name=redis.example", *own)("PING"), "OK PONG")
        for options in ([*own], [ca, "name=other.example", *own]):
            answer = Caller(self, url, *options)("PING")
            self.assertTrue(answer.startswith("EKEYREJECTED "), answer)
        self.assertEqual(Caller(self, url, "insecure", *own)("PING"), "OK PONG")
        answer = Caller(self, url, ca)("PING") # the server wants to know who we are
        self.assertTrue(answer.startswith(("EPROTO ", "ECONNRESET ")), answer)
        for bad in (["ca=/nowhere"], [ca, own[0]], [ca, own[0], "key=%s/ca.key" % at]):
            self.assertTrue(Caller(self, url, *bad).process.stdout.readline()
                            .startswith("EINVAL TLS"))
        liar = Liar(self, [b"+OK\r\n"])
        answer = Caller(self, "url=rediss://127.0.0.1:%d" % liar.port, ca)("PING")
        self.assertTrue(answer.startswith("EPROTO "), answer)

    def test_a_cluster(self):
        """Three masters; each key is found from any of them."""
        servers = [self.serve("--cluster-enabled", "yes", "--cluster-node-timeout", "2000")
                   for _ in range(3)]
        self.make("redis-cli", "--cluster", "create",
                  *["127.0.0.1:%d" % s.port for s in servers], "--cluster-yes")

        def ready():
            return all(b"cluster_state:ok" in s.client.execute_command("CLUSTER", "INFO")
                       if isinstance(s.client.execute_command("CLUSTER", "INFO"), bytes)
                       else s.client.execute_command("CLUSTER", "INFO")["cluster_state"] == "ok"
                       for s in servers)
        group.wait_until("the cluster is ready", ready)
        call = Caller(self, "url=redis://" + ",".join("127.0.0.1:%d" % s.port
                                                      for s in servers))
        for i in range(20):
            self.assertEqual(call("SET key%d %d" % (i, i)), "OK OK")
        call = Caller(self, "url=redis://127.0.0.1:%d" % servers[1].port)
        for i in range(20):
            self.assertEqual(call("GET key%d" % i), "OK %d" % i)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])

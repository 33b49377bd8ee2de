# SPDX-License-Identifier: MIT
"""Finding the master by the hosts of a URL and by the answers of a Cluster.
test_elsewhere.py PROGRAM"""
import sys
import unittest

from ends import Caller, Liar, free_port


class Elsewhere(unittest.TestCase):
    def test_the_next_of_several(self):
        """A host that hangs or cannot serve is skipped while there is another."""
        for said, error in ((b"", "ETIMEDOUT "), (b"-CLUSTERDOWN x\r\n", "EAGAIN "),
                            (b"nonsense\r\n", "EPROTO ")):
            with self.subTest(said=said):
                bad = Liar(self, [said], [said])
                good = Liar(self, [b"+one\r\n", b"+two\r\n"])
                call = Caller(self, "url=%s,127.0.0.1:%d" % (bad.url, good.port), "answer=2000")
                self.assertTrue(call("X").startswith(error))
                self.assertEqual(call("X"), "OK one")
                self.assertEqual(call("X"), "OK two")

    def test_sent_elsewhere(self):
        there = Liar(self, [b"+there\r\n", b"+there again\r\n"])
        here = Liar(self, [b"-MOVED 1 127.0.0.1:%d\r\n" % there.port])
        call = Caller(self, "url=" + here.url)
        self.assertEqual(call("GET x"), "OK there")
        self.assertEqual(call("GET x"), "OK there again")

    def test_elsewhere_nobody_answers(self):
        """If the server in a MOVED answer fails, the link asks the hosts of the URL again."""
        there = Liar(self, [b""])
        here = Liar(self, [b"-MOVED 1 127.0.0.1:%d\r\n" % there.port], [b"+here\r\n"])
        call = Caller(self, "url=" + here.url, "answer=2000")
        self.assertTrue(call("GET x").startswith("ETIMEDOUT "))
        self.assertEqual(call("GET x"), "OK here")

    def test_elsewhere_on_the_same_host(self):
        """MOVED without a host means the host that answered, not the first one of the URL."""
        there = Liar(self, [b"+there\r\n"], host="127.0.0.2")
        here = Liar(self, [b"-MOVED 1 :%d\r\n" % there.port], host="127.0.0.2")
        call = Caller(self, "url=redis://127.0.0.1:%d,127.0.0.2:%d"
                      % (free_port(), here.port))
        self.assertEqual(call("GET x"), "OK there")

    def test_ask_is_not_followed(self):
        """During a migration the other server has only half of a set."""
        here = Liar(self, [b"-ASK 1 127.0.0.1:1\r\n", b"+here\r\n"])
        call = Caller(self, "url=" + here.url)
        answer = call("GET x")
        self.assertTrue(answer.startswith("EAGAIN ") and "wait until the Cluster" in answer, answer)
        self.assertEqual(call("GET x"), "OK here")

    def test_sent_in_a_circle(self):
        here = Liar(self, *[[] for _ in range(7)])
        for life in here.lives:
            life.append(b"-MOVED 1 :%d\r\n" % here.port)
        call = Caller(self, "url=" + here.url)
        answer = call("GET x")
        self.assertTrue(answer.startswith("EAGAIN ") and "5 times" in answer, answer)

    def test_nonsense_of_a_cluster(self):
        for said in (b"-MOVED\r\n", b"-MOVED 1 h\r\n", b"-MOVED 1 h:99999\r\n",
                     b"-MOVED 1 " + b"h" * 400 + b":1\r\n", b"-MOVED 1 h:1x\r\n",
                     b"-MOVED 1 h:-1\r\n"):
            liar = Liar(self, [said])
            call = Caller(self, "url=" + liar.url)
            self.assertTrue(call("GET x").startswith("OK error:"))

    def test_nobody_is_there(self):
        call = Caller(self, "url=redis://127.0.0.1:%d" % free_port())
        self.assertTrue(call("PING").startswith("ECONNREFUSED "))
        call = Caller(self, "url=redis://nowhere.invalid")
        self.assertTrue(call("PING").startswith("EHOSTUNREACH "))
        call = Caller(self, "url=unix:///nowhere")
        self.assertTrue(call("PING").startswith("ENOENT "))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])

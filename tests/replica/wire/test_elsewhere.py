# SPDX-License-Identifier: MIT
"""Where the master is, by what others say: hosts of a URL, a Cluster's answers and Sentinel's.
test_elsewhere.py PROGRAM"""
import sys
import unittest

from ends import Caller, Liar, group


class Elsewhere(unittest.TestCase):
    def sentinel(self, *ports):
        return Liar(self, *[[b"*2\r\n$9\r\n127.0.0.1\r\n$%d\r\n%d\r\n" % (len(str(p)), p)]
                            for p in ports])

    def test_the_next_of_several(self):
        """Who hangs or cannot serve is not asked again while there is another."""
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
        """Then the hosts of the URL are asked again."""
        there = Liar(self, [b""])
        here = Liar(self, [b"-MOVED 1 127.0.0.1:%d\r\n" % there.port], [b"+here\r\n"])
        call = Caller(self, "url=" + here.url, "answer=2000")
        self.assertTrue(call("GET x").startswith("ETIMEDOUT "))
        self.assertEqual(call("GET x"), "OK here")

    def test_elsewhere_on_the_same_host(self):
        """Not on the first one of the URL."""
        there = Liar(self, [b"+there\r\n"], host="127.0.0.2")
        here = Liar(self, [b"-MOVED 1 :%d\r\n" % there.port], host="127.0.0.2")
        call = Caller(self, "url=redis://127.0.0.1:%d,127.0.0.2:%d"
                      % (group.free_port(), here.port))
        self.assertEqual(call("GET x"), "OK there")

    def test_ask_is_for_one_call(self):
        there = Liar(self, [b"+OK\r\n", b"+asked\r\n"])
        here = Liar(self, [b"-ASK 1 127.0.0.1:%d\r\n" % there.port, b"+here\r\n"])
        call = Caller(self, "url=" + here.url)
        self.assertEqual(call("GET x"), "OK asked")
        self.assertIn(b"ASKING", there.seen[0])
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
                     b"-MOVED 1 " + b"h" * 400 + b":1\r\n", b"-ASK 1\r\n", b"-MOVED 1 h:1x\r\n",
                     b"-MOVED 1 h:-1\r\n"):
            liar = Liar(self, [said])
            call = Caller(self, "url=" + liar.url)
            self.assertTrue(call("GET x").startswith("OK error:"))

    def test_a_sentinel_that_lies(self):
        for said in (b":1\r\n", b"*1\r\n$1\r\nx\r\n", b"*2\r\n:1\r\n:2\r\n",
                     b"*2\r\n$1\r\nx\r\n$1\r\nx\r\n", b"*2\r\n$0\r\n\r\n$1\r\n1\r\n",
                     b"*2\r\n$2\r\n\x1bc\r\n$1\r\n1\r\n", b"*2\r\n$1\r\nh\r\n$0\r\n\r\n"):
            liar = Liar(self, [said])
            call = Caller(self, "url=redis+sentinel://127.0.0.1:%d/m" % liar.port)
            self.assertTrue(call("GET x").startswith("EPROTO "))

    def test_a_role_that_is_none(self):
        for said in (b":1\r\n", b"*0\r\n", b"*1\r\n:1\r\n", b"*-1\r\n", b"+master\r\n",
                     b"*1\r\n$8\r\nsentinel\r\n"):
            with self.subTest(said=said):
                there = Liar(self, [said])
                call = Caller(self, "url=redis+sentinel://127.0.0.1:%d/m"
                              % self.sentinel(there.port).port)
                self.assertTrue(call("X").startswith("EAGAIN "))

    def test_a_sentinel_that_is_cut_off(self):
        """It goes on to name who was the master. The next one knows, in the same call, and is
        asked first from then on."""
        master = [b"*3\r\n$6\r\nmaster\r\n:1\r\n*0\r\n"]
        for old in (Liar(self, [b"*3\r\n$5\r\nslave\r\n:1\r\n*0\r\n"]).port,
                    group.free_port()):
            with self.subTest(old=old):
                new = Liar(self, master + [b"+new\r\n", b"", None],
                           master + [b"+new again\r\n"])
                good = self.sentinel(new.port, new.port)
                call = Caller(self, "url=redis+sentinel://127.0.0.1:%d,127.0.0.1:%d/m"
                              % (self.sentinel(old, old).port, good.port))
                self.assertEqual(call("X"), "OK new")
                self.assertTrue(call("X").startswith("ECONNRESET "))
                self.assertEqual(call("X"), "OK new again")
                self.assertEqual(len(good.seen), 2)

    def test_a_sentinel_that_is_late(self):
        """It names a server that is no master any more, and knows better when asked again."""
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


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])

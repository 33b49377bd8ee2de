# SPDX-License-Identifier: MIT
"""The other end is broken or not redis: the link limits each answer before it allocates memory,
and fails with a sentence. test_hostile.py PROGRAM"""
import re
import socket
import sys
import time
import unittest

from ends import Caller, Liar, names


class Hostile(unittest.TestCase):
    def lie(self, said, error, *more, most=1000000):
        """The answer @said fails with @error, and the next call gets a new connection."""
        liar = Liar(self, [said, *more], [b"+again\r\n"])
        patience = 3000 if error == "ETIMEDOUT" else 60000
        call = Caller(self, "url=" + liar.url, "answer=%d" % patience, "max=%d" % most)
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
        self.lie(b"*262145\r\n", "EMSGSIZE")
        self.lie(b"*2147483647\r\n", "EMSGSIZE")
        self.lie(b"*2\r\n*262000\r\n" + b":1\r\n" * 262000 + b"*600\r\n", "EMSGSIZE",
                 most=4000000)
        # each array is small, but they have too many elements together
        self.lie(b"*1000\r\n" + (b"*262\r\n" + b":1\r\n" * 262) * 1000, "EMSGSIZE",
                 most=4000000)

    def test_a_long_string_that_does_not_come(self):
        self.lie(b"$900000\r\nabc", "ETIMEDOUT")
        self.lie(b"$900000000\r\nabc", "EMSGSIZE") # fails without a wait

    def test_without_end(self):
        self.lie(b"$5000000\r\n" + b"x" * 3000000, "EMSGSIZE")
        self.lie(b"*10\r\n" + b"$900000\r\n" + b"x" * 900000 + b"\r\n$900000\r\n"
                 + b"x" * 200000, "EMSGSIZE")

    def test_lines_without_end(self):
        """A long line is refused long before max_bytes, since a search for its end takes time."""
        for first in (b"+", b"-", b"*1\r\n-", b":", b"*"):
            with self.subTest(first=first):
                self.lie(first + b"1" * 70000, "EMSGSIZE")
        self.lie(b"$" + b"1" * 100, "EMSGSIZE")
        self.lie(b"$1\n" + b"1" * 100, "EMSGSIZE")

    def test_each_answer_has_the_whole_limit(self):
        many, long = b"*150000\r\n" + b":1\r\n" * 150000, b"$600000\r\n" + b"x" * 600000
        liar = Liar(self, [many, many])
        call = Caller(self, "url=" + liar.url, "max=4000000")
        for _ in range(2):
            self.assertTrue(call("GET x").startswith("OK [1 1"))
        call = Caller(self, "url=" + Liar(self, [long + b"\r\n"] * 2).url, "max=1000000")
        for _ in range(2):
            self.assertTrue(call("GET x").startswith("OK xxx"))

    def test_nested(self):
        self.lie(b"*1\r\n" * 100, "EMSGSIZE")
        self.lie(b"*1\r\n" * 8, "EMSGSIZE")
        self.lie(b"*1\r\n" * 7, "ETIMEDOUT")

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
            slow += [0.3, one]
        liar = Liar(self, slow)
        call = Caller(self, "url=" + liar.url, "answer=20000")
        self.assertEqual(call("GET x"), "OK hello")

    def test_slow_for_ever(self):
        """Each piece comes in time, but the answer never ends."""
        liar = Liar(self, [b"$1000\r\n", *[0.05, (b"x",)] * 600])
        call = Caller(self, "url=" + liar.url, "answer=500")
        answer = call("GET x")
        had = re.match("ETIMEDOUT .*: no whole answer in time \\(([0-9]+) bytes", answer)
        self.assertTrue(had and int(had[1]) < 400, answer)

    def test_nobody_takes_the_connection(self):
        """The listen queue is full: the kernel neither accepts nor refuses the connection."""
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(0)
            others = []
            for _ in range(4):
                others.append(socket.socket())
                others[-1].setblocking(False)
                others[-1].connect_ex(listener.getsockname())
            call = Caller(self, "url=redis://127.0.0.1:%d" % listener.getsockname()[1],
                          "connect=700", "answer=60000")
            self.within(call)
            for other in others:
                other.close()

    def test_nobody_shakes_hands(self):
        silent = Liar(self, [60])
        call = Caller(self, "url=rediss://127.0.0.1:%d" % silent.port, "insecure",
                      "connect=700", "answer=60000")
        self.assertIn("without TLS", self.within(call))

    def within(self, call):
        begun = time.monotonic()
        answer = call("X")
        self.assertTrue(answer.startswith("ETIMEDOUT "), answer)
        self.assertTrue(0.6 < time.monotonic() - begun < 20, time.monotonic() - begun)
        return answer

    def test_drips_of_tls(self):
        """An endless handshake whose pieces come in time: the try still ends."""
        liar = Liar(self, [0.1] + [(b"\x16\x03\x03\x3f\xff",)] + [0.2, (b"\x02",)] * 100)
        call = Caller(self, "url=rediss://127.0.0.1:%d" % liar.port, "insecure", "connect=900",
                      "answer=60000")
        begun = time.monotonic()
        self.assertTrue(call("X").startswith("ETIMEDOUT "))
        self.assertLess(time.monotonic() - begun, 15)

    def test_drips_of_a_greeting(self):
        liar = Liar(self, [b"+", *[0.2, (b"x",)] * 100])
        call = Caller(self, "url=redis://:p@127.0.0.1:%d" % liar.port, "connect=900",
                      "answer=60000")
        begun = time.monotonic()
        self.assertTrue(call("X").startswith("ETIMEDOUT "))
        self.assertLess(time.monotonic() - begun, 15)

    def test_a_slow_greeting(self):
        """Each answer comes in time, but all of them together take too long."""
        liar = Liar(self, *[[0.6, b"+OK\r\n"] * 3 + [b"+OK\r\n"]])
        call = Caller(self, "url=redis://:p@127.0.0.1:%d/1" % liar.port, "client=c",
                      "connect=900", "answer=60000")
        self.assertTrue(call("X").startswith("ETIMEDOUT "))

    def test_a_password_is_not_shown(self):
        """No error message contains the password, even if the server repeats it."""
        for said in (b"-ERR SECRET\r\n", b"-LOADING SECRET\r\n", b"-WRONGPASS SECRET\r\n",
                     b"-NOPERM SECRET\r\n", b"-ERR AUTH SECRET\r\n"):
            with self.subTest(said=said):
                liar = Liar(self, [said])
                answer = Caller(self, "url=redis://u:SECRET@127.0.0.1:%d" % liar.port)("X")
                self.assertIn("AUTH is refused", answer)
                self.assertNotIn("SECRET", answer)
        liar = Liar(self, [b"+OK\r\n", b"-ERR SECRET\r\n"])
        answer = Caller(self, "url=redis://u:SECRET@127.0.0.1:%d/1" % liar.port)("X")
        self.assertIn("SELECT is refused", answer)
        self.assertNotIn("SECRET", answer)

    def test_interrupted_from_another_thread(self):
        """A link stops wherever it waits. Then all calls fail until @rest."""
        with socket.socket() as deaf:
            deaf.bind(("127.0.0.1", 0))
            deaf.listen(0)
            others = [socket.socket() for _ in range(4)]
            for other in others:
                other.setblocking(False)
                other.connect_ex(deaf.getsockname())
            for url in (Liar(self, [b""], [b"+OK\r\n"]).url,
                        "redis://:p@127.0.0.1:%d" % Liar(self, [b""], [b"+OK\r\n"] * 2).port,
                        "redis://127.0.0.1:%d" % deaf.getsockname()[1],
                        "rediss://127.0.0.1:%d" % Liar(self, [60]).port):
                with self.subTest(url=url):
                    call = Caller(self, "url=" + url, "answer=60000",
                                  *["insecure"] * url.startswith("rediss"))
                    self.assertEqual(call("@stop 300"), "OK 0")
                    begun = time.monotonic()
                    self.assertTrue(call("X").startswith("ECANCELED "))
                    self.assertTrue(call("X").startswith("ECANCELED "))
                    self.assertLess(time.monotonic() - begun, 25)
                    self.assertEqual(call("@rest"), "OK 0")
                    if "s://" not in url and "%d" % deaf.getsockname()[1] not in url:
                        self.assertEqual(call("X"), "OK OK")
            for other in others:
                other.close()

    def test_no_descriptor_is_left(self):
        """No failed connection leaves a descriptor, nor does a closed link."""
        there = [names(1)]
        moved = [Liar(self, *[[b"+OK\r\n", None]] * 50).port for _ in range(1)]
        for of in (["url=" + Liar(self, *[[b"+OK\r\n", None]] * 50).url],
                   ["url=" + Liar(self, *[[b"-LOADING\r\n", None]] * 50).url],
                   ["url=redis://:p@127.0.0.1:%d" % Liar(self, *[[b"-WRONGPASS\r\n"]] * 50)
                    .port],
                   ["url=" + Liar(self, *[[b"nonsense\r\n"]] * 50).url],
                   ["url=" + Liar(self, *[[b"-MOVED 1 127.0.0.1:%d\r\n" % moved[0]]] * 50).url],
                   ["url=redis://127.0.0.1:1"], ["url=unix:///nowhere"],
                   ["url=redis://nowhere.invalid"],
                   ["url=rediss://127.0.0.1:%d" % Liar(self, *[[b"nonsense\r\n"]] * 50).port,
                    "insecure"],
                   ["url=redis+sentinel://127.0.0.1:%d/m" % Liar(self, *[there] * 50).port]):
            with self.subTest(of=of):
                call = Caller(self, *of, "answer=2000")
                for i in range(20):
                    call("X")
                    call("@beside X")
                    if i == 3:
                        before = call.descriptors()
                self.assertLessEqual(call.descriptors(), before + 1)
                self.assertEqual(call("@close"), "OK 3")

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
        said = ["ERR no", "NOPERM no", "BUSYGROUP it is there", "BUSYKEY it is there"]
        liar = Liar(self, [b"-%s\r\n" % s.encode() for s in said] + [b"-NOAUTH no\r\n"])
        call = Caller(self, "url=" + liar.url)
        for s in said:
            self.assertEqual(call("X"), "OK error:" + s)
        self.assertTrue(call("X").startswith("EACCES "))

    def test_what_a_terminal_would_obey(self):
        liar = Liar(self, [b"-ERR \x1b[2J\x7f\0x\r\n", b"-BUSY \x1b[2J\r\n"])
        call = Caller(self, "url=" + liar.url)
        self.assertEqual(call("X"), "OK error:ERR ?[2J??x")
        answer = call("X")
        self.assertTrue(answer.startswith("EAGAIN ") and answer.endswith("BUSY ?[2J"), answer)

    def test_what_nobody_asked(self):
        liar = Liar(self, [b"+one\r\n+two\r\n"], [b"+again\r\n"])
        call = Caller(self, "url=" + liar.url)
        self.assertEqual(call("X"), "OK one")
        answer = call("X")
        self.assertTrue(answer.startswith("EPROTO ") and "without a command" in answer, answer)
        self.assertEqual(call("X"), "OK again")

    def test_the_server_takes_nobody(self):
        for said, error in ((b"-ERR max number of clients reached\r\n", "EAGAIN "),
                            (b"-DENIED Redis is running in protected mode\r\n", "EACCES ")):
            for user in ("", ":p@"):
                with self.subTest(said=said, user=user):
                    liar = Liar(self, [said, None], [b"+OK\r\n"] * (1 + bool(user)))
                    call = Caller(self, "url=redis://%s127.0.0.1:%d" % (user, liar.port))
                    answer = call("X")
                    self.assertTrue(answer.startswith(error), answer)
                    self.assertEqual(call("X"), "OK OK")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])

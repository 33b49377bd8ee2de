# SPDX-License-Identifier: MIT
"""Commands that are sent before earlier answers arrive, and two links beside each other.
test_halves.py PROGRAM"""
import sys
import time
import unittest

from ends import Caller, Liar, Server


class Halves(unittest.TestCase):
    def test_a_flight(self):
        s = Server(self)
        call = Caller(self, "url=unix://" + s.socket)
        for line in ("@send INCR n", "@send INCR n", "@send WAIT 0 10"):
            self.assertEqual(call(line), "OK 0")
        answer = call("PING")
        self.assertTrue(answer.startswith("EINVAL ") and "3 answers" in answer, answer)
        self.assertEqual([call("@receive 0") for _ in range(3)], ["OK 1", "OK 2", "OK 0"])
        self.assertTrue(call("@receive 0").startswith("ENOTCONN "))
        self.assertEqual(call("PING"), "OK PONG")
        self.assertEqual(call("@number"), "OK 1")

    def test_a_blocking_read(self):
        """A blocking read has its own time limit, and commands of another link overtake it."""
        s = Server(self)
        tail = Caller(self, "url=unix://" + s.socket, "answer=2000")
        self.assertEqual(tail("@send XREAD BLOCK 0 STREAMS log $"), "OK 0")
        self.assertEqual(tail("@take 60000"), "OK 0")
        self.assertEqual(tail("@ready 600"), "OK 0")
        self.assertEqual(tail("@take 60000"), "OK 0")
        s.client.xadd("log", {"b": "x"}, id="1-1")
        self.assertEqual(tail("@ready 30000"), "OK 1")
        self.assertEqual(tail("@take 60000"), "OK [[log [[1-1 [b x]]]]]")
        self.assertTrue(tail("@take 60000").startswith("ENOTCONN "))
        self.assertEqual(tail("XREAD BLOCK 100 STREAMS log $"), "OK nil")
        self.assertEqual(tail("@send XREAD BLOCK 4000 STREAMS log $"), "OK 0")
        self.assertEqual(tail("@receive 60000"), "OK nil")
        self.assertEqual(tail("@send XREAD BLOCK 0 STREAMS log $"), "OK 0")
        self.assertTrue(tail("@receive 0").startswith("ETIMEDOUT "))
        self.assertEqual(tail("@send XREAD BLOCK 0 STREAMS log $"), "OK 0")
        time.sleep(2.5)
        self.assertTrue(tail("@take 0").startswith("ETIMEDOUT "))

    def test_drips_are_not_taken_for_ever(self):
        liar = Liar(self, [b"$100\r\n", *[0.1, (b"x",)] * 100])
        call = Caller(self, "url=" + liar.url)
        self.assertEqual(call("@send X"), "OK 0")
        begun = time.monotonic()
        while (answer := call("@take 600")) == "OK 0":
            self.assertLess(time.monotonic() - begun, 8)
            call("@ready 100")
        self.assertRegex(answer, "ETIMEDOUT .*no whole answer in time")

    def test_what_does_not_come_is_not_waited_for(self):
        """When the connection has ended, waiting for a pending answer fails at once."""
        liar = Liar(self, [b"+one\r\n", None], [b"+again\r\n"])
        call = Caller(self, "url=" + liar.url)
        self.assertEqual(call("@send X"), "OK 0")
        self.assertEqual(call("@send Y"), "OK 0")
        self.assertEqual(call("@receive 0"), "OK one")
        self.assertTrue(call("@receive 0").startswith("ECONNRESET "))
        self.assertTrue(call("@receive 0").startswith("ENOTCONN "))
        self.assertEqual(call("X"), "OK again")

    def test_an_error_that_stays_ends_no_flight(self):
        liar = Liar(self, [b"-LOADING x\r\n+two\r\n"])
        call = Caller(self, "url=" + liar.url)
        call("@send X"), call("@send Y")
        self.assertTrue(call("@receive 0").startswith("EAGAIN "))
        self.assertEqual(call("@receive 0"), "OK two")

    def test_a_flight_that_is_sent_elsewhere(self):
        """After MOVED answers the caller must send all its pending commands again."""
        there = Liar(self, [b"+one\r\n+two\r\n"])
        moved = b"-MOVED 1 127.0.0.1:%d\r\n" % there.port
        call = Caller(self, "url=" + Liar(self, [moved * 2]).url)
        call("@send X"), call("@send Y")
        answer = call("@receive 0")
        self.assertTrue(answer.startswith("EAGAIN ") and "send all of it again" in answer, answer)
        self.assertTrue(call("@receive 0").startswith("ENOTCONN "))
        call("@send X"), call("@send Y")
        self.assertEqual([call("@receive 0"), call("@receive 0")], ["OK one", "OK two"])

    def test_an_answer_to_what_is_not_sent_yet(self):
        liar = Liar(self, [b"+one\r\n+two\r\n"])
        call = Caller(self, "url=" + liar.url)
        self.assertEqual(call("X"), "OK one")
        self.assertTrue(call("@send Y").startswith("EPROTO "))


class Beside(unittest.TestCase):
    def test_at_one_address(self):
        """The URL names two hosts. The second link uses the host of the first link, not the first
        host of the URL, and closes with the first link."""
        one = Liar(self, [b"+1\r\n", b"", None], [b"+1 again\r\n"], [b"+never\r\n"])
        two = Liar(self, [b"+2\r\n"], [b"+2 beside\r\n"])
        call = Caller(self, "url=%s,127.0.0.1:%d" % (one.url, two.port))
        answer = call("@beside X")
        self.assertTrue(answer.startswith("ENOTCONN ") and "connect that first" in answer, answer)
        self.assertEqual(call("X"), "OK 1")
        self.assertTrue(call("X").startswith("ECONNRESET "))
        self.assertTrue(call("@beside X").startswith("ENOTCONN "))
        self.assertEqual(call("X"), "OK 2")
        self.assertEqual(call("@beside X"), "OK 2 beside")
        self.assertEqual(call("@rest"), "OK 0")
        self.assertTrue(call("@beside X").startswith("ECONNRESET "))
        self.assertTrue(call("@beside X").startswith("ENOTCONN "))

    def test_where_the_first_was_sent(self):
        there = Liar(self, [b"+first\r\n"], [b"+beside\r\n"], host="127.0.0.2")
        here = Liar(self, [b"-MOVED 1 127.0.0.2:%d\r\n" % there.port])
        call = Caller(self, "url=" + here.url)
        self.assertEqual(call("X"), "OK first")
        self.assertEqual(call("@beside X"), "OK beside")

    def test_one_that_is_sent_elsewhere_does_not_go(self):
        other = Liar(self, [b"+never\r\n"])
        moved = b"-MOVED 1 127.0.0.1:%d\r\n" % other.port
        here = Liar(self, [b"+first\r\n"], [moved], [moved], [b"+here\r\n"])
        call = Caller(self, "url=" + here.url)
        self.assertEqual(call("X"), "OK first")
        self.assertTrue(call("@beside X").startswith("EAGAIN "))
        self.assertTrue(call("@beside X").startswith("EAGAIN "))
        self.assertEqual(call("@beside X"), "OK here")
        self.assertEqual(other.seen, [])

    def test_each_is_interrupted_alone(self):
        s = Server(self)
        call = Caller(self, "url=unix://" + s.socket)
        self.assertEqual(call("X").split()[0], "OK")
        self.assertEqual(call("@beside PING"), "OK PONG")
        self.assertEqual(call("@beside @stop 0"), "OK 0")
        time.sleep(0.3)
        self.assertTrue(call("@beside INCR n").startswith("ECANCELED "))
        self.assertEqual(call("GET n"), "OK nil") # INCR was not sent
        self.assertEqual(call("@beside @rest"), "OK 0")
        self.assertEqual(call("@beside PING"), "OK PONG")
        self.assertEqual(call("@beside @number"), "OK 2")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])

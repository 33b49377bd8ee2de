# SPDX-License-Identifier: MIT
"""Finding the master by Sentinels, real and lying ones. test_sentinel.py PROGRAM"""
import os
import sys
import unittest

from ends import (MASTER, SLAVE, Caller, Liar, RedisServer, Server, free_port, names, wait_until)


class Sentinel(RedisServer):
    """A single Sentinel with a password, which watches one master."""

    def __init__(self, test, master_port):
        self.master_port = master_port
        super().__init__(free_port())
        test.addCleanup(self.close)

    def command(self):
        path = os.path.join(self.folder, "sentinel.conf")
        with open(path, "w") as conf:
            conf.write("port %d\nbind 127.0.0.1\ndir %s\nunixsocket %s\nlogfile %s/log\n"
                       "requirepass asked\n"
                       "sentinel monitor the-master 127.0.0.1 %d 1\n"
                       "sentinel down-after-milliseconds the-master 60000\n"
                       % (self.port, self.folder, self.socket, self.folder, self.master_port))
        return ["redis-server", path, "--sentinel"]


class Sentinels(unittest.TestCase):
    def sentinel(self, *ports):
        return Liar(self, *[[names(p)] for p in ports])

    def test_a_failover(self):
        """A real failover. The link to the old master asks the Sentinel and finds the new one."""
        old = Server(self)
        new = Server(self, "--replicaof", "127.0.0.1 %d" % old.port)
        wait_until("the replica follows",
                   lambda: new.client.info("replication")["master_link_status"] == "up")
        sentinel = Sentinel(self, old.port)
        sentinel.client.close()
        import redis
        asker = redis.Redis(unix_socket_path=sentinel.socket, password="asked")

        def knows():
            about = asker.execute_command("SENTINEL", "MASTER", "the-master")
            return dict(zip(about[::2], about[1::2]))[b"num-slaves"] == b"1"
        wait_until("Sentinel knows the replica", knows)
        url = "url=redis+sentinel://127.0.0.1:%d/the-master" % sentinel.port
        self.assertTrue(Caller(self, url)("PING").startswith("EACCES "))
        call = Caller(self, url, "sentinel_password=asked")
        self.assertEqual(call("SET x y"), "OK OK")
        self.assertIn(":%d" % old.port, call("@peer"))
        self.assertEqual(call("@moved"), "OK 0")
        self.assertEqual(call("@beside @moved"), "OK 0")

        def fails_over():
            try:
                return asker.execute_command("SENTINEL", "FAILOVER", "the-master")
            except redis.exceptions.ResponseError: # the Sentinel has not asked the replica yet
                return False
        wait_until("a failover begins", fails_over)
        wait_until("it is another", lambda: call("@moved") == "OK 1")
        self.assertEqual(call("@rest"), "OK 0")
        self.assertEqual(call("@moved"), "OK 0") # @rest closed the connection

        def there():
            return call("SET x z") == "OK OK"
        wait_until("it is found", there)
        self.assertIn(":%d" % new.port, call("@peer"))
        self.assertEqual(call("@moved"), "OK 0")

    def test_one_that_lies(self):
        for said in (b":1\r\n", b"*1\r\n$1\r\nx\r\n", b"*2\r\n:1\r\n:2\r\n",
                     b"*2\r\n$1\r\nx\r\n$1\r\nx\r\n", b"*2\r\n$0\r\n\r\n$1\r\n1\r\n",
                     b"*2\r\n$2\r\n\x1bc\r\n$1\r\n1\r\n", b"*2\r\n$1\r\nh\r\n$0\r\n\r\n",
                     b"-ERR unknown command 'SENTINEL'\r\n"):
            with self.subTest(said=said):
                liar = Liar(self, [said])
                call = Caller(self, "url=redis+sentinel://127.0.0.1:%d/m" % liar.port)
                self.assertTrue(call("GET x").startswith("EPROTO "))

    def test_answers_that_are_no_address(self):
        """Huge, nested, endless or strange answers quickly give an error that says so."""
        for said in (names(1, b"a" * 300), names(1, b"\x1b"), b"*2\r\n$-1\r\n$1\r\n1\r\n",
                     b"*2\r\n$1\r\na\r\n$5\r\n1\x00222\r\n", names(99999, b"%s"),
                     b"*2\r\n$9\r\n127.0.0.1\r\n$6\r\n+07197\r\n", b"*7\r\n" * 9, b"-\r\n",
                     b"+\r\n", b"$999999999999\r\n", b"*200000\r\n" + b":1\r\n" * 200000,
                     b"-ERR \x1b[31m" + b"x" * 5000 + b"\r\n",
                     b"*2\r\n$1\r\n*\r\n$1\r\n9\r\n*2\r\n"):
            with self.subTest(said=said[:40]):
                liar = Liar(self, [said])
                call = Caller(self, "url=redis+sentinel://127.0.0.1:%d/m" % liar.port,
                              "connect=500")
                answer = call("GET x")
                self.assertRegex(answer, "^E[A-Z]+ ")
                self.assertNotRegex(answer, "[\x00-\x1f\x7f]")

    def test_a_role_that_is_none(self):
        for said, error in ((b":1\r\n", "EAGAIN "), (b"*0\r\n", "EAGAIN "),
                            (b"*1\r\n:1\r\n", "EAGAIN "), (b"*-1\r\n", "EAGAIN "),
                            (b"+master\r\n", "EAGAIN "), (SLAVE, "EAGAIN "),
                            (b"*1\r\n$8\r\nsentinel\r\n", "EAGAIN "),
                            (b"-NOPERM no\r\n", "EACCES ")):
            with self.subTest(said=said):
                there = Liar(self, [said])
                call = Caller(self, "url=redis+sentinel://127.0.0.1:%d/m"
                              % self.sentinel(there.port).port)
                self.assertTrue(call("X").startswith(error))

    def test_one_that_is_cut_off(self):
        """A Sentinel that is cut off still names the old master. The same call asks the next
        Sentinel, which knows the new master and is asked first from then on."""
        for old in (Liar(self, [SLAVE]).port, free_port()):
            with self.subTest(old=old):
                new = Liar(self, [MASTER, b"+new\r\n", b"", None], [MASTER, b"+new again\r\n"])
                good = self.sentinel(new.port, new.port)
                call = Caller(self, "url=redis+sentinel://127.0.0.1:%d,127.0.0.1:%d/m"
                              % (self.sentinel(old, old).port, good.port))
                self.assertEqual(call("X"), "OK new")
                self.assertTrue(call("X").startswith("ECONNRESET "))
                self.assertEqual(call("X"), "OK new again")
                self.assertEqual(len(good.seen), 2)

    def test_one_that_is_late(self):
        """A Sentinel names a former master, and names the new master when asked again."""
        old, new = Liar(self, [SLAVE]), Liar(self, [MASTER, b"+new\r\n"])
        late = self.sentinel(old.port, new.port)
        call = Caller(self, "url=redis+sentinel://127.0.0.1:%d/m" % late.port)
        answer = call("GET x")
        self.assertTrue(answer.startswith("EAGAIN "), answer)
        self.assertEqual(call("GET x"), "OK new")

    def test_one_that_knows_nothing(self):
        unknowing, dead = Liar(self, [b"*-1\r\n"]), free_port()
        call = Caller(self, "url=redis+sentinel://127.0.0.1:%d,127.0.0.1:%d/m"
                      % (dead, unknowing.port))
        answer = call("GET x")
        self.assertTrue(answer.startswith("EAGAIN ") and "knows no master" in answer, answer)

    def test_has_the_master_moved(self):
        """The next call skips a Sentinel that did not answer."""
        master = Liar(self, [MASTER, b"+one\r\n", b"+two\r\n"])
        first = Liar(self, [names(master.port)], [names(master.port)],
                     [names(master.port, b"127.0.0.2")],
                     [names(free_port())], [b"*-1\r\n"])
        second = self.sentinel(master.port)
        call = Caller(self, "url=redis+sentinel://127.0.0.1:%d,127.0.0.1:%d/m"
                      % (first.port, second.port))
        self.assertEqual(call("X"), "OK one")
        for moved in (0, 1, 1):
            self.assertEqual(call("@moved"), "OK %d" % moved)
        self.assertTrue(call("@moved").startswith("EAGAIN "))
        self.assertEqual(call("@moved"), "OK 0")
        self.assertEqual(call("X"), "OK two") # @moved used other connections

    def test_one_that_hangs_is_not_waited_for(self):
        master = Liar(self, [MASTER, b"+one\r\n"])
        hangs = Liar(self, [names(master.port)], [60])
        call = Caller(self, "url=redis+sentinel://127.0.0.1:%d/m" % hangs.port, "connect=5000",
                      "answer=60000")
        self.assertEqual(call("X"), "OK one")
        self.assertTrue(call("@moved").startswith("ETIMEDOUT "))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])

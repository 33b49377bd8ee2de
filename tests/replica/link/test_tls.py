# SPDX-License-Identifier: MIT
"""Links over TLS to a real redis, and to servers whose certificates are refused. test_tls.py
PROGRAM"""
import ssl
import sys
import tempfile
import unittest

import certificates
from ends import MASTER, Caller, Liar, Server, free_port, names


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.at = folder.name
        certificates.make(cls.at)
        cls.ca = "ca=%s/ca.crt" % cls.at
        cls.own = ["cert=%s/client.crt" % cls.at, "key=%s/client.key" % cls.at]

    def liar(self, name, *lives):
        return Liar(self, *lives, certificate=self.at + "/" + name)

    def test_a_real_redis(self):
        port = free_port()
        server = Server(self, *certificates.of_server(self.at, port))
        url, ca, own = "url=rediss://127.0.0.1:%d" % port, self.ca, self.own
        call = Caller(self, url, ca, *own)
        self.assertEqual(call("SET big " + "x" * 500000), "OK OK")
        self.assertEqual(call("STRLEN big"), "OK 500000")
        self.assertEqual(call("@beside STRLEN big"), "OK 500000")
        self.assertEqual(Caller(self, url, ca, "name=redis.example", *own)("PING"), "OK PONG")
        for options, hint in (([*own], "--ca-file"),
                              ([ca, "name=other.example", *own], "--server-name"),
                              ([ca, "name=127.0.0.2", *own], "--server-name")):
            answer = Caller(self, url, *options)("PING")
            self.assertTrue(answer.startswith("EKEYREJECTED ") and hint in answer, answer)
        self.assertEqual(Caller(self, url, "insecure", *own)("PING"), "OK PONG")
        answer = Caller(self, url, ca)("PING") # the server asks for a client's certificate
        self.assertTrue(answer.startswith(("EPROTO ", "ECONNRESET ")), answer)
        server.kill() # a write after this must not raise SIGPIPE
        self.assertTrue(call("PING").startswith(("ECONNRESET ", "EPROTO ")))
        self.assertTrue(call("PING").startswith("ECONNREFUSED "))

    def test_files_that_will_not_do(self):
        at, own, url = self.at, self.own, "url=rediss://127.0.0.1:1"
        for bad in (["ca=/nowhere"], [self.ca, own[0]], [self.ca, own[1]],
                    [self.ca, own[0], "key=%s/ca.key" % at],
                    [self.ca, own[0], "key=%s/locked.key" % at], # no prompt for a password
                    [self.ca, "cert=%s/client.key" % at, own[1]]):
            with self.subTest(bad=bad):
                said = Caller(self, url, *bad).process.stdout.readline()
                self.assertTrue(said.startswith("EINVAL TLS"), said)
        said = Caller(self, "url=redis://h", self.ca).process.stdout.readline()
        self.assertIn("ca_file", said)

    def test_no_tls(self):
        liar = Liar(self, [b"+OK\r\n"])
        answer = Caller(self, "url=rediss://127.0.0.1:%d" % liar.port, self.ca)("PING")
        self.assertTrue(answer.startswith("EPROTO "), answer)

    def test_certificates_that_are_refused(self):
        """If the server's certificate is refused, the link sends no data."""
        for name, why in (("expired", "expired"), ("alone", "self")):
            with self.subTest(name=name):
                liar = self.liar(name, [b"+OK\r\n"])
                answer = Caller(self, "url=rediss://:SECRET@127.0.0.1:%d" % liar.port,
                                self.ca)("X")
                self.assertTrue(answer.startswith("EKEYREJECTED ") and why in answer, answer)
                self.assertNotIn("SECRET", answer)
                self.assertEqual(liar.seen, [])
        liar = self.liar("alone", [b"+OK\r\n"])
        call = Caller(self, "url=" + liar.url, "ca=%s/alone.crt" % self.at)
        self.assertEqual(call("X"), "OK OK")

    def test_the_name_is_told(self):
        """TLS sends the name of the host or the name that is set, and none for an address."""
        for options, told in ((["name=redis.example"], "redis.example"), ([], None)):
            liar = self.liar("server", [b"+OK\r\n"])
            self.assertEqual(Caller(self, "url=" + liar.url, self.ca, *options)("X"), "OK OK")
            self.assertEqual(liar.names, [told])
        liar = self.liar("server", [b"+OK\r\n"])
        call = Caller(self, "url=rediss://localhost:%d" % liar.port, self.ca)
        self.assertTrue(call("X").startswith("EKEYREJECTED "))
        self.assertEqual(liar.names, ["localhost"])

    def test_no_old_tls(self):
        liar = self.liar("server", [b"+OK\r\n"])
        liar.context.maximum_version = ssl.TLSVersion.TLSv1_1
        liar.context.minimum_version = ssl.TLSVersion.TLSv1
        liar.context.set_ciphers("ALL:@SECLEVEL=0")
        answer = Caller(self, "url=" + liar.url, self.ca)("X")
        self.assertTrue(answer.startswith("EPROTO "), answer)

    def test_sentinels_too(self):
        master = self.liar("server", [MASTER, b"+OK\r\n"])
        sentinel = self.liar("server", [names(master.port)])
        call = Caller(self, "url=rediss+sentinel://127.0.0.1:%d/m" % sentinel.port, self.ca)
        self.assertEqual(call("X"), "OK OK")
        impostor = self.liar("alone", [names(master.port)])
        call = Caller(self, "url=rediss+sentinel://127.0.0.1:%d/m" % impostor.port, self.ca)
        self.assertTrue(call("X").startswith("EKEYREJECTED "))

    def test_half_an_answer(self):
        """Half an answer is an error, whether or not the server closed TLS properly."""
        liar = self.liar("server", [b"$10\r\nabc", None])
        answer = Caller(self, "url=" + liar.url, self.ca)("X")
        self.assertTrue(answer.startswith(("ECONNRESET ", "EPROTO ")), answer)

    def test_what_openssl_has_already(self):
        """OpenSSL reads two answers at once, so the socket has nothing left to read."""
        liar = self.liar("server", [b"+one\r\n" + b"$100000\r\n" + b"x" * 100000 + b"\r\n"])
        call = Caller(self, "url=" + liar.url, self.ca)
        call("@send X"), call("@send Y")
        self.assertEqual(call("@receive 0"), "OK one")
        self.assertTrue(call("@receive 0").startswith("OK xxx"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])

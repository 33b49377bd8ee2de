# SPDX-License-Identifier: MIT
"""BF.* of weir-redis.so in a real server: answers, errors, and what is kept. It runs as
test_bf.py MODULE."""
import random
import socket
import struct
import sys
import unittest

import redis

from served import HOSTILE, Case, Server, free_port, number, xxh3

class Commands(Case):
    def setUp(self):
        self.server = self.serve()
        self.run_ = self.server.client.execute_command

    def test_client(self):
        bf = self.server.client.bf()
        self.assertTrue(bf.create("k", 0.01, 1000))
        self.assertEqual([bf.add("k", "a"), bf.add("k", "a")], [1, 0])
        self.assertEqual(bf.madd("k", "a", "b"), [0, 1])
        self.assertEqual([bf.exists("k", "a"), bf.exists("k", "z")], [1, 0])
        self.assertEqual(bf.mexists("k", "b", "y"), [1, 0])
        info = bf.info("k")
        self.assertEqual((info.capacity, info.filterNum, info.insertedNum, info.expansionRate),
                         (1000, 1, 2, 2))
        self.assertGreater(info.size, 1000)

    def test_growth(self):
        items = [b"%d" % i for i in range(5000)]
        taken = sum(self.run_("BF.MADD", "g", *items))
        self.assertEqual(self.run_("BF.CARD", "g"), taken)
        self.assertGreater(taken, 4900)
        self.assertEqual(self.run_("BF.MEXISTS", "g", *items), [1] * 5000)
        false = sum(self.run_("BF.MEXISTS", "g", *[b"x%d" % i for i in range(5000)]))
        self.assertLess(false, 100)
        self.assertEqual(self.run_("BF.INFO", "g", "filters"), [6])
        self.assertEqual(self.run_("BF.INFO", "g", "CAPACITY"), [6300])

    def test_full(self):
        self.run_("BF.RESERVE", "f", "0.001", "10", "NONSCALING")
        answers = self.run_("BF.MADD", "f", *range(30))
        self.assertEqual(answers[:-1].count(1), 10)
        self.assertEqual(str(answers[-1]), "non scaling filter is full")
        self.assertIsNone(self.run_("BF.INFO", "f", "EXPANSION")[0])
        self.refused(self.run_, "BF.ADD", "f", "new", text="non scaling filter is full")

    def test_missing(self):
        self.assertEqual(self.run_("BF.EXISTS", "none", "a"), 0)
        self.assertEqual(self.run_("BF.CARD", "none"), 0)
        self.refused(self.run_, "BF.INFO", "none", text="not found")
        self.refused(self.run_, "BF.INSERT", "none", "NOCREATE", "ITEMS", "a", text="not found")

    def test_insert(self):
        self.assertEqual(self.run_("BF.INSERT", "i", "CAPACITY", 7, "ERROR", "0.1", "EXPANSION", 4,
                                   "ITEMS", "a", "b"), [1, 1])
        self.assertEqual(self.run_("BF.INFO", "i", "CAPACITY"), [7])
        self.assertEqual(self.run_("BF.INFO", "i", "EXPANSION"), [4])
        for words, text in ((("CAPACITY", "x"), "Bad capacity"), (("ERROR", "x"), "Bad error rate"),
                            (("EXPANSION", "x"), "Bad expansion"), (("FOO",), "Unknown argument")):
            self.refused(self.run_, "BF.INSERT", "j", *words, "ITEMS", "a", text=text)
        self.refused(self.run_, "BF.INSERT", "j", "ITEMS", text="wrong number of arguments")
        self.assertEqual(self.run_("EXISTS", "j"), 0)

    def test_reserve(self):
        for words, text in ((("x", 1), "bad error rate"), ((2, 1), "error rate must be in"),
                            ((0.1, "x"), "bad capacity"), ((0.1, 0), "capacity must be in"),
                            ((0.1, 1, "EXPANSION"), "no expansion"),
                            ((0.1, 1, "EXPANSION", "x"), "bad expansion"),
                            ((0.1, 1, "EXPANSION", 2, "NONSCALING"), "cannot expand")):
            self.refused(self.run_, "BF.RESERVE", "r", *words, text=text)
        self.run_("BF.RESERVE", "r", "0.1", "1")
        self.refused(self.run_, "BF.RESERVE", "r", "0.1", "1", text="item exists")
        self.run_("SET", "s", "text")
        self.refused(self.run_, "BF.ADD", "s", "a", text="WRONGTYPE")
        self.refused(self.run_, "BF.EXISTS", "s", "a", text="WRONGTYPE")

    def test_resp3(self):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(self.server.socket)
            stream = s.makefile("rwb")
            stream.write(b"HELLO 3\r\nECHO mark\r\nBF.ADD t a\r\nBF.MEXISTS t a b\r\nBF.INFO t\r\n")
            stream.flush()
            while stream.readline() != b"mark\r\n":
                pass
            self.assertEqual([stream.readline() for _ in range(5)],
                             [b"#t\r\n", b"*2\r\n", b"#t\r\n", b"#f\r\n", b"%5\r\n"])


class Dumps(Case):
    def scan(self, client, at=0):
        chunks = []
        while True:
            at, data = client.bf().scandump("k", at)
            if not at:
                self.assertEqual(data, b"")
                return chunks
            chunks.append((at, data))

    def load(self, client, key, chunks):
        for chunk in chunks:
            self.assertTrue(client.bf().loadchunk(key, *chunk))

    def test_whole(self):
        client = self.serve().client
        client.execute_command("BF.MADD", "k", *range(5000))
        chunks = self.scan(client)
        self.assertEqual([len(chunks), chunks[0][0]], [7, 1])
        self.load(client, "l", chunks)
        self.load(client, "l", chunks[1:])
        self.assertEqual(client.dump("l"), client.dump("k"))

    def test_large(self):
        client = self.serve().client
        client.execute_command("BF.RESERVE", "k", "0.001", "20000000")
        client.execute_command("BF.MADD", "k", *range(1000))
        chunks = self.scan(client)
        self.assertGreater(len(chunks), 2)
        self.assertEqual(max(len(data) for _, data in chunks), 16 << 20)
        self.load(client, "l", chunks)
        self.assertEqual(client.execute_command("BF.MEXISTS", "l", *range(1000)), [1] * 1000)
        self.assertEqual(client.execute_command("BF.CARD", "l"),
                         client.execute_command("BF.CARD", "k"))

    def test_torn(self):
        client = self.serve().client
        client.execute_command("BF.MADD", "k", *range(250))
        chunks = [client.bf().scandump("k", 0), client.bf().scandump("k", 1)]
        client.execute_command("BF.MADD", "k", *range(1000, 5000))
        self.load(client, "l", chunks + self.scan(client, chunks[1][0]))
        self.assertEqual(client.execute_command("BF.MEXISTS", "l", *range(250)), [1] * 250)

    def test_refused(self):
        client = self.serve(arguments=["max-bytes", "1mb"]).client
        run = client.execute_command
        run("BF.MADD", "k", *range(1000))
        (_, header), *chunks = self.scan(client)
        run("BF.RESERVE", "m", "0.01", "100")
        at, data = chunks[0]
        run("BF.LOADCHUNK", "l", 1, header)
        before = client.dump("l")
        flipped = data[:50] + bytes([data[50] ^ 1]) + data[51:]
        for key, iterator, bad, text in (
                ("l", 1, header, "received bad data"), ("n", 1, header[:-1], "received bad data"),
                ("n", 1, b"x" * 48, "received bad data"), ("l", at, flipped, "received bad data"),
                ("l", at, data[:32], "received bad data"), ("m", at, data, "received bad data"),
                ("l", at + 1, data, "invalid offset - no link found"),
                ("l", chunks[2][0], chunks[2][1], "invalid offset - no link found"),
                ("n", at, data, "not found"), ("l", 0, data, "must be numeric")):
            self.refused(run, "BF.LOADCHUNK", key, iterator, bad, text=text)
        self.assertEqual(client.dump("l"), before)
        self.assertEqual(run("EXISTS", "n"), 0)
        self.refused(run, "BF.SCANDUMP", "none", 0, text="not found")
        self.refused(run, "BF.SCANDUMP", "k", "x", text="must be numeric")
        run("SET", "s", "text")
        self.refused(run, "BF.SCANDUMP", "s", 0, text="WRONGTYPE")
        self.refused(run, "BF.LOADCHUNK", "s", 1, header, text="WRONGTYPE")
        for words in (["BF.SCANDUMP", "k"], ["BF.LOADCHUNK", "k", 1]):
            self.refused(run, *words, text="wrong number of arguments")

    def hostile_header(self, dice, header):
        fields = list(struct.unpack("<6Q", header))
        for _ in range(dice.randint(1, 2)):
            i = dice.randrange(1, 5)
            rate = struct.unpack("<Q", struct.pack("<d", dice.choice((0.5, 1e-300, 0.01))))[0]
            fields[i] = rate if i == 1 and dice.random() < 0.5 else number(dice)
        first = struct.pack("<5Q", *fields[:5])
        return first + struct.pack("<Q", xxh3(first))

    def hostile_chunk(self, dice, header, good):
        at, data = dice.choice(good)
        _, offset, items, _ = struct.unpack("<4Q", data[:32])
        bits = bytearray(data[32:])
        what = dice.randrange(4)
        if what == 0:
            offset = number(dice)
        elif what == 1:
            items = number(dice)
        elif what == 2:
            del bits[dice.randrange(len(bits)):]
        else:
            bits += dice.randbytes(dice.randrange(1, 5000))
        at = offset + len(bits) + 1 if dice.random() < 0.8 else number(dice)
        first = header[40:] + struct.pack("<2Q", offset, items)
        return at & (1 << 63) - 1, first + struct.pack("<Q", xxh3(bits, xxh3(first))) + bits

    def test_hostile(self):
        most = 1 << 20
        client = self.serve(arguments=["max-bytes", str(most)]).client
        run, dice, counts = client.execute_command, random.Random(23), [0, 0]
        run("BF.MADD", "k", *range(1000))
        (_, good), *chunks = self.scan(client)
        for i in range(HOSTILE):
            client.delete("h")
            payloads = [(1, self.hostile_header(dice, good) if i % 2 else good)]
            header = payloads[0][1]
            payloads += [self.hostile_chunk(dice, header, chunks) for _ in range(5)]
            for at, data in payloads:
                try:
                    run("BF.LOADCHUNK", "h", at, data)
                    counts[0] += 1
                except redis.exceptions.ResponseError:
                    counts[1] += 1
            if client.exists("h"):
                self.assertLess(client.memory_usage("h"), most + 16384)
                answers = run("BF.MADD", "h", *range(50))
                taken = [n for n, a in enumerate(answers) if a in (0, 1)]
                self.assertEqual(run("BF.MEXISTS", "h", *taken, "x")[:-1], [1] * len(taken))
                client.restore("r", 0, client.dump("h"), replace=True)
                self.assertEqual(client.dump("r"), client.dump("h"))
        # Each way is taken, so the checksums were right.
        self.assertGreater(min(counts), HOSTILE // 4)
        self.assertEqual(run("BF.MEXISTS", "k", *range(1000)), [1] * 1000)

    def test_failover(self):
        master = self.serve(port=free_port())
        replica = self.replica_of(master)
        master.client.execute_command("BF.MADD", "k", *range(1000))
        chunks = self.scan(master.client)
        self.load(master.client, "l", chunks)
        self.assertEqual(master.client.wait(1, 0), 1)
        self.assertEqual(replica.client.dump("l"), master.client.dump("k"))
        replica.client.execute_command("REPLICAOF", "NO", "ONE")
        self.assertEqual(self.scan(replica.client, chunks[1][0]), chunks[2:])


class Keeping(Case):
    def fill(self, server):
        server.client.execute_command("BF.MADD", "k", *range(1000))
        return server.client.dump("k")

    def test_rdb(self):
        server = self.serve(options=["--appendonly", "no"])
        before = self.fill(server)
        server.client.save()
        server.again()
        self.assertEqual(server.client.dump("k"), before)

    def test_aof(self):
        for preamble in ("yes", "no"):
            server = self.serve(options=["--appendonly", "yes", "--appendfsync", "always",
                                         "--aof-use-rdb-preamble", preamble])
            before = self.fill(server)
            server.again()
            self.assertEqual(server.client.dump("k"), before)
            self.rewrite(server)
            server.again()
            self.assertEqual(server.client.dump("k"), before)

    def test_replica(self):
        master = self.serve(port=free_port())
        replica = self.replica_of(master)
        before = self.fill(master)
        master.client.wait(1, 0)
        self.assertEqual(replica.client.dump("k"), before)

    def test_copies(self):
        server = self.serve()
        before = self.fill(server)
        server.client.restore("r", 0, before)
        server.client.copy("k", "c")
        self.assertEqual([server.client.dump(k) for k in "rc"], [before] * 2)
        size = server.client.execute_command("BF.INFO", "k", "SIZE")[0]
        self.assertGreaterEqual(server.client.memory_usage("k"), size)
        self.assertEqual(server.client.unlink("k", "r", "c"), 3)

    def test_limit(self):
        server = self.serve(arguments=["max-bytes", "1kb"])
        run = server.client.execute_command
        self.refused(run, "BF.RESERVE", "k", "0.01", "100000", text="max-bytes is 1024")
        answers = run("BF.MADD", "k", *range(1000))
        self.assertIn("max-bytes is 1024", str(answers[-1]))
        self.assertEqual(sum(answers[:-1]), run("BF.CARD", "k"))

    def test_arguments(self):
        for words in (["max-bytes"], ["max-bytes", "4x"], ["most", "4"]):
            with self.assertRaises(AssertionError) as caught:
                Server(arguments=words)
            self.assertIn("is refused: there is max-bytes", str(caught.exception))

    def test_hostile(self):
        server = self.serve()
        run = server.client.execute_command
        run("BF.MADD", "k", "a", "b")
        self.restore_hostile(server, 17, lambda: (run("BF.MADD", "h", *range(50)),
                                                  run("BF.INFO", "h")))
        self.assertEqual(run("BF.MEXISTS", "k", "a", "b"), [1, 1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")

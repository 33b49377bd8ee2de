# SPDX-License-Identifier: MIT
"""CF.* of weir-redis.so in a real server: answers, errors, and what is kept. It runs as
test_cf.py MODULE."""
import random
import socket
import struct
import sys
import unittest

import redis

from served import HOSTILE, Case, free_port, number, wait_until, xxh3

HEADER = "<9Q"


class Commands(Case):
    def setUp(self):
        self.server = self.serve()
        self.run_ = self.server.client.execute_command

    def test_client(self):
        cf = self.server.client.cf()
        self.assertTrue(cf.create("k", 1000, expansion=3, bucket_size=4, max_iterations=7))
        self.assertEqual([cf.add("k", "a"), cf.add("k", "a"), cf.addnx("k", "a")], [1, 1, 0])
        self.assertEqual([cf.count("k", "a"), cf.count("k", "z")], [2, 0])
        self.assertEqual([cf.exists("k", "a"), cf.exists("k", "z")], [1, 0])
        self.assertEqual([cf.delete("k", "a") for _ in range(3)], [1, 1, 0])
        self.assertEqual(cf.exists("k", "a"), 0)
        self.assertEqual(cf.insert("k", ["b", "b", "c"]), [1, 1, 1])
        self.assertEqual(cf.insertnx("k", ["b", "d", "d"], nocreate=True), [0, 1, 0])
        self.assertEqual(self.run_("CF.MEXISTS", "k", "b", "y", "d"), [1, 0, 1])
        info = cf.info("k")
        self.assertEqual((info.bucketNum, info.filterNum, info.insertedNum, info.deletedNum,
                          info.bucketSize, info.expansionRate, info.maxIteration),
                         (256, 1, 4, 2, 4, 4, 7))
        self.assertGreater(info.size, 2000)

    def test_defaults(self):
        cf = self.server.client.cf()
        cf.add("k", "a")
        info = cf.info("k")
        self.assertEqual((info.bucketNum, info.bucketSize, info.expansionRate, info.maxIteration),
                         (512, 2, 1, 20))

    def test_growth(self):
        # So many that a removal from a link with another's fingerprint would be noticed.
        items = [b"%d" % i for i in range(5000)]
        self.assertEqual(self.run_("CF.INSERT", "g", "CAPACITY", 500, "ITEMS", *items), [1] * 5000)
        self.assertEqual(self.run_("CF.MEXISTS", "g", *items), [1] * 5000)
        false = sum(self.run_("CF.MEXISTS", "g", *[b"x%d" % i for i in range(5000)]))
        self.assertLess(false, 50)
        info = self.server.client.cf().info("g")
        self.assertEqual((info.filterNum, info.insertedNum), (10, 5000))
        # What was removed makes room, in whichever link it was.
        for item in items[:2000]:
            self.assertEqual(self.run_("CF.DEL", "g", item), 1)
        self.assertEqual(self.run_("CF.MEXISTS", "g", *items[2000:]), [1] * 3000)
        self.assertLess(sum(self.run_("CF.MEXISTS", "g", *items[:2000])), 50)
        self.run_("CF.INSERT", "g", "ITEMS", *items[:2000])
        info = self.server.client.cf().info("g")
        self.assertEqual((info.filterNum, info.insertedNum, info.deletedNum), (10, 5000, 2000))
        self.assertEqual(self.run_("CF.MEXISTS", "g", *items), [1] * 5000)

    def test_uneven(self):
        """Of links of several sizes: no removal loses another item, and few remove nothing."""
        items = [b"%d" % i for i in range(20000)]
        self.run_("CF.RESERVE", "u", 500, "EXPANSION", 3, "WEIRSEED", 7)
        self.assertEqual(self.run_("CF.INFO", "u")[13], 4)
        self.assertEqual(self.run_("CF.INSERT", "u", "ITEMS", *items), [1] * 20000)
        self.assertEqual(self.server.client.cf().info("u").filterNum, 4)
        pipe = self.server.client.pipeline(transaction=False)
        for item in items[:10000]:
            pipe.execute_command("CF.DEL", "u", item)
        stayed = pipe.execute().count(0)
        self.assertLess(stayed, 50)
        self.assertEqual(self.run_("CF.MEXISTS", "u", *items[10000:]), [1] * 10000)
        # Copies of one item stay together, even in a link that is full.
        self.assertEqual(self.run_("CF.INSERT", "u", "ITEMS", *["19999", "twice"] * 2), [1] * 4)
        for item, copies in (("19999", 3), ("twice", 2)):
            self.assertEqual([self.run_("CF.DEL", "u", item) for _ in range(copies)], [1] * copies)
            self.assertEqual(self.run_("CF.EXISTS", "u", item), 0)

    def test_full(self):
        self.run_("CF.RESERVE", "f", 2, "BUCKETSIZE", 1, "EXPANSION", 0)
        self.assertEqual(self.run_("CF.INSERT", "f", "ITEMS", 1, 1, 1, 1), [1, 1, -1, -1])
        self.assertEqual(self.run_("CF.INSERTNX", "f", "ITEMS", 1, "new"), [0, -1])
        self.refused(self.run_, "CF.ADD", "f", "new", text="Filter is full")
        self.assertEqual(self.run_("CF.ADDNX", "f", 1), 0)
        self.run_("CF.DEL", "f", 1)
        self.assertEqual(self.run_("CF.ADD", "f", "new"), 1)

    def test_copies(self):
        """Of one item a link has few copies, and a chain so many times the links."""
        answers = self.run_("CF.INSERT", "c", "ITEMS", *["a"] * 600)
        self.assertEqual(self.run_("CF.COUNT", "c", "a"), answers.count(1))
        self.assertGreaterEqual(answers.count(1), 256)
        self.assertEqual(sorted(set(answers)), [-1, 1])
        self.assertEqual(self.server.client.cf().info("c").filterNum, 64)
        self.refused(self.run_, "CF.ADD", "c", "a", text="Filter is full")
        self.assertEqual(self.run_("CF.ADD", "c", "b"), 1)

    def test_missing(self):
        self.assertEqual(self.run_("CF.EXISTS", "none", "a"), 0)
        self.assertEqual(self.run_("CF.MEXISTS", "none", "a", "b"), [0, 0])
        self.assertEqual(self.run_("CF.COUNT", "none", "a"), 0)
        self.refused(self.run_, "CF.DEL", "none", "a", text="Not found")
        for words in (["CF.INFO", "none"], ["CF.SCANDUMP", "none", 0],
                      ["CF.INSERT", "none", "NOCREATE", "ITEMS", "a"],
                      ["CF.INSERTNX", "none", "NOCREATE", "ITEMS", "a"]):
            self.refused(self.run_, *words, text="not found")
        self.assertEqual(self.run_("EXISTS", "none"), 0)

    def test_reserve(self):
        most = "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]"
        bucket = "BUCKETSIZE: value must be in the range [1, 255]"
        iterations = "MAXITERATIONS: value must be in the range [1, 65535]"
        expansion = "EXPANSION: value must be in the range [0, 32768]"
        for words, text in ((("x",), "Bad capacity"), ((0,), most), (((1 << 30) + 1,), most),
                            ((3,), most), ((9, "BUCKETSIZE", 5), most),
                            ((9, "BUCKETSIZE", 0), bucket), ((9, "BUCKETSIZE", 256), bucket),
                            ((9, "BUCKETSIZE", "x"), "Couldn't parse BUCKETSIZE"),
                            ((9, "MAXITERATIONS", 0), iterations),
                            ((9, "MAXITERATIONS", 65536), iterations),
                            ((9, "EXPANSION", -1), expansion), ((9, "EXPANSION", 32769), expansion),
                            ((9, "EXPANSION", -(1 << 63)), expansion),
                            ((9, "WEIRSEED", 0), "bad seed"), ((9, "FOO", 1), "Unknown argument"),
                            ((9, "EXPANSION"), "wrong number of arguments")):
            self.refused(self.run_, "CF.RESERVE", "r", *words, text=text)
        self.assertEqual(self.run_("EXISTS", "r"), 0)
        self.run_("CF.RESERVE", "r", 100)
        self.refused(self.run_, "CF.RESERVE", "r", 100, text="item exists")

    def test_insert(self):
        for words, text in ((("CAPACITY", "x"), "Bad capacity"), (("FOO",), "Unknown argument"),
                            (("CAPACITY", 3), "[cf-bucket-size * 2, 1073741824]"),
                            (("CAPACITY",), "Bad capacity")):
            # The last takes ITEMS for the capacity.
            self.refused(self.run_, "CF.INSERT", "j", *words, "ITEMS", "a", text=text)
        self.assertEqual(self.run_("EXISTS", "j"), 0)

    def test_arity(self):
        for words in (["RESERVE", "k"], ["ADD", "k"], ["ADD", "k", "a", "b"], ["ADDNX", "k"],
                      ["INSERT", "k", "ITEMS"], ["INSERTNX", "k"], ["EXISTS", "k"],
                      ["EXISTS", "k", "a", "b"], ["MEXISTS", "k"], ["DEL", "k"],
                      ["DEL", "k", "a", "b"], ["COUNT", "k"], ["COUNT", "k", "a", "b"], ["INFO"],
                      ["INFO", "k", "Size"], ["SCANDUMP", "k"], ["LOADCHUNK", "k", 1],
                      ["WEIRLINK", "k"]):
            self.refused(self.run_, "CF." + words[0], *words[1:], text="wrong number of arguments")

    def test_types(self):
        self.run_("SET", "s", "text")
        self.run_("BF.ADD", "b", "a")
        self.run_("CF.ADD", "c", "a")
        for key in "sb":
            for words in (["RESERVE", key, 100], ["ADD", key, "a"], ["ADDNX", key, "a"],
                          ["INSERT", key, "ITEMS", "a"], ["INSERTNX", key, "ITEMS", "a"],
                          ["EXISTS", key, "a"], ["MEXISTS", key, "a"], ["DEL", key, "a"],
                          ["COUNT", key, "a"], ["INFO", key], ["SCANDUMP", key, 0],
                          ["LOADCHUNK", key, 1, "x"]):
                self.refused(self.run_, "CF." + words[0], *words[1:], text="WRONGTYPE")
        self.refused(self.run_, "BF.ADD", "c", "a", text="WRONGTYPE")
        self.refused(self.run_, "BF.SCANDUMP", "c", 0, text="WRONGTYPE")
        link = ["CF.WEIRLINK", "k", *["1"] * 10, "image"]
        self.refused(self.run_, *link, text="for append-only files")

    def test_resp3(self):
        commands = (b"HELLO 3", b"ECHO mark", b"CF.RESERVE t 4 EXPANSION 0 WEIRSEED 7",
                    b"CF.ADD t a", b"CF.ADDNX t a", b"CF.MEXISTS t a b",
                    b"CF.INSERT t ITEMS b c d e",
                    b"CF.INSERTNX t ITEMS a f", b"CF.COUNT t a", b"CF.DEL t a", b"CF.INFO t",
                    b"ECHO mark")
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(self.server.socket)
            stream = s.makefile("rwb")
            stream.write(b"".join(c + b"\r\n" for c in commands))
            stream.flush()
            while stream.readline() != b"mark\r\n":
                pass
            lines = []
            while not lines or lines[-1] != b"mark":
                lines.append(stream.readline().strip())
        self.assertEqual(lines[:16], [b"+OK", b"#t", b"#f", b"*2", b"#t", b"#f", b"*4", b"#t",
                                      b"#t", b"#t", b":-1", b"*2", b":0", b":-1", b":1", b"#t"])
        self.assertEqual(lines[16:18], [b"%8", b"+Size"])


class Dumps(Case):
    def scan(self, client, at=0, key="k"):
        chunks = []
        while True:
            at, data = client.cf().scandump(key, at)
            if not at:
                self.assertIsNone(data)
                return chunks
            self.assertLess(at, 1 << 53)
            chunks.append((at, data))

    def load(self, client, key, chunks):
        for chunk in chunks:
            self.assertTrue(client.cf().loadchunk(key, *chunk))

    def fill(self, client):
        client.execute_command("CF.RESERVE", "k", 300, "WEIRSEED", 7)
        client.execute_command("CF.INSERT", "k", "ITEMS", *range(2000))
        for item in range(0, 2000, 3):
            client.execute_command("CF.DEL", "k", item)

    def test_whole(self):
        client = self.serve().client
        self.fill(client)
        chunks = self.scan(client)
        self.assertEqual(len(chunks), 8)
        self.load(client, "l", chunks)
        self.load(client, "l", chunks[1:])
        self.assertEqual(client.dump("l"), client.dump("k"))
        # Both go on alike.
        for key in "kl":
            client.execute_command("CF.INSERT", key, "ITEMS", *range(5000, 7000))
        self.assertEqual(client.dump("l"), client.dump("k"))

    def test_large(self):
        client = self.serve().client
        client.execute_command("CF.RESERVE", "k", "20000000")
        client.execute_command("CF.INSERT", "k", "ITEMS", *range(1000))
        chunks = self.scan(client)
        self.assertEqual(len(chunks), 4)
        self.assertEqual(max(len(data) for _, data in chunks), 16 << 20)
        self.load(client, "l", chunks)
        self.assertEqual(client.execute_command("CF.MEXISTS", "l", *range(1000)), [1] * 1000)
        self.assertEqual(client.cf().info("l").insertedNum, 1000)

    def test_torn(self):
        """A filter that changes ends its dumps; chunks of two moments are not mixed."""
        client = self.serve().client
        run = client.execute_command
        self.fill(client)
        for change in (["CF.ADD", "k", 1], ["CF.DEL", "k", 1], ["CF.INSERTNX", "k", "ITEMS", "n"]):
            before = self.scan(client)
            run(*change)
            self.refused(run, "CF.SCANDUMP", "k", before[0][0], text="begin again")
            self.refused(run, "CF.SCANDUMP", "k", before[-1][0], text="begin again")
            after = self.scan(client)
            client.delete("l")
            self.load(client, "l", before[:2])
            self.refused(run, "CF.LOADCHUNK", "l", *after[2], text="Couldn't load chunk!")
            self.load(client, "l", before[2:])
        # What changes nothing ends no dump.
        at = client.cf().scandump("k", 0)[0]
        for words in (["CF.INSERTNX", "k", "ITEMS", "n"], ["CF.DEL", "k", "never there"]):
            self.assertIn(run(*words), (0, [0]))
        client.cf().scandump("k", at)
        # A key that changes while it is loaded takes no more chunks: they could lose the item.
        client.delete("l")
        self.load(client, "l", after[:2])
        run("CF.ADD", "l", "new")
        self.refused(run, "CF.LOADCHUNK", "l", *after[2], text="Couldn't load chunk!")
        self.assertEqual(run("CF.EXISTS", "l", "new"), 1)

    def test_partial(self):
        """A key that lacks chunks is saved and copied as it is."""
        server = self.serve()
        client = server.client
        self.fill(client)
        chunks = self.scan(client)
        self.load(client, "l", chunks[:2] + chunks[2:4])
        client.restore("r", 0, client.dump("l"))
        client.save()
        server.again()
        client = server.client
        self.load(client, "l", chunks[4:])
        self.load(client, "r", chunks[4:])
        self.assertEqual([client.dump(key) for key in "lr"], [client.dump("k")] * 2)

    def test_refused(self):
        client = self.serve(arguments=["max-bytes", "1mb"]).client
        run = client.execute_command
        self.fill(client)
        (first, header), *chunks = self.scan(client)
        run("CF.RESERVE", "m", "300")
        at, data = chunks[0]
        run("CF.LOADCHUNK", "l", first, header)
        before = client.dump("l")
        flipped = data[:50] + bytes([data[50] ^ 1]) + data[51:]
        for key, iterator, bad, text in (
                ("l", first, header, "item exists"), ("n", first, header[:-1], "Invalid header"),
                ("n", 1, b"x" * 72, "Invalid header"), ("l", at, flipped, "Couldn't load chunk!"),
                ("l", at, data[:32], "Couldn't load chunk!"),
                ("m", at, data, "Couldn't load chunk!"),
                ("l", at + (1 << 23), data, "Couldn't load chunk!"),
                ("l", chunks[2][0], chunks[2][1], "Couldn't load chunk!"),
                ("n", at, data, "not found"), ("l", 0, data, "Invalid position")):
            self.refused(run, "CF.LOADCHUNK", key, iterator, bad, text=text)
        self.assertEqual(client.dump("l"), before)
        self.assertEqual(run("EXISTS", "n"), 0)
        for bad in ("x", -1):
            self.refused(run, "CF.SCANDUMP", "k", bad, text="Invalid position")
        run("BF.ADD", "b", "a")
        self.refused(run, "CF.LOADCHUNK", "n", *client.bf().scandump("b", 0),
                     text="Invalid header")
        self.refused(run, "BF.LOADCHUNK", "n", 1, header, text="received bad data")

    def hostile_header(self, dice, header):
        fields = list(struct.unpack(HEADER, header))
        for _ in range(dice.randint(1, 2)):
            fields[dice.randrange(1, 8)] = number(dice)
        first = struct.pack("<8Q", *fields[:8])
        return first + struct.pack("<Q", xxh3(first))

    def hostile_chunk(self, dice, header, good):
        _, data = dice.choice(good)
        _, offset, items, _ = struct.unpack("<4Q", data[:32])
        bits = bytearray(data[32:])
        what = dice.randrange(5)
        if what == 0:
            offset = number(dice)
        elif what == 1:
            items = number(dice)
        elif what == 2:
            del bits[dice.randrange(len(bits)):]
        elif what == 3:
            bits += dice.randbytes(dice.randrange(1, 5000))
        else:
            bits[:] = dice.randbytes(len(bits))
        mark = struct.unpack("<Q", header[64:])[0] & (1 << 29) - 1
        at = mark << 23 | dice.randrange(2, 9) if dice.random() < 0.9 else number(dice)
        first = header[64:] + struct.pack("<2Q", offset, items)
        return at & (1 << 63) - 1, first + struct.pack("<Q", xxh3(bits, xxh3(first))) + bits

    def test_hostile(self):
        most = 1 << 20
        client = self.serve(arguments=["max-bytes", str(most)]).client
        run, dice, counts = client.execute_command, random.Random(29), [0, 0]
        self.fill(client)
        (_, good), *chunks = self.scan(client)
        whole = client.dump("k")
        for i in range(HOSTILE):
            client.delete("h")
            header = self.hostile_header(dice, good) if i % 2 else good
            payloads = [(1, header)]
            payloads += [self.hostile_chunk(dice, header, chunks) for _ in range(5)]
            for at, data in payloads:
                try:
                    run("CF.LOADCHUNK", "h", at, data)
                    counts[0] += 1
                except redis.exceptions.ResponseError:
                    counts[1] += 1
            if client.exists("h"):
                self.assertLess(client.memory_usage("h"), most + 16384)
                answers = run("CF.INSERT", "h", "ITEMS", *range(50))
                taken = [n for n, a in enumerate(answers) if a == 1]
                self.assertEqual(run("CF.MEXISTS", "h", *taken, "x")[:-1], [1] * len(taken))
                self.assertEqual([run("CF.DEL", "h", n) for n in taken], [1] * len(taken))
                client.restore("r", 0, client.dump("h"), replace=True)
                self.assertEqual(client.dump("r"), client.dump("h"))
                self.scan(client, key="h")
        # Each way is taken, so the checksums were right.
        self.assertGreater(min(counts), HOSTILE // 4)
        self.assertEqual(client.dump("k"), whole)

    def test_failover(self):
        master = self.serve(port=free_port())
        replica = self.replica_of(master)
        self.fill(master.client)
        chunks = self.scan(master.client)
        self.load(master.client, "l", chunks)
        self.assertEqual(master.client.wait(1, 0), 1)
        self.assertEqual(replica.client.dump("l"), master.client.dump("k"))
        replica.client.execute_command("REPLICAOF", "NO", "ONE")
        self.assertEqual(self.scan(replica.client, chunks[1][0]), chunks[2:])


class Keeping(Case):
    def change(self, client, seed, n=1500):
        """Additions and removals at random, of items that were added."""
        dice, held = random.Random(seed), []
        run = client.execute_command
        for _ in range(n // 10):
            items = [b"%d-%d" % (seed, dice.randrange(n)) for _ in range(10)]
            run("CF.INSERTNX" if dice.random() < 0.3 else "CF.INSERT", "k", "CAPACITY", 200,
                "ITEMS", *items)
            held += [items[0]] if run("CF.ADD", "k", items[0]) else []
            run("CF.ADDNX", "k", items[1])
            if len(held) > 3 and dice.random() < 0.7:
                for _ in range(3):
                    self.assertEqual(run("CF.DEL", "k", held.pop(dice.randrange(len(held)))), 1)
        self.assertEqual(run("CF.MEXISTS", "k", *held, "x")[:-1], [1] * len(held))
        return client.dump("k")

    def test_rdb(self):
        server = self.serve()
        before = self.change(server.client, 1)
        server.client.save()
        server.again()
        self.assertEqual(server.client.dump("k"), before)

    def test_aof(self):
        for preamble in ("yes", "no"):
            server = self.serve(options=["--appendonly", "yes", "--appendfsync", "always",
                                         "--aof-use-rdb-preamble", preamble])
            before = self.change(server.client, 1)
            server.again()
            self.assertEqual(server.client.dump("k"), before)
            self.rewrite(server)
            server.again()
            self.assertEqual(server.client.dump("k"), before)
            before = self.change(server.client, 2)
            server.again()
            self.assertEqual(server.client.dump("k"), before)

    def test_replica(self):
        """Moves depend on nothing but the bits: a replica that came late has equal ones too."""
        master = self.serve(port=free_port())
        early = self.replica_of(master)
        master.client.execute_command("CF.INSERT", "least", "CAPACITY", 4, "ITEMS", "a")
        self.change(master.client, 1)
        late = self.replica_of(master)
        before = self.change(master.client, 2)
        master.client.wait(2, 0)
        self.assertEqual([r.client.dump("k") for r in (early, late)], [before] * 2)
        self.assertEqual(early.client.dump("least"), master.client.dump("least"))
        early.client.execute_command("REPLICAOF", "NO", "ONE")
        self.change(early.client, 3)

    def test_copies(self):
        server = self.serve()
        before = self.change(server.client, 1)
        server.client.restore("r", 0, before)
        server.client.copy("k", "c")
        self.assertEqual([server.client.dump(k) for k in "rc"], [before] * 2)
        size = server.client.cf().info("k").size
        self.assertGreaterEqual(server.client.memory_usage("k"), size)
        self.assertEqual(server.client.unlink("k", "r", "c"), 3)

    def test_limit(self):
        server = self.serve(arguments=["max-bytes", "4kb"], port=free_port())
        replica = self.serve(arguments=["max-bytes", "1kb"],
                             options=["--replicaof", "127.0.0.1 %d" % server.port])
        run = server.client.execute_command
        self.refused(run, "CF.RESERVE", "k", "100000", text="max-bytes is 4096")
        answers = run("CF.INSERT", "k", "CAPACITY", 500, "ITEMS", *range(5000))
        self.assertEqual(sorted(set(answers)), [-1, 1])
        self.assertEqual(answers.count(1), server.client.cf().info("k").insertedNum)
        self.refused(run, "CF.ADD", "k", "new", text="max-bytes is 4096")
        run("CF.DEL", "k", 0)
        self.assertEqual(run("CF.ADD", "k", "new"), 1)
        # A replica takes what its master took, whatever its own limit is.
        wait_until("the replica has it all",
                   lambda: replica.client.dump("k") == server.client.dump("k"))

    def test_hostile(self):
        server = self.serve()
        run = server.client.execute_command
        run("CF.INSERT", "k", "CAPACITY", 20, "ITEMS", "a", "b")

        def use():
            run("CF.INSERT", "h", "ITEMS", *range(50))
            run("CF.INFO", "h")
            run("CF.DEL", "h", 1)
            run("CF.SCANDUMP", "h", 0)

        self.restore_hostile(server, 31, use)
        self.assertEqual(run("CF.MEXISTS", "k", "a", "b"), [1, 1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")

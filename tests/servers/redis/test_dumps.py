# SPDX-License-Identifier: MIT
"""SCANDUMP and LOADCHUNK of BF.* and CF.* in a real server. It runs as test_dumps.py MODULE."""
import struct
import sys
import unittest

from formats import name_of, xxh3
from served import Case, cf_make, digests, free_port


class Dumps:
    def run_in(self, client, name, *words):
        return client.execute_command("%s.%s" % (self.kind, name), *words)

    def client_of(self, client):
        return getattr(client, self.kind.lower())()

    def scan(self, client, at=0, key="k"):
        chunks = []
        while True:
            at, data = self.client_of(client).scandump(key, at)
            if not at:
                self.assertEqual(data, self.end)
                return chunks
            self.assertLess(at, 1 << 53)
            chunks.append((at, data))

    def load(self, client, key, chunks):
        for chunk in chunks:
            self.assertTrue(self.client_of(client).loadchunk(key, *chunk))

    def test_loaded_dump_equals_the_key(self):
        client = self.serve().client
        self.fill(client)
        chunks = self.scan(client)
        self.assertEqual(len(chunks), self.pieces)
        self.load(client, "l", chunks)
        self.load(client, "l", chunks[1:])
        self.assertEqual(client.dump("l"), client.dump("k"))
        self.assertEqual(*digests(client, "k", "l"))
        # After equal insertions the copy still equals the original.
        for key in "kl":
            self.insert(client, key, range(5000, 7000))
        self.assertEqual(client.dump("l"), client.dump("k"))

    def test_arrays_are_cut_into_chunks(self):
        client = self.serve().client
        self.run_in(client, "RESERVE", "k", *self.large)
        self.insert(client, "k", range(1000))
        chunks = self.scan(client)
        self.assertGreater(len(chunks), 2)
        self.assertEqual(max(len(data) for _, data in chunks), 16 << 20)
        self.load(client, "l", chunks)
        self.assertEqual(self.run_in(client, "MEXISTS", "l", *range(1000)), [1] * 1000)
        items = [self.client_of(client).info(key).insertedNum for key in "kl"]
        self.assertEqual(items[0], items[1])

    def test_load_goes_on_after_a_restart(self):
        """A key that lacks chunks is saved and copied without the missing chunks."""
        server = self.serve()
        client = server.client
        self.fill(client)
        chunks = self.scan(client)
        self.load(client, "l", chunks[:4])
        client.restore("r", 0, client.dump("l"))
        client.save()
        server.again()
        client = server.client
        for key in "lr":
            self.load(client, key, chunks[4:])
            self.assertEqual(client.dump(key), client.dump("k"))

    def test_replica_that_connects_during_a_load_has_every_chunk(self):
        master = self.serve(port=free_port())
        early = self.replica_of(master)
        self.fill(master.client)
        chunks = self.scan(master.client)
        self.load(master.client, "l", chunks[:4])
        late = self.replica_of(master)
        self.load(master.client, "l", chunks[4:])
        self.assertEqual(master.client.wait(2, 0), 2)
        self.equal(master, [early, late], "k", "l")
        self.assertEqual(*digests(master.client, "k", "l"))

    def test_dump_continues_on_a_promoted_replica(self):
        master = self.serve(port=free_port())
        replica = self.replica_of(master)
        self.fill(master.client)
        chunks = self.scan(master.client)
        self.load(master.client, "l", chunks)
        self.assertEqual(master.client.wait(1, 0), 1)
        self.assertEqual(replica.client.dump("l"), master.client.dump("k"))
        replica.client.execute_command("REPLICAOF", "NO", "ONE")
        self.assertEqual(self.scan(replica.client, chunks[1][0]), chunks[2:])

    def refuse_all(self, client, pieces):
        """Key m has another header than k, l has the header of k, and n does not exist."""
        run, load = client.execute_command, self.kind + ".LOADCHUNK"
        before = client.dump("l")
        for key, iterator, bad, text in pieces:
            self.refused(run, load, key, iterator, bad, text=text)
        self.assertEqual(client.dump("l"), before)
        self.assertEqual(run("EXISTS", "n"), 0)
        run("SET", "s", "text")
        scan = self.kind + ".SCANDUMP"
        self.refused(run, scan, "none", 0, text="not found")
        self.refused(run, scan, "s", 0, text="WRONGTYPE")
        self.refused(run, load, "s", 1, "x", text="WRONGTYPE")
        for words in ([scan, "k"], [load, "k", 1]):
            self.refused(run, *words, text="wrong number of arguments")


class BF(Dumps, Case):
    """The key has compact links and a blocked one."""
    kind, end, pieces, large = "BF", b"", 8, ["0.001", "20000000"]

    def insert(self, client, key, items):
        client.execute_command("BF.MADD", key, *items)

    def fill(self, client):
        self.insert(client, "k", range(5000))
        self.insert(client, "k", range(9000, 11000))

    def test_dump_during_additions_has_all_earlier_items(self):
        client = self.serve().client
        self.insert(client, "k", range(250))
        chunks = [client.bf().scandump("k", 0), client.bf().scandump("k", 1)]
        self.assertEqual(chunks[0][0], 1)
        self.insert(client, "k", range(1000, 9000))
        self.load(client, "l", chunks + self.scan(client, chunks[1][0]))
        self.assertEqual(client.execute_command("BF.MEXISTS", "l", *range(250)), [1] * 250)
        self.assertEqual(client.bf().info("l").filterNum, client.bf().info("k").filterNum)

    def test_later_link_comes_with_its_first_chunk(self):
        """A header that is older than a link does not make it."""
        client = self.serve().client
        self.insert(client, "k", range(250))
        header = client.bf().scandump("k", 0)
        self.insert(client, "k", range(1000, 1400))
        _, *chunks = self.scan(client)
        self.assertEqual(len(chunks), 3)
        self.load(client, "l", [header, *chunks[:2]])
        self.assertEqual(client.bf().info("l").filterNum, 2)
        self.load(client, "l", chunks[2:])
        self.assertEqual(client.dump("l"), client.dump("k"))

    def test_a_chunk_that_comes_again_keeps_the_count(self):
        """The frame of an old chunk tells fewer items than the link has."""
        client = self.serve().client
        self.insert(client, "k", range(40))
        chunks = self.scan(client)
        self.load(client, "l", chunks)
        for key in "kl":
            self.insert(client, key, range(100, 140))
        self.load(client, "l", chunks[1:])
        self.assertEqual(*digests(client, "k", "l"))

    def later(self, client):
        """Return: the chunks of a key of one link, and the chunk of its second link."""
        self.insert(client, "k", range(90))
        first = self.scan(client)
        self.insert(client, "k", range(1000, 1100))
        return first, self.scan(client)[2]

    def test_max_bytes_is_a_limit_for_later_links(self):
        first, second = self.later(self.serve().client)
        client = self.serve(arguments=["max-bytes", "300"]).client
        self.load(client, "l", first)
        before = client.dump("l")
        self.refused(client.execute_command, "BF.LOADCHUNK", "l", *second,
                     text="received bad data")
        self.assertEqual(client.dump("l"), before)

    def test_a_wrong_first_chunk_of_a_link_makes_no_link(self):
        client = self.serve().client
        first, (at, data) = self.later(client)
        self.load(client, "l", first)
        before = client.dump("l")
        name, offset, bits = name_of(first[0][1]), data[8:16], data[32:]
        for items, bits, text in ((1 << 40, bits, "received bad data"),
                                  (1, bits + bytes(4096), "Too big")):
            frame = name + offset + struct.pack("<Q", items)
            frame += struct.pack("<Q", xxh3(bits, xxh3(frame)))
            self.refused(client.execute_command, "BF.LOADCHUNK", "l",
                         at - len(data) + len(frame + bits), frame + bits, text=text)
            self.assertEqual(client.dump("l"), before)
        self.load(client, "l", [(at, data)])

    def test_limit_is_for_every_link_of_a_dump(self):
        client = self.serve().client
        self.insert(client, "k", range(250))
        header = client.bf().scandump("k", 0)
        self.insert(client, "k", range(1000, 1400))
        (_, whole), *chunks = self.scan(client)
        most = sum(len(data) - 32 for _, data in chunks) - 1 # 32: of a frame
        limited = self.serve(arguments=["max-bytes", str(most)]).client
        run = limited.execute_command
        self.refused(run, "BF.LOADCHUNK", "n", 1, whole, text="received bad data")
        self.load(limited, "l", [header, *chunks[:-1]])
        self.refused(run, "BF.LOADCHUNK", "l", *chunks[-1], text="received bad data")
        self.assertEqual(limited.bf().info("l").filterNum, 2)

    def test_header_needs_memory_for_bytes_not_for_items(self):
        """A key with an error rate of 0.25 has fewer bytes than its capacity."""
        client = self.serve().client
        client.execute_command("BF.RESERVE", "k", "0.25", 60000000, "NONSCALING")
        header = client.bf().scandump("k", 0)
        client.delete("k")
        client.config_set("maxmemory", client.info("memory")["used_memory"] + (45 << 20))
        self.load(client, "l", [header])

    def test_chunk_behind_the_next_link_is_refused(self):
        """A link cannot be left out."""
        client = self.serve().client
        self.insert(client, "k", [0])
        header = client.bf().scandump("k", 0)
        self.insert(client, "k", range(1000, 1400))
        _, *chunks = self.scan(client)
        self.assertEqual(len(chunks), 3)
        self.load(client, "l", [header, chunks[0]])
        self.refused(client.execute_command, "BF.LOADCHUNK", "l", *chunks[2],
                     text="invalid offset - no link found")
        self.assertEqual(client.bf().info("l").filterNum, 1)

    def test_damaged_and_foreign_chunks_are_refused(self):
        client = self.serve(arguments=["max-bytes", "1mb"]).client
        self.insert(client, "k", range(1000))
        (_, header), *chunks = self.scan(client)
        client.execute_command("BF.RESERVE", "m", "0.01", "100")
        at, data = chunks[0]
        self.load(client, "l", [(1, header)])
        flipped = data[:50] + bytes([data[50] ^ 1]) + data[51:]
        self.refuse_all(client, (
            ("l", 1, header, "received bad data"), ("n", 1, header[:-1], "received bad data"),
            ("n", 1, b"x" * 48, "received bad data"), ("l", at, flipped, "received bad data"),
            ("l", at, data[:32], "received bad data"), ("m", at, data, "received bad data"),
            ("l", at + 1, data, "invalid offset - no link found"),
            ("l", chunks[-1][0] + 8, chunks[-1][1], "invalid offset - no link found"),
            ("n", at, data, "not found"), ("l", 0, data, "invalid offset"),
            ("l", "x", data, "must be numeric")))
        self.refused(client.execute_command, "BF.SCANDUMP", "k", "x", text="must be numeric")


class CF(Dumps, Case):
    kind, end, pieces, large = "CF", None, 8, ["33000000"]

    def insert(self, client, key, items):
        client.execute_command("CF.INSERT", key, "ITEMS", *items)

    def fill(self, client):
        cf_make(client.execute_command, "k", 128, 7, 2, 1)
        self.insert(client, "k", range(2000))
        for item in range(0, 2000, 3):
            client.execute_command("CF.DEL", "k", item)

    def test_change_ends_a_dump(self):
        """LOADCHUNK refuses to mix chunks of two dumps."""
        client = self.serve().client
        run = client.execute_command
        self.fill(client)
        for change in (["CF.ADD", "k", 1], ["CF.DEL", "k", 1], ["CF.INSERTNX", "k", "ITEMS", "n"],
                       ["CF.COMPACT", "k"]):
            before = self.scan(client)
            run(*change)
            self.refused(run, "CF.SCANDUMP", "k", before[0][0], text="begin again")
            self.refused(run, "CF.SCANDUMP", "k", before[-1][0], text="begin again")
            after = self.scan(client)
            client.delete("l")
            self.load(client, "l", before[:2])
            self.refused(run, "CF.LOADCHUNK", "l", *after[2], text="Couldn't load chunk!")
            self.load(client, "l", before[2:])
        # A command that changes nothing does not end a dump.
        at = client.cf().scandump("k", 0)[0]
        for words in (["CF.INSERTNX", "k", "ITEMS", "n"], ["CF.DEL", "k", "never there"]):
            self.assertIn(run(*words), (0, [0]))
        client.cf().scandump("k", at)
        # A key that changes during a load refuses further chunks, which could remove the new item.
        client.delete("l")
        self.load(client, "l", after[:2])
        run("CF.ADD", "l", "new")
        self.refused(run, "CF.LOADCHUNK", "l", *after[2], text="Couldn't load chunk!")
        self.assertEqual(run("CF.EXISTS", "l", "new"), 1)

    def test_chunk_of_8_mib_in_redisblooms_format_is_no_header(self):
        """Its iterator looks like that of a header in weir's format."""
        client = self.serve().client
        half = 8 << 20
        header = struct.pack("<4Q3H", 0, half, 0, 1, 2, 20, 1)
        self.load(client, "l", [(1, header), (1 + half, b"\5" * half), (1 + 2 * half, bytes(half))])
        self.assertEqual(client.cf().info("l").insertedNum, half)

    def test_counts_come_from_the_chunks(self):
        """What a header in RedisBloom's format says is not believed."""
        client = self.serve().client
        self.load(client, "l", [(1, struct.pack("<4Q3H", 1 << 40, 8, 0, 1, 2, 20, 1)),
                                (17, bytes(15) + b"\7")])
        self.assertEqual(client.cf().info("l").insertedNum, 1)
        self.load(client, "l", [(17, bytes(14) + b"\7\7")] * 2)
        self.assertEqual(client.cf().info("l").insertedNum, 2)

    def test_a_copy_of_a_part_counts_as_the_key(self):
        """COPY keeps that the header has told the items."""
        client = self.serve().client
        self.fill(client)
        chunks = self.scan(client)
        self.load(client, "l", chunks[:4])
        client.copy("l", "c")
        for key in "lc":
            self.load(client, key, chunks[4:])
        self.assertEqual(len(set(digests(client, "k", "l", "c"))), 1)

    def test_empty_key_has_no_dump(self):
        client = self.serve().client
        client.execute_command("CF.RESERVE", "e", 100)
        self.assertEqual(self.scan(client, key="e"), [])

    def test_load_goes_on_in_a_copy(self):
        client = self.serve().client
        self.fill(client)
        chunks = self.scan(client)
        self.load(client, "l", chunks[:4])
        client.copy("l", "m")
        for key in "lm":
            self.load(client, key, chunks[4:])
            self.assertEqual(client.cf().info(key).insertedNum, client.cf().info("k").insertedNum)

    def test_limit_is_for_headers_in_redisblooms_format(self):
        client = self.serve(arguments=["max-bytes", "1kb"]).client
        for buckets, subs in ((1024, 1), (256, 4)):
            self.refused(client.execute_command, "CF.LOADCHUNK", "l", 1,
                         struct.pack("<4Q3H", 0, buckets, 0, subs, 2, 20, 1),
                         text="Couldn't create filter!")
        self.load(client, "l", [(1, struct.pack("<4Q3H", 0, 256, 0, 2, 2, 20, 1))])

    def test_damaged_and_foreign_chunks_are_refused(self):
        client = self.serve(arguments=["max-bytes", "1mb"]).client
        run = client.execute_command
        self.fill(client)
        (first, header), *chunks = self.scan(client)
        run("CF.RESERVE", "m", "300")
        at, data = chunks[0]
        self.load(client, "l", [(first, header)])
        flipped = data[:50] + bytes([data[50] ^ 1]) + data[51:]
        bad = "Couldn't load chunk!"
        self.refuse_all(client, (
            ("l", first, header, "item exists"), ("n", first, header[:-1], "Invalid header"),
            ("n", 1, b"x" * 56, "Invalid header"), ("l", at, flipped, bad),
            ("l", at, data[:32], bad), ("m", at, data, bad), ("l", at + (1 << 23), data, bad),
            ("n", at, data, "not found"), ("l", 0, data, "Invalid position")))
        for iterator in ("x", -1):
            self.refused(run, "CF.SCANDUMP", "k", iterator, text="Invalid position")
        run("BF.ADD", "b", "a")
        self.refused(run, "CF.LOADCHUNK", "n", *client.bf().scandump("b", 0),
                     text="Invalid header")
        self.refused(run, "BF.LOADCHUNK", "n", 1, header, text="received bad data")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")

# SPDX-License-Identifier: MIT
"""Keys that RedisBloom has made answer in the module as they did there, in whatever way they come,
and stay usable. It runs as test_takeover.py MODULE."""
import os
import struct
import sys
import unittest

import redis

from formats import UNSIGNED, Value, old_values, raw_bf, raw_link
from redisbloom_keys import KEYS
from served import Case, digests, free_port

SERVER_HASH = [key for key in KEYS if key.name == "rb201-bf-k1000"]
USUAL = [key for key in KEYS if key not in SERVER_HASH]
# Each pair: arguments of the module, and the keys that it then reads rightly.
BOTH = (((), USUAL), (("redisbloom-2.0.1", "yes"),
                      [key for key in KEYS if not key.name.startswith("rb11-bf")]))
# With these a server keeps an append-only file, and writes each command before it replies.
AOF = ("--appendonly", "yes", "--appendfsync", "no", "--auto-aof-rewrite-percentage", "0")


def rdb_of(keys):
    """Return an RDB file. Redis does not check a checksum of 0."""
    parts = [b"REDIS0010\xfe\x00"]
    for key in keys:
        name = key.name.encode()
        parts += [key.dump[:1], bytes([len(name)]), name, key.dump[1:-10]]
    return b"".join(parts) + b"\xff" + bytes(8)


def command_of(*words):
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word)
                                              for word in words)


class Takeover(Case):
    def ask(self, client, key, more=(), name=None):
        """All items are there, and of the absent ones only those that RedisBloom found."""
        name = name or key.name
        has = lambda items: client.execute_command(key.kind + ".MEXISTS", name, *items)
        if key.items or more:
            self.assertEqual(set(has([*key.items, *more])), {1}, key)
        found = {item for item, answer in zip(key.absent, has(key.absent)) if answer}
        self.assertEqual(found & key.yes, key.yes, key)
        if not more:
            self.assertEqual(found, key.yes, key)

    def restore(self, client, keys):
        for key in keys:
            client.restore(key.name, 0, key.dump)

    def load(self, client, key, chunks, name=None):
        for at, data in chunks:
            client.execute_command(key.kind + ".LOADCHUNK", name or key.name, at, data)

    def scan(self, client, key, name=None):
        chunks, at = [], 0
        while True:
            at, data = client.execute_command(key.kind + ".SCANDUMP", name or key.name, at)
            if not at:
                return chunks
            chunks.append((at, data))

    def write_files(self, server, files):
        """Stop the server, replace its files, and start it again."""
        server.kill()
        for path, data in files.items():
            with open(os.path.join(server.folder, path), "wb") as file:
                file.write(data)
        server.start()

    def restored(self, *, options=(), port=0):
        """Yield servers that hold all keys, and their keys."""
        for arguments, keys in BOTH:
            server = self.serve(arguments=arguments, options=options, port=port and free_port())
            self.restore(server.client, keys)
            yield server, keys

    # ---- ways in ----

    def test_restore(self):
        for server, keys in self.restored():
            for key in keys:
                self.ask(server.client, key)
                self.assertEqual(server.client.type(key.name),
                                 b"MBbloom--" if key.kind == "BF" else b"MBbloomCF")

    def test_an_rdb_file(self):
        for arguments, keys in BOTH:
            server = self.serve(arguments=arguments)
            self.write_files(server, {"dump.rdb": rdb_of(keys)})
            for key in keys:
                self.ask(server.client, key)

    def test_an_append_only_file_with_a_preamble(self):
        for arguments, keys in BOTH:
            server = self.serve(arguments=arguments, options=AOF)
            base = "appendonlydir/appendonly.aof.1.base.rdb"
            self.write_files(server, {base: rdb_of(keys)})
            for key in keys:
                self.ask(server.client, key)

    def test_an_append_only_file_of_commands(self):
        """RedisBloom writes LOADCHUNK commands into a file without a preamble."""
        for arguments, keys in BOTH:
            server = self.serve(arguments=arguments, options=AOF)
            commands = b"".join(command_of(key.kind + ".LOADCHUNK", key.name, *chunk)
                                for key in keys for chunk in key.chunks)
            self.write_files(server, {"appendonlydir/appendonly.aof.1.incr.aof": commands})
            for key in keys:
                self.ask(server.client, key)

    def test_chunks(self):
        for arguments, keys in BOTH:
            client = self.serve(arguments=arguments).client
            for key in keys:
                self.load(client, key, key.chunks)
                self.ask(client, key)

    def test_the_argument_is_only_for_its_version(self):
        """The two variants of the hash of version 3 do not find each other's items."""
        for arguments, keys in BOTH:
            key, = (key for key in KEYS if key.name.endswith("1-bf-k1000") and key not in keys)
            client = self.serve(arguments=arguments).client
            self.restore(client, [key])
            answers = client.execute_command("BF.MEXISTS", key.name, *key.items)
            self.assertLess(sum(answers), len(key.items) // 2)

    def test_the_argument_changes_only_version_3_without_bits(self):
        """RedisBloom hashed 64 bits by its own function with the option for bits, 2."""
        client = self.serve(arguments=["redisbloom-2.0.1", "yes"],
                            options=["--rdbcompression", "no"]).client
        client.execute_command("BF.LOADCHUNK", "k", 1, raw_bf(raw_link(100, 0.01)))
        client.execute_command("BF.MADD", "k", *range(50))
        (_, header), (_, bits) = self.scan(client, KEYS[0], name="k")
        value = Value.of(old_values(client.dump("k"), header, [bits])[1])
        for encoding, options in ((3, 7), (2, 5)):
            value.module = value.module & ~1023 | encoding
            value.fields[2] = (UNSIGNED, options)
            client.restore("l", 0, value.payload(), replace=True)
            self.assertEqual(client.execute_command("BF.MEXISTS", "l", *range(50)), [1] * 50)

    # ---- ways out ----

    def test_scandump_gives_back_the_same_bytes(self):
        for server, keys in self.restored():
            for key in keys:
                chunks = self.scan(server.client, key)
                if key.version == "2.8.20" or key.kind == "CF":
                    self.assertEqual(chunks, key.chunks if key.items or key.kind == "BF" else [])
                self.assertEqual(chunks[1:], key.chunks[1:], key)
                self.load(server.client, key, chunks, name="copy")
                self.ask(server.client, key, name="copy")
                self.assertEqual(digests(server.client, "copy"), digests(server.client, key.name))
                server.client.delete("copy")

    def test_items_are_counted(self):
        for server, keys in self.restored():
            for key in keys:
                info = self.info(server.client, key)
                items = info[b"Number of items inserted"]
                self.assertEqual(info[b"Number of filters"], len(key.arrays))
                self.assertEqual(info[b"Expansion rate"], key.expansion, key)
                if key.kind == "CF":
                    self.assertEqual(items, len(key.items))
                    self.assertEqual(info[b"Number of items deleted"], len(key.deleted))
                elif key.name != "rb-bf-intstring":
                    self.assertLessEqual(items, len(key.items))
                    self.assertGreaterEqual(items, len(key.items) * 0.75)

    # ---- later writes ----

    def remade(self, client, key):
        """Make an empty key with the settings of another one."""
        header = bytearray(key.chunks[0][1])
        struct.pack_into("<Q", header, 0, 0)
        if key.kind == "BF":
            struct.pack_into("<I", header, 8, 1)
            struct.pack_into("<Q", header, 20 + 16, 0)
            del header[20 + 53:]
        else:
            struct.pack_into("<2Q", header, 16, 0, 1)
        client.execute_command(key.kind + ".LOADCHUNK", key.name, 1, bytes(header))

    def test_equal_writes_give_redisblooms_bytes(self):
        """A key of RedisBloom's settings gets the bytes of RedisBloom from the same commands."""
        client = self.serve().client
        for key in KEYS:
            if key.version != "2.8.20" or key.name == "rb-bf-intstring":
                continue
            self.remade(client, key)
            for item in key.deleted + key.items:
                try:
                    client.execute_command(key.kind + ".ADD", key.name, item)
                except redis.exceptions.ResponseError as error:
                    self.assertIn("full", str(error))
            for item in key.deleted:
                client.execute_command("CF.DEL", key.name, item)
            self.assertEqual(self.scan(client, key), key.chunks, key)

    def info(self, client, key, name=None):
        info = client.execute_command(key.kind + ".INFO", name or key.name)
        return dict(zip(info[::2], info[1::2]))

    def write(self, client, key, name=None):
        """Add items until the key has grown or is full. Return: the added items."""
        name, added = name or key.name, []
        filters = lambda: self.info(client, key, name)[b"Number of filters"]
        before, last = filters(), "(none)"
        while isinstance(last, (int, str)) and filters() < before + 2 and len(added) < 20000:
            items = [b"more-%d" % n for n in range(len(added), len(added) + 100)]
            answers = client.execute_command(
                *(("BF.MADD", name) if key.kind == "BF" else ("CF.INSERT", name, "ITEMS")),
                *items)
            last = answers[-1]
            added += items[:len(answers) - (not isinstance(last, int))]
        if not isinstance(last, int):
            self.assertIn("full", str(last))
        return added

    def test_keys_grow(self):
        for server, keys in self.restored():
            for key in keys:
                added = self.write(server.client, key)
                self.ask(server.client, key, added)
                info = self.info(server.client, key)
                grown = info[b"Number of filters"] > len(key.arrays)
                self.assertEqual(grown, info[b"Expansion rate"] is not None, key)

    def test_cuckoo_items_are_deleted(self):
        for server, keys in self.restored():
            run = server.client.execute_command
            for key in keys:
                if key.kind != "CF":
                    continue
                added = self.write(server.client, key)
                for n, item in enumerate(added[::2] + key.items):
                    self.assertEqual(run("CF.DEL", key.name, item), 1, key)
                    if n == len(added) // 2 - 1:
                        self.ask(server.client, key, added[1::2])
                self.assertEqual(set(run("CF.MEXISTS", key.name, *added[1::2])), {1})
                for item in added[1::2]:
                    self.assertEqual(run("CF.DEL", key.name, item), 1, key)
                self.assertEqual(self.info(server.client, key)[b"Number of items inserted"], 0)

    def test_keys_of_many_links(self):
        """With expansion 1 a key gets a link for each few items. RedisBloom stops at rate 0."""
        server = self.serve(options=["--rdbcompression", "no"])
        run = server.client.execute_command
        run("BF.LOADCHUNK", "k", 1, raw_bf(raw_link(2, 0.01), growth=1))
        items = [b"%d" % n for n in range(1000)]
        self.assertEqual(run("BF.MADD", "k", *items).count(0), 1000 - run("BF.CARD", "k"))
        self.assertGreater(run("BF.INFO", "k", "FILTERS")[0], 300)
        (_, header), *chunks = self.scan(server.client, KEYS[0], name="k")
        arrays = [data for _, data in chunks]
        for payload in old_values(server.client.dump("k"), header, arrays)[:2]: # of 64-bit hashes
            server.client.restore("old", 0, payload, replace=True)
            self.assertEqual(set(run("BF.MEXISTS", "old", *items)), {1})
            self.assertEqual(self.scan(server.client, KEYS[0], name="old")[1:], chunks)
        last = run("BF.MADD", "k", *range(1000, 4000))[-1]
        self.assertIn("a chain has at most 1075 links", str(last))
        self.load(server.client, KEYS[0], self.scan(server.client, KEYS[0], name="k"), name="l")
        server.client.save()
        server.again()
        self.assertEqual(*digests(server.client, "k", "l"))
        self.assertEqual(server.client.execute_command("BF.INFO", "l", "FILTERS"), [1075])

    # ---- keeping ----

    def test_digest_depends_on_the_items(self):
        for server, keys in self.restored():
            for key in keys:
                server.client.copy(key.name, "copy")
                self.assertEqual(digests(server.client, "copy"), digests(server.client, key.name))
                words = ["BF.MADD", "copy"] if key.kind == "BF" else ["CF.INSERT", "copy", "ITEMS"]
                added = server.client.execute_command(*words, *range(20))
                if 1 in added: # else it is full
                    self.assertNotEqual(digests(server.client, "copy"),
                                        digests(server.client, key.name), key)
                server.client.delete("copy")

    def keep(self, other, server, keys, of=""):
        """The keys are equal in another server or under other names, and stay so when written."""
        def equal():
            self.assertEqual(digests(other, *(of + key.name for key in keys)),
                             digests(server.client, *(key.name for key in keys)))

        equal()
        for key in keys:
            self.ask(other, key, name=of + key.name)
        if other is not server.client or of:
            for key in keys:
                self.write(other, key, name=of + key.name)
                self.ask(server.client, key, self.write(server.client, key))
            equal()

    def again(self, server, keys, *, arguments=None):
        """Start the server again: it has the same keys."""
        before = digests(server.client, *(key.name for key in keys))
        server.arguments = server.arguments if arguments is None else arguments
        server.again()
        self.assertEqual(digests(server.client, *(key.name for key in keys)), before)
        for key in keys:
            self.ask(server.client, key)

    def test_save_and_restart(self):
        """A saved key remembers its hash without the argument."""
        for server, keys in self.restored():
            server.client.save()
            self.again(server, keys, arguments=())

    def test_rewritten_append_only_files(self):
        for preamble in ("yes", "no"):
            for server, keys in self.restored(options=(*AOF, "--aof-use-rdb-preamble", preamble)):
                self.again(server, keys)
                self.rewrite(server)
                self.again(server, keys, arguments=())

    def test_dump_and_copy(self):
        for server, keys in self.restored():
            for key in keys:
                server.client.restore("dumped-" + key.name, 0, server.client.dump(key.name))
                self.assertTrue(server.client.copy(key.name, "copied-" + key.name))
                server.client.copy(key.name, "kept-" + key.name)
            self.keep(server.client, server, keys, "dumped-")
            for key in keys:
                server.client.copy("kept-" + key.name, key.name, replace=True)
            self.keep(server.client, server, keys, "copied-")

    def test_replica(self):
        """Half of the keys come with the first synchronisation, the others as commands."""
        for arguments, keys in BOTH:
            master = self.serve(arguments=arguments, port=free_port())
            self.restore(master.client, keys[::2])
            replica = self.replica_of(master, arguments)
            for key in keys[1::2]:
                self.load(master.client, key, key.chunks)
            for _ in range(2):
                self.assertEqual(master.client.wait(1, 0), 1)
                self.equal(master, [replica], *(key.name for key in keys))
                for key in keys:
                    self.write(master.client, key)
                    if key.kind == "CF":
                        for item in key.items[::2]:
                            master.client.execute_command("CF.DEL", key.name, item)

    def test_replica_under_a_limit(self):
        """The master refuses growth, and the replica gets the items that the master took."""
        for name, most, command in (("rb-cf-basic", 64, ["CF.INSERT", "k", "ITEMS"]),
                                    ("rb-bf-default", 2700, ["BF.MADD", "k"])):
            key, = (key for key in KEYS if key.name == name)
            master = self.serve(arguments=["max-bytes", str(most)], port=free_port())
            replica = self.replica_of(master)
            self.load(master.client, key, key.chunks, name="k")
            answers = master.client.execute_command(*command, *range(2000))
            self.assertIn(1, answers)
            self.assertTrue(-1 in answers or "max-bytes" in str(answers[-1]))
            self.assertEqual(master.client.wait(1, 0), 1)
            self.equal(master, [replica], "k")

    # ---- chunks ----

    def test_a_chunk_that_comes_again_keeps_later_items(self):
        client = self.serve().client
        key, = (key for key in KEYS if key.name == "rb-bf-default")
        self.load(client, key, key.chunks)
        added = self.write(client, key)
        self.load(client, key, key.chunks[1:])
        self.ask(client, key, added)

    def test_large_cuckoo_chunks(self):
        """Chunks end at multiples of 8 MiB, where the iterators of weir's own headers are."""
        server = self.serve(options=(*AOF, "--aof-use-rdb-preamble", "no"))
        run = server.client.execute_command
        run("CF.LOADCHUNK", "k", 1, struct.pack("<4Q3H", 0, 1 << 22, 0, 2, 2, 20, 2))
        run("CF.INSERT", "k", "ITEMS", *range(1000))
        chunks = self.scan(server.client, KEYS[-1], name="k")
        self.assertEqual([at for at, _ in chunks if at % (8 << 20) == 1][1:], [
            at for at, _ in chunks[1:] if at - 1 in (8 << 20, 24 << 20)])
        self.assertEqual(sum(len(data) for _, data in chunks[1:]), 24 << 20)
        self.load(server.client, KEYS[-1], chunks, name="copy")
        self.rewrite(server)
        before = digests(server.client, "k", "copy")
        self.assertEqual(before[0], before[1])
        server.again()
        self.assertEqual(digests(server.client, "k", "copy"), before)
        self.assertEqual(server.client.execute_command("CF.MEXISTS", "copy", *range(1000)),
                         [1] * 1000)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")

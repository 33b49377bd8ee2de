# SPDX-License-Identifier: MIT
"""CF.* of weir-redis.so in a real server: answers and errors. It runs as test_cf.py MODULE."""
import random
import sys
import unittest

from served import Case, cf_make, digests


class Commands(Case):
    def setUp(self):
        self.server = self.serve()
        self.run_ = self.server.client.execute_command

    def info(self, key):
        return self.server.client.cf().info(key)

    def test_client_reads_every_answer(self):
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
        self.assertGreater(info.size, 1024)
        self.assertLess(info.size, 1200)

    def test_defaults_are_redisblooms(self):
        self.server.client.cf().add("k", "a")
        info = self.info("k")
        self.assertEqual((info.bucketNum, info.bucketSize, info.expansionRate, info.maxIteration),
                         (512, 2, 1, 20))
        self.assertEqual(self.run_("TYPE", "k"), b"MBbloomCF")

    def test_debug_describes_the_key(self):
        self.run_("CF.RESERVE", "k", 1000, "BUCKETSIZE", 4, "EXPANSION", 2, "MAXITERATIONS", 9)
        self.run_("CF.INSERT", "k", "ITEMS", *range(1500))
        self.run_("CF.DEL", "k", 3)
        self.assertEqual(self.run_("CF.DEBUG", "k"), b"bktsize:4 buckets:256 items:1499 deletes:1 "
                         b"filters:2 max_iterations:9 expansion:2")
        self.refused(self.run_, "CF.DEBUG", "none", text="not found")

    def test_grown_key_has_all_items(self):
        items = [b"%d" % i for i in range(5000)]
        self.run_("CF.RESERVE", "g", 500, "BUCKETSIZE", 4, "EXPANSION", 2)
        self.assertEqual(self.run_("CF.INSERT", "g", "ITEMS", *items), [1] * 5000)
        self.assertEqual(self.run_("CF.MEXISTS", "g", *items), [1] * 5000)
        info = self.info("g")
        self.assertEqual((info.filterNum, info.insertedNum), (4, 5000))
        false = sum(self.run_("CF.MEXISTS", "g", *[b"x%d" % i for i in range(5000)]))
        self.assertLess(false, 5000 * 4 * 8 // 255) # sub filters, slots of an item
        # Removed items free slots, so new items need no new sub filter.
        for item in items[:400]:
            self.assertEqual(self.run_("CF.DEL", "g", item), 1)
        info = self.info("g")
        self.assertEqual((info.filterNum, info.insertedNum, info.deletedNum), (4, 4600, 400))
        self.run_("CF.INSERT", "g", "ITEMS", *items[:400])
        self.assertEqual(self.info("g").filterNum, 4)
        self.assertEqual(self.run_("CF.MEXISTS", "g", *items), [1] * 5000)

    def remove_all(self, client, key, items, dice):
        """Remove the items in a random order. No removal may lose an item that is still held."""
        pipe = client.pipeline(transaction=False)
        dice.shuffle(items)
        for done in range(0, len(items), 500):
            for item in items[done:done + 500]:
                pipe.execute_command("CF.DEL", key, item)
            self.assertEqual(pipe.execute(), [1] * len(items[done:done + 500]))
            held = set(items[done + 500:])
            if held:
                answers = client.execute_command("CF.MEXISTS", key, *held)
                self.assertEqual(answers, [1] * len(held))

    def test_removal_of_every_item_loses_no_other(self):
        """With 8-bit fingerprints many of these items share theirs with others in the buckets."""
        for expansion in (0, 1, 2, 4):
            for bucket in (1, 2, 4):
                dice = random.Random(10 * expansion + bucket)
                capacity = 8000 if expansion == 0 else 60
                self.run_("CF.RESERVE", "u", capacity, "EXPANSION", expansion, "BUCKETSIZE", bucket)
                # Fewer items with sub filters of one size, since there can be very many.
                items = [b"%d" % i for i in range(1200 if expansion == 1 else 3000)]
                items += dice.choices(items, k=len(items) // 4)
                for item, answer in zip(items[:], self.run_("CF.INSERT", "u", "ITEMS", *items)):
                    if answer != 1:
                        items.remove(item)
                self.assertGreater(len(items), 1400)
                with self.subTest(expansion=expansion, bucket=bucket):
                    if expansion:
                        self.assertGreater(self.info("u").filterNum, 2)
                    self.remove_all(self.server.client, "u", items, dice)
                    info = self.info("u")
                    self.assertEqual((info.insertedNum, info.filterNum), (0, 1))
                self.run_("DEL", "u")

    def test_compact_frees_sub_filters_and_keeps_all_items(self):
        cf_make(self.run_, "k", 128, 7, 2, 1)
        items = []
        while self.info("k").filterNum < 9: # the last item begins a sub filter
            more = [b"%d" % (len(items) + i) for i in range(1 if items else 1700)]
            self.assertEqual(self.run_("CF.INSERT", "k", "ITEMS", *more), [1] * len(more))
            items += more
        for item in items[:150]: # less than a tenth, so no removal compacts
            self.assertEqual(self.run_("CF.DEL", "k", item), 1)
        held = items[150:]
        self.assertEqual((self.info("k").filterNum, self.info("k").deletedNum), (9, 150))
        self.assertEqual(self.run_("CF.COMPACT", "k"), b"OK")
        info = self.info("k")
        self.assertLess(info.filterNum, 9)
        self.assertEqual((info.insertedNum, info.deletedNum), (len(held), 0))
        self.assertEqual(self.run_("CF.MEXISTS", "k", *held), [1] * len(held))
        self.refused(self.run_, "CF.COMPACT", "none", text="Cuckoo filter was not found")
        self.refused(self.run_, "CF.COMPACT", "k", "x", text="wrong number of arguments")

    def test_full_key_refuses_new_items(self):
        cf_make(self.run_, "f", 1, 7, 2, 0) # one bucket of two
        self.assertEqual(self.run_("CF.INSERT", "f", "ITEMS", 1, 1, 1, 1), [1, 1, -1, -1])
        self.assertEqual(self.run_("CF.INSERTNX", "f", "ITEMS", 1, "new"), [0, -1])
        self.refused(self.run_, "CF.ADD", "f", "new", text="Filter is full")
        self.refused(self.run_, "CF.ADDNX", "f", "new", text="Filter is full")
        self.assertEqual(self.run_("CF.ADDNX", "f", 1), 0)
        self.run_("CF.DEL", "f", 1)
        self.assertEqual(self.run_("CF.ADD", "f", "new"), 1)

    def test_copies_need_sub_filters_of_their_own(self):
        """Two buckets hold few copies of one item, so more copies make more sub filters."""
        answers = self.run_("CF.INSERT", "c", "ITEMS", *["a"] * 600)
        self.assertEqual(answers, [1] * 600)
        self.assertEqual(self.run_("CF.COUNT", "c", "a"), 600)
        filters = self.info("c").filterNum
        self.assertIn(filters, (150, 300)) # 300 if both buckets are one
        # RedisBloom compares with CF_MAX_EXPANSIONS before a command, not before each item.
        self.refused(self.run_, "CF.ADD", "c", "b", text="Maximum expansions reached")
        for _ in range(600):
            self.assertEqual(self.run_("CF.DEL", "c", "a"), 1)
        self.assertEqual(self.run_("CF.EXISTS", "c", "a"), 0)
        self.assertEqual(self.run_("CF.ADD", "c", "b"), 1)

    def test_missing_key_has_nothing(self):
        self.assertEqual(self.run_("CF.EXISTS", "none", "a"), 0)
        self.assertEqual(self.run_("CF.MEXISTS", "none", "a", "b"), [0, 0])
        self.assertEqual(self.run_("CF.COUNT", "none", "a"), 0)
        self.refused(self.run_, "CF.DEL", "none", "a", text="Not found")
        for words in (["CF.INFO", "none"], ["CF.SCANDUMP", "none", 0],
                      ["CF.INSERT", "none", "NOCREATE", "ITEMS", "a"],
                      ["CF.INSERTNX", "none", "NOCREATE", "ITEMS", "a"]):
            self.refused(self.run_, *words, text="not found")
        self.assertEqual(self.run_("EXISTS", "none"), 0)

    def test_reserve_refuses_bad_options(self):
        least = "Capacity must be at least (BucketSize * 2)"
        between = ": value must be an integer between %d and %d, inclusive."
        bucket = "BUCKETSIZE" + between % (1, 255)
        iterations = "MAXITERATIONS" + between % (1, 65535)
        expansion = "EXPANSION" + between % (0, 32768)
        for words, text in ((("x",), "Bad capacity"), ((0,), least),
                            ((3,), least), ((9, "BUCKETSIZE", 5), least),
                            ((9, "BUCKETSIZE", 0), bucket), ((9, "BUCKETSIZE", 256), bucket),
                            ((9, "BUCKETSIZE", "x"), "Couldn't parse BUCKETSIZE"),
                            ((9, "MAXITERATIONS", 0), iterations),
                            ((9, "MAXITERATIONS", 65536), iterations),
                            ((9, "EXPANSION", -1), expansion), ((9, "EXPANSION", 32769), expansion),
                            ((9, "EXPANSION", -(1 << 63)), expansion),
                            (((1 << 63) - 1,), "Insufficient memory to create filter"),
                            ((9, "FOO", 1), "Unknown argument"),
                            ((9, "EXPANSION"), "wrong number of arguments")):
            self.refused(self.run_, "CF.RESERVE", "r", *words, text=text)
        self.assertEqual(self.run_("EXISTS", "r"), 0)
        self.run_("CF.RESERVE", "r", 100)
        self.refused(self.run_, "CF.RESERVE", "r", 100, text="item exists")

    def test_insert_refuses_bad_options(self):
        for words, text in ((("CAPACITY", "x"), "Bad capacity"), (("FOO",), "Unknown argument"),
                            (("CAPACITY", 3), "Capacity must be at least (BucketSize * 2)"),
                            (("CAPACITY",), "Bad capacity")):
            # In the last case CF.INSERT reads the word ITEMS as the capacity.
            self.refused(self.run_, "CF.INSERT", "j", *words, "ITEMS", "a", text=text)
        self.refused(self.run_, "CF.INSERT", "j", "CAPACITY", text="wrong number of arguments")
        self.refused(self.run_, "CF.INSERT", "j", "NOCREATE", "CAPACITY", text="Unknown argument")
        self.assertEqual(self.run_("EXISTS", "j"), 0)

    def test_make_takes_only_valid_settings(self):
        """WEIR.CFMAKE makes a key of known fingerprints: those that its master has."""
        cf_make(self.run_, "m", 64, 7, 4, 2, "a", "b", "a")
        cf_make(self.run_, "n", 64, 7, 4, 2)
        self.run_("CF.INSERT", "n", "ITEMS", "a", "b", "a")
        self.assertEqual(*digests(self.server.client, "m", "n"))
        for settings in ((0, 7, 4, 2), (63, 7, 4, 2), (1 << 41, 7, 4, 2), (-1, 7, 4, 2),
                         (64, 7, 0, 2), (64, 7, 256, 2), (64, 7, 4, 3), (64, 7, 4, 65536),
                         (64, 7, 4, -1), ("x", 7, 4, 2)):
            for items in ((), ("a",)):
                self.refused(cf_make, self.run_, "o", *settings, *items, text="")
        self.refused(self.run_, "WEIR.CFMAKE", "o", 64, 7, 4, 20, text="wrong number of arguments")
        self.refused(cf_make, self.run_, "m", 64, 7, 4, 2, text="item exists")
        self.assertEqual(self.run_("EXISTS", "o"), 0)

    def test_arity(self):
        for words in (["RESERVE", "k"], ["ADD", "k"], ["ADD", "k", "a", "b"], ["ADDNX", "k"],
                      ["INSERT", "k", "ITEMS"], ["INSERTNX", "k"], ["EXISTS", "k"],
                      ["EXISTS", "k", "a", "b"], ["MEXISTS", "k"], ["DEL", "k"],
                      ["DEL", "k", "a", "b"], ["COUNT", "k"], ["COUNT", "k", "a", "b"], ["INFO"],
                      ["INFO", "k", "Size"], ["SCANDUMP", "k"], ["LOADCHUNK", "k", 1], ["DEBUG"],
                      ["COMPACT"]):
            self.refused(self.run_, "CF." + words[0], *words[1:], text="wrong number of arguments")

    def test_keys_of_other_types_are_refused(self):
        self.run_("SET", "s", "text")
        self.run_("BF.ADD", "b", "a")
        self.run_("CF.ADD", "c", "a")
        for key in "sb":
            for words in (["RESERVE", key, 100], ["ADD", key, "a"], ["ADDNX", key, "a"],
                          ["INSERT", key, "ITEMS", "a"], ["INSERTNX", key, "ITEMS", "a"],
                          ["EXISTS", key, "a"], ["MEXISTS", key, "a"], ["DEBUG", key],
                          ["COUNT", key, "a"], ["INFO", key], ["SCANDUMP", key, 0],
                          ["LOADCHUNK", key, 1, "x"]):
                self.refused(self.run_, "CF." + words[0], *words[1:], text="WRONGTYPE")
            self.refused(self.run_, "CF.DEL", key, "a", text="Not found") # as RedisBloom
            self.refused(self.run_, "CF.COMPACT", key, text="Cuckoo filter was not found")
        self.refused(self.run_, "BF.ADD", "c", "a", text="WRONGTYPE")
        self.refused(self.run_, "BF.DEBUG", "c", text="WRONGTYPE")
        self.refused(self.run_, "BF.SCANDUMP", "c", 0, text="WRONGTYPE")

    def test_resp3_has_booleans_and_maps(self):
        """The bool of RedisBloom's CF.INSERT does not tell a full key."""
        lines = self.resp3(self.server, b"CF.RESERVE t 4 EXPANSION 0", b"CF.ADD t a",
                           b"CF.ADDNX t a", b"CF.MEXISTS t a", b"CF.INSERT t ITEMS a a a a",
                           b"CF.INSERTNX t ITEMS a f", b"CF.COUNT t a", b"CF.DEL t a",
                           b"CF.INFO t")
        self.assertEqual(lines[:5], [b"+OK", b"#t", b"#f", b"*1", b"#t"])
        self.assertEqual((lines[5], lines[9]), (b"*4", b"#f"))
        self.assertEqual(lines[10:12], [b"*2", b":0"])
        self.assertEqual(lines[14:17], [b"#t", b"%8", b"+Size"])


class Arguments(Case):
    def test_most_expansions_end_the_additions(self):
        """A key whose creation used up the limit exists on the replica too: test_keeping.py."""
        run = self.serve(arguments=["CF_MAX_EXPANSIONS", "2"]).client.execute_command
        self.assertEqual(run("CF.INSERT", "k", "CAPACITY", 4, "ITEMS", *["a"] * 10), [1] * 10)
        for words in (["ADD", "k", "b"], ["ADDNX", "k", "b"], ["INSERT", "k", "ITEMS", "b"],
                      ["INSERTNX", "k", "ITEMS", "b"]):
            self.refused(run, "CF." + words[0], *words[1:], text="Maximum expansions reached")
        self.assertEqual(run("CF.DEL", "k", "a"), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")

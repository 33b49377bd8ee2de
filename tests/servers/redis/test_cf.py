# SPDX-License-Identifier: MIT
"""CF.* of weir-redis.so in a real server: answers and errors. It runs as test_cf.py MODULE."""
import sys
import unittest

from served import Case


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
        # With 5,000 items, a removal that removes another item's fingerprint would be noticed.
        items = [b"%d" % i for i in range(5000)]
        self.assertEqual(self.run_("CF.INSERT", "g", "CAPACITY", 500, "ITEMS", *items), [1] * 5000)
        self.assertEqual(self.run_("CF.MEXISTS", "g", *items), [1] * 5000)
        false = sum(self.run_("CF.MEXISTS", "g", *[b"x%d" % i for i in range(5000)]))
        self.assertLess(false, 50)
        info = self.server.client.cf().info("g")
        self.assertEqual((info.filterNum, info.insertedNum), (10, 5000))
        # Removed items free slots in every link, so new items need no new link.
        for item in items[:2000]:
            self.assertEqual(self.run_("CF.DEL", "g", item), 1)
        self.assertEqual(self.run_("CF.MEXISTS", "g", *items[2000:]), [1] * 3000)
        self.assertLess(sum(self.run_("CF.MEXISTS", "g", *items[:2000])), 50)
        self.run_("CF.INSERT", "g", "ITEMS", *items[:2000])
        info = self.server.client.cf().info("g")
        self.assertEqual((info.filterNum, info.insertedNum, info.deletedNum), (10, 5000, 2000))
        self.assertEqual(self.run_("CF.MEXISTS", "g", *items), [1] * 5000)

    def test_uneven(self):
        """In links of several sizes no removal removes another item, and few removals fail."""
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
        # Copies of one item go into the same link, even if the link is full.
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
        """A link holds few copies of one item, so a chain of 64 links holds 64 times as many."""
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
            # In the last case CF.INSERT reads the word ITEMS as the capacity.
            self.refused(self.run_, "CF.INSERT", "j", *words, "ITEMS", "a", text=text)
        self.refused(self.run_, "CF.INSERT", "j", "CAPACITY", text="Unknown argument")
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
        lines = self.resp3(self.server, b"CF.RESERVE t 4 EXPANSION 0 WEIRSEED 7", b"CF.ADD t a",
                           b"CF.ADDNX t a", b"CF.MEXISTS t a b", b"CF.INSERT t ITEMS b c d e",
                           b"CF.INSERTNX t ITEMS a f", b"CF.COUNT t a", b"CF.DEL t a",
                           b"CF.INFO t")
        self.assertEqual(lines[:16], [b"+OK", b"#t", b"#f", b"*2", b"#t", b"#f", b"*4", b"#t",
                                      b"#t", b"#t", b":-1", b"*2", b":0", b":-1", b":1", b"#t"])
        self.assertEqual(lines[16:18], [b"%8", b"+Size"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")

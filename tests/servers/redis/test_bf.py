# SPDX-License-Identifier: MIT
"""BF.* of weir-redis.so in a real server: answers and errors. It runs as test_bf.py MODULE."""
import sys
import unittest

from served import Case


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
        lines = self.resp3(self.server, b"BF.ADD t a", b"BF.MEXISTS t a b", b"BF.INFO t capacity",
                           b"BF.INFO t")
        self.assertEqual(lines[:8], [b"#t", b"*2", b"#t", b"#f", b"%1", b"+Capacity", b":100",
                                     b"%5"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")

# SPDX-License-Identifier: MIT
"""BF.* of weir-redis.so in a real server: answers and errors. It runs as test_bf.py MODULE."""
import sys
import unittest

from served import Case, bf_make, digests


class Commands(Case):
    def setUp(self):
        self.server = self.serve()
        self.run_ = self.server.client.execute_command

    def test_client_reads_every_answer(self):
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

    def test_grown_key_has_all_items_and_keeps_the_rate(self):
        items = [b"%d" % i for i in range(5000)]
        taken = sum(self.run_("BF.MADD", "g", *items))
        self.assertEqual(self.run_("BF.CARD", "g"), taken)
        self.assertGreater(taken, 4900)
        self.assertEqual(self.run_("BF.MEXISTS", "g", *items), [1] * 5000)
        false = sum(self.run_("BF.MEXISTS", "g", *[b"x%d" % i for i in range(5000)]))
        self.assertLess(false, 100)
        self.assertEqual(self.run_("BF.INFO", "g", "filters"), [6])
        self.assertEqual(self.run_("BF.INFO", "g", "CAPACITY"), [6300])

    def debug(self, key):
        """Return: the items of the key, and a dict for each link."""
        size, *links = (text.decode() for text in self.run_("BF.DEBUG", key))
        return int(size.split(":")[1]), [dict(field.split(":") for field in link.split())
                                         for link in links]

    def test_debug_describes_each_link(self):
        """Links of up to 4,096 bytes are compact, later ones are blocked: of whole cache lines."""
        self.run_("BF.MADD", "g", *range(13000))
        items, links = self.debug("g")
        self.assertEqual(items, self.run_("BF.CARD", "g"))
        self.assertEqual(items, sum(int(link["size"]) for link in links))
        self.assertEqual([int(link["capacity"]) for link in links],
                         [100 * 2 ** n for n in range(8)])
        size = [int(link["bytes"]) for link in links]
        self.assertEqual([bytes_ > 4096 for bytes_ in size], [False] * 5 + [True] * 3)
        self.assertEqual({bytes_ % 64 for bytes_ in size[5:]}, {0})
        self.assertEqual([int(link["bits"]) for link in links], [8 * bytes_ for bytes_ in size])
        self.assertEqual({link["hashwidth"] for link in links}, {"64"})
        rates = [float(link["ratio"]) for link in links]
        self.assertEqual(rates[0], 0.005)
        self.assertLess(sum(rates), 0.01)
        self.assertEqual(rates, sorted(rates, reverse=True))
        self.refused(self.run_, "BF.DEBUG", "none", text="not found")

    def test_full_key_refuses_new_items(self):
        self.run_("BF.RESERVE", "f", "0.001", "10", "NONSCALING")
        answers = self.run_("BF.MADD", "f", *range(30))
        self.assertEqual(answers[:-1].count(1), 10)
        self.assertEqual(str(answers[-1]), "non scaling filter is full")
        self.assertIsNone(self.run_("BF.INFO", "f", "EXPANSION")[0])
        self.refused(self.run_, "BF.ADD", "f", "new", text="non scaling filter is full")

    def test_missing_key_has_nothing(self):
        self.assertEqual(self.run_("BF.EXISTS", "none", "a"), 0)
        self.assertEqual(self.run_("BF.MEXISTS", "none", "a", "b"), [0, 0])
        self.assertEqual(self.run_("BF.CARD", "none"), 0)
        self.refused(self.run_, "BF.INFO", "none", text="not found")
        self.refused(self.run_, "BF.INSERT", "none", "NOCREATE", "ITEMS", "a", text="not found")

    def test_insert_makes_a_key_by_its_options(self):
        self.assertEqual(self.run_("BF.INSERT", "i", "CAPACITY", 7, "ERROR", "0.1", "EXPANSION", 4,
                                   "ITEMS", "a", "b"), [1, 1])
        self.assertEqual(self.run_("BF.INFO", "i", "CAPACITY"), [7])
        self.assertEqual(self.run_("BF.INFO", "i", "EXPANSION"), [4])
        for words, text in ((("CAPACITY", "x"), "Bad capacity"),
                            (("CAPACITY", 0), "Bad argument received"),
                            (("ERROR", "x"), "Bad error rate"),
                            (("ERROR", 2), "Bad argument received"),
                            (("EXPANSION", "x"), "Bad expansion"),
                            (("EXPANSION", 0), "Bad argument received"),
                            (("FOO",), "Unknown argument")):
            self.refused(self.run_, "BF.INSERT", "j", *words, "ITEMS", "a", text=text)
        self.refused(self.run_, "BF.INSERT", "j", "ITEMS", text="wrong number of arguments")
        self.assertEqual(self.run_("EXISTS", "j"), 0)

    def test_reserve_refuses_bad_options(self):
        for words, text in ((("x", 1), "bad error rate"), ((2, 1), "(0 < error rate range < 1)"),
                            ((0.1, "x"), "bad capacity"),
                            ((0.1, 0), "(capacity should be larger than 0)"),
                            ((0.1, 1, "EXPANSION"), "no expansion"),
                            ((0.1, 1, "EXPANSION", "x"), "bad expansion"),
                            ((0.1, 1, "EXPANSION", 0), "should be greater or equal to 1"),
                            ((0.1, 1, "EXPANSION", 2, "NONSCALING"), "cannot expand")):
            self.refused(self.run_, "BF.RESERVE", "r", *words, text=text)
        self.run_("BF.RESERVE", "r", "0.1", "1")
        self.refused(self.run_, "BF.RESERVE", "r", "0.1", "1", text="item exists")
        self.run_("SET", "s", "text")
        self.refused(self.run_, "BF.ADD", "s", "a", text="WRONGTYPE")
        self.refused(self.run_, "BF.EXISTS", "s", "a", text="WRONGTYPE")

    def test_make_takes_only_whole_settings(self):
        """WEIR.BFMAKE makes a key of known bits: those that its master has."""
        bf_make(self.run_, "m", 0.02, 50, 7, 3, "a", "b")
        bf_make(self.run_, "n", 0.02, 50, 7, 3)
        self.run_("BF.MADD", "n", "a", "b")
        self.assertEqual(*digests(self.server.client, "m", "n"))
        self.assertEqual(self.run_("BF.INFO", "m", "EXPANSION"), [3])
        self.refused(self.run_, "WEIR.BFMAKE", "o", b"x" * 31, text="settings are bad")
        for settings in ((0, 50, 7, 3), (1, 50, 7, 3), (float("nan"), 50, 7, 3), (0.02, 0, 7, 3),
                         (0.02, 1 << 63, 7, 3), (0.02, 50, 0, 3), (0.02, 50, 7, 1 << 40)):
            for items in ((), ("a",)):
                self.refused(bf_make, self.run_, "o", *settings, *items, text="")
        self.refused(self.run_, "WEIR.BFMAKE", "o", text="wrong number of arguments")
        self.refused(bf_make, self.run_, "m", 0.02, 50, 7, 3, text="item exists")
        self.assertEqual(self.run_("EXISTS", "o"), 0)

    def test_keys_have_seeds_of_their_own(self):
        self.run_("BF.ADD", "a", "x")
        self.run_("BF.ADD", "b", "x")
        self.assertNotEqual(*digests(self.server.client, "a", "b"))

    def test_resp3_has_booleans_and_maps(self):
        lines = self.resp3(self.server, b"BF.ADD t a", b"BF.MEXISTS t a b", b"BF.INFO t capacity",
                           b"BF.INFO t")
        self.assertEqual(lines[:8], [b"#t", b"*2", b"#t", b"#f", b"%1", b"+Capacity", b":100",
                                     b"%5"])

    def test_type_is_redisblooms(self):
        self.run_("BF.ADD", "k", "a")
        self.assertEqual(self.run_("TYPE", "k"), b"MBbloom--")


class Arguments(Case):
    def test_defaults_are_for_keys_made_by_add(self):
        server = self.serve(arguments=["ERROR_RATE", "0.2", "INITIAL_SIZE", "30", "name", "bf"])
        self.assertIn(b"bf", [m[b"name"] for m in server.client.module_list()])
        run = server.client.execute_command
        run("BF.ADD", "k", "a")
        self.assertRegex(run("BF.DEBUG", "k")[1].decode(), "capacity:30 .*ratio:0.1$")
        run("BF.RESERVE", "l", "0.04", 50, "NONSCALING")
        self.assertRegex(run("BF.DEBUG", "l")[1].decode(), "capacity:50 .*ratio:0.04$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")

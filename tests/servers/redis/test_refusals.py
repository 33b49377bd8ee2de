# SPDX-License-Identifier: MIT
"""Wrong uses of the commands of weir-redis.so in RESP2 and RESP3. The rights in the page are
sufficient, and each is needed. It runs as test_refusals.py MODULE."""
import os
import re
import sys
import unittest

import redis

from sets import Sets

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    "../../../src/servers/redis/README.md")
ARITY = "ERR wrong number of arguments for '%s' command"
RATE = "ERR (0 < error rate range < 1)" # resp3() strips the space at the end
CAPACITY = "ERR (capacity should be larger than 0)"
EXPANSION = "ERR expansion should be greater or equal to 1"
ARGUMENT = "Bad argument received"
OTHER = "WRONGTYPE Operation against a key holding the wrong kind of value"
DATA = "ERR received bad data"
GROWN = ("ERR set x: the key has grown to 2 filters, a set is one: reserve enough (BF.RESERVE with "
         "NONSCALING)")
SMALL = ("ERR set x: the key is not of kind blocked, since it has only 184 bytes of bits, or is "
         "RedisBloom's: reserve more than 4096 bytes")
SEED = "ERR set x has another seed than the key: its fingerprint is "
# Keys: b of BF, g that has grown, f that is full, small, c of CF, text; set x has another seed.
REFUSED = [
    *[(words, ARITY % words.split()[0].lower()) for words in (
        "BF.RESERVE", "BF.RESERVE k", "BF.RESERVE k 0.01", "BF.ADD", "BF.ADD k", "BF.ADD k a b",
        "BF.MADD k", "BF.INSERT k ITEMS", "BF.EXISTS", "BF.EXISTS k", "BF.EXISTS k a b",
        "BF.MEXISTS k", "BF.CARD", "BF.CARD k a", "BF.INFO", "BF.INFO k ITEMS SIZE",
        "BF.SCANDUMP k", "BF.LOADCHUNK k 1", "BF.DEBUG", "CF.DEBUG c x", "CF.COMPACT",
        "WEIR.BFMAKE k", "WEIR.CFMAKE k 1 2 3 4", "WEIR.LOAD", "WEIR.PUBLISH")],
    ("BF.RESERVE k 0 10", RATE),
    ("BF.RESERVE k 1 10", RATE),
    ("BF.RESERVE k -0.5 10", RATE),
    ("BF.RESERVE k nan 10", "ERR bad error rate"),
    ("BF.RESERVE k 0.01 -1", CAPACITY),
    ("BF.RESERVE k 0.01 999999999999999",
     "ERR capacity 999999999999999 is not in 1 to 281474976710656"),
    ("BF.RESERVE k 0.01 1e3", "ERR bad capacity"),
    ("BF.RESERVE k 0.01 100 EXPANSION -1", EXPANSION),
    ("BF.RESERVE k 0.01 100 EXPANSION 0", EXPANSION),
    ("BF.RESERVE k 0.01 100 FOO", "Unknown argument received"),
    ("BF.RESERVE k 0.01 100 EXPANSION 2 NONSCALING", "Nonscaling filters cannot expand"),
    ("BF.RESERVE b 0.01 100", "ERR item exists"),
    ("BF.INSERT k x y", "Unknown argument received"),
    ("BF.INSERT k CAPACITY 0 ITEMS x", ARGUMENT),
    ("BF.INSERT k CAPACITY 10 ERROR 2 ITEMS x", ARGUMENT),
    ("BF.INSERT k EXPANSION 0 ITEMS x", ARGUMENT),
    ("BF.INSERT k NOCREATE ITEMS x", "ERR not found"),
    ("BF.ADD f new", "ERR non scaling filter is full"),
    ("BF.INFO none", "ERR not found"),
    ("BF.DEBUG none", "ERR not found"),
    ("WEIR.BFMAKE k settings", "ERR the settings are bad"),
    ("WEIR.CFMAKE k x 7 2 20 1", "ERR a number is bad"),
    ("WEIR.CFMAKE k 3 7 2 20 1", "ERR Insufficient memory to create filter"),
    ("BF.INFO b FOO", "Invalid information value"),
    ("BF.SCANDUMP none 0", "ERR not found"),
    ("BF.SCANDUMP b x", "Second argument must be numeric"),
    ("BF.LOADCHUNK b 1 junk", DATA),
    ("BF.LOADCHUNK k 1 junk", DATA),
    ("BF.LOADCHUNK k x junk", "ERR Second argument must be numeric"),
    *[(words % key, OTHER) for key in ("text", "c") for words in (
        "BF.ADD %s x", "BF.MADD %s x", "BF.INSERT %s ITEMS x", "BF.EXISTS %s x", "BF.MEXISTS %s x",
        "BF.CARD %s", "BF.INFO %s", "BF.SCANDUMP %s 0", "BF.LOADCHUNK %s 1 x",
        "BF.RESERVE %s 0.01 100", "BF.DEBUG %s", "WEIR.LOAD %s SET x", "WEIR.PUBLISH %s SET x")],
    *[(words % key, OTHER) for key in ("text", "b") for words in (
        "CF.ADD %s x", "CF.ADDNX %s x", "CF.INSERT %s ITEMS x", "CF.EXISTS %s x", "CF.COUNT %s x",
        "CF.INFO %s", "CF.DEBUG %s", "CF.RESERVE %s 100", "CF.SCANDUMP %s 0")],
    ("CF.DEL none x", "Not found"),
    ("CF.DEL text x", "Not found"),
    ("CF.COMPACT none", "Cuckoo filter was not found"),
    ("CF.COMPACT b", "Cuckoo filter was not found"),
    ("CF.DEBUG none", "ERR not found"),
    ("CF.RESERVE k 3", "Capacity must be at least (BucketSize * 2)"),
    ("CF.RESERVE c 100", "ERR item exists"),
    ("CF.SCANDUMP c 9", "ERR the filter has changed since the dump began: begin again with "
     "iterator 0"),
    ("WEIR.LOAD k SET none", "ERR set none has no generation here: publish one"),
    ("WEIR.LOAD k OF x", "ERR after the key comes SET and the set's name"),
    ("WEIR.LOAD k SET a/b", "ERR \"a/b\" is not a set's name: use 1 to 64 letters, digits, dots, - "
     "and _"),
    ("WEIR.LOAD b SET x", SEED),
    ("WEIR.PUBLISH none SET x", "ERR not found"),
    ("WEIR.PUBLISH b SET x", SEED),
    ("WEIR.PUBLISH g SET x", GROWN),
    ("WEIR.PUBLISH small SET x", SMALL),
    ("WEIR.LOAD small SET x", SMALL),
]
NEEDS = "the user needs the ACL rules that weir's page names: "
DENIED = "has no permissions to run the '%s' command"
# Each right's command, which works if the user has all rights of a row.
USED = {"bf.add": "BF.ADD seen:b x", "bf.madd": "BF.MADD seen:b x y",
        "bf.insert": "BF.INSERT seen:b ITEMS x", "bf.reserve": "BF.RESERVE seen:%s 0.01 100",
        "bf.exists": "BF.EXISTS seen:b x", "bf.mexists": "BF.MEXISTS seen:b x y",
        "bf.card": "BF.CARD seen:b", "bf.info": "BF.INFO seen:b", "cf.add": "CF.ADD live:c x",
        "cf.del": "CF.DEL live:c x", "cf.exists": "CF.EXISTS live:c x",
        "cf.count": "CF.COUNT live:c x", "cf.info": "CF.INFO live:c"}


class Refusals(Sets):
    def setUp(self):
        super().setUp()
        self.make("b", 10)
        self.make("f", 30, 10)
        self.make("small", 30, 100)
        self.run_("BF.MADD", "g", *range(300))
        self.run_("CF.ADD", "c", "x")
        self.run_("SET", "text", "t")
        self.make("own", seed=78)
        self.publish("own")

    def test_errors_are_one_line_and_change_nothing(self):
        """The errors are equal in both protocols."""
        before = self.all()
        for protocol in (2, 3):
            answers = self.resp3(self.server, *(words.encode() for words, _ in REFUSED),
                                 protocol=protocol)
            self.assertEqual(len(answers), len(REFUSED))
            for (words, sentence), answer in zip(REFUSED, answers):
                with self.subTest(words=words, protocol=protocol):
                    answer = answer.decode()
                    self.assertTrue(answer == "-" + sentence or (
                        sentence == SEED and answer.startswith("-" + SEED)), answer)
            self.assertEqual(self.all(), before)


class Rights(Sets):
    """The rights that the page names are sufficient, and each of them is needed."""

    def setUp(self):
        super().setUp()
        with open(PAGE) as page:
            self.page = page.read()
        self.run_("BF.ADD", "seen:b", "x")
        self.run_("CF.ADD", "live:c", "x")

    def as_user(self, *rules):
        self.run_("ACL", "SETUSER", "u", "reset", "on", ">p", *rules)
        return redis.Redis(unix_socket_path=self.server.socket, username="u",
                           password="p").execute_command

    def test_rights_of_the_page_are_needed(self):
        rows = re.findall(r"(?m)^    ACL SETUSER (\w+) on >secret (~\S+) (.*)$", self.page)
        self.assertEqual([name for name, _, _ in rows], ["reader", "writer", "remover"])
        for name, keys, rights in rows:
            rights = rights.split()
            for right in rights:
                words = USED[right[1:]].replace("%s", name).split()
                self.as_user(keys, *rights)(*words)
                less = self.as_user(keys, *(r for r in rights if r != right))
                self.refused(less, *words, text=DENIED % words[0].lower())
                other = self.as_user("~other:*", *rights)
                self.refused(other, *words, text="ermissions to access")
                no = self.as_user(keys, *rights)
                for command in set(USED) - {r[1:] for r in rights}:
                    command = USED[command].replace("%s", "new").split()
                    self.refused(no, *command, text=DENIED % command[0].lower())

    def named(self, command):
        """Return the rights in the page's last lines, after the right to the command itself."""
        text = " ".join(self.page[self.page.rindex("WEIR.LOAD and WEIR.PUBLISH need"):].split())
        load, publish = text.split(", for WEIR.PUBLISH also ")
        rights = re.findall(r"\+[a-z| ]+", load if command == "WEIR.LOAD" else load + publish)
        return ["+" + command.lower(), *(r.strip() for of in rights for r in of.split())]

    def published(self):
        """Publish as before a restart, so that the next publish also removes an old image."""
        self.client.flushall()
        self.make()
        for _ in range(3):
            self.run_("BF.ADD", "k", os.urandom(8))
            self.publish()
        self.append([7])
        self.run_("BF.ADD", "k", "more")
        self.client.hset(self.HEAD, "run", "0" * 40)

    def each(self, command):
        rights = self.named(command)
        words = [command, "k", "SET", "x"]

        def with_rights(of, *rules):
            self.published()
            return self.as_user("~k", *rules, *of)
        with_rights(rights, "~{weir:x}:*")(*words)
        for right in rights:
            less = with_rights([r for r in rights if r != right], "~{weir:x}:*")
            with self.subTest(right=right):
                self.refused(less, *words, text=DENIED % command.lower() if right == rights[0] else
                             "another epoch" if right == "+hset" else # a heartbeat does without
                             NEEDS)
        self.refused(with_rights(rights), *words, text=NEEDS)
        return rights

    def test_load(self):
        self.assertEqual(len(self.each("WEIR.LOAD")), 5)

    def test_publish(self):
        self.assertEqual(len(self.each("WEIR.PUBLISH")), 21)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")

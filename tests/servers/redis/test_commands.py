# SPDX-License-Identifier: MIT
"""COMMAND and ACL tell what is true of the module's commands. It runs as test_commands.py MODULE.
"""
import sys
import unittest

from served import Case

# arity, categories if the server has any for a module's commands
READ, SLOW_READ, WRITE, SLOW_WRITE = "read fast", "read slow", "write fast", "write slow"
INNER = "admin dangerous slow write"
COMMANDS = {
    "bf.reserve": (-4, SLOW_WRITE), "bf.add": (3, WRITE), "bf.madd": (-3, WRITE),
    "bf.insert": (-4, WRITE), "bf.exists": (3, READ), "bf.mexists": (-3, READ),
    "bf.info": (-2, READ), "bf.card": (2, READ), "bf.debug": (2, READ),
    "bf.scandump": (3, SLOW_READ), "bf.loadchunk": (4, SLOW_WRITE),
    "cf.reserve": (-3, SLOW_WRITE), "cf.add": (3, WRITE), "cf.addnx": (3, WRITE),
    "cf.insert": (-4, WRITE), "cf.insertnx": (-4, WRITE), "cf.del": (3, WRITE),
    "cf.compact": (2, SLOW_WRITE), "cf.exists": (3, READ), "cf.mexists": (-3, READ),
    "cf.count": (3, READ), "cf.info": (2, READ), "cf.debug": (2, READ),
    "cf.scandump": (3, SLOW_READ), "cf.loadchunk": (4, SLOW_WRITE),
    "weir.window.reserve": (-5, SLOW_WRITE), "weir.window.add": (-3, WRITE),
    "weir.window.madd": (-3, WRITE), "weir.window.exists": (3, READ),
    "weir.window.mexists": (-3, READ), "weir.window.info": (2, READ),
    "weir.window.make": (-5, INNER), "weir.window.load": (6, INNER),
    "weir.bfmake": (-3, INNER), "weir.cfmake": (-7, INNER),
    "weir.publish": (4, SLOW_WRITE), "weir.load": (4, SLOW_WRITE),
}


def words(items):
    return {item.decode() for item in items}


class Told(Case):
    def setUp(self):
        self.server = self.serve()
        self.client = self.server.client
        # redis-py would turn the replies of COMMAND and ACL into objects
        self.client.response_callbacks.clear()
        self.run_ = self.client.execute_command
        about = self.run_("INFO", "server").decode()
        # Redis 7.0 has no categories for a module's commands. Valkey 8.0 has them, but ACL CAT does
        # not list the commands of a module's own categories.
        self.later = "\nredis_version:7.0." not in about
        self.lists = self.later and "\nvalkey_version:8.0." not in about

    def info(self, name):
        (reply,) = self.run_("COMMAND", "INFO", name)
        return reply

    def test_every_command_is_listed(self):
        for pattern in "bf.*", "cf.*", "weir.*":
            self.assertEqual(words(self.run_("COMMAND", "LIST", "FILTERBY", "PATTERN", pattern)),
                             {name for name in COMMANDS if name.startswith(pattern[:-1])})

    def test_arity_is_what_the_server_checks(self):
        for name, (arity, _) in COMMANDS.items():
            with self.subTest(name=name):
                self.assertEqual(self.info(name)[1], arity)
                less = ["x"] * (abs(arity) - 2)
                wrong = "wrong number of arguments for '%s' command" % name
                self.refused(self.run_, name, *less, text=wrong)
                if arity > 0:
                    self.refused(self.run_, name, *less, "x", "x", text=wrong)

    def test_the_key_is_the_first_word(self):
        for name, (arity, categories) in COMMANDS.items():
            with self.subTest(name=name):
                info = self.info(name)
                self.assertEqual(info[3:6], [1, 1, 1])
                (spec,) = info[8]
                spec = dict(zip(spec[::2], spec[1::2]))
                reads = categories in (READ, SLOW_READ)
                self.assertEqual(words(spec[b"flags"]), {"RO", "access"} if reads else
                                 {"RW", "access", "update"})
                self.assertEqual("readonly" in words(info[2]), reads)
                self.assertEqual("write" in words(info[2]), not reads)
                self.assertEqual(self.run_("COMMAND", "GETKEYS", name, "k",
                                           *["x"] * (abs(arity) - 2)), [b"k"])

    def test_docs_have_a_summary(self):
        for name in COMMANDS:
            title, docs = self.run_("COMMAND", "DOCS", name)
            docs = dict(zip(docs[::2], docs[1::2]))
            self.assertEqual(title, name.encode())
            self.assertGreater(len(docs[b"summary"]), 10, name)
            self.assertTrue(docs[b"complexity"].startswith(b"O("), name)

    def test_categories_are_told(self):
        own = {"bf": ["bloom"], "cf": ["cuckoo"]} if self.later else {}
        for name, (_, categories) in COMMANDS.items():
            wanted = categories.split() + own.get(name[:2], []) if self.later else []
            self.assertEqual(words(self.info(name)[6]), {"@" + word for word in wanted}, name)
        for prefix, (category,) in own.items():
            self.assertIn(category, words(self.run_("ACL", "CAT")))
            if self.lists:
                self.assertEqual(words(self.run_("ACL", "CAT", category)),
                                 {name for name in COMMANDS if name.startswith(prefix + ".")})

    def may(self, *rules):
        """Return: the commands that a user with the rules may run."""
        self.run_("ACL", "SETUSER", "x", "reset", "on", "nopass", "~*", *rules)
        return {name for name, (arity, _) in COMMANDS.items()
                if self.run_("ACL", "DRYRUN", "x", name, "k",
                             *["x"] * (abs(arity) - 2)) == b"OK"}

    def test_users_may_run_what_their_rules_grant(self):
        reads = {name for name, (_, c) in COMMANDS.items() if c in (READ, SLOW_READ)}
        bf = {name for name in COMMANDS if name.startswith("bf.")}
        self.assertEqual(self.may("+@all"), set(COMMANDS))
        self.assertEqual(self.may("-@all", "+bf.add", "+bf.exists"), {"bf.add", "bf.exists"})
        if not self.later:
            self.assertEqual(self.may("+@read", "+@write"), set())
            return
        self.assertEqual(self.may("+@read", "-@write"), reads)
        self.assertEqual(self.may("+@write"), set(COMMANDS) - reads)
        self.assertEqual(self.may("+@all", "-@dangerous"), {
            name for name, (_, c) in COMMANDS.items() if c != INNER})
        self.assertEqual(self.may("+@bloom"), bf)
        self.assertEqual(self.may("+@bloom", "-@write"), bf & reads)

    def test_a_key_that_may_only_be_read(self):
        self.run_("ACL", "SETUSER", "x", "reset", "on", "nopass", "%R~k", "+@all")
        for name, (arity, categories) in COMMANDS.items():
            answer = self.run_("ACL", "DRYRUN", "x", name, "k", *["x"] * (abs(arity) - 2))
            self.assertEqual(answer == b"OK", categories in (READ, SLOW_READ), name)

    def test_a_wrong_command_aborts_a_transaction(self):
        with self.client.pipeline(transaction=True) as together:
            together.execute_command("BF.ADD", "k", "a")
            together.execute_command("BF.ADD", "k")
            with self.assertRaisesRegex(Exception, "wrong number of arguments for 'bf.add'"):
                together.execute()
        self.assertEqual(self.run_("EXISTS", "k"), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")

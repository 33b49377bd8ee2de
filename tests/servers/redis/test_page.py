# SPDX-License-Identifier: MIT
"""The commands in the module's page work as written. It runs as test_page.py MODULE PAGE."""
import re
import sys
import unittest

import redis

from served import Case

with open(sys.argv[2]) as page:
    CODE = [line.strip() for line in page if line.startswith("    ")]


class Page(Case):
    def test_load(self):
        line, = (line for line in CODE if line.startswith("loadmodule "))
        _, path, *arguments = line.split()
        self.assertTrue(path.endswith("/redis/modules/weir-redis.so"))
        client = self.serve(arguments=arguments).client
        self.assertEqual([module[b"name"] for module in client.module_list()], [b"weir"])

    def test_commands(self):
        named = {name.lower() for line in CODE
                 for name in re.findall(r"\b(?:[BC]F|WEIR)(?:\.[A-Z]+)+", line)}
        client = self.serve().client
        there = client.execute_command("COMMAND LIST", "FILTERBY", "MODULE", "weir")
        hidden = {"weir.bfmake", "weir.cfmake", "weir.window.make", "weir.window.load"} # of files
        self.assertEqual({name.decode().lower() for name in there}, named | hidden)

    def test_access(self):
        server = self.serve()
        rules = [line.split() for line in CODE if line.startswith("ACL SETUSER ")]
        self.assertEqual([rule[2] for rule in rules], ["reader", "writer", "remover"])
        every = {name for line in CODE for name in re.findall(r"\b([BC]F\.[A-Z]+) key item", line)}
        for rule in rules:
            self.assertEqual(server.client.execute_command(*rule), b"OK")
            password, = (word[1:] for word in rule if word.startswith(">"))
            pattern, = (word[1:] for word in rule if word.startswith("~"))
            user = redis.Redis(unix_socket_path=server.socket, username=rule[2], password=password)
            for name in every:
                key = pattern.replace("*", name[:2])
                if "+" + name.lower() in rule:
                    self.may(user, name, key, "a")
                    self.refused(user.execute_command, name, "other", "a", text="no permissions")
                else:
                    self.refused(user.execute_command, name, key, "a", text="no permissions")

    def may(self, user, *command):
        try:
            user.execute_command(*command)
        except redis.exceptions.ResponseError as error:
            self.assertEqual(str(error), "Not found") # to CF.DEL


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")

# SPDX-License-Identifier: MIT
"""weir replicate for who operates it: what it refuses. test_operate.py PROGRAM WEIR SOURCE"""
import sys
import unittest

import tool


class Operate(tool.Tool):
    def test_options_without_effect(self):
        """They are refused, before anything is done."""
        for verb, option in (("status", "--keep=3"), ("status", "--trusted=x"),
                             ("status", "--zstd"), ("status", "--keyed-by=x"),
                             ("status", "--replace"), ("status", "--generation=1"),
                             ("status", "--output=x"), ("publish", "--output=x"),
                             ("publish", "--max-age=5"), ("publish", "--json"),
                             ("publish", "--generation=1"), ("follow", "--keep=3"),
                             ("follow", "--secret=x"), ("follow", "--image-folder=x"),
                             ("rollback", "--zstd"), ("rollback", "--prometheus"),
                             ("rollback", "--image-folder=x"), ("rollback", "--replace")):
            self.assertIn("%s has no effect here" % option.split("=")[0],
                          self.replicate(verb, option, status=2))
        self.assertIn("--set has no effect", self.replicate("key", status=2))
        self.assertIn("exclude", self.replicate("status", "--json", "-q", status=2))
        for options in (["--image-http"], ["--image-ca=x"]):
            self.assertIn("--image-url, which is missing",
                          self.replicate("follow", "-o", "x", *options, status=2))
        self.assertIn("no effect beside", self.replicate(
            "status", "--insecure", "--ca-file=x", status=2))
        self.assertEqual(self.server.client.keys(), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])

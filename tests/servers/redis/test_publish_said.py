# SPDX-License-Identifier: MIT
"""What a manifest says that the module has made. test_publish_said.py MODULE"""
import sys
import time
import unittest

from sets import Sets


class Said(Sets):
    def put(self, old, new):
        """As if a node had published it."""
        text = self.client.hget(self.OF + "manifest", "text").decode()
        self.assertIn(old, text)
        self.client.hset(self.OF + "manifest", "text", text.replace(old, new))

    def publish_more(self):
        self.run_("BF.ADD", "k", "another one")
        self.publish()

    def test_its_source(self):
        """What follows a record is a set."""
        self.make()
        self.publish()
        self.put("source set", "source record")
        self.publish_more()
        self.assertEqual(self.manifest()["source"], "set")

    def test_when(self):
        self.make()
        self.publish()
        before = int(self.manifest()["published"])
        time.sleep(0.01)
        self.publish_more()
        self.assertGreater(int(self.manifest()["published"]), before)

    def test_lineages(self):
        """Two sets that begin have nothing in common."""
        seen = set()
        for _ in range(2):
            self.make()
            self.publish()
            seen.add(self.manifest()["lineage"])
            self.run_("FLUSHALL")
        self.assertEqual(len(seen), 2)
        self.assertNotIn("0" * 16, seen)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")

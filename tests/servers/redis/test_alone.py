# SPDX-License-Identifier: MIT
"""The module works in any folder, without libweir.so. It runs as test_alone.py MODULE."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import served
from served import Case


class Alone(Case):
    def setUp(self):
        folder = tempfile.mkdtemp(prefix="weir-redis-")
        self.addCleanup(shutil.rmtree, folder)
        self.addCleanup(setattr, served, "MODULE", served.MODULE)
        served.MODULE = shutil.copy(served.MODULE, folder)
        os.environ.pop("LD_LIBRARY_PATH", None)

    def test_it_works_in_another_folder(self):
        """libweir.so is neither in the module's folder nor where ld.so searches."""
        run = self.serve().client.execute_command
        run("BF.RESERVE", "k", "0.001", 5000, "NONSCALING")
        run("BF.ADD", "k", "a")
        self.assertEqual(run("WEIR.PUBLISH", "k", "SET", "x"), b"1.1")
        run("WEIR.LOAD", "l", "SET", "x")
        self.assertEqual(run("BF.EXISTS", "l", "a"), 1)

    def readelf(self, *words):
        return subprocess.run(["readelf", "--wide", *words, served.MODULE], check=True, text=True,
                              capture_output=True).stdout

    def test_it_needs_no_library_of_ours(self):
        dynamic = self.readelf("--dynamic")
        self.assertIn("libsodium", dynamic)
        for word in ("libweir", "libhiredis", "RPATH", "RUNPATH"):
            self.assertNotIn(word, dynamic)

    def test_it_frees_only_what_it_allocated(self):
        """A server may load the module with RTLD_DEEPBIND. Then its free() is the C library's, but
        these functions allocate by the server's malloc(), and so it must call none of them."""
        names = re.findall(r" UND (\w+)", self.readelf("--dyn-syms"))
        self.assertIn("free", names)
        for name in names:
            self.assertNotRegex(name, "^(__)?(getline|getdelim|strn?dup|v?asprintf(_chk)?|realpath"
                                "(_chk)?|open_w?memstream|scandir(64)?|getaddrinfo)$")

    def test_it_exports_one_symbol(self):
        """The module exports only RedisModule_OnLoad, so its copy of libweir cannot clash."""
        lines = [line.split() for line in self.readelf("--dyn-syms").splitlines()]
        self.assertEqual([words[7] for words in lines if len(words) == 8 and words[6].isdigit()],
                         ["RedisModule_OnLoad"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")

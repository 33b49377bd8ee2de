#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the tests of the plugin for BIND in named: answers, images, reloads and swaps.

test_bind.py PLUGIN WEIR MODULE [TEST...]"""
import importlib
import os
import shutil
import sys
import tempfile
import time

import lists
import served


def main():
    plugin, lists.weir = map(os.path.abspath, sys.argv[1:3])
    if not served.NAMED or not os.path.exists(plugin):
        print("skipped: no named (bind9), or the plugin was not built (bind9-dev)")
        return 77
    module = importlib.import_module(sys.argv[3])
    names = sys.argv[4:] or [name for name in vars(module) if name.startswith("test_")]
    folder = tempfile.mkdtemp(prefix="weir-bind.")
    os.chmod(folder, 0o755)
    os.environ["PATH"] += ":/usr/sbin"
    try:
        os.chdir(folder)
        served.own_named(folder)
        # An ordinary user may be unable to read the build folder.
        lists.plugin = shutil.copy(plugin, folder)
        if "OTHER_BRANCH" in os.environ:
            lists.other = shutil.copy(os.environ["OTHER_BRANCH"], folder)
        for name in names:
            begun = time.monotonic()
            getattr(module, name)()
            print("%s: ok, %.1f s" % (name, time.monotonic() - begun), flush=True)
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

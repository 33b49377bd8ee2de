# SPDX-License-Identifier: MIT
"""Every command through the npm client (clients.mjs). It runs as test_npm.py MODULE; npm installs
the client into a temporary folder, unless NODE_MODULES names a folder that has it. Exit: 77: no
node, or npm could not install the client."""
import os
import shutil
import subprocess
import sys
import tempfile

from served import Server

CLIENT = "redis@5.12.1" # exact, and so is what it asks for; 6 needs a newer node than Debian 12's


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)


def get_client(folder):
    """Put node_modules into the folder."""
    there = os.environ.get("NODE_MODULES")
    if there:
        os.symlink(os.path.realpath(there), os.path.join(folder, "node_modules"))
        return
    if not shutil.which("npm"):
        skip("no npm, and NODE_MODULES names no folder")
    command = ["npm", "install", "--no-audit", "--no-fund", "--fetch-retries", "1",
               "--cache", os.path.join(folder, "cache"), CLIENT]
    try:
        npm = subprocess.run(command, cwd=folder, timeout=120, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired:
        skip("npm got no %s within 120 s" % CLIENT)
    if npm.returncode:
        skip("npm got no %s: %s" % (CLIENT, npm.stdout[:200]))


def main():
    if not shutil.which("node"):
        skip("no node")
    with tempfile.TemporaryDirectory(prefix="weir-npm-") as folder:
        get_client(folder)
        shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients.mjs"), folder)
        server = Server()
        try:
            status = subprocess.run(["node", "clients.mjs", server.socket], cwd=folder,
                                    timeout=100).returncode
        finally:
            server.close()
    return status


if __name__ == "__main__":
    sys.exit(main())

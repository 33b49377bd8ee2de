# SPDX-License-Identifier: MIT
"""Does each command of the guide work as printed? The test runs in a private network, in which this
machine is 10.0.0.5, with a private /var/lib. test_guide.py WEIR GUIDE PKG_CONFIG_PATH"""
import fcntl
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

WEIR, GUIDE, PKG_CONFIG = map(os.path.abspath, sys.argv[1:4])
ADDRESS = "10.0.0.5"


def here(address):
    """Bring the loopback interface up and give it this second address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for name, of in (b"lo", "127.0.0.1"), (b"lo:0", address):
            packed = struct.pack("16sHH4s8x", name, socket.AF_INET, 0, socket.inet_aton(of))
            fcntl.ioctl(s, 0x8916, packed) # SIOCSIFADDR
        fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"lo", 0x41)) # SIOCSIFFLAGS: up


class Guide(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        here(ADDRESS)
        with open(GUIDE) as f:
            text = f.read()
        cls.acl = " ".join(re.search(r"ACL SETUSER [^`]*?(?=\n\n)", text)[0].split())
        cls.blocks = re.findall(r"```sh\n(.*?)```", text, re.S)
        cls.program = re.search(r"```c\n(.*?)```", text, re.S)[1]
        cls.folder = tempfile.mkdtemp()
        src = os.path.join(os.path.dirname(PKG_CONFIG), "src")
        cls.env = {**os.environ, "PKG_CONFIG_PATH": PKG_CONFIG, "HOME": cls.folder,
                   "LD_LIBRARY_PATH": src + ":" + src + "/replica",
                   "PATH": os.path.dirname(WEIR) + ":" + os.environ["PATH"]}
        cls.done = set()

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def block(self, has):
        """Return: the only block with these words. The test uses each block at least once."""
        found = [b for b in self.blocks if has in b]
        self.assertEqual(len(found), 1, has)
        self.done.add(found[0])
        return found[0]

    def sh(self, script, status=0, stdin=""):
        p = subprocess.run(["bash", "-ec", script], cwd=self.folder, env=self.env, text=True,
                           input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           timeout=60)
        self.assertEqual(p.returncode, status, "%s\n%s" % (script, p.stdout))
        return p.stdout

    def begin(self, command):
        p = subprocess.Popen(["bash", "-c", "exec " + command], cwd=self.folder, env=self.env,
                             stdout=subprocess.DEVNULL)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        return p

    def follow(self, command, file):
        """Run the command until the file exists, then press ctrl-C."""
        path = os.path.join(self.folder, file)
        p = self.begin(command.split("#")[0])
        end = time.monotonic() + 60
        while not os.path.exists(path) and p.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        self.assertTrue(os.path.exists(path), command)
        p.send_signal(signal.SIGINT)
        self.assertEqual(p.wait(60), 0)

    def test_each_command(self):
        install, server = self.block("apt-get").splitlines()
        self.assertIn("redis-server", install)
        self.begin(server + " --dir " + self.folder)
        self.sh("until redis-cli -h %s ping; do sleep 0.1; done" % ADDRESS)

        with open(os.path.join(self.folder, "node.c"), "w") as f:
            f.write(self.program)
        build, run = self.block("./node").splitlines()
        self.sh(build)
        self.assertIn("word: new\n", self.sh(run, stdin="word\n")) # the set begins here
        self.assertEqual(self.sh(run, stdin="word\nother\n"), "word: seen before\nother: new\n")
        user = [word.replace("NAME", "seen") for word in self.acl.split()]
        self.sh("redis-cli -h %s %s" % (ADDRESS, " ".join("'%s'" % word for word in user)))
        mine = run.replace("//", "//weir:PASSWORD@")
        self.assertEqual(self.sh(mine, stdin="other\n"), "other: seen before\n")
        self.sh([b for b in self.blocks if "status" in b and "max-age" not in b][0])
        self.done.update(b for b in self.blocks if "status" in b)
        self.sh([b for b in self.blocks if "max-age" in b][0])

        follow, publish = self.block("# runs until").splitlines()
        self.follow(follow, "seen.weir")
        self.sh("redis-cli -h %s flushall" % ADDRESS)
        self.sh(publish)
        self.assertEqual(self.sh(run, stdin="word\n"), "word: seen before\n")

        signing = self.block("seen.secret").replace("\\\n", "").splitlines()
        self.sh("\n".join(signing[:-1]))
        self.follow(signing[-1], "signed.weir")
        self.sh(self.block("DEL")) # this removes the head that another client wrote
        self.sh("\n".join(signing[2:-1]))
        self.sh(self.block("new.secret"))

        renamed = [b for b in self.blocks if "seen2 seen.weir" in b]
        self.done.update(renamed)
        self.sh(renamed[0])
        with open(os.path.join(self.folder, "record.txt"), "w") as f:
            f.write("word\nthird\n")
        self.sh(self.block("--replace"))
        self.assertEqual(self.sh("weir query seen.weir", stdin="word\nthird\nother\n"),
                         "word\nthird\n")
        self.sh(self.block("rollback"))
        self.assertEqual(self.done, set(self.blocks), "a block that is not tried")


if os.environ.get("WEIR_OWN_NETWORK"):
    unittest.main(argv=[sys.argv[0]] + sys.argv[4:])
if subprocess.run(["unshare", "-n", "-m", "true"]).returncode:
    print("no namespace of its own for a network: run it as root")
    sys.exit(77)
shell = "mount -t tmpfs none /var/lib && exec \"$@\""
status = subprocess.run(["unshare", "-n", "-m", "sh", "-c", shell, "sh", sys.executable, "-B"] +
                        sys.argv, env={**os.environ, "WEIR_OWN_NETWORK": "1"}).returncode
sys.exit(status)

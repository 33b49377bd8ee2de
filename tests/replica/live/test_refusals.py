# SPDX-License-Identifier: MIT
"""weir replicate used wrongly: what it says, and with which exit status; nothing changes then.
test_refusals.py PROGRAM WEIR"""
import os
import subprocess
import sys
import unittest

import tool

URL = "it begins with redis://, rediss://, unix://, redis+sentinel:// or rediss+sentinel://"
BY_HTTP = ("images by HTTP (image_url, --image-url): base_url cannot be used (it is not shown, "
           "since it may have a password): it begins with ")
MISSING = "nowhere: No such file or directory: no "
NO_IMAGE = MISSING + "image to read: weir build -o makes one"
NO_PAIR = MISSING + "key to read: weir replicate key makes a pair"
NO_HASH_KEY = MISSING + ("hash key to read: give the one that weir build had, or for a new set "
                         "make one: (umask 077; head -c 16 /dev/urandom > FILE)")
WHOLE = "'%s': allowed: 1 to %d, a whole number"
SECONDS = "'%s': allowed: %s seconds, such as %s"
NAME = "a name is 1 to 64 letters, digits, - _ ."
UNSIGNED = ("set seen: the manifest has no signature, and one of a key that is trusted is wanted: "
            "publish with a secret key (secret_key, --secret)")
KIND = ("kind cuckoo cannot be replicated: an insert that comes twice would count twice, a "
        "window forgets and a router has many sets; use blocked, classic, growing or split")
NOBODY = ("set other: there is no generation of it at unix://%s: an image is to be published "
          "first, or params say what it is to be")
FILES = "the names of two files are needed: secret, public"
# What was called wrongly, --help of which is named beside it, and the sentence.
MISUSED = [
    ("", "publish, follow, status, rollback or key is missing"),
    ("pubish", "'pubish' is none of publish, follow, status, rollback and key"),
    ("publish", "the image is missing"),
    ("publish a b", "one image at a time: weir merge unites them; with --replace a command that "
     "makes it stands behind --"),
    ("publish --replace b", "--replace: behind IMAGE stands -- and the command that makes it"),
    ("publish --replace -- true", "--replace: behind IMAGE stands -- and the command that makes "
     "it"),
    ("publish --stream=foo b", "--stream=foo: it is hashes or keys"),
    ("publish --keep=0 b", "--keep " + WHOLE % (0, 64)),
    ("publish --keep=65 b", "--keep " + WHOLE % (65, 64)),
    ("publish --keep= b", "--keep " + WHOLE % ("", 64)),
    ("publish --zstd=99 b", "--zstd " + WHOLE % (99, 19)),
    ("publish --zstd=x b", "--zstd " + WHOLE % ("x", 19)),
    ("publish --keyed-by=nowhere b", NO_HASH_KEY),
    ("publish --no-set b", "--set=NAME is missing"),
    ("follow", "-o FILE is missing"),
    ("follow -o", "option requires an argument -- 'o'"),
    ("follow -o x y", "'y' is too much"),
    ("status --no-url", "--url=URL is missing, and $WEIR_REDIS_URL is not set"),
    ("status x", "'x' is too much"),
    ("status --sett=x", "unrecognized option '--sett=x': did you mean --set?"),
    ("status --keep", "option '--keep' requires an argument"),
    ("status --max-age=abc", "--max-age " + SECONDS % ("abc", "1 to 1e+09", "60")),
    ("status --timeout=0", "--timeout " + SECONDS % (0, "0.1 to 3600", "2 or 0.5")),
    ("status --timeout=1e9", "--timeout " + SECONDS % ("1e9", "0.1 to 3600", "2 or 0.5")),
    ("status --read-url=redis://x", "--read-url has no effect here"),
    ("rollback", "--generation=N is missing: weir replicate status shows what is kept"),
    ("rollback --generation=1 x", "'x' is too much"),
    ("rollback --generation=0", "--generation " + WHOLE % (0, 2 ** 64 - 1)),
    ("rollback --generation=x", "--generation " + WHOLE % ("x", 2 ** 64 - 1)),
    ("key secret", FILES),
    ("key a b c", FILES),
]
# What was refused, the exit status, and the sentence.
REFUSED = [
    ("publish junk", 2, "junk: not a weir image: byte 0 is 0x6a where 0x57 should be (WEIRIMG1): "
                         "check the path; weir build -o makes an image"),
    ("publish nowhere", 2, NO_IMAGE),
    ("publish cuckoo", 1, KIND),
    ("publish --set=other cuckoo", 2, KIND),
    ("publish --secret=nowhere b", 2, NO_PAIR),
    ("publish --secret=open b", 2, "open: its mode is 0644: others must have no right to read or "
     "write a file of secret keys"),
    ("publish --set=a/b b", 2, "set a/b: " + NAME),
    ("publish --set=%s b" % ("y" * 65), 2, "set %s: %s" % ("y" * 65, NAME)),
    ("publish --trusted=public b", 2, UNSIGNED),
    ("publish --read-url=foo b", 2, "replicas that are read (read_url, --read-url): URL of redis: "
     + URL),
    ("follow -o nowhere/x", 2, "nowhere/x: cannot write in nowhere: No such file or directory"),
    ("follow -o junk", 1, "junk: not replaced: it is neither a weir image nor empty: check the "
     "path, or move the file away"),
    ("follow -o .", 2, ".: is a directory, and an image replaces the file it is saved to (-o - "
     "writes to standard output)"),
    ("follow --set=other -o x", 2, NOBODY),
    ("follow --trusted=secret -o x", 2, "secret: line 1 is no public key: \"weir-key-public 1 \", "
     "64 digits in lower case and a newline"),
    ("follow --trusted=nowhere -o x", 2, NO_PAIR),
    ("follow --trusted=public -o x", 2, UNSIGNED),
    ("follow --image-url=foo -o x", 2, BY_HTTP + "neither https:// nor http://"),
    ("follow --image-url=http://x -o x", 2, BY_HTTP + "http://, which has to be permitted "
     "(image_http)"),
    ("status --url=foo://x", 2, "URL of redis: " + URL),
    ("status --url=localhost:6379", 2, "URL of redis: " + URL),
    ("status --url=redis://127.0.0.1:1", 2, "redis://127.0.0.1:1: nobody listens there"),
    ("status --password-file=nowhere", 2, MISSING + "password to read: give another file"),
    ("rollback --set=other --generation=1", 2, "set other: redis has no generation of it that "
     "another could follow: publish an image first (weir replicate publish IMAGE), by the seed of "
     "the one to return to"),
    ("key secret x", 1, "secret: cannot make it: the file exists"),
]


class Refusals(tool.Tool):
    def setUp(self):
        super().setUp()
        self.build("a", 0, 1000, "-n", "100000")
        self.build("b", 1000, 1100, "--like=a")
        self.build("cuckoo", 0, 10, "-k", "cuckoo")
        self.weir("replicate", "key", "secret", "public")
        for name in ("junk", "open"):
            with open(os.path.join(self.folder, name), "w") as f:
                f.write("junk\n")
        os.chmod(os.path.join(self.folder, "open"), 0o644)
        self.replicate("publish", "a")
        self.before = self.all()

    def all(self):
        """What the server has of the set, and the folder."""
        client = self.server.client
        return ({key: client.hgetall(key) if client.type(key) == b"hash" else client.dump(key)
                 for key in client.scan_iter("{weir:seen}:*")},
                sorted(os.listdir(self.folder)))

    def refused(self, line, status, sentence, tries=False):
        verb, *options = line.split(" ")
        environment = dict(self.environment)
        if options[:1] == ["--no-url"]:
            del environment["WEIR_REDIS_URL"], options[0]
        if options[:1] == ["--no-set"]:
            del options[0]
        elif verb in ("publish", "follow", "status", "rollback"):
            options = ["--set=seen", *options]
        done = subprocess.run([tool.WEIR, "replicate", *filter(None, [verb]), *options], text=True,
                              capture_output=True, cwd=self.folder, env=environment, timeout=20)
        about = "weir replicate " + (verb if verb != "pubish" else "")
        about = about.strip()
        if "%s" in sentence:
            sentence %= self.server.socket
        said = "%s: %s\n" % (about, sentence)
        if tries:
            said += "Try '%s --help'.\n" % about
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("", said, status), line)

    def test_misused(self):
        for line, sentence in MISUSED:
            with self.subTest(line=line):
                self.refused(line, 2, sentence, tries=True)
        self.assertEqual(self.all(), self.before)

    def test_refused(self):
        for line, status, sentence in REFUSED:
            with self.subTest(line=line):
                self.refused(line, status, sentence)
        self.assertEqual(self.all(), self.before)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

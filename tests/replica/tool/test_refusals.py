# SPDX-License-Identifier: MIT
"""weir replicate used wrongly: its messages and exit statuses. It changes nothing.
test_refusals.py WEIR"""
import os
import subprocess
import sys
import unittest

import tool

MISSING = "nowhere: No such file or directory: no "
NO_IMAGE = MISSING + "image to read: weir build -o makes one"
NO_PAIR = MISSING + "key to read: weir replicate key makes a pair"
NO_URL = ("--url=URL is missing, and $WEIR_REDIS_URL is not set: such as "
          "--url=redis://127.0.0.1")
WHOLE = "'%s': allowed: 1 to %d, a whole number"
SECONDS = "'%s': allowed: %s seconds, such as %s"
VERSION = ("--generation '%s': allowed: ERA.NUMBER, such as 3.14: weir replicate status shows "
           "what is kept")
TRUSTED = ("--trusted needs --state=FILE, which has the newest version that was taken: without it "
           "redis could give an old one that was signed")
COMMAND = "--replace: behind IMAGE stands -- and the command that makes it"
SECRET = ("--secret needs --trusted=FILE, the public key, and --state=FILE: without them whatever "
          "redis has would be signed")
FILES = "the names of two files are needed: secret, public"
# Wrong arguments, and the error message. The message ends with a hint at --help.
MISUSED = [
    ("", "publish, follow, status, rollback or key is missing"),
    ("pubish",
     "'pubish' is not a command of replicate: give publish, follow, status, rollback or key"),
    ("publish", "the image is missing"),
    ("publish a b", "one image at a time: weir merge unites them; with --replace a command that "
     "makes it stands behind --"),
    ("publish --replace b", COMMAND),
    ("publish --keep=0 b", "--keep " + WHOLE % (0, 64)),
    ("publish --keep=65 b", "--keep " + WHOLE % (65, 64)),
    ("publish --zstd=99 b", "--zstd " + WHOLE % (99, 19)),
    ("publish --no-set b", "--set=NAME is missing"),
    ("publish --expires=9 b", "--expires is for --secret, which is missing"),
    ("publish --secret=secret b", SECRET),
    ("rollback --secret=secret --generation=1.1", SECRET),
    ("publish --force b", "--force is for --replace, which is missing"),
    ("publish --trusted=public b", TRUSTED),
    ("publish --state=x b", "--state is for --trusted, which is missing"),
    ("publish --image-url=x b", "unrecognized option '--image-url=x'"),
    ("follow", "-o FILE is missing"),
    ("follow -o x y", "'y': an argument too many"),
    ("follow -o -", "-o -: a file is replaced, again and again; ./- is one of that name"),
    ("follow --secret=secret -o x", "--secret has no effect here"),
    ("status --no-url", NO_URL),
    ("status --sett=x", "unrecognized option '--sett=x': did you mean --set?"),
    ("status --keep=2", "--keep has no effect here"),
    ("status --trusted=x", TRUSTED),
    ("status --max-age=abc", "--max-age " + SECONDS % ("abc", "1 to 1e+09", "60")),
    ("status --json --prometheus", "--json and --prometheus exclude each other"),
    ("status --json -q", "--quiet and --json exclude each other"),
    ("status --insecure --ca-file=x", "--insecure takes any certificate: --ca-file has no effect "
     "beside it"),
    ("rollback", "--generation=ERA.NUMBER is missing: weir replicate status shows what is kept"),
    ("rollback --generation=1.1 x", "'x': an argument too many"),
    *(("rollback --generation=" + bad, VERSION % bad)
      for bad in ("1", "0.1", "1.0", "1.1.1", "-1.1", "1.x", "", "1." + "9" * 20)),
    ("key secret", FILES),
    ("key --set=seen a b", "--set has no effect here"),
]
# Refused arguments, the exit status, and words of the sentence.
REFUSED = [
    ("publish junk", 2, "junk: not a weir image"),
    ("publish nowhere", 2, NO_IMAGE),
    ("publish cuckoo", 1, "kind differs: blocked in the destination, cuckoo in the source: build "
     "the image as the set's is (weir build --like)"),
    ("publish other", 1, "seed differs"),
    ("publish lower", 1, "what is done to keys differs"),
    ("publish --set=other cuckoo", 2, "kind cuckoo cannot be replicated"),
    ("publish --secret=nowhere --trusted=public --state=state b", 2, NO_PAIR),
    ("publish --set=a/b b", 2, "a/b"),
    ("publish --trusted=public --state=state b", 2, "signature"),
    ("publish --replace x -- sh -c false", 2, "sh: ended by exit status 1: nothing is published"),
    ("publish --replace x -- nowhere", 2, "nowhere: No such file or directory"),
    ("publish --replace other -- true", 1, "another seed"),
    ("follow -o nowhere/x", 2, "nowhere/x: cannot write in nowhere: No such file or directory"),
    ("follow -o junk", 1, "junk: not replaced: it is neither a weir image nor empty"),
    ("follow --set=other -o x", 2, "set other: "),
    ("follow --trusted=secret --state=state -o x", 2, "secret: line 1 of at most 64 is not"),
    ("follow --trusted=nowhere --state=state -o x", 2, NO_PAIR),
    ("follow --trusted=public --state=state -o x", 2, "signature"),
    ("status --url=foo://x", 2, "it begins with redis://"),
    ("status --url=redis://127.0.0.1:1", 2, "redis://127.0.0.1:1: no server listens there"),
    ("status --password-file=nowhere", 2, MISSING + "password to read: give another file"),
    ("publish --set=other --replace x -- true", 2, "set other: redis has no generation of it: "
     "publish an image first (weir replicate publish IMAGE)"),
    ("rollback --set=other --generation=1.1", 2, "set other: there is no such set at this redis"),
    ("rollback --generation=1.7", 1, "1.7"),
    ("key secret x", 1, "secret: cannot write it: the file exists"),
    ("key x public", 1, "public: cannot write it: the file exists"),
]


class Refusals(tool.Tool):
    def setUp(self):
        super().setUp()
        self.build("a", 0, 1000, "-n", "100000", "--seed=7")
        self.build("b", 1000, 1100, "--like=a")
        self.build("other", 0, 1000, "-n", "100000", "--seed=8")
        self.build("lower", 0, 1000, "-n", "100000", "--seed=7", "--lowercase")
        self.build("cuckoo", 0, 10, "-k", "cuckoo")
        self.keys()
        with open(self.path("junk"), "w") as f:
            f.write("junk\n")
        self.replicate("publish", "a")
        self.before = self.all()

    def all(self):
        """Return: the set's keys in redis, but those that nodes write, and the folder's files."""
        def of(key):
            return (self.client.hgetall(key) if self.client.type(key) == b"hash" else
                    self.client.dump(key))
        passing = ("log", "head", "lease", "nodes")
        names = [k for k in self.client.keys("*") if k.decode().split(":")[-1] not in passing]
        return {k: of(k) for k in names}, sorted(set(os.listdir(self.folder)) - {"state.lock"})

    def called(self, line):
        verb, *options = line.split(" ")
        environment = dict(self.environment)
        if options[:1] == ["--no-url"]:
            del environment["WEIR_REDIS_URL"], options[0]
        if options[:1] == ["--no-set"]:
            del options[0]
        elif verb in ("publish", "follow", "status", "rollback"):
            options = ["--set=seen", *options]
        about = "weir replicate " + verb if verb not in ("", "pubish") else "weir replicate"
        done = subprocess.run([tool.WEIR, "replicate", *filter(None, [verb]), *options], text=True,
                              capture_output=True, cwd=self.folder, env=environment, timeout=30)
        self.assertEqual(done.stdout, "")
        return about, done.returncode, done.stderr

    def test_misused(self):
        for line, sentence in MISUSED:
            with self.subTest(line=line):
                about, status, said = self.called(line)
                self.assertEqual((said, status), ("%s: %s\nTry '%s --help'.\n" % (
                    about, sentence, about), 2))
        self.assertEqual(self.all(), self.before)

    def test_refused(self):
        for line, expected, words in REFUSED:
            with self.subTest(line=line):
                about, status, said = self.called(line)
                self.assertEqual(status, expected, said)
                self.assertTrue(said.startswith(about + ": "), said)
                self.assertIn(words, said)
        self.assertEqual(self.all(), self.before)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])

# SPDX-License-Identifier: MIT
"""The actions of the job in test_flow.py, each of which changes the followed file."""
import os
import re
import shutil
import subprocess
import time

PATIENCE = 60
CORE = 2000      # keys of every good file
MOST = 60000     # other keys
IMAGE = "set/set.weir"


class Job:
    """A job that changes the file; everything() lists its actions."""

    def __init__(self, weir, dice):
        self.weir, self.dice = weir, dice
        self.keys = 0        # keys of the file, including the CORE keys
        self.refusals = 0    # how often the command refused to replace the file
        self.alone = False

    def source(self, extra, name="keys"):
        with open("core", encoding="ascii") as core, open(name, "w", encoding="ascii") as file:
            shutil.copyfileobj(core, file)
            file.writelines("extra:%d\n" % i for i in range(extra))
        return name

    def build(self, *words, extra=None, out=IMAGE):
        """Build and replace the file. If the command refuses, follow the remedy of its message."""
        extra = self.dice.randrange(MOST) if extra is None else extra
        words = words or ("-p", "1%")
        command = [self.weir, "build", "-q", "-o", out, *words, self.source(extra)]
        answer = subprocess.run(command, capture_output=True, text=True)
        if answer.returncode in (1, 2):  # 2: the old file is damaged
            self.refusals += 1
            remedy = re.search(r"--force|--allow-shrink|move the file away", answer.stderr)
            assert remedy, "no remedy: " + answer.stderr
            if remedy.group().startswith("-"):
                command.insert(2, remedy.group())
            else:  # the first bytes are damaged, so the command cannot know that it is an image
                os.unlink(out)
            answer = subprocess.run(command, capture_output=True, text=True)
        assert answer.returncode == 0, answer
        if out == IMAGE:
            self.keys = CORE + extra

    def rebuild(self):
        self.build()

    def grow(self):
        self.build(extra=min(3 * self.keys, 3 * MOST))

    def shrink(self):
        self.build(extra=self.dice.randrange(100))

    def reseed(self):
        self.build("-p", "1%", "--new-seed")

    def first_seed(self):
        self.build("--like=first.weir")

    def small_one(self):
        """Replace the file by a small image that was not compared with the old file."""
        self.build("--like=first.weir", extra=0, out="small.weir")
        os.replace("small.weir", IMAGE)
        self.keys = CORE

    def unchanged(self, *words):
        """Run a command that must refuse and leave every byte of the file unchanged."""
        def content():
            if not os.path.exists(IMAGE):
                return None
            with open(IMAGE, "rb") as file:
                return file.read()
        before = content()
        answer = subprocess.run([self.weir, "build", "-q", "-o", IMAGE, *words],
                                capture_output=True, text=True)
        if not before and answer.returncode == 0:  # there was no file to compare with
            os.unlink(IMAGE)
            return
        assert answer.returncode in (1, 2) and answer.stderr.startswith("weir"), answer
        assert content() == before, "replaced all the same: " + answer.stderr
        self.refusals += 1

    def empty(self):
        open("none", "w", encoding="ascii").close()
        self.unchanged("-p", "1%", "none")

    def overfull(self):
        self.unchanged("-n", "1000", "-p", "1%", self.source(MOST))

    def killed(self):
        command = [self.weir, "build", "-q", "-p", "1%", "-o", "set/killed.weir",
                   self.source(3 * MOST)]
        job = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        time.sleep(self.dice.random() * 0.03)
        job.kill()
        if job.wait(PATIENCE) == 0:
            os.unlink("set/killed.weir")
        assert set(os.listdir("set")) <= {"set.weir"}, "litter: %s" % os.listdir("set")

    def damage(self):
        """Replace the file, by a rename, with a copy in which one byte is damaged."""
        if os.path.exists(IMAGE):
            shutil.copyfile(IMAGE, "damaged")
            with open("damaged", "r+b") as file:
                size = os.path.getsize("damaged")
                at = self.dice.randrange(max(size, 1))
                file.seek(at)
                old = file.read(1) or b"\0"
                file.seek(min(at, max(size - 1, 0)))
                file.write(bytes([old[0] ^ 1 << self.dice.randrange(8)]))
            os.replace("damaged", IMAGE)

    def truncate(self):
        if os.path.exists(IMAGE):
            os.truncate(IMAGE, self.dice.choice([0, os.path.getsize(IMAGE) // 2]))

    def copy_over(self):
        """Overwrite the file in place, as cp does, with pauses between the pieces."""
        extra = self.dice.randrange(MOST)
        self.build("--like=first.weir", extra=extra, out="other.weir")
        with open("other.weir", "rb") as source, open(IMAGE, "wb") as file:
            for piece in iter(lambda: source.read(1 << 14), b""):
                file.write(piece)
                file.flush()
                time.sleep(0.001)
        self.keys = CORE + extra

    def remove(self):
        if os.path.exists(IMAGE):
            os.unlink(IMAGE)

    def folder_away(self):
        os.rename("set", "away")
        time.sleep(self.dice.random() * 0.1)
        os.rename("away", "set")
        self.build()

    def everything(self):
        return [self.rebuild, self.grow, self.shrink, self.reseed, self.first_seed,
                self.small_one, self.empty, self.overfull, self.killed, self.damage,
                self.truncate, self.copy_over, self.remove, self.folder_away]

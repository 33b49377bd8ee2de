# SPDX-License-Identifier: MIT
"""Random damage by an enemy who may write to the set's keys in the server."""
import struct

from hostile import FIELDS, number, rate, repair_image
from sets import checksum

CHUNK = (1 << 20) - 64


class Enemy:
    """A mixin for Sets. A way may fail because an earlier way has removed what it changes."""

    def ways(self):
        return (self.change_text, self.change_line, self.change_head, self.change_image,
                self.change_log, self.change_keys)

    def change_text(self, dice):
        text = bytearray(self.client.hget(self.HEAD, "manifest"))
        for _ in range(dice.randint(1, 4)):
            at = dice.randrange(len(text))
            if dice.random() < 0.3:
                del text[at:at + dice.randrange(20)]
            else:
                text[at:at + dice.randrange(3)] = dice.randbytes(dice.randrange(4))
            text = text or bytearray(b"\n")
        self.client.hset(self.HEAD, "manifest", bytes(text))

    def word(self, dice):
        return dice.choice((str(number(dice)), "%016x" % number(dice), "blocked", "x", "", "0-0",
                            "%d-%d" % (number(dice), number(dice)), "0.0",
                            "%d.%d" % (number(dice), number(dice))))

    def change_line(self, dice):
        lines = self.manifest()
        for _ in range(dice.randint(1, 2)):
            name = dice.choice([name for name in lines if name != "has"])
            words = lines[name].split(" ")
            words[dice.randrange(len(words))] = self.word(dice)
            lines[name] = " ".join(words)
        self.put_manifest(lines)

    def change_head(self, dice):
        for _ in range(dice.randint(1, 2)):
            name = dice.choice(list(self.client.hgetall(self.HEAD)))
            if name == b"manifest" or dice.random() < 0.2:
                self.client.hdel(self.HEAD, name)
            else:
                self.client.hset(self.HEAD, name, self.word(dice))

    def change_image(self, dice):
        """Damage the image, with its right name and size in the manifest, and often checksums."""
        image = bytearray(self.client.get(self.chunk()))
        for _ in range(dice.randint(1, 3)):
            image[dice.choice((dice.randrange(200), dice.randrange(len(image))))] = \
                dice.randrange(256)
        if dice.random() < 0.3:
            del image[dice.randrange(1, len(image)):]
        if dice.random() < 0.2:
            image += dice.randbytes(dice.randrange(1, 3000))
        if dice.random() < 0.5:
            at, form = dice.choice(FIELDS)
            value = rate(dice) if form == "d" else number(dice) >> (32 * (form == "I"))
            if at < len(image) - 8:
                struct.pack_into("<" + form, image, at, value)
            repair_image(image)
        lines = self.manifest()
        lines["image"] = "%s %d %d" % (checksum(image), len(image), (len(image) - 1) // CHUNK + 1)
        self.put_manifest(lines)
        self.client.set(self.chunk(), bytes(image))

    def change_log(self, dice):
        for _ in range(dice.randint(1, 5)):
            value = dice.choice((dice.randbytes(dice.choice((0, 8, 80, dice.randrange(100)))),
                                 struct.pack("<QQ", number(dice), number(dice)) + bytes(8),
                                 self.word(dice)))
            if dice.random() < 0.7:
                self.touch((dice.choice("bgcpz"), value))
                continue
            fields = {"t": "%016x" % number(dice), "a": self.client.hget(self.HEAD, "tag") or b"",
                      "b": value}
            if dice.random() < 0.5:
                fields[dice.choice(list(fields))] = dice.randbytes(dice.randrange(30))
            self.client.xadd(self.LOG, fields, id="%d-*" % dice.randint(1, 3))

    def change_keys(self, dice):
        key = self.OF + dice.choice(("head", "log", "lease", "kept", "nodes"))
        what = dice.randrange(4)
        if what < 2:
            self.client.delete(key)
        if what == 0:
            self.client.set(key, dice.randbytes(dice.randrange(200)))
        elif what == 1:
            self.client.rpush(key, "a list")
        elif what == 2:
            self.client.xtrim(self.LOG, maxlen=dice.randrange(3), approximate=False)
        else:
            text = dice.choice((b"\nimage ab 1 99999999999999999999\n", b"", b"\nposition 1-\n",
                                dice.randbytes(50)))
            self.client.hset(self.KEPT, self.word(dice), text)

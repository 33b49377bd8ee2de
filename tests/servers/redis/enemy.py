# SPDX-License-Identifier: MIT
"""Whoever may write to a server in which a set is, and wants to do harm, by dice."""
from hostile import number
from sets import checksum, keys_of


class Enemy:
    """Of a Sets. Each way may fail where another has been before."""

    def ways(self):
        return (self.change_text, self.change_line, self.change_image, self.change_stream,
                self.change_keys)

    def change_text(self, dice):
        text = bytearray(self.client.hget(self.OF + "manifest", "text"))
        for _ in range(dice.randint(1, 4)):
            at = dice.randrange(len(text))
            if dice.random() < 0.3:
                del text[at:at + dice.randrange(20)]
            else:
                text[at:at + dice.randrange(3)] = dice.randbytes(dice.randrange(4))
            text = text or bytearray(b"\n")
        self.client.hset(self.OF + "manifest", "text", bytes(text))

    def change_line(self, dice):
        lines = self.manifest()
        for _ in range(dice.randint(1, 2)):
            name = dice.choice(list(lines))
            words = lines[name].split(" ")
            words[dice.randrange(len(words))] = dice.choice((
                str(number(dice)), "%016x" % number(dice), "%d-%d" % (number(dice), number(dice)),
                "blocked", "x", ""))
            lines[name] = " ".join(words)
        self.put_manifest(lines)

    def change_image(self, dice):
        """Its checksum and its size in the manifest are right."""
        image = bytearray(self.client.get(self.chunk()))
        for _ in range(dice.randint(1, 3)):
            image[dice.choice((dice.randrange(200), dice.randrange(len(image))))] = \
                dice.randrange(256)
        if dice.random() < 0.3:
            del image[dice.randrange(1, len(image)):]
        if dice.random() < 0.2:
            image += dice.randbytes(dice.randrange(1, 3000))
        of = dice.choice((len(image), 64, 1 << 20)) if len(image) else 1
        lines = self.manifest()
        chunks = (len(image) - 1) // of + 1
        stored = lines["chunks"].split()[2]
        lines["image"] = "%d %s" % (len(image), checksum(image))
        lines["chunks"] = "%d %d %s" % (chunks, of, stored)
        self.put_manifest(lines)
        for i in range(chunks):
            self.client.set("%sc:%s:%d" % (self.OF, stored, i), bytes(image[i * of:][:of]))

    def change_stream(self, dice):
        for i in range(dice.randint(1, 5)):
            fields = {"v": dice.choice((1, 1, 1, 2)), "n": "%016x" % number(dice),
                      "q": number(dice), "s": self.manifest()["hashing"]}
            data = dice.randbytes(dice.choice((0, 8, 80, dice.randrange(100))))
            fields[dice.choice("hkwi")] = dice.choice((data, keys_of([data, b""]),
                                                       keys_of([data])[:-1], b"\xff" * 12))
            if dice.random() < 0.3:
                fields[dice.choice(list(fields))] = dice.randbytes(dice.randrange(30))
            if dice.random() < 0.2:
                fields = dict(list(fields.items())[:dice.randrange(1, 5)])
            self.client.xadd(self.OF + "stream", fields)

    def change_keys(self, dice):
        key = self.OF + dice.choice(("manifest", "stream", "lease", "kept", "nodes"))
        what = dice.randrange(4)
        if what < 2:
            self.client.delete(key)
        if what == 0:
            self.client.set(key, dice.randbytes(dice.randrange(200)))
        elif what == 1:
            self.client.rpush(key, "a list")
        elif what == 2:
            self.client.xtrim(self.OF + "stream", maxlen=dice.randrange(3), approximate=False)
        else:
            text = dice.choice((b"\nchunks 99999999999999999999 1 ab\n", b"", b"\nposition 1-\n",
                                dice.randbytes(50)))
            self.client.hset(self.OF + "kept", str(number(dice)), text)

# SPDX-License-Identifier: MIT
"""What somebody may do to the keys of a set in redis, drawn by seed: what a method is called is
what it does."""
import time

import redis

import liar

SET = "{weir:seen}:"
MANIFEST, KEPT, STREAM, NODES = (SET + name for name in ("manifest", "kept", "stream", "nodes"))
KEYS = [MANIFEST, KEPT, STREAM, NODES, SET + "lease"]
VALUES = [b"", b"0", b"1", b"-1", b"x", b"nan", b"18446744073709551615", b"9223372036854775807",
          b"0-0", b"1-1", b"18446744073709551615-18446744073709551615", b"x" * 70000,
          b"0123456789abcdef"]
LINES = [b"generation", b"base", b"lineage", b"position", b"entries", b"covered", b"hashing",
         b"source", b"follows", b"image", b"chunks", b"published", b"origin", b"epoch", b"stream"]
LAST = "18446744073709551615-18446744073709551614"


class Changes:
    """rng: what they are drawn by; did: what was done."""

    def __init__(self, rng, server):
        self.rng, self.server, self.did, self.saved = rng, server, [], []

    @property
    def client(self):
        return self.server.client # another after a restart

    def one(self):
        """Draw a deed and do it, where there is something to do it to."""
        deed = self.rng.choice(self.ALL)
        self.did.append(deed.__name__)
        try:
            deed(self)
        except (redis.exceptions.RedisError, IndexError):
            self.did[-1] += " in vain"

    def now(self, most):
        """An id of about now."""
        return b"%d-0" % (1000 * time.time() + self.rng.randrange(-most, most))

    def value(self):
        return self.rng.choice([*VALUES, b"%d" % self.rng.randrange(1000), self.now(10000)])

    def entry(self):
        return self.rng.choice(self.client.xrange(STREAM, count=20))

    def deleted(self):
        self.client.delete(self.rng.choice(KEYS))

    def field_deleted(self):
        key = self.rng.choice([MANIFEST, KEPT, NODES])
        self.client.hdel(key, self.rng.choice(self.client.hkeys(key)))

    def field_set(self):
        key = self.rng.choice([MANIFEST, MANIFEST, KEPT, NODES])
        fields = [*self.client.hkeys(key), b"streams", b"stored", b"another"]
        self.client.hset(key, self.rng.choice(fields), self.value())

    def kept(self):
        """The names of generations, and of what claims to be some."""
        try:
            return self.client.hkeys(KEPT)
        except redis.exceptions.RedisError:
            return []

    def kept_changed(self):
        """One that was published, and is kept."""
        name = self.rng.choice(self.kept())
        text = self.client.hget(KEPT, name)
        self.client.hset(KEPT, name, self.rng.choice([self.value(), text[1:], text[:-1]]))

    def line_set(self):
        """Of the manifest."""
        text = self.client.hget(MANIFEST, "text") or b""
        self.client.hset(MANIFEST, "text", liar.changed(text, self.rng.choice(LINES),
                                                        self.value()))

    def dumped(self):
        key = self.rng.choice(KEYS)
        self.saved.append((key, self.client.dump(key)))

    def restored(self):
        key, dump = self.rng.choice(self.saved)
        self.client.restore(key, 0, dump or b"", replace=True)

    def trimmed(self):
        self.client.xtrim(STREAM, maxlen=self.rng.randrange(3), approximate=False)

    def entry_deleted(self):
        self.client.xdel(STREAM, self.entry()[0])

    def entry_changed(self):
        """Added once more, with another value of a field."""
        fields = self.entry()[1]
        name = self.rng.choice(list(fields))
        fields[name] = self.rng.choice([self.value(), fields[name][:-1], fields[name] + b"\0"])
        self.client.xadd(STREAM, fields)

    def expires(self):
        self.client.pexpire(self.rng.choice(KEYS), self.rng.choice([1, 200, 5000]))

    def of_another_type(self):
        key = self.rng.choice(KEYS)
        self.client.delete(key)
        self.rng.choice([self.client.rpush, self.client.set])(key, "x")

    def chunk_changed(self):
        key = self.rng.choice(self.client.keys(SET + "c:*"))
        self.rng.choice([
            lambda: self.client.delete(key), lambda: self.client.append(key, b"1"),
            lambda: self.client.setrange(key, self.rng.randrange(300000), b"zz"),
            lambda: self.client.set(key, b"12345"), lambda: self.client.expire(key, 1)])()

    def counted_anew(self):
        """The stream's last id and its count."""
        last = self.rng.choice([self.now(100000).decode(), LAST])
        added = self.rng.choice([10 ** 6, 2 ** 62, 2 ** 63 - 2])
        self.client.execute_command("XSETID", STREAM, last, "ENTRIESADDED", added,
                                    "MAXDELETEDID", "0-0")

    def scripts_flushed(self):
        self.client.script_flush()

    def all_flushed(self):
        if self.rng.random() < 0.2:
            self.client.flushall()

    def restarted(self):
        if self.rng.random() < 0.1:
            self.server.again()

    ALL = (deleted, field_deleted, field_deleted, field_set, field_set, line_set, line_set,
           kept_changed, dumped, restored, restored, trimmed, entry_deleted, entry_changed, expires,
           of_another_type, chunk_changed, counted_anew, scripts_flushed, all_flushed, restarted)

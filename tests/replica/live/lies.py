# SPDX-License-Identifier: MIT
"""Answers to a node that are of the form that redis gives them, and not true: entries that nobody
sent, ids and counts of no stream, a manifest with another line. mutated.py has those of no form."""
import liar
import mutated

NUMBERS = [0, -1, 1, 5, 64, 2 ** 63 - 1, -2 ** 63, 2 ** 53 + 1, 2 ** 40, 10 ** 15]
LAST = b"18446744073709551615-18446744073709551615"
IDS = [b"0-0", b"1-1", LAST, b"18446744073709551616-0", b"-", b"1", b"", b"nan-nan", b"01-1",
       b"4000000000000-0", b"1795802772885-1", b"1-1\0", b"x" * 70000]
TEXTS = [b"", b"nan", b"-1", b"18446744073709551615", b"9223372036854775807", b"77", b"\x1b[31m",
         b"x" * 9000, b"a" * 16, b"0" * 56, b"a" * 56]
LINES = [b"epoch", b"generation", b"base", b"lineage", b"position", b"entries", b"covered",
         b"hashing", b"image", b"chunks", b"published", b"origin", b"set", b"kind", b"source"]
VALUES = [b"0", b"1", b"9223372036854775807", b"18446744073709551615", LAST, b"0-0",
          b"4000000000000-0", b"0" * 16, b"a" * 56, b"set", b"record", b"a" * 16 + b" 77",
          b"1 " + b"a" * 32, b"18446744073709551615 " + b"a" * 32,
          b"1048576 67108864 " + b"a" * 16, b"classic", b"cuckoo"]
SEQUENCES = [b"0", b"1", b"2", b"18446744073709551615", b"-1", b"17"]
DATA = [b"", b"x", b"12345678", b"\xff" * 4, b"\0" * 4, b"0" * 16 + b" 1", b"y" * 65536]


class Lies:
    """rng: what they are drawn by; names: of nodes that there are."""

    def __init__(self, rng, names):
        self.rng, self.names = rng, [*names, b"%016x" % rng.getrandbits(64), b"x", b"0" * 16]
        self.by_name = {"read": self.reading, "manifest": self.looking,
                        "append": lambda _: rng.choice(IDS),
                        "time": lambda _: [b"%d" % rng.choice([0, 1, 2 ** 33, 2 ** 62]), b"0"],
                        "alive": lambda _: [rng.choice(self.names)] * rng.choice([0, 3, 70000]),
                        "lease": lambda _: [rng.choice(TEXTS), rng.choice(NUMBERS)]}

    def entry(self):
        choice = self.rng.choice
        fields = [b"v", b"1", b"n", choice(self.names), b"q", choice(SEQUENCES), b"s",
                  choice([b"0" * 16, b"g"]), choice([b"h", b"k", b"w", b"i"]), choice(DATA)]
        how = self.rng.randrange(8)
        if how == 0:
            del fields[self.rng.randrange(len(fields)):]
        elif how == 1:
            fields *= choice([2, 10])
        elif how == 2:
            fields[self.rng.randrange(len(fields))] = mutated.another(self.rng)
        return [choice([*IDS, *[b"%d-0" % self.rng.randrange(2 * 10 ** 12)] * 10]), fields]

    def reading(self, answer):
        of, choice = list(answer), self.rng.choice
        for _ in range(self.rng.randrange(1, 4)):
            i = self.rng.randrange(7)
            if i < 6:
                of[i] = choice((NUMBERS, NUMBERS, TEXTS, [None], TEXTS, IDS)[i])
                if i == 3:
                    of[i] = [self.entry() for _ in range(choice([1, 2, 64, 65]))]
            else:
                of[self.rng.randrange(6)] = mutated.another(self.rng)
        return of

    def looking(self, answer):
        """Its sum goes with the text, or does not."""
        epoch, text, *rest = answer
        choice = self.rng.choice
        how = self.rng.randrange(4)
        if how < 2 and isinstance(text, bytes):
            text = liar.changed(text, choice(LINES), choice(VALUES))
            return liar.looking(epoch, text, rest[0]) if how else [epoch, text, *rest]
        of = list(answer)
        of[self.rng.randrange(len(of))] = choice([choice(TEXTS), mutated.another(self.rng)])
        return of

    def another(self, name, answer):
        """To what is asked by that name; now and then it is no answer to that at all."""
        how = self.rng.randrange(10)
        if how == 0:
            return liar.Error(self.rng.choice(mutated.ERRORS))
        if how == 1 or name not in self.by_name or not answer:
            return mutated.another(self.rng)
        return self.by_name[name](answer)

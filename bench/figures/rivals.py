# SPDX-License-Identifier: MIT
"""What weir is measured beside, in words: a name is explained where it first appears."""

MEANING = {
    'split': 'a filter of split blocks, 256 bits each, written with AVX2 into the benchmark',
    'yardstick': 'the same, called through a pointer',
    'libbloom': "Debian's libbloom",
    'libbloom-mutex': "Debian's libbloom behind one mutex",
    'shard-mutex': "64 filters as textbooks have them, behind a mutex each",
    'shard-rwlock': "64 filters as textbooks have them, behind a read-write lock each",
    'textbook': 'the filter of the textbooks: k hashes, k bits anywhere',
    'lfht': "liburcu's lock-free hash table",
    'blocked-inline': "weir's blocked, inlined by <weir/inline.h>",
}


def meanings(names):
    """'libbloom: ...; split: ...' of those among the names that need it; '' if none does."""
    seen = dict.fromkeys(n for n in names if n in MEANING)
    return '; '.join(f'{n}: {MEANING[n]}' for n in seen)


class Explained:
    """Names, each with what it means the first time."""

    def __init__(self):
        self.known = set()

    def name(self, name):
        if name in self.known or name not in MEANING:
            return name
        self.known.add(name)
        return f'{name} ({MEANING[name]})'

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints which assertions of an older tree have no counterpart in this one.

assertions.py OLD_ROOT NEW_ROOT [--all]   print what is gone; all: near and shared ones too

An assertion is a call that can fail a test or of a helper that makes one, a row of a table, a line
of a test in Python or shell. Old names are read as CHANGELOG.md, RENAMED and REWORDED say. For each
one answers: an equal one in the same function, file or anywhere, then a near one (a ratio of NEAR,
by words and signs). What is left may share one that another has, as copies do that became one."""
import collections
import difflib
import os
import re
import sys

NEAR = 0.8
CALLS = (r"\w*assert\w*|det_fail|MUST|CHECK|REFUSED|(?:must|check|expect|ask|fail|judge|refuse|"
         r"cmocka_unit_test)\w*")
C_FUNCTION = re.compile(r"^[a-z_][^;{}#=]*?\b(\w+)\([^;{}]*\)\n\{", re.M)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')", re.S)
TEXT = r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'"
CAST = re.compile(r"\((?:(?:const|unsigned|signed|struct|enum) )*(?:\w+_t|int|char|void|double|"
                  r"(?:long )?long|unsigned|weir_\w+) ?\**\)(?=[\w(&*\"-])")
TOKEN = re.compile(TEXT + r"|->|\d[\w.]*|\w+|[^\s\w]")
WRAP = re.compile(r"weir_(?:location_\w+|keys_(?:hashes|iov|fixed|u64))$|test_done$")

# What rows of CHANGELOG.md mean that name families. Another rule may follow the first.
RENAMED = [(re.compile(old + "$"), new) for old, new in (
    (r"weir_(image_verify|save|load)_(?:fd|memory)", r"weir_\1"),
    (r"weir_(?:window_|router_)?map(?:_memory)?|weir_delta_load", "weir_load"),
    (r"weir_(?:window_|router_)plan", "weir_plan_make"),
    (r"weir_(window|router)_stats", r"weir_\1_measure"),
    (r"weir_router_(handle_|reload_|)insert(\w*)", r"weir_\1insert_into\2"),
    (r"weir_router_(handle|reload|create|destroy|hash|merge|save|load|route)(\w*)", r"weir_\1\2"),
    (r"weir_window_(create|destroy|hash|contains|insert|age|save|load)(\w*)", r"weir_\1\2"),
    (r"weir_rolling_(destroy|hash|contains|insert|remove|count|shards?)(\w*)", r"weir_handle_\1\2"),
    (r"weir_(handle_)?normal_(contains|insert)", r"weir_\1\2"),
    (r"weir_handle_refresh_with", "weir_handle_refresh"),
    (r"weir_follow_stop", "weir_follower_stop"),
    (r"(weir_\w+)_(?:hashes|fixed)", r"\1_keys"),
    (r"(\w*)hash_key(\w*)", r"\1secret\2"),
    (r"weir_normal(\w*)", r"weir_text\1"),
    (r"WEIR_NORMAL_(\w+)", r"WEIR_TEXT_\1"),
    (r"weir_(?:window|router)(_options)?", lambda m: "weir_params" if m[1] else "weir_filter"),
    (r"(\w*)rolling(\w*)", r"\1sharded\2"),
)]
REWORDED = [(re.compile(old), new) for old, new in (
    (r"weir_image_id\(([^,]+), ([^,]+), ([^,]+)\)", r"weir_image_verify(\2, \3, \1)"),
    (r"stats_of\((\w+)\)\.filter\.", r"figures_of(\1)."),
    (r"\.filter\.", "."),
    (r"weir_(image_stats|stats)_exact\(([^,]+),", r"weir_\1(\2, WEIR_EXACT,"),
    (r"weir_(image_|window_|router_|)stats\((\w+),(?! WEIR_E)", r"weir_\1stats(\2, WEIR_SAMPLED,"),
    (r"(weir_(?:\w+g_stats|handle_stats|handle_refresh))\((\w+), ([^,()]+)\)", r"\1(\2, \3, NULL)"),
    (r"assert_ok\((weir_\w*remove(?:_hash|_u64)?\(.*\))\)$", r"assert_int_equal(\1, 1)"),
    (r"-EOVERFLOW", "WEIR_COUNT_FULL"),
)]

Assertion = collections.namedtuple("Assertion", "path function line text tokens")


def table(root):
    """{old: new} of the rows of CHANGELOG.md, the first name of each column."""
    with open(os.path.join(root, "src/packaging/CHANGELOG.md"), encoding="utf-8") as file:
        return dict(re.findall(r"^\| `(weir_\w+)[`(].*? \| `(weir_\w+)[`(]", file.read(), re.M))


def closing(text, at):
    """The position of the bracket that closes the one at @at."""
    depth = 0
    for m in re.compile(TEXT + "|[(){}]").finditer(text, at):
        depth += (m[0] in "({") - (m[0] in ")}")
        if depth == 0:
            return m.end()
    return len(text)


def helpers(text):
    """A pattern of the names of macros and void functions that contain an assertion."""
    bodies = re.findall(r"^static (?:inline )?void (\w+)\([^{};]*\)\n\{\n((?:[^}\n].*\n|\n)*)\}|"
                        r"^#define (\w+)(\((?:.*\\\n)*.*)", text, re.M)
    names = {f or m for f, a, m, b in bodies if re.search(r"\b(?:%s)\(" % CALLS, a or b)}
    return re.compile("(?:%s|%s)$" % (CALLS, "|".join(sorted(names))))


def of_c(text, calls):
    functions = [(m.start(), m[1]) for m in C_FUNCTION.finditer(text)]
    for m in re.finditer(r"(?<=[\s(!&|])(?:(\w+)\s*\(|(\{(?= ?[-.\w\"&'{(]|\n)))", text):
        begin = text.rfind("\n", 0, m.start() + 1) + 1
        if not text[begin:begin + 1].isspace() or m[1] and not calls.match(m[1]):
            continue # a definition, or another call
        end = closing(text, m.end() - 1)
        if m[2] and (text[begin:m.start()].strip(" \t{},") or end - m.start() > 600):
            continue # a block, or a whole table
        function = next((name for at, name in reversed(functions) if at < m.start()), "")
        yield function, text.count("\n", 0, m.start()) + 1, text[m.start():end]


def of_lines(text, _):
    function = ""
    for number, line in enumerate(text.split("\n"), 1):
        begun = re.match(r"(\w+) ?\(\)|\s*def (\w+)", line)
        function = begun[1] or begun[2] if begun else "" if line.startswith("}") else function
        if len(line.strip()) > 4 and not line.lstrip().startswith("#"):
            yield function, number, line


def tokens(text, names):
    text = CAST.sub("", re.sub(r"\"\s*\"", "", re.sub(r"\s+", " ", text)))
    for old, new in REWORDED if names else ():
        text = old.sub(new, text)
    found = [token for token in TOKEN.findall(text) if token not in "(),;"]
    for _ in range(2) if names else ():
        found = [next((r.sub(n, one) for r, n in RENAMED if r.match(one)), names.get(one, one))
                 for one in found]
    return tuple(token for token in found if not WRAP.match(token))


def collect(root, names):
    texts, found = {}, []
    for folder, _, files in os.walk(os.path.join(root, "tests")):
        for path in (os.path.join(folder, name) for name in sorted(files)):
            if re.search(r"/(?!mutants|planted)\w+\.(c|h|py|sh)$", path): # without planted bugs
                with open(path, encoding="utf-8") as file:
                    texts[os.path.relpath(path, root)] = file.read()
    in_c = [path for path in texts if path.endswith((".c", ".h"))]
    for path in in_c:
        texts[path] = COMMENT.sub(lambda m: m[1] or re.sub(r"[^\n]", " ", m[0]), texts[path])
    calls = helpers("\n".join(texts[path] for path in in_c))
    for path, text in texts.items():
        for function, line, call in (of_c if path in in_c else of_lines)(text, calls):
            where = [name.replace("rolling", "sharded") for name in (path, function)]
            found.append(Assertion(*where, line, " ".join(call.split()), tokens(call, names)))
    return found


class Matcher:
    def __init__(self, new):
        self.new, self.free = new, set(range(len(new)))
        self.index = collections.defaultdict(list)
        for i, a in enumerate(new):
            for token in set(a.tokens):
                self.index[token].append(i)

    def equal(self, left, key):
        """What remains of @left after each has taken a free one with the same key."""
        at = collections.defaultdict(list)
        for i in sorted(self.free, reverse=True):
            at[key(self.new[i])].append(i)
        taken = [at[key(old)].pop() if at[key(old)] else None for old in left]
        self.free.difference_update(taken)
        return [old for old, i in zip(left, taken) if i is None]

    def nearest(self, old, free):
        """(ratio, place, which): a near one's place counts first, 2: the function, 1: the file."""
        overlap = collections.Counter()
        for token in set(old.tokens):
            overlap.update(self.index[token])
        rank = []
        for i, n in overlap.items():
            new = self.new[i]
            place = (new.path == old.path) * (1 + (new.function == old.function))
            if not free or i in self.free:
                rank.append((n / max(len(old.tokens), len(new.tokens)) + place / 20, place, i))
        matcher = difflib.SequenceMatcher(None, "", old.tokens, autojunk=False)
        found = [(0, 0, None)]
        for _, place, i in sorted(rank, reverse=True)[:12]:
            matcher.set_seq1(self.new[i].tokens)
            found.append((matcher.ratio(), place, i))
        return max(found, key=lambda f: (f[0] >= NEAR, f[0] >= NEAR and f[1], f[0]))


def main(old_root, new_root, *options):
    old, new = collect(old_root, table(new_root)), collect(new_root, None)
    match, left, lines = Matcher(new), old, []
    for key in (lambda a: a[:2] + a[4:], lambda a: (a.path, a.tokens), lambda a: a.tokens):
        left = match.equal(left, key)
    count = collections.Counter(equal=len(old) - len(left))
    asked = [(match.nearest(o, True), n) for n, o in enumerate(left)]
    for (ratio, _, i), n in sorted(asked, key=lambda a: (-a[0][1], -a[0][0])):
        if i not in match.free: # a nearer one has taken it
            ratio, _, i = match.nearest(left[n], True)
        how = "near"
        if ratio < NEAR:
            ratio, _, i = match.nearest(left[n], False)
            how = "shared" if ratio >= NEAR else "gone"
        match.free -= {i} if how == "near" else set()
        count[how] += 1
        if how == "gone" or "--all" in options:
            lines.append((left[n], how, ratio, new[i] if i is not None else None))
    for o, how, ratio, n in sorted(lines, key=lambda l: l[0][:3]):
        print("%s %s:%d %s: %s" % (how, o.path, o.line, o.function, o.text))
        if n:
            print("    %.2f %s:%d %s: %s" % (ratio, n.path, n.line, n.function, n.text))
    print("\nold %d, new %d, kept equal %d, near %d, shared %d, gone %d" % (
        len(old), len(new), *(count[how] for how in ("equal", "near", "shared", "gone"))))


if __name__ == "__main__":
    main(*sys.argv[1:])

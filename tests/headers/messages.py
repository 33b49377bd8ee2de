#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Has each message of library and command the form of a message? Finds the calls that make messages
and the texts that they are given.

messages.py SOURCE_ROOT           checks all; exits 1 if one is wrong
messages.py SOURCE_ROOT --list    prints each with its file and line, to be read with fresh eyes

A message has at most 160 characters without its values, starts with no capital but a name's, ends
without a full stop, and uses none of the turns of REJECTED."""
import re
import sys
from pathlib import Path

# The functions that print or keep a message. A message is the text in their parentheses.
MAKERS = ("weir__fail", "weir_fail", "weir__refused", "say", "trouble", "misuse", "say_weir",
          "trouble_weir", "trouble_refused", "trouble_delta", "hint", "alert", "wrong", "refuse",
          "complain")
LONGEST = 160
# Turns that had to be read twice, with what to write.
REJECTED = (
    (r"(?<!there )\bis no\b(?! (longer|more))", '"not a ..." or "there is no ..."'),
    (r"\b(nobody|somebody|whoever)\b", "the process, thread or user"),
    (r"\bin vain\b", '"failed" or "N times"'),
    (r"(?<!there )\bis none\b", '"not one of ..."'),
    (r"\b(likewise|meanwhile)\b", "what happens"),
    (r"\bas far as\b", "the limit"),
    (r"\bof which\b", "a second sentence"),
)
TOKEN = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\w+|\s+|.""",
                   re.S)
VALUE = re.compile(r"%[-+ #0]*(\*|\d+)?(\.(\*|\d+)?)?(hh|h|ll|l|z|j|t)?[diouxXeEfFgGcsp]")


def calls(text):
    """Each call of a maker: its line, its name and its tokens."""
    tokens, line = [], 1
    for token in TOKEN.findall(text):
        if not token.isspace() and not token.startswith(("/*", "//")):
            tokens.append((token, line))
        line += token.count("\n")
    end = 0
    for i, (token, line) in enumerate(tokens[:-1]):
        if token not in MAKERS or tokens[i + 1][0] != "(" or i < end:
            continue  # also of a call within the last one
        depth, inside = 0, []
        for end, (word, _) in enumerate(tokens[i + 1:], i + 1):
            depth += (word == "(") - (word == ")")
            if not depth:
                break
            inside.append(word)
        yield line, token, inside[1:]


def texts(inside):
    """The string literals of a call; those that stand side by side are one."""
    found, before = [], False
    for word in inside:
        literal = word.startswith('"')
        if literal and before:
            found[-1] += word[1:-1]
        elif literal:
            found.append(word[1:-1])
        elif re.fullmatch("PRI\\w+", word) and before:
            found[-1] += "lu"  # the rest of a conversion that began with %
            continue
        before = literal or (before and bool(re.fullmatch("PRI\\w+", word)))
    return found


def messages(root):
    for path in sorted((root / "src").glob("**/*.[ch]")):
        for line, maker, inside in calls(path.read_text()):
            for text in texts(inside):
                if " " in text:
                    yield path.relative_to(root), line, maker, text


def fault(text):
    plain = VALUE.sub("", text.replace("%%", "%"))
    if len(plain) > LONGEST:
        return "%d characters, not %d" % (len(plain), LONGEST)
    if re.search(r"[^.]\.$", text):
        return "ends with a full stop"
    for turn, instead in REJECTED:
        if re.search(turn, plain):
            return '"%s": say %s' % (re.search(turn, plain)[0], instead)
    return None


def main(root, listed):
    found = list(messages(Path(root)))
    wrong = 0
    for path, line, maker, text in found:
        if listed:
            print("%s:%d: %s: %s" % (path, line, maker, text))
        elif fault(text):
            print("%s:%d: %s: %s" % (path, line, fault(text), text))
            wrong += 1
    if not listed:
        print("%d messages, %d wrong" % (len(found), wrong))
    return bool(wrong) or len(found) < 300


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--list" in sys.argv[2:]))

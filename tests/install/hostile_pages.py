#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hostile pages that try to break the documents' scripts. guides.py refuses a page with NUL or
behind a symbolic link, with a message. It and the test's own reader take linear time for backticks.

hostile_pages.py SOURCE
"""
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import markdown

source = os.path.abspath(sys.argv.pop(1))
scripts = os.path.join(source, "src", "packaging", "reference")
sys.path.append(scripts)
import guides # the tested scripts

changelog = os.path.join(source, "src", "packaging", "debian", "changelog")
PAGE = "# Page\n\nA sentence.\n\n"
SECONDS = 10 # seconds of CPU; a linear scan takes less than 1, a quadratic one minutes
RUNS = "".join("`" * length + "a " for length in range(1, 300))
FENCES = "```x\n" * 20000


def limit():
    """SIGXCPU ends a script that hangs. A limit of wall time would fail on a busy machine."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


class Pages(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        self.tree = os.path.join(self.root, "tree")
        shutil.copytree(os.path.join(source, "include"), os.path.join(self.tree, "include"))
        self.write("README.md", PAGE)

    def write(self, name, text):
        path = os.path.join(self.tree, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_script(self, name, *arguments):
        return subprocess.run([sys.executable, "-B", os.path.join(scripts, name), *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False, preexec_fn=limit)

    def make(self, *pages):
        """Make the pages as Markdown. Return what the script prints."""
        out = os.path.join(self.root, "out")
        answer = self.run_script("guides.py", "markdown", self.tree, out, out + ".d", *pages)
        return out, answer

    def made(self, text):
        """@text in its installed form."""
        self.write("page.md", PAGE + text)
        out, answer = self.make("README.md", "page.md")
        self.assertEqual((0, ""), (answer.returncode, answer.stdout))
        with open(os.path.join(out, "page.md"), encoding="utf-8") as file:
            return file.read().removeprefix(PAGE)

    def assert_refused(self, name, sentence):
        """Every script that reads the page @name refuses it with only @sentence."""
        index = os.path.join(self.root, "index")
        form = "html", os.path.join(self.tree, "include", "weir"), index, changelog, index + ".d"
        for answer in (self.make("README.md", name)[1],
                       self.run_script("reference.py", *form, "html", self.tree, name)):
            self.assertEqual((1, sentence + "\n"), (answer.returncode, answer.stdout))

    def test_a_page_with_nul_is_refused(self):
        for text in ("x \0 y", "\0007\0", "\0000\0 and `a`"):
            self.write("nul.md", PAGE + text + "\n")
            self.assert_refused("nul.md", "nul.md:5: the page holds a NUL byte: remove it")

    def test_a_page_that_is_not_utf8_is_refused(self):
        with open(os.path.join(self.tree, "latin.md"), "wb") as file:
            file.write(b"# Caf\xe9\n\nA sentence.\n")
        self.assert_refused("latin.md", "latin.md: byte 5 is not UTF-8: save the page as UTF-8")

    def test_a_page_without_a_title_is_refused(self):
        for text in "", "\n", "A sentence.\n", "#\n":
            self.write("bare.md", text)
            self.assert_refused("bare.md", "bare.md: the first line is no title: begin the page "
                                "with a line '# TITLE'")

    def test_a_page_behind_a_symbolic_link_is_refused(self):
        secret = os.path.join(self.root, "secret")
        os.mkdir(secret)
        with open(os.path.join(secret, "key.md"), "w", encoding="utf-8") as file:
            file.write(PAGE + "a private key\n")
        os.symlink(os.path.join(secret, "key.md"), os.path.join(self.tree, "link.md"))
        os.symlink(secret, os.path.join(self.tree, "folder"))
        os.symlink("README.md", os.path.join(self.tree, "inside.md"))
        os.symlink("nowhere", os.path.join(self.tree, "broken.md"))
        for name in "link.md", "folder/key.md", "inside.md", "broken.md":
            self.assert_refused(name, name + ": the page is or lies behind a symbolic link: "
                                "put the file itself there")
            copy = os.path.join(self.root, "out", name)
            self.assertFalse(os.path.exists(copy), copy)

    def test_a_tree_behind_a_symbolic_link_is_read(self):
        os.rename(self.tree, self.tree + "-real")
        os.symlink(self.tree + "-real", self.tree)
        self.assertEqual("text\n", self.made("text\n"))

    def test_backticks_take_linear_time(self):
        for text in (RUNS, FENCES, "``` `\n" * 20000, "` `` " * 20000, "`" * 100000):
            self.assertEqual(text, self.made(text))
            start = time.process_time()
            markdown.without_code(text)
            self.assertLess(time.process_time() - start, SECONDS)

    def test_code_ends_at_an_equal_run(self):
        for text in ("LINK", "`LINK", "``LINK`", "`LINK\n\nLINK`", "`a` LINK `a`", "`` ` `` LINK",
                     "``a```CODE``` b`` LINK", "```\na\n```\nLINK", "````\nCODE\n```\n````\nLINK",
                     "`CODE`", "``CODE` ``", "`a ``CODE b`", "```c\nCODE\n``\n", "```\nCODE"):
            code = text.replace("CODE", "[b](none.md)")
            page = code.replace("LINK", "[b](none.md)")
            self.assertEqual(code.replace("LINK", "b"),
                             guides.with_links(page, "page.md", {"page.md": "page.md"}))
            self.assertEqual(text.count("LINK"), markdown.without_code(page).count("[b](none.md)"))


if __name__ == "__main__":
    unittest.main()

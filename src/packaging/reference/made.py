# SPDX-License-Identifier: MIT
"""Shared by the generators: the release that a page names, and the dependencies of a folder."""
import email.utils
import os
import re


def newest(changelog):
    """The version and its date from the changelog, so that builds are reproducible."""
    with open(changelog, encoding="utf-8") as file:
        text = file.read()
    when = email.utils.parsedate_to_datetime(re.search(r"^ -- .*>  (.*)$", text, re.M).group(1))
    return re.match(r"weir \((.*?)\)", text).group(1), when.strftime("%Y-%m-%d")


def write_depfile(depfile, folder, sources):
    """Make ninja rebuild @folder when a source or one of these scripts changes."""
    here = os.path.dirname(os.path.abspath(__file__))
    parts = list(sources)
    parts += [os.path.join(here, name) for name in os.listdir(here) if name.endswith(".py")]
    with open(depfile, "w", encoding="utf-8") as file:
        file.write("%s: %s\n" % (folder, " ".join(part.replace(" ", "\\ ") for part in parts)))

# SPDX-License-Identifier: MIT
"""What the generators share: the release that a page names, and what a made folder depends on."""
import email.utils
import os
import re


def newest(changelog):
    """The version and its day, as the changelog has them: a build gives the same twice."""
    with open(changelog, encoding="utf-8") as file:
        text = file.read()
    when = email.utils.parsedate_to_datetime(re.search(r"^ -- .*>  (.*)$", text, re.M).group(1))
    return re.match(r"weir \((.*?)\)", text).group(1), when.strftime("%Y-%m-%d")


def write_depfile(depfile, folder, sources):
    """Ninja makes @folder again when a source or one of these scripts changes."""
    here = os.path.dirname(os.path.abspath(__file__))
    parts = list(sources)
    parts += [os.path.join(here, name) for name in os.listdir(here) if name.endswith(".py")]
    with open(depfile, "w", encoding="utf-8") as file:
        file.write("%s: %s\n" % (folder, " ".join(part.replace(" ", "\\ ") for part in parts)))

# SPDX-License-Identifier: MIT
"""What the tests of the plugin share: images, servers with a block list, and assertions."""
import os
import re
import subprocess

from dns import ask
from served import PATIENCE, Named

BLOCKED = ["blocked.test", "ads.example", "deep.under.example", "xn--bcher-kva.test",
           r"a\.dot.test", r"a\032blank.test", r"\@.\$\;.test", "x" * 63 + ".long"]
plugin = weir = None  # paths: test_bind.py sets them
other = None  # the plugin as built for another branch of BIND


def build(image, keys, *options):
    """Write a new image and rename it over the old one. The rate makes false positives unlikely."""
    with open("keys", "w", encoding="utf-8") as file:
        file.writelines(key + "\n" for key in keys)
    subprocess.run([weir, "build", "-q", "-p", "1e-6", *options, "-o", image, "keys"], check=True,
                   timeout=PATIENCE)
    os.chmod(image, 0o644)


def server(name, parameters="", image="list.weir", keys=tuple(BLOCKED), **more):
    """Start named with one block list. If @image is None, the list's image does not exist."""
    os.makedirs(name, exist_ok=True)
    if image:
        build(os.path.join(name, image), keys, "-k", "layered")
    text = 'plugin query "@plugin" { file "list.weir"; %s };' % parameters
    return Named(name, plugin, text, **more)


def rcode(s, name, kind="A"):
    return ask(s.port, name, kind).rcode


def metric(s, name, labels, file="s.prom"):
    """Return the value in the statistics file, or None if the file or metric is missing."""
    try:
        with open(s.path(file), encoding="utf-8") as text:
            found = re.search(r"^%s\{%s\} (\S+)$" % (name, re.escape(labels)), text.read(), re.M)
    except FileNotFoundError:
        return None
    return float(found.group(1)) if found else None


def expect(got, want, what):
    if got != want:
        raise AssertionError("%s: %r, not %r" % (what, got, want))

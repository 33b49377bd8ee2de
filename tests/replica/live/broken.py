# SPDX-License-Identifier: MIT
"""What may happen to a node or to redis, for tests that draw it by seed."""
import contextlib
import signal
import time

import group


@contextlib.contextmanager
def stopped(node):
    node.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        node.signal(signal.SIGCONT)


def kill_connections(client):
    client.client_kill_filter(_type="normal", skipme=True)


def trim(client, most=0):
    client.xtrim("{weir:seen}:stream", maxlen=most, approximate=False)


def fill(client, most, seconds):
    """It may have so many bytes, for so long."""
    client.config_set("maxmemory", most)
    time.sleep(seconds)
    client.config_set("maxmemory", 0)
    client.config_rewrite() # Sentinel may have written the file meanwhile


def wait_until(what, holds, record=None, seconds=group.PATIENCE):
    """@record: publishes one. With keys each is of another seed, and a node that cannot join one,
    since entries have gone, waits for the next (L13): so they come now and then, as they do
    anywhere."""
    due = time.monotonic() + 3

    def look():
        nonlocal due
        if record and time.monotonic() > due:
            record()
            due = time.monotonic() + 3
        return holds()
    group.wait_until(what, look, seconds)

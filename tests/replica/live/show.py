# SPDX-License-Identifier: MIT
"""The long show: three nodes, a master with a replica, three Sentinels, and one fault after the
other, drawn by seed. At the end every node has every insert that was confirmed, and every insert of
a node that lives.

usage: show.py PROGRAM [--inserts N] [--faults N] [--seed N] [--rate N] [--keys] [--log FILE]"""
import argparse
import os
import random
import sys
import time

import broken
import group
import nodes

SET = "{weir:seen}:"


class Show:
    def __init__(self, asked):
        self.asked, self.random = asked, random.Random(asked.seed)
        self.errors = open(asked.log, "w")
        self.group = group.Group()
        self.record = os.path.join(self.group.servers[0].folder, "record")
        self.ledger = nodes.Ledger(
            asked.program, "set=seen", "url=" + self.group.url(), "poll=50", "idle=500",
            "confirm=4294967295", "connect=2000", "answer=5000", "keep=2",
            "record=" + self.record, capacity=max(asked.inserts * 5 // 4, 100000),
            errors=self.errors)
        if asked.keys:
            self.ledger.options += ("stream=keys",)
        self.done, self.witnesses = {}, set()
        self.inserted_by_gone = 0

    def close(self):
        self.ledger.close()
        self.group.close()
        self.errors.close()

    def start_node(self):
        # each of them would publish; one has the lease
        self.ledger.start(seconds=self.asked.seconds).rate(self.asked.rate)

    def master(self):
        group.wait_until("a master", self.group.master)
        return self.group.master()

    # ---- faults ----

    def connections_killed(self):
        broken.kill_connections(self.master().client)

    def redis_restarted(self):
        self.master().again()

    def master_killed(self):
        self.group.fail_over()

    def node_stopped(self):
        with broken.stopped(self.random.choice(self.ledger.nodes)):
            time.sleep(self.random.uniform(0.2, 4))

    def node_killed(self):
        # what a node inserted beyond what was confirmed goes with it
        victim = self.random.choice(self.ledger.nodes)
        if self.witnesses & {n.name for n in self.ledger.nodes} == {victim.name}:
            self.all_have_of_the_dead()
            self.witnesses = set()
        self.ledger.kill(victim)
        self.start_node()

    def stream_trimmed(self):
        """What was confirmed of a node that is gone by then may go with it, so all have to have it
        first, and nobody is killed until all have what was trimmed. Then it is in their sets alone:
        the last of these nodes is not killed before the others have it, too."""
        self.all_complete()
        self.all_have_of_the_dead()
        broken.trim(self.master().client)
        for node in self.ledger.nodes * 2: # then each has had a round since, and says what it found
            node.ask("flush 60000")
        self.all_complete()
        self.witnesses = {n.name for n in self.ledger.nodes}

    def memory_filled(self):
        master = self.master()
        used = master.client.info("memory")["used_memory"]
        broken.fill(master.client, used + 1000000, self.random.uniform(0.5, 2))

    def clock_shifted(self):
        """As of a server whose clock was ahead by up to a minute, and of one after it whose clock
        is behind the ids that are there."""
        self.master().client.eval("""
            local about = redis.call('XINFO', 'STREAM', KEYS[1])
            local of = {}
            for i = 1, #about, 2 do
                of[about[i]] = about[i + 1]
            end
            local ms = tonumber(string.match(of['last-generated-id'], '^%d+')) + ARGV[1]
            redis.call('XSETID', KEYS[1], string.format('%.0f-0', ms), 'ENTRIESADDED',
                       of['entries-added'], 'MAXDELETEDID', '0-0')""",
                                  1, SET + "stream", self.random.randrange(60000))

    def record_published(self):
        self.publish_record()

    FAULTS = (connections_killed, redis_restarted, master_killed, node_stopped, node_killed,
              stream_trimmed, memory_filled, clock_shifted, record_published)

    # ---- the course of it ----

    def publish_record(self):
        self.random.choice(self.ledger.nodes).ask("record")

    def wait_for(self, what, holds, seconds):
        broken.wait_until(what, holds, self.publish_record if self.asked.keys else None, seconds)

    def all_complete(self):
        self.wait_for("all are complete", lambda: all(
            n.stats()["complete"] for n in self.ledger.nodes), 120)

    def all_have_of_the_dead(self):
        if not self.ledger.gone:
            return
        try:
            self.wait_for("all have what the dead had confirmed",
                          lambda: not self.ledger.lost(self.ledger.gone), 120)
        except AssertionError as error:
            raise AssertionError("%s: %s" % (error, self.ledger.lost(self.ledger.gone))) from None

    def inserted(self):
        return sum(self.ledger.promises().values())

    def run(self):
        begun = time.monotonic()
        for _ in range(3):
            self.start_node()
        while len(self.ledger.nodes) == 3 and (
                sum(self.done.values()) < self.asked.faults or
                self.inserted() < self.asked.inserts):
            if sum(self.done.values()) < self.asked.faults:
                fault = self.random.choice(self.FAULTS)
                fault(self)
                self.done[fault.__name__] = self.done.get(fault.__name__, 0) + 1
                print("%6.1f s  %9d inserts  %s" % (time.monotonic() - begun, self.inserted(),
                                                    fault.__name__), flush=True)
            time.sleep(self.random.uniform(0.2, 2))
        for n in self.ledger.nodes:
            n.rate(0)
        for n in self.ledger.nodes:
            answer = n.ask("flush 60000")
            if not answer.startswith("0"):
                raise AssertionError("not confirmed at the end: %s: %s" % (
                    answer, n.stats()["error"]))
        self.wait_for("all are well", lambda: nodes.all_well(self.ledger), 180)
        end = time.monotonic() + 20 # what was confirmed last may still be on its way to others
        while self.ledger.lost() and time.monotonic() < end:
            time.sleep(0.1)
        lost = self.ledger.lost()
        stats = [n.stats() for n in self.ledger.nodes]
        print("%d inserts, %d faults (%s), %d generations, %d failures on nodes, %.0f s: %s" % (
            self.inserted(), sum(self.done.values()),
            ", ".join("%d %s" % (n, name) for name, n in sorted(self.done.items())),
            stats[0]["generation"], sum(s["failures"] for s in stats),
            time.monotonic() - begun, "LOST %s" % lost if lost else "0 lost"))
        return 1 if lost else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--inserts", type=int, default=100000)
    parser.add_argument("--faults", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=int, default=5000, help="inserts a second of a node")
    parser.add_argument("--seconds", type=int, default=5, help="between generations")
    parser.add_argument("--keys", action="store_true",
                        help="batches of keys: each record is of another seed")
    parser.add_argument("--log", default=os.devnull)
    asked = parser.parse_args()
    asked.program = os.path.abspath(asked.program)
    show = Show(asked)
    try:
        return show.run()
    finally:
        show.close()


if __name__ == "__main__":
    sys.exit(main())

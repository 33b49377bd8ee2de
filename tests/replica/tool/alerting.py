# SPDX-License-Identifier: MIT
"""Evaluates the rules of alerts.yml on the metrics of weir replicate status --prometheus. It knows
only the part of the rule language that they use, without "for" """
import re
import time

METRIC = re.compile(r'^(weir_\w+)\{set="seen"(?:,node="(\w+)")?\} (\S+)$', re.M)


def rules(path):
    """Return: {name: expression} of the rules for sets on many machines."""
    with open(path) as f:
        of = re.findall(r"- alert: (\w+)\n(?: +#.*\n)* +expr: (.*(?:\n {10}.*)*)", f.read())
    return {name: " ".join(expr.split()) for name, expr in of if "weir_replica_" in expr}


def samples(text):
    """Return: for each node its samples and those of the set; without a node those of the set."""
    of_set, nodes = {}, {}
    for name, node, value in METRIC.findall(text):
        (nodes.setdefault(node, {}) if node else of_set)[name] = float(value)
    return [{**of_set, **of} for of in nodes.values()] or [of_set]


def value(expr, sample):
    """Evaluate @expr for one node. A comparison with a missing sample is false."""
    expr = re.sub(r"on \(instance, set\) group_left ", "", expr)
    expr = re.sub(r"delta\((\w+)\[\w+\]\)", r"\1", expr) # the test starts at 0
    expr = re.sub(r"absent\((\w+)\)", lambda m: str(m[1] not in sample), expr)
    expr = re.sub(r"weir_\w+", lambda m: repr(sample.get(m[0], float("nan"))), expr)
    return eval(expr, {"nan": float("nan"), "time": time.time})


def firing(path, text):
    """The names of the rules that begin to fire."""
    return {name for name, expr in rules(path).items()
            if any(value(expr, of) for of in samples(text))}

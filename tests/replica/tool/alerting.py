# SPDX-License-Identifier: MIT
"""What the rules of alerts.yml make of the metrics of weir replicate status --prometheus: as much
of their language as they use, and without "for" """
import re
import time

METRIC = re.compile(r'^(weir_\w+)\{set="seen"(?:,node="(\w+)")?\} (\S+)$', re.M)


def rules(path):
    """Name -> expression, of those for sets on many machines."""
    with open(path) as f:
        of = re.findall(r"- alert: (\w+)\n(?: +#.*\n)* +expr: (.*(?:\n {10}.*)*)", f.read())
    return {name: " ".join(expr.split()) for name, expr in of if "weir_replica_" in expr}


def samples(text):
    """Of each node, beside those of the set; of the set alone where there is no node."""
    of_set, nodes = {}, {}
    for name, node, value in METRIC.findall(text):
        (nodes.setdefault(node, {}) if node else of_set)[name] = float(value)
    return [{**of_set, **of} for of in nodes.values()] or [of_set]


def value(expr, sample):
    """Of one node. A comparison of what is not there yields nothing."""
    expr = re.sub(r"on \(instance, set\) group_left ", "", expr)
    expr = re.sub(r"delta\((\w+)\[\w+\]\)", r"\1", expr) # which began at 0
    expr = re.sub(r"absent\((\w+)\)", lambda m: str(m[1] not in sample), expr)
    expr = re.sub(r"weir_\w+", lambda m: repr(sample.get(m[0], float("nan"))), expr)
    return eval(expr, {"nan": float("nan"), "time": time.time})


def firing(path, text):
    """The names of the rules that begin to fire."""
    return {name for name, expr in rules(path).items()
            if any(value(expr, of) for of in samples(text))}

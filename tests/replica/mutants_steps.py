# SPDX-License-Identifier: MIT
"""More bugs for mutants.py: of single steps, each of which one test goes by."""

STEPS = [
    # L1, L3: epochs, and how a node starts
    ('COVERED_OTHER_EPOCH', 'node_look.c',
     '\tif (strcmp(m->epoch, n->epoch) != 0)\n\t\treturn;\n', ''),
    ('MEET_KEEPS_COVERED', 'node_look.c', '\tn->covered = n->cursor.at;\n', ''),
    ('MEET_KEEPS_GAP', 'node_look.c', 'n->gap = n->ahead = false;', 'n->ahead = false;'),
    ('START_OLD_ORIGINS', 'node_look.c',
     '\tweir__origins_free(&n->origins);\n\tn->origins = *origins;', ''),
    ('START_NEWEST', 'node_look.c', '\tn->newest = m->generation;\n\tn->cursor', '\tn->cursor'),
    ('COVERED_UNKNOWN_TO_THE_PUBLISHER', 'node_publish.c',
     '\tweir__node_covered(n, &m, &n->origins);\n', ''),
    ('FROM_NEWEST', 'node_publish.c',
     '&mark->origins);\n\tn->newest = err ? n->newest : m.generation;', '&mark->origins);'),
    ('COPY_WITHOUT_ORIGINS', 'node_join.c',
     'err = weir__origins_cover_all(&p->origins, &n->origins);', ';'),
    ('JOINED_AGAIN_BESIDE_A_GAP', 'node_look.c', 'n->ahead || !is_joined(n, m);',
     'n->ahead || n->gap || !is_joined(n, m);'),
    # L11: which image need not be fetched
    ('MORE_FORGOTTEN_BY_A_JOIN_THAT_FAILS', 'node_join.c', '(p.united || (err && had_more))',
     '(p.united)'),
    ('MORE_NEVER_CLEARED', 'node_join.c', 'atomic_exchange(&n->has_more, false); /* what',
     'n->has_more; /* what'),
    ('MORE_CLEARED_AFTER_THE_COPY', 'node_publish.c', '\terr = publish_set(n, &base, &m, more);',
     '\terr = publish_set(n, &base, &m, more); n->has_more = false;'),
    ('FOLLOWS_LINEAGE', 'node_look.c', ' && j->lineage == m->lineage &&', ' &&'),
    ('FOLLOWS_GENERATION', 'node_look.c', 'm->follows && j->generation == m->base && ',
     'm->follows && '),
    ('FOLLOWS_EPOCH', 'node_look.c',
     'm->hashing == n->hashing && strcmp(m->epoch, n->epoch) == 0;', 'm->hashing == n->hashing;'),
]

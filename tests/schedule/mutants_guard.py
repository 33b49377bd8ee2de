# SPDX-License-Identifier: MIT
"""Bugs of a guard ([GUARD-CELL] and [GUARD-LIST] in src/guard/guard.h), and of its report."""

GUARD, COUNT = 'src/guard/guard.c', 'src/guard/guard.h'
GROUPS = {what: 'guard' for what in (GUARD, COUNT)}
SUM = 'g->left[i] += weir__figure_load_relaxed(&t->figure[i]);'

MUTANTS = [
    ('COUNTS_PLAIN', COUNT,
     'weir__figure_store_relaxed(&t->figure[figure],'
     ' weir__figure_load_relaxed(&t->figure[figure]) + more);',
     '*(uint64_t *)&t->figure[figure] += more;'),
    ('LEAVES_UNCOUNTED', GUARD, SUM, '(void)g;'),
    ('LEAVES_IN_TWO_HOLDS', GUARD, '*t->link = t->next;',
     'pthread_mutex_unlock(&g->lock);\n\tpthread_mutex_lock(&g->lock);\n\t*t->link = t->next;'),
    ('GOES_BEFORE_IT_IS_COUNTED', GUARD, 'pthread_mutex_lock(&g->lock);\n\tfor (',
     'pthread_mutex_lock(&g->lock);\n\t*t->link = t->next;\n'
     '\tpthread_mutex_unlock(&g->lock);\n\tpthread_mutex_lock(&g->lock);\n\tfor ('),
    ('REPORTS_UNLOCKED', GUARD, 'pthread_mutex_lock(&g->lock); /* [GUARD-LIST] */', '',
     's.threads = g->joined; pthread_mutex_unlock(&g->lock);', 's.threads = g->joined;'),
    ('UNREPORTED_BELOW_0', GUARD, 's.unreported = closed < s.asked ? s.asked - closed : 0;',
     's.unreported = s.asked - closed;'),
]

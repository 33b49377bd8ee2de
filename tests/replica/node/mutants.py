#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the tests of a node find bugs? Plants each bug into a copy of src/replica/node, builds the
simulation or a unit test with it and runs that. The test must fail. The first bugs are those of
tests/model/union.pml and have their names.

usage: mutants.py LIBRARY_FOLDER [NAME...]          CC chooses the compiler
With WEIR_TEST_SHORT set it plants every fourth bug."""
import os, re, shlex, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CC = shlex.split(os.environ.get('CC', 'gcc')) + ['-std=gnu11', '-D_GNU_SOURCE', '-w', '-O1']
HERE, NODE = ROOT / 'tests/replica/node', ROOT / 'src/replica/node'
FORMAT = ROOT / 'src/replica/format'
# Time limits in seconds for the simulation and for unit tests: they find a bug that hangs.
PATIENCE, OTHERS = 900, 60


def sim(features, seeds=3000, ring=None):
    return ('simulate', ['--seeds', str(seeds), '--features', features,
                         *(['--ring', str(ring)] if ring is not None else [])])


UNIT, RING, LACKING = ('test_node', []), ('test_ring', []), ('test_lacking', [])
LOST, OWING = ('test_lost', []), ('test_owing', [])
STUCK, AWAY = ('test_stuck', []), ('test_away', [])
LIES = ('test_lies', [])
CROWD = ('simulate', ['--nodes', '300', '--calm', '70', '--features', 'cf', '--well', '3000'])
MANY = 1 << 20
MUTANTS = [
    ('DROP_ON_ACK', 'ring.c', '\t\tappend(&r->acked, b);', '\t\tfree(b);', sim('sc', ring=MANY)),
    ('NO_RELIED', 'publish.c', ' ||\n\t    weir__debts_lowest_stamp(n) != UINT64_MAX)', ')',
     sim('f', ring=0)),
    ('TOKEN_IGNORED', 'insert.c', """	weir__debt_add(n, n->token,
	               atomic_load_explicit(&n->flushes_asked, memory_order_relaxed) + 1);
""", '', sim('', ring=0)),
    ('TOKEN_FIRST', 'insert.c', '\tint64_t answer = token_open(n);\n',
     '\tint64_t answer = token_open(n);\n\tpthread_mutex_unlock(&n->lock);\n', UNIT),
    ('TOKEN_REUSED', 'publish.c', '\tn->token = 0;\n', '', sim('', ring=0)),
    ('PURE_ALWAYS', 'publish.c', 'm->pure = !n->impure && !new && ', 'm->pure = ',
     sim('', ring=0)),
    ('HOLE_IGNORED', 'log.c', '\tlack(w, last, is_next(last, w->at) ? tag : 0);\n', '',
     sim('x', ring=MANY)),
    ('OWN_UNFILLED', 'log.c', ' || fill_own(w, &last, &tag))', ')',
     LACKING),
    ('SET_FIRST', 'insert.c', 'if (weir__ring_put_one(&n->ring, hash))',
     'int early = weir_handle_insert_hash(n->handle, hash);\n'
     '\tif (weir__ring_put_one(&n->ring, hash))', UNIT),
    ('NO_RING', 'join.c', '\t\terr = add_ring(n, m, next);\n', '\t\t;\n', sim('mR', ring=MANY)),
    ('BASE_IGNORED', 'toy.c', 'if (weir__version_compare(s->head.version, p->base) != 0)',
     'if (0)', sim('Rg', ring=MANY)),
    ('RECORD_EMPTY', 'publish.c', '\t\tm->has = n->newest.has;\n', '\t\t;\n', sim('Rg', ring=MANY)),
    ('POS_LATE', 'publish.c', '\tconst struct weir_publication p = { r->mark, r->base, '
     '&n->publication.manifest };\n\tif (!err)', '\tn->publication.manifest.position = n->cursor;'
     '\n\tn->publication.manifest.tag = n->tag;\n\tconst struct weir_publication p = { r->mark,'
     ' r->base, &n->publication.manifest };\n\tif (!err)', sim('kg', ring=MANY)),
    ('OWE_TOKENS', 'join.c', '!= WEIR_NODE_STAMP_OTHERS &&\n\t\t        !weir',
     '!= WEIR_NODE_STAMP_OTHERS && n->debts[i].stamp &&\n\t\t        !weir',
     sim('pRg', 6000, MANY)),
    ('GIVEUP_QUIET', 'node.c', '\tint err = weir__node_touch(n, true);\n', """	int err = 0;
	n->lacks = false;
	n->hole = (struct weir_log_id){ 0, 0 };
""", LACKING),
    ('TAGS_IGNORED', [
        ('touch.c', '(beyond == 0 && n->tag && n->tag != head->tag) ||', ''),
        ('log.c', 'if (own && own->tag != e->tag)', 'if (0)'),
        ('log.c', '(w->tag ? e->before == w->tag : adjacent))', 'adjacent)')],
     sim('sr', ring=MANY)),
    ('JUMP_SILENT', 'touch.c', '\tweir__ring_requeue(&n->ring, after, upto, false);\n'
     '\tif (weir__log_id_compare(n->gap, upto) < 0)\n\t\tn->gap = upto;\n', '', UNIT),
    ('BASE_TRUSTED', 'touch.c',
     '\t\tn->cursor = n->joined.position;\n\t\tn->tag = n->joined.tag;\n',
     '\t\tn->cursor = base;\n\t\tn->tag = 0;\n', sim('src', ring=MANY)),
    ('COVERS_WHAT_IS_BEFORE_A_GAP', 'join.c',
     '\tweir__ring_requeue(&n->ring, none, all ? n->gap : m->position, false);\n', '',
     OWING),
    ('COVERS_WHAT_IS_BEFORE_AN_UNREAD_ENTRY', 'log.c',
     '\tif (!w->next)\n\t\tweir__node_gap(n, w->at, id);\n', '', OWING),
    ('SET_BACK_IN_DOUBT', 'touch.c', '\tif (back)', '\tif (0)', LACKING),
    ('SETTLES_WITHOUT_A_JUMP', 'join.c', '\t\tweir__node_jump(n, m->position, m->tag);\n\tn->hole',
     '\t\tn->cursor = m->position, n->tag = m->tag;\n\tn->hole', sim('sreg', ring=MANY)),
    ('ROLLBACK_IS_ITS_IMAGE', 'node.c', '\tif (weir__needs_log(n, m))\n\t\treturn;', '\t',
     UNIT),
    ('OLDER_IGNORED', 'touch.c',
     'weir__version_compare(head->version, n->head.version) < 0 || ', '', LACKING),
    ('UNREAD_SILENT', 'node.c',
     """	return n->unusable_image == h->generation && !joined && !n->no_retry &&
	       (h->version.era >= n->era || n->lacks);""", '\treturn false;', sim('ig', ring=MANY)),
    ('RELY_TOO_LITTLE', 'insert.c', 'if (all && n->n_debts) {', 'if (n->n_debts) {',
     sim('scg', 6000)),
    # bugs that the model does not have
    ('CALLS_FOR_WHAT_WAS_SUPERSEDED', 'join.c', '\t\treturn image_missing(n, m, err);\n',
     '\t\treturn put_off_image(n, err, false);\n', LACKING),
    ('CALLS_ARE_ANSWERED_FOR_EVER', [
        ('join.c', '\t\treturn image_missing(n, m, err);\n',
         '\t\treturn put_off_image(n, err, false);\n'),
        ('publish.c', ' &&\n\t                    weir__version_compare(h->version, '
         'n->call_version) <= 0;', ';')], CROWD),
    ('ANSWERED_BY_A_POSITION_ALONE', 'publish.c',
     'n->open_call.epoch &&\n\t                    weir__version_compare(h->version, '
     'n->call_version) <= 0;', 'n->open_call.epoch;',
     LACKING),
    ('EPOCH_BELOW_THE_CURSORS', 'touch.c', '\ttouch.epoch = n->head.last.epoch;\n', '',
     ('simulate', ['--nodes', '1000', '--calm', '70', '--features', 'cff', '--well', '1000'])),
    ('SENDS_NOTHING_AGAIN', 'log.c', '\t\tsend_again(n, e);\n', '\t\t;\n', LACKING),
    ('CALLS_A_FULL_SERVER_WITH_BATCHES', 'touch.c', 'n->head.full && n->call_due ? NULL : ', '',
     LACKING),
    ('SENT_AGAIN_BY_ANY_TAG', 'touch.c', '\t\tif (!b->replaces && weir', '\t\tif (weir', LACKING),
    ('REPLACES_UNTIL_REFUSED', 'touch.c', '\tif (err || !head.full)\n\t\tstore_tags(n, entries, '
     '(size_t)batches, !err);', '\tstore_tags(n, entries, (size_t)batches, !err);', LACKING),
    ('REPLACES_UNTIL_SENT', 'touch.c', 'b->replaces && !accepted;', 'false;', LACKING),
    ('REPLACES_FOR_EVER', 'touch.c', 'b->replaces && !accepted;', 'b->replaces;', LACKING),
    ('ONE_TAG_FOR_ALL_TRIES', 'touch.c', '\tif (err || !head.full)\n\t\tstore_tags',
     '\tif (!err && !head.full)\n\t\tstore_tags', LACKING),
    ('FIRST_TRY_ALONE_REPLACES', 'log.c', 'i < TRIES && missing', 'i < 1 && missing', LACKING),
    ('NEIGHBOUR_NOT_LEARNT', 'log.c', '\t\town->before = e->before;', '\t\t;', LACKING),
    ('CALLED_ONCE_FOR_ALL_HEADS', 'touch.c',
     '\t\tn->called = n->no_retry = false;', '\t\tn->no_retry = false;', LACKING),
    ('HOPELESS_FOR_ALL_HEADS', 'touch.c', '\t\tn->called = n->no_retry = false;',
     '\t\tn->called = false;', STUCK),
    ('NUMBERS_OVERFLOW', 'publish.c', '\tif (!weir__version_in_range(v))\n', '\tif (0)\n', STUCK),
    ('ERAS_OVERFLOW', 'publish.c', '\treturn weir__version_in_range(v) ? 0 :\n',
     '\treturn 1 ? 0 :\n', STUCK),
    ('RING_NEVER_AGAIN', 'touch.c', '\tweir__ring_requeue(&n->ring, none, most, false);\n', '',
     OWING),
    ('PAID_AND_FORGOTTEN', 'insert.c',
     """		n->debts[0] = (struct weir_debt){ generation, 0 };
		n->n_debts -= n->n_publishing - 1;
""", """		memmove(n->debts, n->debts + 1, (--n->n_debts) * sizeof *n->debts);
		n->n_debts -= n->n_publishing - 1;
""", OWING),
    ('SWAPS_BY_THE_HEAD_OF_BEFORE', 'join.c',
     '\tint err = weir__node_touch(n, false); /* the head may be newer */\n', '\tint err = 0;\n',
     LACKING),
    ('ROLLBACK_OWES_NOTHING', 'join.c', '\t\towe_log(n, m);\n', '\t\t;\n', UNIT),
    ('ROLLBACK_CLAIMS_A_LOG_WITH_A_HOLE', 'join.c', '\tif (part) {', '\tif (0) {', LACKING),
    ('ROLLBACK_TAKES_THE_LOG_FOR_WHOLE', 'join.c', '&& (behind || !whole);', '&& 0;',
     LACKING),
    ('PUBLISHES_WHAT_IT_LACKS_WITHOUT_A_HEAD', 'publish.c', '\t\treturn !n->hole.epoch;\n',
     '\t\treturn true;\n', LACKING),
    ('PUBLICATION_HEALS_ALL', 'publish.c', '\tn->generations++;\n',
     '\tn->generations++;\n\tn->lacks = false;\n\tn->hole = (struct weir_log_id){ 0, 0 };\n',
     LACKING),
    ('LEASE_KEPT', 'publish.c', '\t(void)n->store->lease(n->store->context, n->id, 1);\n', '',
     sim('', 300, 0)),
    ('ACKNOWLEDGES_WHAT_IT_OWES', 'node.c', 'waits < owed ? waits : owed,', 'waits,',
     sim('', ring=0)),
    ('ACKNOWLEDGES_WHAT_WAITS', 'node.c', 'waits < owed ? waits : owed,', 'owed,', UNIT),
    ('TOKEN_OF_A_LATER_FLUSH', 'insert.c', 'memory_order_relaxed) + 1);\n\treturn 0;',
     'memory_order_relaxed) + 2);\n\treturn 0;', sim('', ring=0)),
    ('REFUSED_AND_IN_THE_SET', 'insert.c', '\tif (!n->may_publish)\n\t\treturn no_room(n);\n', '',
     UNIT),
    ('HOPELESS_PUBLISHES', 'join.c', '\tn->no_retry = no_retry;\n', '', LACKING),
    ('ANY_SEED', 'join.c', '\tif (m->hashing == n->hashing && !', '\tif (!',
     UNIT),
    ('ANY_STEPS', 'join.c', '(m->steps ^ n->steps)', '0', UNIT),
    ('NO_RETURN_OF_ROOM', 'ring.c', '\t\tatomic_fetch_sub_explicit(&r->used, sizeof *b + 8 * b->n, '
     'memory_order_relaxed);\n', '', RING),
    ('SEARCHES_FROM_THE_END', 'ring.c', 'r->last_found ? r->last_found : r->acked.newest',
     'r->acked.newest',
     RING),
    ('LOWEST_OF_ALL_AGAIN', 'ring.c', 'r->lowest ? r->lowest_upto->newer : r->waiting.oldest',
     'r->waiting.oldest', RING),
    ('LOWEST_WAS_SENT', 'ring.c', 'r->lowest == b ? NULL : r->lowest;', 'r->lowest;', RING),
    ('FOUND_WHAT_IS_GONE', 'ring.c', '\tif (r->last_found == b)', '\tif (0)', RING),
    ('FULL_CHUNK_FORGOTTEN', 'ring.c', 'old ? &old->newer : &list->oldest', '&list->oldest', RING),
    ('LIST_OF_MANY_THREADS', 'ring.c', '\t\treturn bit;\n', '\t\treturn 1;\n', RING),
    ('LIST_KEPT_FOR_EVER', 'ring.c', '\tatomic_fetch_and_explicit(&lists_owned, '
     '~(UINT64_C(1) << (uintptr_t)bit),\n\t                          memory_order_release);\n',
     '', RING),
    ('NO_WAKE', 'ring.c', '\tif (wake && r->wake)', '\tif (0)', RING),
    ('ROLLBACK_ENDS_AT_AN_UNREAD_ENTRY', 'log.c', '\t\treturn skip_invalid(w, e->id);\n',
     '\t\treturn w->next ? -EBADMSG : skip_invalid(w, e->id);\n', STUCK),
    ('ROLLBACK_TAKES_AN_UNREAD_LOG_FOR_WHOLE', 'log.c', ' && !w.invalid;', ';', STUCK),
    ('LACKS_WHAT_DOES_NOT_READ_FOR_EVER', 'log.c',
     '\tif (weir__log_id_compare(id, n->head.lost) > 0)\n\t\tlack', '\t\tlack', STUCK),
    ('WELL_BY_A_HEARTBEAT', 'node.c', '\tif (!err)\n\t\tn->synced_at = n->answered_at;\n',
     '\tn->synced_at = n->answered_at;\n', STUCK),
    ('PUBLISHES_AS_IT_OPENS', 'touch.c', '\t\tn->joined_at = joined_at(n, &head);\n', '\t\t;\n',
     STUCK),
    ('COUNTS_FROM_THE_OPENING_ALONE', 'touch.c', 'date && date < head->now_ms ?', '0 ?', STUCK),
    ('GIVES_UP_DURING_AN_UPLOAD', 'node.c', ' && !is_answer_coming(n))', ')', STUCK),
    ('WAITS_FOR_A_LEASE_FOR_EVER', 'node.c', 'n->first_call + WEIR_NODE_LEASE_LONGEST_MS)',
     'UINT64_MAX)', STUCK),
    ('ANY_ERROR_IS_AN_ANSWER', 'node.c', 'n->store->lease(n->store->context, n->id, 1) == -EPERM;',
     'n->store->lease(n->store->context, n->id, 1) != 0;', STUCK),
    ('GIVES_UP_DURING_A_RECORD', 'node.c', 'n->publishing || n->record_id ||', 'n->publishing ||',
     STUCK),
    ('RECORD_THAT_FAILS_KEEPS_THE_LEASE', 'publish.c',
     '\tif (n->record_id)\n\t\treturn err;\n\tconst struct',
     '\tif (err)\n\t\treturn err;\n\tconst struct', UNIT),
    ('RECLAIMS_UNASKED', 'publish.c', 'n->publish_asked && weir__node_can_reclaim',
     'weir__node_can_reclaim', UNIT),
    ('REFUSED_OVER_ANY_HEAD', 'publish.c', """	if (!n->stale_at || n->stale_mark != r->mark ||
	    weir__version_compare(n->stale_base, r->base) != 0) {""",
     '\tif (!n->stale_at || n->stale_mark != r->mark) {', LIES),
    ('OUTRUN_FOR_EVER', 'publish.c', 'n->lost_cursor.mark = n->stale_at = n->superseded = 0;',
     'n->lost_cursor.mark = n->stale_at = 0;', LIES),
    ('THE_LIST_OF_IDS_IS_ALL', 'insert.c', '(id && id == n->followed && ', '(0 && ', AWAY),
    ('FOLLOWS_THROUGH_ERAS', 'insert.c', 'm->version.era == n->joined.version.era && !is_little',
     '!is_little', AWAY),
    ('FOLLOWS_INSTEAD_OF_PUBLISHING', 'insert.c', 'n->followed && !n->may_publish &&',
     'n->followed &&', AWAY),
    ('FOLLOWS_WHAT_IS_MISSING_IN_THE_LIST', 'insert.c', ' && !is_little_newer(n, m));', ');',
     AWAY),
    ('RENAMES_NO_DEBT', 'join.c', '\tweir__debts_rename(n, m);\n', '', AWAY),
    ('FOLLOWS_THROUGH_DOUBT', 'touch.c', '\tn->followed = 0;\n\tweir__node_lack(n, none);',
     '\tweir__node_lack(n, none);', AWAY),
    ('FOLLOWS_THROUGH_A_RESTART', 'touch.c', '\tn->followed = 0;\n\tif (weir', '\tif (weir',
     AWAY),
    ('FOLLOWS_WHAT_WAS_GIVEN_UP', 'join.c', ' || m->position.epoch == n->head.last.epoch;',
     ' || 1;', AWAY),
    ('DEBT_FORGOTTEN', 'insert.c', '\t*last = (struct weir_debt){ 0, ',
     '\t*last = (struct weir_debt){ id, ', UNIT),
    # keys of nodes that have ended
    ('HAD_FORGOTTEN', 'touch.c', '{ old->mark, twice', '{ 0, twice', LOST),
    ('SEEN_WHILE_LACKING', 'touch.c', '!n->lacks && !twice &&', '!twice &&', LOST),
    ('SEEN_BEFORE_JOINING', 'touch.c', '!twice && n->joined.id == old->generation)', '!twice)',
     LOST),
    ('SEEN_NOT_CARRIED_ON', 'insert.c', '\t\tn->seen = m->seen;\n', '\t\t;\n', LOST),
    ('SEEN_LOST_BY_A_SWAP', 'join.c', '\tn->seen = m->seen;\n', '', LOST),
    ('SEEN_LOST_BY_AN_OPENING', 'node.c', '\tn->seen = m->seen;\n', '', LOST),
    ('LEFT_IGNORED', 'touch.c', 'n->crossing.epoch ? n->crossing : n->cursor', 'n->cursor', LOST),
    ('ERA_STAYS_0', 'touch.c', '\tn->era = n->era ? n->era : 1;', '\t;', LOST),
    ('NO_GENERATION_IS_LOST', 'insert.c', 'return joined->id && joined->id != n->abandoned',
     'return 0', LOST),
    ('EACH_LATER_GENERATION_LOST_IT', 'insert.c',
     ' &&\n\t       is_little_newer(n, m);\n}\n\nvoid', ';\n}\n\nvoid', LOST),
    ('TWO_LOSSES_ARE_ONE', 'touch.c', 'twice ? most : id', 'id', LOST),
    ('LOSS_BETWEEN_HEARTBEATS_IGNORED', 'touch.c',
     ' ||\n\t                   (n->new_log_mark && n->new_log_mark != n->head.mark)', '',
     LOST),
    ('KNOWN_EPOCH_IS_LEFT', 'log.c', ' && w->at.epoch <= known && to.epoch > known)',
     ' && w->at.epoch != to.epoch)', LOST),
    ('KNOWN_LOG_IS_A_LOSS', 'log.c', ' && e->tag != n->head.mark)', ')', LOST),
    ('LEFT_KEPT_AFTER_A_HEARTBEAT', 'touch.c', '\tn->crossing = none;\n', '', LOST),
    ('LOSS_BEFORE_A_RESTART_IGNORED', 'touch.c',
     '(!head->base.epoch || (head->prev && head->prev != mark))', '!head->base.epoch', LOST),
    ('TWO_NEW_LOGS_ARE_ONE', 'log.c', 'n->new_log_mark ? UINT64_MAX : e->tag', 'e->tag', LOST),
    ('WHAT_WAS_GIVEN_UP_IS_LOST', 'insert.c', 'joined->id != n->abandoned && !weir', '!weir',
     LOST),
    ('FLUSHES_WAIT_FOR_OTHERS', 'insert.c', 'may_publish ? WEIR_NODE_STAMP_OTHERS',
     'may_publish ? 0', OWING),
    ('FLUSHES_WAIT_FOR_A_LOST_GENERATION', 'insert.c', 'n->joined.id, WEIR_NODE_STAMP_OTHERS',
     'n->joined.id, 0', OWING),
    ('HAD_KEPT_AFTER_A_SWAP', 'insert.c', '\tn->lost_cursor.mark = 0;\n}\n\nstatic bool head',
     '}\n\nstatic bool head', OWING),
    ('OTHERS_OWED_AFTER_A_SWAP', 'join.c', '\tweir__debts_drop_others(n);\n',
     '\tn->lost_cursor.mark = 0;\n', OWING),
    ('OTHERS_KEPT_BY_A_SWAP', 'join.c', 'n->debts[i].stamp != WEIR_NODE_STAMP_OTHERS &&', '',
     OWING),
]


def compile_one(source, out):
    subprocess.run([*CC, '-iquote', source.parent, '-iquote', NODE, '-iquote', HERE, '-I',
                    ROOT / 'include', '-I', ROOT / 'src/replica', '-I', HERE, '-c', source, '-o',
                    out], check=True)


def source_of(name):
    return next(f / name for f in (NODE, FORMAT, HERE) if (f / name).exists())


def run_test(folder, parts, library, test):
    """Return: why the test failed, or None if it passed."""
    name, arguments = test
    used = [o for n, o in parts.items() if not re.match(r'(test_|simulate)', n) or
            n == name + '.c']
    used = [o for o in used if name != 'test_ring' or o.stem != 'toy']
    subprocess.run([*CC, '-rdynamic', *used, '-o', folder / name, '-L', library, '-lweir',
                    '-lcmocka', '-lpthread', '-ldl'], check=True)
    try:
        ended = subprocess.run([folder / name, *arguments], capture_output=True, text=True,
                               timeout=PATIENCE if name == 'simulate' else OTHERS,
                               env={**os.environ, 'LD_LIBRARY_PATH': str(library)})
    except subprocess.TimeoutExpired:
        return 'it does not end'
    if not ended.returncode:
        return None
    why = re.findall(r'^(?:ERROR: (.*)|\[  FAILED  \] (test_.*))$', ended.stdout + ended.stderr,
                     re.M)
    return ''.join(why[0]) if why else 'it ended'


def plant(work, parts, library, name, edits, test):
    folder = work / name
    folder.mkdir()
    texts, now = {}, dict(parts)
    for file, old, new in edits:
        text = texts.get(file) or source_of(file).read_text()
        if text.count(old) != 1:
            raise SystemExit(f'{file}: this stands there {text.count(old)} times, not once: adapt '
                             f'mutants.py\n{old}')
        texts[file] = text.replace(old, new)
    for file, text in texts.items():
        (folder / file).write_text(
            re.sub(r'"\.\./format/', f'"{FORMAT}/', '#include <string.h>\n' + text))
        compile_one(folder / file, folder / (file + '.o'))
        now[file] = folder / (file + '.o')
    return run_test(folder, now, library, test)


def main():
    library, names = Path(sys.argv[1]).resolve(), sys.argv[2:]
    chosen = [m for m in MUTANTS if not names or m[0] in names]
    if os.environ.get('WEIR_TEST_SHORT') and not names:
        chosen = chosen[::4]
    # (name, file, old, new, test) or (name, [(file, old, new)...], test)
    chosen = [(m[0], m[1] if len(m) == 3 else [m[1:4]], m[-1]) for m in chosen]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        work, parts = Path(folder), {}
        sources = [*NODE.glob('*.c'), *(FORMAT / f for f in ('id.c', 'kinds.c')),
                   *(HERE / f for f in ('toy.c', 'simulate.c', 'test_node.c', 'test_ring.c',
                                        'test_lacking.c', 'test_lost.c', 'test_owing.c',
                                        'test_stuck.c', 'test_away.c', 'test_lies.c'))]
        for source in sources:
            parts[source.name] = work / (source.stem + '.o')
            compile_one(source, parts[source.name])
        for test in (UNIT, RING, LACKING, LOST, OWING, STUCK, AWAY, LIES, ('simulate', [])):
            why = run_test(work, parts, library, test)
            if why:
                raise SystemExit(f'without any bug: {why}')
        missed = 0
        for (name, *_), why in zip(chosen, pool.map(lambda m: plant(work, parts, library, *m),
                                                    chosen)):
            missed += why is None
            print(f'{name:40}{"found" if why else "MISSED"}  {why or ""}', flush=True)
    print(f'{missed} of {len(chosen)} missed')
    return 1 if missed or not chosen else 0


if __name__ == '__main__':
    sys.exit(main())

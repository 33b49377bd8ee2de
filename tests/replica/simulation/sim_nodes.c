/* SPDX-License-Identifier: MIT
 * What the service does of a node's parts, and when: round.c, due.c, ask.c and thread.c, without
 * their waiting. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "../../test.h"
#include "simulation.h"

enum {
	TURNS = 4,   /* WEIR_SERVICE_TURNS */
	GONE = 400,  /* until a node's numbers are forgotten */
	CUT = 200,   /* a node that was away for so long takes another name */
	LEASE = 30,
};

struct weir_filter *sim_filter(void)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	p.capacity = 4 * SIM_KEYS;
	p.fp_rate = 1e-7;
	p.seed = 42;
	assert_ok(weir_create(&f, &p));
	return f;
}

void sim_be_born(struct sim *s, unsigned i)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct sim_node *at = &s->at[i];
	*at = (struct sim_node){ .life = at->life + 1, .met = s->now };
	assert_ok(weir_handle_create(&at->handle, sim_filter(), &o));
	weir__node_make(&at->node, &s->toy.server, at->handle, "set",
	                test_random(&s->toy.random) | 1, WEIR_ENTRY_HASHES, 1 << 20);
}

void sim_die(struct sim *s, unsigned i)
{
	weir__node_free(&s->at[i].node);
	assert_ok(weir_handle_destroy(s->at[i].handle));
}

void sim_look_after(struct sim *s, unsigned i, int err)
{
	if (err == -ESTALE || err == -EEXIST)
		(void)weir__node_look(&s->at[i].node);
}

void sim_look(struct sim *s, unsigned i)
{
	struct sim_node *at = &s->at[i];
	struct weir_node *n = &at->node;
	bool settled = n->seen.generation == n->joined.generation && !weir__node_wants_image(n);
	if (n->epoch[0] && at->looked == n->seen.generation && settled)
		return;
	uint64_t before = n->joined.generation;
	int err = weir__node_look(n);
	at->looked = err ? at->looked : n->seen.generation;
	if (!err && n->joined.generation != before && n->united)
		at->publish_now = true;
}

static void meet(struct sim *s, unsigned i)
{
	struct sim_node *at = &s->at[i];
	(void)weir__node_look(&at->node);
	if (strcmp(at->last_epoch, at->node.epoch) != 0) {
		memcpy(at->last_epoch, at->node.epoch, sizeof at->last_epoch);
		at->publish_now = true;
	}
}

/* S1 in service.h. */
static void confirm_all(struct sim *s, unsigned i)
{
	struct weir_node *n = &s->at[i].node;
	char epoch[WEIR_REPLICA_EPOCH + 1];
	memcpy(epoch, n->epoch, sizeof epoch);
	if (toy_wait(&s->toy) && weir__node_read(n) == 0 && strcmp(epoch, n->epoch) == 0 &&
	    !n->retained.next)
		sim_promise(s, i);
}

void sim_round(struct sim *s, unsigned i, bool confirm)
{
	struct weir_node *n = &s->at[i].node;
	sim_look(s, i);
	if (!n->epoch[0])
		return;
	int err = weir__node_send(n);
	for (unsigned tries = 0; err == -ESTALE && tries < 3; tries++) {
		meet(s, i);
		err = weir__node_send(n);
	}
	if (confirm && !err)
		confirm_all(s, i);
	err = weir__node_read(n);
	s->at[i].looked = s->toy.now.generation; /* the answer has it */
	if (err == -ESTALE)
		meet(s, i);
}

/* ---- who lives ---- */

static size_t alive_since(const struct sim *s, uint64_t alive[SIM_KEPT], uint64_t age)
{
	size_t n = 0;
	for (unsigned k = 0; k < s->report_count; k++)
		if (s->now - s->reports[k].said <= age)
			alive[n++] = s->reports[k].node;
	qsort(alive, n, sizeof *alive, toy_ascending);
	return n;
}

static void report(struct sim *s, unsigned i)
{
	unsigned k = 0;
	while (k < s->report_count && s->reports[k].node != s->at[i].node.id)
		k++;
	if (k == SIM_KEPT)
		return;
	s->reports[k].node = s->at[i].node.id;
	s->reports[k].said = s->now;
	s->report_count += k == s->report_count;
}

static void leave(struct sim *s, uint64_t node)
{
	for (unsigned k = 0; k < s->report_count; k++)
		if (s->reports[k].node == node)
			s->reports[k--] = s->reports[--s->report_count];
}

/* ---- generations ---- */

static void keep(struct sim *s)
{
	if (!s->toy.now.manifest || s->kept_count == SIM_KEPT)
		return;
	s->kept[s->kept_count].text = strndup(s->toy.now.manifest, s->toy.now.manifest_len);
	s->kept[s->kept_count].len = s->toy.now.manifest_len;
	s->kept[s->kept_count++].generation = s->toy.now.generation;
}

/* Whoever has the lease has it for as long as it goes on publishing; who has what no image has
 * takes it, and gives it back (L12). */
static bool take_lease(struct sim *s, const struct weir_node *n)
{
	if (!n->united && s->lease_of && s->lease_of != n->id && s->now < s->lease_until)
		return false;
	s->lease_of = n->united ? 0 : n->id;
	s->lease_until = s->now + LEASE;
	return true;
}

void sim_publish(struct sim *s, unsigned i)
{
	struct weir_node *n = &s->at[i].node;
	static uint64_t alive[SIM_KEPT];
	if (!weir__node_complete(n) || weir__node_lacks_image(n))
		return;
	s->at[i].publish_now = false;
	if (!take_lease(s, n))
		return;
	weir__node_forget(n, alive, alive_since(s, alive, GONE));
	int err = weir__node_publish(n, NULL);
	s->at[i].publish_now = err && err != -EEXIST;
	if (!err)
		keep(s);
}

void sim_record(struct sim *s, unsigned i, uint64_t lacks)
{
	struct weir_node *n = &s->at[i].node;
	struct weir_mark mark;
	(void)weir__node_look(n);
	if (weir__node_mark(n, &mark) != 0)
		return;
	struct weir_filter *f = sim_filter();
	for (unsigned k = 0; k < s->inserted; k++)
		if (!lacks || test_key(k ^ lacks) % 4)
			assert_ok(weir_insert_hash(f, test_key(k)));
		else
			s->keys[k].excused = true;
	if (weir__node_publish_from(n, f, &mark) == 0)
		keep(s);
	weir__mark_free(&mark);
	weir_destroy(f);
}

void sim_back(struct sim *s, unsigned i, uint64_t which)
{
	const unsigned recent = s->kept_count < 3 ? s->kept_count : 3;
	if (!recent)
		return;
	const unsigned k = s->kept_count - 1 - (unsigned)(which % recent);
	(void)weir__node_look(&s->at[i].node);
	if (weir__node_publish_again(&s->at[i].node, s->kept[k].text, s->kept[k].len) != 0)
		return;
	keep(s);
	sim_excuse_removed(s);
}

void sim_put(struct sim *s, uint64_t which)
{
	const unsigned recent = s->kept_count < 4 ? s->kept_count : 4;
	if (!recent)
		return;
	const unsigned k = s->kept_count - 1 - (unsigned)(which % recent);
	free(s->toy.now.manifest);
	s->toy.now.manifest = strndup(s->kept[k].text, s->kept[k].len);
	s->toy.now.manifest_len = s->kept[k].len;
	s->toy.now.generation = s->kept[k].generation;
}

/* ---- what is due ---- */

static void want(struct sim *s, unsigned i)
{
	struct weir_node *n = &s->at[i].node;
	for (size_t k = 0; k < n->origins.n; k++) {
		const struct weir_origin *o = &n->origins.of[(s->now + k) % n->origins.n];
		if (o->seen > o->sequence && !o->abandoned) {
			sim_look_after(s, i, weir__node_want(n, o->node, o->sequence + 1));
			return;
		}
	}
}

static void heal(struct sim *s, unsigned i)
{
	struct sim_node *at = &s->at[i];
	static uint64_t alive[SIM_KEPT];
	if (weir__node_complete(&at->node))
		at->incomplete_since = 0;
	else if (!at->incomplete_since)
		at->incomplete_since = s->now;
	else if (s->now - at->incomplete_since >= TURNS)
		(void)weir__node_heal(&at->node, alive, alive_since(s, alive, TURNS));
}

void sim_due(struct sim *s, unsigned i, bool publish)
{
	struct sim_node *at = &s->at[i];
	struct weir_node *n = &at->node;
	uint64_t id = n->id;
	if (s->now - at->met > CUT)
		(void)weir__node_rename(n);
	at->met = s->now;
	if (n->id != id)
		leave(s, id);
	if (!n->epoch[0])
		return;
	if (n->origins.waiting)
		want(s, i);
	else
		sim_look_after(s, i, weir__node_idle(n));
	report(s, i);
	heal(s, i);
	if (publish || at->publish_now)
		sim_publish(s, i);
}

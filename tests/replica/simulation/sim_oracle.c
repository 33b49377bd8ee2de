/* SPDX-License-Identifier: MIT
 * Every key that a node inserted is in that node while it lives; and when all is quiet in every
 * node, if the one that inserted it lives or its batch was confirmed by all replicas. Excused is
 *
 *  - of a node that died, what no node, no batch and not the newest image has: all is lost that had
 *    it. That is asked when something was lost or died, not later: as long as one node has it, all
 *    must come to have it;
 *  - what a record that lacks it, or a generation of before, takes away.
 *
 * If one entry is deleted in the stream's middle (d) and its node is killed (k), nobody can know
 * that it is lacking: the two together are not answered for. */
#include <stdio.h>
#include "../../test.h"
#include "simulation.h"

void sim_fail(struct sim *s, const char *kind, unsigned i, unsigned k)
{
	if (!s->failure[0])
		snprintf(s->failure, sizeof s->failure, "%s: node %u, key %u", kind, i, k);
}

static bool has(const struct sim *s, unsigned i, unsigned k)
{
	return weir_handle_contains_hash(s->at[i].handle, test_key(k));
}

static bool survives(const struct sim *s, unsigned k)
{
	return s->at[s->keys[k].place].life == s->keys[k].life;
}

static bool is_stored(const struct sim *s, unsigned k)
{
	const struct weir_filter *image = toy_image(&s->toy);
	return toy_stream_has(&s->toy, test_key(k)) ||
	       (image && weir_contains_hash(image, test_key(k)));
}

static bool somebody_has(const struct sim *s, unsigned k)
{
	for (unsigned i = 0; i < s->nodes; i++)
		if (has(s, i, k))
			return true;
	return false;
}

void sim_insert(struct sim *s, unsigned i)
{
	int kept;
	if (s->inserted == SIM_KEYS)
		return;
	s->keys[s->inserted] = (struct sim_key){ .place = i, .life = s->at[i].life };
	assert_ok(weir__node_insert_hash(&s->at[i].node, test_key(s->inserted), &kept));
	assert_int_equal(kept, 0);
	s->inserted++;
}

void sim_promise(struct sim *s, unsigned i)
{
	for (unsigned k = 0; k < s->inserted; k++)
		if (s->keys[k].place == i && survives(s, k))
			s->keys[k].promised = true;
}

void sim_excuse(struct sim *s)
{
	for (unsigned k = 0; k < s->inserted; k++)
		if (!survives(s, k) && !somebody_has(s, k) && !is_stored(s, k))
			s->keys[k].excused = true;
}

void sim_excuse_removed(struct sim *s)
{
	for (unsigned k = 0; k < s->inserted; k++)
		if (!is_stored(s, k))
			s->keys[k].excused = true;
}

void sim_check_own(struct sim *s)
{
	for (unsigned k = 0; k < s->inserted; k++)
		if (!s->keys[k].excused && survives(s, k) && !has(s, s->keys[k].place, k))
			sim_fail(s, "a node lost its own key", s->keys[k].place, k);
}

static void check_rest(struct sim *s, unsigned i)
{
	const struct weir_node *n = &s->at[i].node, *first = &s->at[0].node;
	if (!weir__node_complete(n))
		sim_fail(s, "a node is not complete", i, 0);
	if (n->joined.generation != first->joined.generation ||
	    n->seen.generation != n->joined.generation || weir__node_wants_image(n))
		sim_fail(s, "a node does not serve the newest", i, 0);
	if (n->retained.next)
		sim_fail(s, "a batch is not confirmed", i, 0);
}

void sim_check_all(struct sim *s)
{
	sim_check_own(s);
	for (unsigned i = 0; i < s->nodes; i++) {
		check_rest(s, i);
		for (unsigned k = 0; k < s->inserted; k++)
			if (!s->keys[k].excused && (survives(s, k) || s->keys[k].promised) &&
			    !has(s, i, k))
				sim_fail(s, somebody_has(s, k) ? "a key that others have" :
				                                 "a key that nobody has", i, k);
	}
}

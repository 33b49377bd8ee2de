/* SPDX-License-Identifier: MIT
 * A handle's last refusal ([REFUSAL-POINTER]), and the file that its refreshes accepted or refused
 * last. */
#include <errno.h>
#include <string.h>
#include "ground/error.h"
#include "ground/system.h"
#include "set/generation.h"

static const double second = 1e9; /* nanoseconds */

static uint64_t now(void)
{
	return (uint64_t)(weir__seconds() * second);
}

/* Return: the slot that is not published. If the slot was published before, wait for readers that
 * loaded its pointer. */
static struct weir_refusal *free_slot(struct weir_handle *h)
{
	struct weir_refusals *r = &h->refusals;
	struct weir_refusal *slot = &r->slots[r->last == &r->slots[0]];
	if (*slot->sentence)
		weir__synchronize(&h->rcu);
	return slot;
}

void weir__refusal_begins(struct weir_handle *h)
{
	const char *sentence = weir_error_detail();
	struct weir_refusal *last = h->refusals.last;
	uint64_t since = last ? weir__figure_load_relaxed(&last->since) : 0;
	if (!since)
		since = now();
	if (!last || strcmp(last->sentence, sentence)) {
		last = free_slot(h);
		memcpy(last->sentence, sentence, strlen(sentence) + 1);
	}
	weir__figure_store_relaxed(&last->since, since);
	weir__refusal_store_release(&h->refusals.last, last);
}

void weir__refusal_ends(struct weir_handle *h)
{
	if (h->refusals.last)
		weir__figure_store_relaxed(&h->refusals.last->since, 0);
}

void weir__refusal_read(const struct weir_handle *h, struct weir_handle_stats *out)
{
	const struct weir_refusal *last = weir__refusal_load_acquire(&h->refusals.last);
	uint64_t since = last ? weir__figure_load_relaxed(&last->since) : 0;
	double passed = since ? weir__seconds() - (double)since / second : 0;
	out->refused_since = !since || passed > 0 ? passed : 1 / second; /* not 0 while refused */
	if (last)
		memcpy(out->refused_sentence, last->sentence, strlen(last->sentence) + 1);
}

bool weir__refused_now(const struct weir_handle *h)
{
	weir__read_lock(&h->rcu);
	const struct weir_refusal *last = weir__refusal_load_acquire(&h->refusals.last);
	bool refused = last && weir__figure_load_relaxed(&last->since);
	weir__read_unlock(&h->rcu);
	return refused;
}

/* ---- when to read a file again ---- */

static const double settled = 2.5; /* seconds: longer than a tick of any file system's clock */

bool weir__last_file_is(const struct weir_last_file *last, const struct weir_file_identity *file,
                        uint64_t generation)
{
	return weir__same_file(&last->identity, file) && last->damaged_since == 0 &&
	       (!last->refused_with || last->refused_with == generation);
}

bool weir__last_file_judge(struct weir_last_file *last, const struct weir_file_identity *file,
                           int err, uint64_t with, double began)
{
	bool damaged = err == -EBADMSG;
	bool again = damaged && last->damaged_since > 0 && weir__same_file(&last->identity, file);
	double since = again ? last->damaged_since : began;
	*last = (struct weir_last_file){
		.identity = *file,
		.refused = err != 0,
		.refused_with = with,
		.damaged_since = damaged && began - since < settled ? since : 0
	};
	return again;
}

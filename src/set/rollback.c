/* SPDX-License-Identifier: MIT
 * Returns to the previous filter, or drops it. In generation.h, [PREVIOUS-WRITTEN] says why a
 * rollback loses no insert, and [REFUSED-KEY] says when a rollback is refused.
 *
 *     rollback   record {previous, -, -}  grace period   free the old record, current
 *     drop       record {current, -, -}   grace period   free the old record, previous */
#include <stdlib.h>
#include <weir/reload.h>
#include "ground/error.h"
#include "ground/threads.h"
#include "set/generation.h"

/* [REFUSED-KEY]: decide that previous returns. Return: false if previous is void already. */
static bool decide_rollback(const struct weir_generation *g)
{
	return weir__standby_decide_relaxed(&g->previous->standby, WEIR_STANDBY_RETURNS) ==
	       WEIR_STANDBY_RETURNS;
}

/* Publish previous and free current (rollback), or free previous (drop). The caller has claimed the
 * handle. */
static int leave(struct weir_handle *h, bool rolls_back, const char *verb)
{
	const struct weir_generation *g = h->generation;
	if (!g->previous)
		return weir__fail(-ENOENT, "%s: no previous filter is kept", verb);
	struct weir_filter *stays = rolls_back ? g->previous : g->current,
	                   *goes = rolls_back ? g->current : g->previous;
	struct weir_generation *record = weir__record(stays, NULL, NULL, g->number + rolls_back);
	if (!record)
		return weir__fail(-ENOMEM, "%s: no memory for a record", verb);
	if (rolls_back && !decide_rollback(g)) {
		free(record);
		return weir__fail(-ENOENT, "%s: the rollback is void: the previous filter refused "
		                  "a key that the current one took (it is full), and would miss "
		                  "it; weir_handle_drop_previous() frees it", verb);
	}
	if (!rolls_back)
		record->since = g->since;
	struct weir_generation *before = weir__publish(h, record);
	weir__synchronize(&h->rcu); /* [FREE-AFTER-GRACE] */
	weir__filter_free(goes);
	free(before);
	return 0;
}

static int begin_and_leave(struct weir_handle *h, bool rolls_back, const char *verb)
{
	WEIR__UNCANCELLED;
	int err = weir__one_filter_check(h, verb);
	if (!err)
		err = weir__writer_begin(h, verb);
	if (err)
		return err;
	err = leave(h, rolls_back, verb);
	if (!err && rolls_back)
		weir__figure_add_relaxed(&h->swaps, 1);
	weir__writer_release(h);
	return err;
}

void weir__standby_free(struct weir_handle *h)
{
	if (h->generation->previous && !weir__standby(h->generation))
		(void)leave(h, false, "the previous filter"); /* the next writer retries */
}

int weir_handle_rollback(struct weir_handle *h)
{
	return begin_and_leave(h, true, "weir_handle_rollback");
}

int weir_handle_drop_previous(struct weir_handle *h)
{
	return begin_and_leave(h, false, "weir_handle_drop_previous");
}

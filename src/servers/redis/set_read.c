/* SPDX-License-Identifier: MIT
 * Read a set: its image, and the log after the image. */
#include <errno.h>
#include <sys/mman.h>
#include "set.h"

enum { AT_ONCE = 16 }; /* entries per read */

int set_image(struct set *s, uint64_t most, struct weir_filter **out)
{
	struct weir_image_job j = { .r = s->redis, .m = s->manifest };
	/* Pages are allocated when written, so the image takes only the memory of its chunks. */
	int err = weir__image_allocate(&j, s->manifest.bytes);
	s->redis->o.max_image_bytes = most ? most : s->manifest.bytes;
	if (!err)
		err = weir__image_fetch(&j);
	if (j.bytes)
		munmap(j.bytes, j.room);
	if (!err)
		*out = j.filter;
	return err;
}

struct walk {
	const struct set *set;
	struct weir_filter *filter;
	uint64_t hashing, tag, batches;
	struct weir_log_id at;
};

/* Return: an error that tells the caller to call again later. A node that has the missing entries
 * will publish the set with their keys. */
static int entry_missing(const struct walk *w, struct weir_log_id last)
{
	char at[WEIR_ID_TEXT], end[WEIR_ID_TEXT];
	return weir_fail(-ENOENT, "set %s: entries between %s and %s are missing in the log: call "
	                 "again when a node has published the set", set_name(w->set),
	                 weir__log_id_write(at, w->at), weir__log_id_write(end, last));
}

/* Insert the hashes of an entry. The entry must name the tag of the last applied entry, unless the
 * entries between these two were given up ([LOG-READING], [GIVE-UP]). */
static int apply_entry(void *walk, const struct weir_entry *e)
{
	struct walk *w = walk;
	struct weir_log_id last = { e->id.epoch, e->id.n - 1 };
	int answer = 0;
	if (e->kind == WEIR_ENTRY_UNREAD)
		return -EBADMSG; /* the store has set the error text */
	if (e->kind == WEIR_ENTRY_EPOCH)
		last = e->last;
	const bool given_up = weir__log_id_compare(last, w->at) > 0 &&
	                      weir__log_id_compare(last, w->set->head.lost) <= 0;
	if (e->before != w->tag && !given_up)
		return entry_missing(w, last);
	for (size_t i = 0; i < e->n && e->hashing == w->hashing && answer >= 0; i++)
		answer = weir_insert_hash(w->filter, weir__entry_hash(e, i));
	w->at = e->id;
	w->tag = e->tag;
	w->batches += e->kind == WEIR_ENTRY_BATCH;
	return answer < 0 ? answer : 0;
}

int set_replay(const struct set *s, struct weir_filter *f, uint64_t hashing, uint64_t *batches)
{
	struct walk w = { s, f, hashing, s->manifest.tag, 0, s->manifest.position };
	size_t n = 0;
	int err;
	do
		err = weir__redis_read(s->redis, w.at, AT_ONCE, apply_entry, &w, &n);
	while (!err && n);
	*batches = w.batches;
	return err || w.tag == s->head.tag ? err : entry_missing(&w, s->head.last);
}

/* SPDX-License-Identifier: MIT
 * Part of simulate.c: many nodes run for a long time while redis repeatedly loses data. It prints
 * how long it takes until all nodes follow the log again (is_following()), and how many calls and
 * bytes a node costs redis. */

enum { INSERT_MS = 60000 }; /* on average each node inserts once in this time */

static uint64_t until_well(void)
{
	const uint64_t from = s->toy.clock;
	run_until(from + 10, false); /* until then no node has noticed the loss */
	while (!all(is_following) && s->toy.clock < from + QUIET_MS)
		run_until(s->toy.clock + 10, false);
	const uint64_t took = s->toy.clock - from;
	while (!all(is_well) && s->toy.clock < from + QUIET_MS)
		run_until(s->toy.clock + 10, false);
	if (!all(is_well))
		wrong("well", 0, "a node owes for ever");
	return took;
}

static void some_inserts(uint64_t ms)
{
	const uint64_t end = s->toy.clock + ms, pause = INSERT_MS / s->nodes + 1;
	while (s->toy.clock < end) {
		run_until(s->toy.clock + 1 + chance(2 * pause), false);
		insert((unsigned)chance(s->nodes));
	}
}

/* @what: a letter of mixes[]. */
static const char *lose(char what)
{
	struct toy_server *at = &s->toy.server[1];
	toy_save(&s->toy);
	some_inserts(1000);
	switch (what) {
	case 'c': toy_fall_back(&s->toy, true); return "a restart, its last second lost";
	case 'f': toy_flush(at); return "FLUSHALL";
	case 'd': toy_drop_log(at); return "the log deleted";
	case 'r': toy_fall_back(&s->toy, false); return "an old dump put back";
	case 'x': toy_delete(at, at->n ? chance(at->n) : 0); return "an entry deleted";
	case 'i': toy_lose_image(at); return "the image lost";
	default: break;
	}
	at->down = true;
	some_inserts(10000);
	at->down = false;
	return "10 s without redis";
}

/* @features: the losses, one letter each. @calm_ms: the time before each loss. @most_ms: the limit
 * of the time that all nodes take to recover from a loss. */
static int crowd(unsigned nodes, const char *features, uint64_t calm_ms, uint64_t most_ms)
{
	static struct sim sim;
	sim = (struct sim){ .seed = 1, .features = features, .ring = 1 << 20, .nodes = nodes,
		            .publish_ms = 60000, .capacity = 100000, .faults = true,
		            .poll_ms = nodes / 5 < 20 ? 20 : nodes / 5 };
	s = &sim;
	toy_make(&s->toy, 1);
	s->seats = calloc(nodes, sizeof *s->seats);
	for (unsigned i = 0; i < nodes; i++) {
		sit(i, 1);
		schedule(i, s->toy.clock + 1 + chance(1000));
	}
	printf("%u nodes are well after %llu ms\n", nodes, (unsigned long long)until_well());
	for (; *features && !s->failed; features++) {
		const struct toy before = { .calls = s->toy.calls, .bytes_in = s->toy.bytes_in,
			                    .bytes_out = s->toy.bytes_out };
		some_inserts(calm_ms);
		const double seconds = (double)calm_ms / 1000, all = seconds * nodes;
		printf("calm: of a node and second %.1f calls, %.0f bytes to redis, %.0f from it\n",
		       (double)(s->toy.calls - before.calls) / all,
		       (double)(s->toy.bytes_in - before.bytes_in) / all,
		       (double)(s->toy.bytes_out - before.bytes_out) / all);
		const uint64_t from = s->toy.bytes_out;
		const char *what = lose(*features);
		const uint64_t took = until_well();
		printf("%s: all are well after %llu ms, %.0f bytes a node\n", what,
		       (unsigned long long)took, (double)(s->toy.bytes_out - from) / nodes);
		fflush(stdout);
		if (took > most_ms)
			wrong("well", 0, what);
	}
	check_all();
	for (unsigned i = 0; i < nodes; i++)
		stand(i);
	printf("%zu keys, %llu generations, %llu given up\n", s->n_keys,
	       (unsigned long long)s->generations, (unsigned long long)s->gave_up);
	toy_free(&s->toy);
	free(s->seats);
	free(s->keys);
	return s->failed;
}

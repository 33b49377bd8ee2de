/* SPDX-License-Identifier: MIT
 * Two proxies tell each other which objects their caches hold, so that a proxy can fetch a missing
 * object from its peer. Usage: digests OBJECTS CHANGED_PER_MILLE ROUNDS FOLDER
 *
 * First each proxy sends its digest as a compressed image. In each round new objects replace some
 * old objects of each proxy. The proxy then makes a digest of its objects, with the same size and
 * seed, and sends the delta from the last digest. The peer applies the delta to its copy of the
 * image. The peer uses each digest until the next digest arrives, so the digest grows stale until
 * then. A table of each cache's objects gives the truth for each request. */
#include "../example.h"

static const char usage[] = "digests OBJECTS CHANGED_PER_MILLE ROUNDS FOLDER";

enum { PROXIES = 2 };

struct proxy {
	char sent[NAME],  /* file of the proxy's last image */
	     kept[NAME],  /* file of the peer's copy of the last image */
	     next[NAME],  /* file of the proxy's new image */
	     delta[NAME]; /* file of the delta from the last image to the new image */
	bool *has;             /* has[i]: object i is in the cache now */
	uint64_t first;        /* the oldest object in the cache; it is replaced next */
	struct weir_filter *peer_view; /* the peer's copy of the digest */
};

struct wire {
	uint64_t plain,      /* bytes of the first images, if they were not compressed */
	         compressed, /* bytes of the first images, as they were sent */
	         deltas;     /* bytes of all deltas */
};

struct judged {
	uint64_t asked,  /* requests */
	         gone,   /* "yes" for an object that left the cache after the digest was made */
	         chance, /* "yes" for any other object that is not in the cache */
	         missed; /* "no" for an object that is in the cache */
};

static struct proxy proxy[PROXIES];
static uint64_t objects, changed, rounds;

/* Return: the length of an object's URL. The two proxies share a third of their objects. */
static size_t object(char url[KEY_URL_ROOM], const struct proxy *p, uint64_t i)
{
	return key_url(url, SEED, i % 3 ? 2 * i + (p == &proxy[1]) : 2 * i, NULL);
}

static struct weir_filter *digest(const struct proxy *p)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *filter;
	char url[KEY_URL_ROOM];
	params.capacity = objects;
	params.fp_rate = 0.01;
	params.seed = SEED; /* in a real server: random, and the same for all its digests */
	must(weir_create(&filter, &params), "create");
	for (uint64_t i = p->first; i < p->first + objects; i++) {
		size_t len = object(url, p, i);
		weir_insert(filter, url, len);
	}
	return filter;
}

static void take(struct proxy *p)
{
	weir_destroy(p->peer_view);
	must(weir_load(&p->peer_view, weir_location_path(p->kept), NULL), "load");
}

static void send_whole(struct proxy *p, struct wire *w)
{
	struct weir_save_options packed = WEIR_SAVE_OPTIONS_INIT;
	struct weir_filter *filter = digest(p);
	packed.zstd_level = 3;
	must(weir_save(filter, weir_location_path(p->sent), NULL), "save");
	must(weir_save(filter, weir_location_path(p->kept), &packed), "save compressed");
	w->plain += file_bytes(p->sent);
	w->compressed += file_bytes(p->kept);
	weir_destroy(filter);
	take(p);
}

/* One proxy makes the new digest and the delta, and its peer applies the delta. */
static bool send_delta(struct proxy *p, struct wire *w)
{
	struct weir_filter *filter = digest(p);
	const char *deltas[] = { p->delta };
	uint64_t mine, others;
	must(weir_save(filter, weir_location_path(p->next), NULL), "save");
	must(weir_delta_save(weir_location_path(p->delta), weir_location_path(p->sent),
	                     weir_location_path(p->next), NULL),
	     "delta");
	rename_over(p->next, p->sent);
	w->deltas += file_bytes(p->delta);
	must(weir_image_copy(weir_location_path(p->kept), weir_location_chain(p->kept, deltas, 1),
	                     NULL, NULL),
	     "apply");
	must(weir_image_verify(weir_location_path(p->sent), NULL, &mine), "identity");
	must(weir_image_verify(weir_location_path(p->kept), NULL, &others), "identity");
	take(p);
	bool whole = mine == others;
	for (uint64_t i = p->first; i < p->first + objects; i++) {
		char url[KEY_URL_ROOM];
		size_t len = object(url, p, i);
		whole &= weir_contains(p->peer_view, url, len);
	}
	weir_destroy(filter);
	return whole;
}

static void turn_over(struct proxy *p, uint64_t n)
{
	for (; n; n--, p->first++) {
		p->has[p->first] = false;
		p->has[p->first + objects] = true;
	}
}

/* Request @n random objects. The proxy had, has or will have some of them, and never has others. */
static void judge(const struct proxy *p, uint64_t since, uint64_t n, struct judged *j)
{
	char url[KEY_URL_ROOM];
	for (uint64_t k = 0; k < n; k++) {
		uint64_t i = key_scramble(j->asked++ + (p == &proxy[0])) %
		             (objects * 2 + changed * rounds);
		size_t len = object(url, p, i);
		bool yes = weir_contains(p->peer_view, url, len);
		bool had = i >= since && i < since + objects; /* when the digest was made */
		j->gone += yes && !p->has[i] && had;
		j->chance += yes && !p->has[i] && !had;
		j->missed += !yes && p->has[i];
	}
}

static void file_names(const char *folder)
{
	for (int i = 0; i < PROXIES; i++) {
		struct proxy *p = &proxy[i];
		snprintf(p->sent, NAME, "%s/%d.weir", folder, i);
		snprintf(p->next, NAME, "%s/%d.next", folder, i);
		snprintf(p->kept, NAME, "%s/%d.at-peer", folder, i);
		snprintf(p->delta, NAME, "%s/%d.delta", folder, i);
		p->has = room_for(objects * 2 + changed * rounds, sizeof *p->has);
		memset(p->has, true, objects);
	}
}

int main(int argc, char **argv)
{
	struct wire w = { 0 };
	struct judged j = { 0 };
	bool whole = true;
	arguments(argc == 5, usage);
	objects = number(argv[1], 10000, 100000000, usage);
	changed = number(argv[2], 1, 200, usage) * objects / 1000;
	rounds = number(argv[3], 1, 1000, usage);
	file_names(fresh_folder(argv[4]));
	for (int i = 0; i < PROXIES; i++)
		send_whole(&proxy[i], &w);
	for (uint64_t round = 0; round < rounds; round++)
		for (int i = 0; i < PROXIES; i++) {
			uint64_t since = proxy[i].first;
			turn_over(&proxy[i], changed / 2);
			judge(&proxy[i], since, objects / 4, &j); /* half-way between two digests */
			turn_over(&proxy[i], changed - changed / 2);
			whole &= send_delta(&proxy[i], &w);
		}
	double n = (double)j.asked / 100, compressed = (double)w.compressed / PROXIES;
	double delta = (double)w.deltas / (double)(rounds * PROXIES);
	printf("2 proxies of %llu objects, %llu replaced a round: the first digest %.0f kB (plain "
	       "%.0f), each delta %.0f kB; half-way between two %.2f %% of answers are stale: "
	       "%.2f %% gone, %.2f %% not yet known; %.2f %% wrong by chance\n",
	       (unsigned long long)objects, (unsigned long long)changed, compressed * 1e-3,
	       (double)w.plain / PROXIES * 1e-3, delta * 1e-3, (double)(j.gone + j.missed) / n,
	       (double)j.gone / n, (double)j.missed / n, (double)j.chance / n);
	for (int i = 0; i < PROXIES; i++) {
		weir_destroy(proxy[i].peer_view);
		free(proxy[i].has);
	}
	bool kept = promise(whole, "the copy is the digest, byte for byte, and has every object");
	kept &= promise(delta < compressed, "a delta is smaller than the digest");
	kept &= promise(within(j.chance, 0.01, j.asked), "1 % are wrong by chance at most");
	kept &= promise((double)(j.gone + j.missed) <= 1.1 * (double)changed / (double)objects *
	                (double)j.asked / 2 + 100, "no more is stale than was replaced");
	return !kept;
}

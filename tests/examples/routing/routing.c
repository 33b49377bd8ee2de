/* SPDX-License-Identifier: MIT
 * Finds the shard that has a client's session. A front end asks a router of all shards, and then
 * only the shards that may have the session. Usage: routing SHARDS KEYS LOOKUPS
 *
 * Each shard is an exact store: a sorted array of addresses. The router has one set for each shard.
 * A lookup asks the router, then the stores whose bits are set in the answer; without a router it
 * would ask all stores. Half of the lookups are for addresses that some shard has, and half for
 * other addresses from the same networks. */
#include "../example.h"

static const char usage[] = "routing SHARDS KEYS LOOKUPS";

enum { BATCH = 256 };

static uint64_t shards, keys;
static uint32_t *store; /* the sorted keys of each shard */

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static bool in_store(uint64_t shard, uint32_t key)
{
	return bsearch(&key, store + shard * keys, keys, sizeof key, compare) != NULL;
}

/* Return: the address of session @i. Consecutive addresses go to different shards in turn, so each
 * network is in all shards. If @present is false, the address next to it, which no shard has. */
static uint32_t session(uint64_t i, bool present)
{
	return key_address(SEED, 2 * i + !present);
}

static struct weir_filter *fill(double *seconds_each)
{
	struct weir_params o = WEIR_PARAMS_INIT;
	struct weir_filter *router;
	o.kind = WEIR_ROUTER;
	o.router.sets = (uint32_t)shards;
	o.capacity = keys;
	o.fp_rate = 0.01;
	must(weir_create(&router, &o), "create");
	*seconds_each = 0;
	for (uint64_t shard = 0; shard < shards; shard++) {
		uint32_t *mine = store + shard * keys;
		for (uint64_t i = 0; i < keys; i++)
			mine[i] = session(i * shards + shard, true);
		qsort(mine, keys, sizeof *mine, compare);
		double began = cpu_seconds();
		must((int)weir_insert_into_keys(router, (uint32_t)shard,
		                                  weir_keys_fixed(mine, sizeof *mine, keys), NULL),
		     "insert");
		*seconds_each += (cpu_seconds() - began) / (double)(shards * keys);
	}
	return router;
}

struct answers {
	uint64_t asked; /* stores asked */
	uint64_t found; /* keys found by a store that the router named */
	uint64_t lost;  /* keys in a shard that the router did not name */
	uint64_t wrong; /* lookups whose key was found in a wrong number of stores */
	double routing; /* seconds of processor time */
};

static void ask(const struct weir_filter *router, uint64_t n, bool present, struct answers *out)
{
	uint32_t address[BATCH];
	uint64_t masks[BATCH], which[BATCH];
	*out = (struct answers){ 0 };
	for (uint64_t at = 0; at < n; at += BATCH) {
		uint64_t end = n - at < BATCH ? n - at : BATCH;
		for (uint64_t i = 0; i < end; i++) {
			which[i] = key_scramble(SEED + at + i) % (shards * keys);
			address[i] = session(which[i], present);
		}
		double began = cpu_seconds();
		weir_route_keys(router, weir_keys_fixed(address, sizeof address[0], end),
		                       masks);
		out->routing += cpu_seconds() - began;
		for (uint64_t i = 0; i < end; i++) {
			uint64_t found = 0;
			for (uint64_t mask = masks[i]; mask; mask &= mask - 1) {
				out->asked++;
				found += in_store((uint64_t)__builtin_ctzll(mask), address[i]);
			}
			out->found += found;
			out->lost += present && !(masks[i] >> which[i] % shards & 1);
			out->wrong += found != present;
		}
	}
}

int main(int argc, char **argv)
{
	arguments(argc == 4, usage);
	shards = number(argv[1], 1, WEIR_ROUTER_SETS, usage);
	/* at most half of all addresses, because no shard has the other half */
	keys = number(argv[2], 1000, KEY_NETWORKS * (uint64_t)KEY_NETWORK / 2 / shards, usage);
	uint64_t lookups = number(argv[3], 1000, UINT32_MAX, usage);
	store = room_for(shards * keys, sizeof *store);
	double insert;
	struct weir_filter *router = fill(&insert);
	struct weir_stats stats = WEIR_STATS_INIT;
	struct answers present, absent;
	must(weir_measure(router, WEIR_SAMPLED, &stats), "stats");
	ask(router, lookups, true, &present);
	ask(router, lookups, false, &absent);
	double n = (double)lookups;
	printf("%llu shards of %llu addresses: %.3f shards asked for a key that one has, %.3f for "
	       "others, instead of %llu; %.1f MB, the stores %.1f MB; %.0f ns to route a key, "
	       "%.0f ns to insert\n", (unsigned long long)shards, (unsigned long long)keys,
	       (double)present.asked / n, (double)absent.asked / n, (unsigned long long)shards,
	       (double)stats.bytes * 1e-6, (double)(shards * keys * sizeof *store) * 1e-6,
	       (present.routing + absent.routing) / n / 2 * 1e9, insert * 1e9);
	weir_destroy(router);
	free(store);
	bool kept = promise(!present.lost, "the router names the shard that has the key");
	kept &= promise(!present.wrong && present.found == lookups && !absent.wrong,
	                "each key is found once, where it is");
	kept &= promise(within(absent.asked, 0.01 * (double)shards, lookups) &&
	                within(present.asked - lookups, 0.01 * (double)(shards - 1), lookups),
	                "at most 1 % of the other shards are asked");
	return !kept;
}

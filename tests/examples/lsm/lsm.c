/* SPDX-License-Identifier: MIT
 * A store of sorted files in levels (a log-structured merge tree). A get opens only the files whose
 * filter answers yes. Usage: lsm ROWS GETS BUDGET_PERCENT FOLDER
 *
 * Each file of level 0 holds keys of the whole range, because the files were written one after the
 * other. Level 1 is ten times as large as level 0, and level 2 is ten times as large as level 1.
 * These two levels are cut into files by key. Next to each file is an image of its filter. A filter
 * is loaded at its first use into a cache of BUDGET_PERCENT of the size of all filters. The least
 * recently used filter is evicted first. A row of a newer level hides older rows. A table of each
 * key's newest version gives the truth. */
#include "../example.h"

static const char usage[] = "lsm ROWS GETS BUDGET_PERCENT FOLDER";

enum { LEVEL0 = 4, LEVEL1 = 10, LEVEL2 = 100, FILES = LEVEL0 + LEVEL1 + LEVEL2 };

struct row {
	uint8_t key[16];
	uint64_t id, version;
};

struct table { /* a sorted file */
	char name[NAME], image[NAME];
	uint8_t first[16], last[16];
	uint64_t rows;
	struct weir_filter *filter; /* NULL: not in the cache */
	uint64_t bytes,             /* size of the filter */
	         asked;             /* value of clock_now at the last use */
};

static struct table tables[FILES]; /* the newest file first */
static unsigned n_tables;
static uint64_t ids, budget, cached, all_filters, clock_now, loads;
static uint8_t *newest; /* newest version of each id; 0: none */

static int by_key(const void *a, const void *b)
{
	return memcmp(a, b, 16); /* the key is the first field of a row */
}

/* ---- writing ---- */

static void write_table(const struct row *rows, uint64_t n)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct table *t = &tables[n_tables];
	struct weir_filter *filter;
	snprintf(t->name, NAME, "%s/%u.table", example_folder, n_tables);
	snprintf(t->image, NAME, "%s/%u.weir", example_folder, n_tables++);
	FILE *file = fopen(t->name, "w");
	if (!file || fwrite(rows, sizeof *rows, n, file) != n || fclose(file))
		must(errno ? -errno : -EIO, t->name);
	p.capacity = t->rows = n;
	p.fp_rate = 0.01;
	must(weir_create(&filter, &p), "create");
	for (uint64_t i = 0; i < n; i++)
		weir_insert(filter, rows[i].key, sizeof rows[i].key);
	must(weir_save(filter, weir_location_path(t->image), NULL), "save");
	weir_destroy(filter);
	memcpy(t->first, rows[0].key, 16);
	memcpy(t->last, rows[n - 1].key, 16);
	t->bytes = file_bytes(t->image);
	all_filters += t->bytes;
}

/* Write the ids @offset, @offset + @every and so on, cut by key into @files files. */
static void write_level(uint64_t every, uint64_t offset, unsigned files, uint8_t version)
{
	struct row *rows = room_for(ids / every + 1, sizeof *rows);
	uint64_t n = 0;
	for (uint64_t id = offset; id < ids; id += every, n++) {
		rows[n] = (struct row){ .id = id, .version = version };
		key_user_uuid(rows[n].key, SEED, id);
		newest[id] = newest[id] < version ? version : newest[id];
	}
	qsort(rows, n, sizeof *rows, by_key);
	for (unsigned i = 0; i < files; i++)
		write_table(rows + n * i / files, n * (i + 1) / files - n * i / files);
	free(rows);
}

/* ---- the cache of filters ---- */

static void evict_for(uint64_t bytes)
{
	while (cached && cached + bytes > budget) {
		struct table *oldest = NULL;
		for (unsigned i = 0; i < n_tables; i++)
			if (tables[i].filter && (!oldest || tables[i].asked < oldest->asked))
				oldest = &tables[i];
		weir_destroy(oldest->filter);
		oldest->filter = NULL;
		cached -= oldest->bytes;
	}
}

static bool may_have(struct table *t, const uint8_t key[16])
{
	t->asked = ++clock_now;
	if (!t->filter) {
		evict_for(t->bytes);
		must(weir_load(&t->filter, weir_location_path(t->image), NULL), "load");
		cached += t->bytes;
		loads++;
	}
	return weir_contains(t->filter, key, 16);
}

/* ---- reading ---- */

struct counts {
	uint64_t covering, /* files whose range has the key */
	         opened,   /* files that the gets opened */
	         wrong;    /* gets with a wrong answer */
};

static bool in_file(const struct table *t, const uint8_t key[16], struct row *out)
{
	int fd = open(t->name, O_RDONLY | O_CLOEXEC);
	uint64_t low = 0, high = t->rows;
	bool found = false;
	must(fd < 0 ? -errno : 0, t->name);
	while (low < high && !found) {
		uint64_t middle = (low + high) / 2;
		if (pread(fd, out, sizeof *out, (off_t)(middle * sizeof *out)) != sizeof *out)
			must(-EIO, t->name);
		int order = memcmp(key, out->key, 16);
		found = order == 0;
		high = order < 0 ? middle : high;
		low = order > 0 ? middle + 1 : low;
	}
	close(fd);
	return found;
}

static void get(uint64_t id, struct counts *c)
{
	uint8_t key[16];
	struct row row = { 0 };
	bool found = false;
	key_user_uuid(key, SEED, id);
	for (unsigned i = 0; i < n_tables && !found; i++) {
		struct table *t = &tables[i];
		if (memcmp(key, t->first, 16) < 0 || memcmp(key, t->last, 16) > 0)
			continue;
		c->covering++;
		if (!may_have(t, key))
			continue;
		c->opened++;
		found = in_file(t, key, &row);
	}
	uint64_t version = id < ids ? newest[id] : 0;
	c->wrong += found ? row.id != id || row.version != version : version != 0;
}

int main(int argc, char **argv)
{
	struct counts present = { 0 }, absent = { 0 };
	arguments(argc == 5, usage);
	ids = number(argv[1], 20000, 1000000000, usage);
	uint64_t gets = number(argv[2], 1000, 1000000000, usage);
	uint64_t percent = number(argv[3], 1, 100, usage);
	fresh_folder(argv[4]);
	newest = room_for(ids, sizeof *newest);
	for (unsigned i = 0; i < LEVEL0; i++)
		write_level(400, 7 * i, 1, (uint8_t)(6 - i));
	write_level(10, 3, LEVEL1, 2);
	write_level(1, 0, LEVEL2, 1);
	budget = all_filters * percent / 100;
	double began = cpu_seconds();
	for (uint64_t i = 0; i < gets; i++) {
		get(key_scramble(SEED + i) % ids, &present);
		get(ids + i, &absent);
	}
	double took = cpu_seconds() - began, n = (double)gets;
	printf("%u files of %llu rows: %.3f files opened for a key that is there, %.3f for one "
	       "that is not, where %.2f and %.2f have it in their range; filters %.1f MB, cache "
	       "%.1f MB, %.3f loads and %.1f us a get\n", n_tables, (unsigned long long)ids,
	       (double)present.opened / n, (double)absent.opened / n,
	       (double)present.covering / n, (double)absent.covering / n,
	       (double)all_filters * 1e-6, (double)budget * 1e-6, (double)loads / n / 2,
	       took / n / 2 * 1e6);
	bool kept = promise(!present.wrong && !absent.wrong, "each get answers the newest row");
	kept &= promise(cached <= budget || budget < all_filters / FILES, "the budget is kept");
	kept &= promise(within(absent.opened, 0.01, absent.covering) &&
	                within(present.opened - gets, 0.01, present.covering - gets),
	                "1 % of the files without the key are opened at most");
	for (unsigned i = 0; i < n_tables; i++)
		weir_destroy(tables[i].filter);
	free(newest);
	return !kept;
}

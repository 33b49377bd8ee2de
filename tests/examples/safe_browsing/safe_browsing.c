/* SPDX-License-Identifier: MIT
 * A browser warns of unsafe pages. It asks its own filter, and asks the exact list on a server only
 * if the filter answers yes. Usage: safe_browsing KIND LISTED CHANGED HOURS VISITS FOLDER
 *
 * The kind is blocked, fuse or layered. Most visits are to well-known pages. A layered filter
 * never answers yes for these pages, because they are its exclude list. Each hour some pages leave
 * the list and as many others enter it. The server builds a new image and sends the delta from the
 * last image, or the whole image if that is smaller. The browser stores the delta next to the
 * browser's copy of the image, and refreshes its filter. */
#include "../example.h"

static const char usage[] = "safe_browsing KIND LISTED CHANGED HOURS VISITS FOLDER";

static const uint32_t kinds[] = { WEIR_BLOCKED, WEIR_FUSE, WEIR_LAYERED };

/* The numbers of pages that are listed at some time begin at 0, the numbers of well-known pages at
 * KNOWN, and the numbers of all other pages at OTHERS. */
static const uint64_t KNOWN = UINT64_C(1) << 40, OTHERS = UINT64_C(1) << 41;

static uint64_t listed, known, first; /* the list has pages first to first + listed - 1 */
static struct weir_params params = WEIR_PARAMS_INIT;
static char old_image[NAME], new_image[NAME], wire[NAME]; /* the server's files */
static char image[NAME]; /* the browser's image, with its deltas in the same folder */
static const char *folder;

/* ---- the server's store: an exact table of the pages' text ---- */

static uint64_t *store, slots; /* store[i]: page + 1, or 0 if slot i is free */

static uint64_t *place(const char *url, size_t len)
{
	char text[KEY_URL_ROOM];
	uint64_t at = weir_hash_seeded(1, url, len) & (slots - 1);
	for (; store[at]; at = (at + 1) & (slots - 1))
		if (key_url(text, SEED, store[at] - 1, NULL) == len && !memcmp(text, url, len))
			break;
	return &store[at];
}

static struct weir_filter *build(void)
{
	char url[KEY_URL_ROOM];
	struct weir_builder *b = NULL;
	struct weir_filter *filter = NULL;
	memset(store, 0, slots * sizeof *store);
	if (weir_kind_can(params.kind, WEIR_CAN_BUILD))
		must(weir_builder_create(&b, &params, NULL), "builder");
	else
		must(weir_create(&filter, &params), "create");
	for (uint64_t page = first; page < first + listed; page++) {
		size_t len = key_url(url, SEED, page, NULL);
		*place(url, len) = page + 1;
		must(b ? weir_builder_add(b, url, len) : weir_insert(filter, url, len), "add");
	}
	if (params.kind == WEIR_LAYERED)
		must(weir_builder_seal(b), "seal");
	for (uint64_t i = 0; params.kind == WEIR_LAYERED && i < known; i++) {
		size_t len = key_url(url, SEED, KNOWN + i, NULL);
		must(weir_builder_exclude(b, url, len), "exclude");
	}
	if (b)
		must(weir_builder_finish(&filter, b, NULL), "build");
	weir_builder_destroy(b);
	return filter;
}

static char *delta_name(uint64_t hour)
{
	static char name[NAME];
	snprintf(name, NAME, "%s/list.weir.delta-%llu", folder, (unsigned long long)hour);
	return name;
}

/* Publish a delta, or the compressed image if the delta would be larger than @whole bytes. Return:
 * the bytes sent. */
static uint64_t publish(uint64_t hour, uint64_t whole, uint64_t *deltas)
{
	struct weir_delta_options smaller = WEIR_DELTA_OPTIONS_INIT;
	struct weir_save_options packed = WEIR_SAVE_OPTIONS_INIT;
	struct weir_filter *filter = build();
	uint64_t sent;
	int64_t saved = -EFBIG;
	smaller.max_delta = whole;
	packed.zstd_level = 3;
	must(weir_save(filter, weir_location_path(new_image), NULL), "save");
	if (hour)
		saved = weir_delta_save(weir_location_path(wire), weir_location_path(old_image),
		                      weir_location_path(new_image), &smaller);
	if (saved > 0) {
		sent = file_bytes(wire);
		rename_over(wire, delta_name(hour));
		++*deltas;
	} else {
		must(saved == -EFBIG ? 0 : saved, "delta");
		must(weir_save(filter, weir_location_path(image), &packed), "save");
		sent = file_bytes(image);
		while (hour) /* remove old deltas, which do not belong to the new image */
			unlink(delta_name(hour--));
	}
	rename_over(new_image, old_image);
	weir_destroy(filter);
	return sent;
}

/* ---- the browser ---- */

struct visits {
	uint64_t n, listed;    /* n: number of visits; listed: number of visits to listed pages */
	uint64_t checks,       /* questions to the server */
	         known_checks; /* questions about well-known pages */
	uint64_t missed, /* listed pages without a warning */
	         wrong;  /* warnings of pages that are not listed */
};

/* 70 % of the visits are to well-known pages, and 5 % to pages that are, were or will be listed. */
static void visit(const struct weir_handle *set, uint64_t n, struct visits *v)
{
	char url[KEY_URL_ROOM];
	for (uint64_t end = v->n + n; v->n < end; v->n++) {
		uint64_t random = key_scramble(SEED + v->n), which = random >> 8;
		uint64_t page = random % 100 < 70 ? KNOWN + which % known :
		                random % 100 < 75 ? which % (first + 2 * listed) : OTHERS + v->n;
		size_t len = key_url(url, SEED, page, NULL);
		bool ask = weir_handle_contains(set, url, len), warn = ask && *place(url, len);
		bool is = page >= first && page < first + listed;
		v->listed += is;
		v->checks += ask;
		v->known_checks += ask && random % 100 < 70;
		v->missed += is && !warn;
		v->wrong += warn && !is;
	}
}

/* Return: the mean number of bytes that the server sends in an hour. */
static double hours_pass(uint64_t hours, uint64_t changed, uint64_t visits, uint64_t *whole,
                         uint64_t *deltas, struct visits *v)
{
	struct weir_handle_options options = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_refresh_options beside = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_handle *set;
	uint64_t sent = 0;
	options.flags = WEIR_HANDLE_ANY_SEED;
	options.absent = WEIR_ABSENT_YES; /* yes to all pages until the first image */
	beside.deltas = true;
	must(weir_handle_create(&set, NULL, &options), "handle");
	for (uint64_t hour = 0; hour <= hours; hour++, first += changed) {
		if (hour)
			sent += publish(hour, *whole, deltas);
		else
			*whole = publish(0, 0, deltas);
		must(weir_handle_refresh(set, image, &beside) == 1 ? 0 : -EIO, "refresh");
		visit(set, visits / (hours + 1), v);
	}
	must(weir_handle_destroy(set), "destroy");
	return (double)sent / (double)hours;
}

int main(int argc, char **argv)
{
	arguments(argc == 7, usage);
	params.kind = kind_of(argv[1], kinds, 3, usage);
	listed = params.capacity = number(argv[2], 10000, 100000000, usage);
	uint64_t changed = number(argv[3], 1, listed, usage);
	uint64_t hours = number(argv[4], 1, 999, usage), deltas = 0, whole;
	uint64_t visits = number(argv[5], 1000, 1000000000, usage);
	struct visits v = { 0 };
	folder = fresh_folder(argv[6]);
	known = listed / 4;
	params.fp_rate = 0.001;
	params.seed = SEED; /* a delta is small only between images of one seed */
	params.layered.exclude_keys = params.kind == WEIR_LAYERED ? known : 0;
	for (slots = 1; slots < 2 * listed; slots *= 2)
		;
	store = room_for(slots, sizeof *store);
	snprintf(image, NAME, "%s/list.weir", folder);
	snprintf(old_image, NAME, "%s/old", folder);
	snprintf(new_image, NAME, "%s/new", folder);
	snprintf(wire, NAME, "%s/wire", folder);
	double hourly = hours_pass(hours, changed, visits, &whole, &deltas, &v);
	double million = 1e6 / (double)(v.n - v.listed);
	printf("%s, %llu pages, %llu replaced an hour: the first image %.0f kB, then %.0f kB an "
	       "hour (%llu of %llu as deltas); of a million visits to safe pages %.0f second "
	       "checks, %.0f of them of the well-known\n", argv[1], (unsigned long long)listed,
	       (unsigned long long)changed, (double)whole * 1e-3, hourly * 1e-3,
	       (unsigned long long)deltas, (unsigned long long)hours,
	       (double)(v.checks - v.listed) * million, (double)v.known_checks * million);
	free(store);
	bool kept = promise(!v.missed && !v.wrong,
	                    "a warning of each page on the list, of no other");
	kept &= promise(v.known_checks == 0 || params.kind != WEIR_LAYERED,
	                "an exclude list needs no second check");
	kept &= promise(within(v.checks - v.listed, params.fp_rate, v.n - v.listed),
	                "second checks are as rare as asked");
	return !kept;
}

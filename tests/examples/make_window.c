/* SPDX-License-Identifier: MIT
 * Makes an image of a window of three generations of one second. The weir command cannot do that.
 * Each KEY gets its own generation. The last KEY gets the newest generation, which is SECONDS old
 * in the image. =N adds N more keys to the newest generation. make_window IMAGE LEVEL KEYED SECONDS
 * KEY... [=N] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/weir.h>

static uint64_t now_ns = 1000;

static uint64_t its_clock(void *unused)
{
	(void)unused;
	return now_ns;
}

static int failed(void)
{
	fprintf(stderr, "%s\n", weir_error_detail());
	return 1;
}

static int more(struct weir_filter *w, uint64_t n)
{
	int answer = 0;
	for (uint64_t k = 0; k < n && answer >= 0; k++)
		answer = weir_insert_u64(w, k);
	return answer < 0;
}

int main(int argc, char **argv)
{
	static const unsigned char secret[] = "0123456789abcdef";
	struct weir_params o = WEIR_PARAMS_INIT;
	struct weir_save_options save = WEIR_SAVE_OPTIONS_INIT;
	struct weir_filter *w;
	if (argc < 5) {
		fprintf(stderr, "make_window IMAGE LEVEL KEYED SECONDS KEY... [=N]\n");
		return 1;
	}
	o.kind = WEIR_WINDOW;
	o.window.generations = 3;
	o.capacity = 3000;
	o.fp_rate = 0.0001;
	o.window.span_seconds = 2;
	o.window.generation_keys = 1000;
	o.window.run.clock = its_clock;
	save.zstd_level = atoi(argv[2]);
	if (atoi(argv[3]))
		o.secret = secret;
	if (weir_create(&w, &o))
		return failed();
	for (int i = 5; i < argc; i++) {
		if (argv[i][0] == '=') {
			if (more(w, strtoull(argv[i] + 1, NULL, 10)))
				return failed();
			continue;
		}
		if (i > 5) {
			now_ns += 1000000000;
			if (weir_window_advance(w))
				return failed();
		}
		if (weir_insert(w, argv[i], strlen(argv[i])) != WEIR_NEW)
			return 1;
	}
	now_ns += (uint64_t)(atof(argv[4]) * 1e9);
	if (weir_save(w, weir_location_path(argv[1]), &save) < 0)
		return failed();
	weir_destroy(w);
	return 0;
}

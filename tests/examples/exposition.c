/* SPDX-License-Identifier: MIT
 * exposition handle: print the metrics of an empty handle. exposition: read metrics from standard
 * input with a strict reader, and print their names. */
#include "../exposition.h"
#include <weir/weir.h>

static int print_handle(void)
{
	static char text[4096];
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	struct weir_handle *h;
	params.capacity = 1000;
	params.fp_rate = 0.01;
	if (weir_create(&f, &params) || weir_handle_create(&h, f, NULL) ||
	    exposition_of(weir_metrics_handle(h, "set=\"a\""), text, sizeof text) < 0)
		return 2;
	fputs(text, stdout);
	return weir_handle_destroy(h) ? 2 : 0;
}

int main(int argc, char **argv)
{
	static char text[65536];
	static struct exposition e;
	if (argc > 1 && strcmp(argv[1], "handle") == 0)
		return print_handle();
	text[fread(text, 1, sizeof text - 1, stdin)] = '\0';
	if (!exposition_read(&e, text))
		return 1;
	for (unsigned i = 0; i < e.n; i++)
		puts(e.names[i]);
	return 0;
}

/* SPDX-License-Identifier: MIT
 * Write the metrics of a filter in the text format of Prometheus.
 * Prints:
 *     weir_capacity_keys{set="users"} 1000
 */
#include <stdio.h>
#include <string.h>
#include <weir/weir.h>

int main(void)
{
	static char text[65536];
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	params.capacity = 1000;
	params.fp_rate = 0.001;
	if (weir_create(&f, &params) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	struct weir_metrics of = weir_metrics_filter(f, "set=\"users\"");
	int64_t bytes = weir_metrics_write(&of, 1, text, sizeof text);
	if (bytes < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	const char *line = strstr(text, "\nweir_capacity_keys{");
	printf("%.*s\n", line ? (int)strcspn(line + 1, "\n") : 0,
	       line ? line + 1 : "");
	weir_destroy(f);
	return 0;
}

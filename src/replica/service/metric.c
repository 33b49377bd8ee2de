/* SPDX-License-Identifier: MIT
 * A node's figures for weir_metrics_write(). They have the names that weir replicate status gives
 * those of every node, so the same alerts serve. */
#include "service.h"

#define GAUGE(name, help, value) { "weir_replica_node_" name, help, (double)(value), 0, 0 }
#define COUNTER(name, help, value) { "weir_replica_node_" name, help, (double)(value), 1, 0 }

int weir_replica_metric(const void *replica, uint32_t i, struct weir_metric *out)
{
	struct weir_replica_stats s = WEIR_REPLICA_STATS_INIT;
	if (weir_replica_measure(replica, &s) != 0)
		return 0;
	const struct weir_metric of[] = {
		GAUGE("connected", "Whether the last exchange with redis succeeded.", s.connected),
		GAUGE("complete", "Whether it has all that it knows of.", s.complete),
		GAUGE("lacking_seconds", "For how long it has not.", (double)s.lacking_ms / 1000),
		GAUGE("generation", "That the node serves.", s.generation),
		GAUGE("newest_generation", "That redis was seen to have.", s.newest),
		GAUGE("refused", "A generation that it will not take; 0: none.", s.refused),
		COUNTER("batches_total", "Batches of all nodes that it has applied.",
		        s.batches_read),
		GAUGE("retained_bytes", "Of batches that could still be lost.", s.retained_bytes),
		GAUGE("not_replicated", "Inserts that the node keeps to itself.", s.not_replicated),
		COUNTER("failures_total", "Exchanges with redis that failed.", s.failures),
		GAUGE("failing", "Whether it reports an error.", s.error[0] != '\0'),
		GAUGE("image_here_bytes", "Of an image on its way to the node.", s.image_here),
		GAUGE("image_bytes", "Of that image as a whole; 0: none is.", s.image_bytes),
	};
	if (i >= sizeof of / sizeof *of)
		return 0;
	*out = of[i];
	return 1;
}

/* SPDX-License-Identifier: MIT
 * Labels of Prometheus text, as a caller gives them: name="value",name="value". */
#ifndef WEIR_SRC_METRICS_LABELS_H
#define WEIR_SRC_METRICS_LABELS_H

/* Return: 0, also for NULL and ""; or -EINVAL with the place and what should be there. */
int weir__labels_check(const char *labels);

#endif

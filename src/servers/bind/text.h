/* SPDX-License-Identifier: MIT
 * The text of the statistics file. */
#ifndef WEIR_SERVERS_BIND_TEXT_H
#define WEIR_SERVERS_BIND_TEXT_H

struct report_part;

/* Return: the metrics of the parts from the head of their list, to be freed; NULL: no memory, or
 * weir_error_detail() has a sentence. */
char *text_of(const struct report_part *parts);

#endif

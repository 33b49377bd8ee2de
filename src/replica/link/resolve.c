/* SPDX-License-Identifier: MIT
 * Resolve a host name within a time limit. If a name server hangs, getaddrinfo() blocks as long as
 * resolv.conf allows. So this file calls getaddrinfo_a(), which asks on at most 20 threads of
 * glibc. These threads run none of our code, so a module may be unloaded while they run. A query
 * that times out stays pending, and the next try for the same host waits for the same query, since
 * an answer may take longer than one try. */
#include "wire.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir/error.h>

enum { CHECK_MS = 20,      /* milliseconds between two checks for an interruption */
       FRESH_MS = 60000 }; /* milliseconds for which a pending query can be used */

struct query {
	struct query *next;
	struct gaicb of;
	struct addrinfo hints;
	uint64_t asked;
	char port[6], host[WEIR_HOST_NAME];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct query *pending;

static void free_query(struct query *q)
{
	if (q->of.ar_result)
		freeaddrinfo(q->of.ar_result);
	free(q);
}

/* Take a query for this host off the list, if there is one, and free all other queries that have
 * ended. */
static struct query *claim_pending(const struct weir_host *host, const char *port)
{
	struct query *found = NULL;
	pthread_mutex_lock(&lock);
	for (struct query **at = &pending, *q; (q = *at) != NULL;) {
		const int answer = gai_error(&q->of);
		const bool fits = !found && (!answer || answer == EAI_INPROGRESS) &&
			strcmp(q->host, host->name) == 0 && strcmp(q->port, port) == 0 &&
			weir__wire_now() - q->asked < FRESH_MS;
		if (fits)
			found = q;
		if (fits || answer != EAI_INPROGRESS)
			*at = q->next;
		else
			at = &q->next;
		if (!fits && answer != EAI_INPROGRESS)
			free_query(q);
	}
	pthread_mutex_unlock(&lock);
	return found;
}

static void add_pending(struct query *q)
{
	pthread_mutex_lock(&lock);
	q->next = pending;
	pending = q;
	pthread_mutex_unlock(&lock);
}

/* Return: 0 or an error of getaddrinfo_a(). */
static int start_query(struct query **out, const struct weir_host *host, const char *port)
{
	struct query *q = *out = calloc(1, sizeof *q);
	if (!q)
		return EAI_MEMORY;
	snprintf(q->host, sizeof q->host, "%s", host->name);
	snprintf(q->port, sizeof q->port, "%s", port);
	q->asked = weir__wire_now();
	q->hints.ai_socktype = SOCK_STREAM;
	q->of.ar_name = q->host;
	q->of.ar_service = q->port;
	q->of.ar_request = &q->hints;
	return getaddrinfo_a(GAI_NOWAIT, (struct gaicb *[]){ &q->of }, 1, NULL);
}

int weir__resolve(const struct weir_stream *s, const struct weir_host *host, uint64_t end,
                  struct addrinfo **out)
{
	const struct addrinfo numbers = { .ai_socktype = SOCK_STREAM,
		                          .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	const struct timespec slice = { .tv_nsec = CHECK_MS * 1000000L };
	char port[6];
	snprintf(port, sizeof port, "%u", (unsigned)host->port);
	if (getaddrinfo(host->name, port, &numbers, out) == 0)
		return 0;
	struct query *q = claim_pending(host, port);
	int answer = q ? 0 : start_query(&q, host, port);
	while (!answer && (answer = gai_error(&q->of)) == EAI_INPROGRESS) {
		const bool stop = weir__stream_interrupted(s);
		if (stop || weir__wire_now() >= end) {
			add_pending(q);
			return stop ? weir_fail(-ECANCELED, "%s: interrupted", s->peer) :
				weir_fail(-ETIMEDOUT, "%s: no address of this name in time: see "
				          "whether its server of names answers", s->peer);
		}
		(void)gai_suspend((const struct gaicb *[]){ &q->of }, 1, &slice);
		answer = 0;
	}
	if (!answer) {
		*out = q->of.ar_result;
		q->of.ar_result = NULL;
	}
	if (q)
		free_query(q);
	return !answer ? 0 : weir_fail(answer == EAI_MEMORY ? -ENOMEM : -EHOSTUNREACH, "%s: %s",
	                               s->peer, gai_strerror(answer));
}

/* SPDX-License-Identifier: MIT
 * Addresses of a name, within a time. A server of names that hangs holds getaddrinfo() for as long
 * as resolv.conf says, so glibc asks on threads of its own (getaddrinfo_a): at most 20 of them, and
 * none runs code of ours, so that a module may be unloaded meanwhile. A question that is not
 * answered in time cannot be taken back. It is put aside: the next try to this host goes on with
 * it, since its answer may always take longer than a try does. */
#include "wire.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir/error.h>

enum { SLICE = 20,      /* milliseconds, after which an interruption is noticed */
       FRESH = 60000 }; /* how old an answer may be */

struct question {
	struct question *next;
	struct gaicb of;
	struct addrinfo hints;
	uint64_t asked;
	char port[6];
	char host[WEIR_HOST_NAME];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct question *aside;

static void drop(struct question *q)
{
	if (q->of.ar_result)
		freeaddrinfo(q->of.ar_result);
	free(q);
}

/* Take a question about this host that was put aside, and free those that were answered. */
static struct question *take(const struct weir_host *host, const char *port)
{
	struct question *found = NULL;
	pthread_mutex_lock(&lock);
	for (struct question **at = &aside; *at;) {
		struct question *q = *at;
		const int answer = gai_error(&q->of);
		bool fits = (!answer || answer == EAI_INPROGRESS) &&
			strcmp(q->host, host->name) == 0 && strcmp(q->port, port) == 0 &&
			weir__wire_now() - q->asked < FRESH;
		if (!found && fits)
			found = q;
		if (found != q && answer == EAI_INPROGRESS) {
			at = &q->next;
			continue;
		}
		*at = q->next;
		if (found != q)
			drop(q);
	}
	pthread_mutex_unlock(&lock);
	return found;
}

static struct question *make(const struct weir_host *host, const char *port)
{
	struct question *q = calloc(1, sizeof *q);
	if (!q)
		return NULL;
	snprintf(q->host, sizeof q->host, "%s", host->name);
	snprintf(q->port, sizeof q->port, "%s", port);
	q->hints.ai_socktype = SOCK_STREAM;
	q->asked = weir__wire_now();
	q->of.ar_name = q->host;
	q->of.ar_service = q->port;
	q->of.ar_request = &q->hints;
	struct gaicb *list[] = { &q->of };
	if (getaddrinfo_a(GAI_NOWAIT, list, 1, NULL) == 0)
		return q;
	free(q);
	return NULL;
}

/* Return: EAI_INPROGRESS and *err, or the answer. */
static int wait_for(struct question *q, const struct weir_stream *s, uint64_t end, int *err)
{
	const struct gaicb *const list[] = { &q->of };
	const struct timespec slice = { .tv_nsec = SLICE * 1000000L };
	int answer;
	while ((answer = gai_error(&q->of)) == EAI_INPROGRESS && !*err) {
		if (weir__stream_interrupted(s))
			*err = weir_fail(-ECANCELED, "%s: interrupted", s->peer);
		else if (weir__wire_now() >= end)
			*err = weir_fail(-ETIMEDOUT, "%s: no address of this name in time: see "
			                 "whether its server of names answers", s->peer);
		else
			(void)gai_suspend(list, 1, &slice);
	}
	return answer;
}

static int ask(const struct weir_stream *s, const struct weir_host *host, const char *port,
               uint64_t end, struct addrinfo **out)
{
	int err = 0;
	struct question *q = take(host, port);
	if (!q)
		q = make(host, port);
	if (!q)
		return weir_fail(-ENOMEM, "%s: no memory to look for its address", s->peer);
	int answer = wait_for(q, s, end, &err);
	if (answer == EAI_INPROGRESS && gai_cancel(&q->of) == EAI_NOTCANCELED) {
		pthread_mutex_lock(&lock);
		q->next = aside;
		aside = q;
		pthread_mutex_unlock(&lock);
		return err;
	}
	*out = q->of.ar_result;
	q->of.ar_result = NULL;
	if (answer && !err)
		err = weir_fail(answer == EAI_MEMORY ? -ENOMEM : -EHOSTUNREACH, "%s: %s", s->peer,
		                gai_strerror(answer));
	drop(q);
	return err;
}

int weir__resolve(const struct weir_stream *s, const struct weir_host *host, uint64_t end,
                  struct addrinfo **out)
{
	const struct addrinfo numbers = { .ai_socktype = SOCK_STREAM,
		                          .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	char port[6];
	snprintf(port, sizeof port, "%u", (unsigned)host->port);
	/* numbers need no server */
	return getaddrinfo(host->name, port, &numbers, out) == 0 ? 0 : ask(s, host, port, end, out);
}

/* SPDX-License-Identifier: MIT
 * glibc looks for names on threads of its own (getaddrinfo_a), since a server of names that hangs
 * holds getaddrinfo() for as long as resolv.conf says. A question that nobody waits for any more
 * cannot be taken back while such a thread has it: it is put aside, and a later one frees it when
 * it is answered. */
#include "stream.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weir/error.h>
#include "../clock.h"

enum { SLICE = 20 }; /* milliseconds, after which an interruption is noticed */

struct question {
	struct question *next;
	struct gaicb of;
	struct addrinfo hints;
	char service[6];
	char host[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct question *aside;

static void drop(struct question *q)
{
	if (q->of.ar_result)
		freeaddrinfo(q->of.ar_result);
	free(q);
}

static void put_aside(struct question *q)
{
	pthread_mutex_lock(&lock);
	q->next = aside;
	aside = q;
	pthread_mutex_unlock(&lock);
}

static void free_answered(void)
{
	pthread_mutex_lock(&lock);
	for (struct question **at = &aside; *at;) {
		struct question *q = *at;
		if (gai_error(&q->of) == EAI_INPROGRESS) {
			at = &q->next;
			continue;
		}
		*at = q->next;
		drop(q);
	}
	pthread_mutex_unlock(&lock);
}

static struct question *make(const char *host, uint16_t port)
{
	size_t len = strlen(host) + 1;
	struct question *q = calloc(1, sizeof *q + len);
	if (!q)
		return NULL;
	memcpy(q->host, host, len);
	snprintf(q->service, sizeof q->service, "%u", (unsigned)port);
	q->hints = (struct addrinfo){ .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	q->of = (struct gaicb){ .ar_name = q->host, .ar_service = q->service,
		                .ar_request = &q->hints };
	return q;
}

/* Return: EAI_INPROGRESS and *err, or the answer. */
static int wait_for(struct question *q, const struct weir_byte_stream *s, uint32_t milliseconds,
                    int *err)
{
	const struct gaicb *const list[] = { &q->of };
	const struct timespec slice = { .tv_nsec = SLICE * 1000000L };
	const uint64_t end = weir__now_ms() + milliseconds;
	int answer;
	while ((answer = gai_error(&q->of)) == EAI_INPROGRESS) {
		if (weir__stream_interrupted(s)) {
			*err = weir_fail(-ECANCELED, "%s: interrupted", s->peer);
			break;
		}
		if (weir__now_ms() >= end) {
			*err = weir_fail(-ETIMEDOUT, "%s: no address of this name within %u ms",
			                 s->peer, milliseconds);
			break;
		}
		(void)gai_suspend(list, 1, &slice);
	}
	return answer;
}

static int ask(struct question *q, const struct weir_byte_stream *s, uint32_t milliseconds,
               struct addrinfo **out)
{
	struct gaicb *list[] = { &q->of };
	int err = 0, answer = getaddrinfo_a(GAI_NOWAIT, list, 1, NULL);
	if (!answer)
		answer = wait_for(q, s, milliseconds, &err);
	if (answer == EAI_INPROGRESS && gai_cancel(&q->of) == EAI_NOTCANCELED) {
		put_aside(q);
		return err;
	}
	if (!answer) {
		*out = q->of.ar_result;
		q->of.ar_result = NULL;
	} else if (!err) {
		err = weir_fail(answer == EAI_MEMORY ? -ENOMEM : -EHOSTUNREACH, "%s: %s", s->peer,
		                gai_strerror(answer));
	}
	drop(q);
	return err;
}

/* Numbers need no server. Return: whether it is one. */
static bool is_number(const char *host, uint16_t port, struct addrinfo **out)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM,
		                        .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	char service[6];
	snprintf(service, sizeof service, "%u", (unsigned)port);
	return getaddrinfo(host, service, &hints, out) == 0;
}

int weir__resolve(const struct weir_byte_stream *s, const char *host, uint16_t port,
                  uint32_t milliseconds, struct addrinfo **out)
{
	if (is_number(host, port, out))
		return 0;
	free_answered();
	struct question *q = make(host, port);
	return q ? ask(q, s, milliseconds, out) :
	           weir_fail(-ENOMEM, "%s: no memory to look for its address", s->peer);
}

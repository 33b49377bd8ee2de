/* SPDX-License-Identifier: MIT
 * A connection for tests of the other end: OPTION=VALUE... on the command line, then a command a
 * line on standard input, words separated by blanks. Each is answered by a line: OK and the answer,
 * or ERRNO and the sentence. Lines of its own: @heard: how many messages came within a second,
 * @subscribe CHANNEL, @number: how many connections there have been, @rss: kilobytes of memory. */
#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <weir/error.h>
#include "wire.h"

static void print(const redisReply *r, unsigned depth)
{
	switch (r->type) {
	case REDIS_REPLY_INTEGER:
		printf("%lld", r->integer);
		break;
	case REDIS_REPLY_NIL:
		printf("nil");
		break;
	case REDIS_REPLY_ARRAY:
		printf("[");
		for (size_t i = 0; i < r->elements && i < 20; i++) {
			printf("%s", i ? " " : "");
			print(r->element[i], depth + 1);
		}
		printf("]");
		break;
	default:
		printf("%s%.*s", r->type == REDIS_REPLY_ERROR ? "error:" : "",
		       r->len < 100 ? (int)r->len : 100, r->str);
	}
}

static void call(struct weir_wire *w, char *line)
{
	struct iovec args[64];
	size_t n = 0;
	redisReply *reply;
	for (char *at = strtok(line, " "); at && n < 64; at = strtok(NULL, " "))
		args[n++] = (struct iovec){ at, strlen(at) };
	int err = weir__wire_call(w, args, n, &reply);
	if (err) {
		printf("%s %s\n", weir_error_name(err), weir_error_detail());
		return;
	}
	printf("OK ");
	print(reply, 0);
	printf("\n");
	freeReplyObject(reply);
}

static void own(struct weir_wire *w, char *line)
{
	struct rusage u;
	int n = 0;
	if (strncmp(line, "@subscribe ", 11) == 0) {
		n = weir__wire_subscribe(w, line + 11);
	} else if (strcmp(line, "@heard") == 0) {
		struct pollfd fd = { .fd = weir__wire_fd(w), .events = POLLIN };
		(void)weir__wire_wait(w, &fd, 1, 1000);
		n = weir__wire_heard(w);
	} else if (strcmp(line, "@number") == 0) {
		n = (int)weir__wire_number(w);
	} else if (strcmp(line, "@rss") == 0 && getrusage(RUSAGE_SELF, &u) == 0) {
		n = (int)u.ru_maxrss;
	}
	if (n < 0)
		printf("%s %s\n", weir_error_name(n), weir_error_detail());
	else
		printf("OK %d\n", n);
}

static void take(struct weir_wire_options *o, char *word)
{
	const struct {
		const char *name;
		const char **text;
		uint32_t *number;
	} known[] = {
		{ "url=", &o->url, NULL },
		{ "user=", &o->user, NULL },
		{ "password=", &o->password, NULL },
		{ "password_file=", &o->password_file, NULL },
		{ "sentinel_password=", &o->sentinel_password, NULL },
		{ "ca=", &o->ca_file, NULL },
		{ "cert=", &o->cert_file, NULL },
		{ "key=", &o->key_file, NULL },
		{ "name=", &o->server_name, NULL },
		{ "client=", &o->client_name, NULL },
		{ "connect=", NULL, &o->connect_ms },
		{ "answer=", NULL, &o->answer_ms },
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		size_t n = strlen(known[i].name);
		if (strncmp(word, known[i].name, n) != 0)
			continue;
		if (known[i].text)
			*known[i].text = word + n;
		else
			*known[i].number = (uint32_t)strtoul(word + n, NULL, 10);
		return;
	}
	if (strncmp(word, "max=", 4) == 0)
		o->max_bytes = strtoull(word + 4, NULL, 10);
	else if (strcmp(word, "insecure") == 0)
		o->insecure = true;
	else
		exit(2);
}

int main(int argc, char **argv)
{
	struct weir_wire_options o = { .url = NULL };
	struct weir_wire *w;
	static char line[1 << 20];
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc; i++)
		take(&o, argv[i]);
	int err = weir__wire_open(&w, &o);
	if (err) {
		printf("%s %s\n", weir_error_name(err), weir_error_detail());
		return 1;
	}
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line == '@')
			own(w, line);
		else
			call(w, line);
	}
	weir__wire_close(w);
	return 0;
}

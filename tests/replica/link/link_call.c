/* SPDX-License-Identifier: MIT
 * Drives a link for tests that play the server. The command line has OPTION=VALUE... Standard input
 * has one command a line, with blanks between words. The answer to a command is one line: OK
 * and the reply, or ERRNO and the sentence. Lines with @ are for the program itself:
 *     @send COMMAND, @receive MS, @take MS   weir__link_send(), _receive(), _poll()
 *     @ready MS      wait until the connection can be read
 *     @beside ...    run the line on a second link; "@beside @close" closes the second link
 *     @moved, @number, @peer, @rest          see link.h
 *     @rss           the largest memory use, in kilobytes
 *     @stop MS       interrupt the next call after MS milliseconds, from another thread
 *     @close         close both links and print the number of open descriptors */
#include <dirent.h>
#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <weir/error.h>
#include "link.h"

static struct weir_link *first, *beside;

static void print(const redisReply *r)
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
			print(r->element[i]);
		}
		printf("]");
		break;
	default:
		printf("%s%.*s", r->type == REDIS_REPLY_ERROR ? "error:" : "",
		       r->len < 100 ? (int)r->len : 100, r->str);
	}
}

/* Print the result of a call. @reply: NULL: print @err instead of an answer. */
static void say(int err, redisReply *reply)
{
	if (err < 0)
		printf("%s %s", weir_error_name(err), weir_error_detail());
	else if (reply)
		printf("OK "), print(reply);
	else
		printf("OK %d", err);
	printf("\n");
	freeReplyObject(reply);
}

static size_t split(struct iovec args[64], char *line)
{
	size_t n = 0;
	for (char *at = strtok(line, " "); at && n < 64; at = strtok(NULL, " "))
		args[n++] = (struct iovec){ at, strlen(at) };
	return n;
}

static int descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int n = -3; /* do not count the folder's own descriptor, . and .. */
	while (folder && readdir(folder))
		n++;
	closedir(folder);
	return n;
}

static struct weir_link *interrupted;

static void *interrupt(void *ms)
{
	const long long n = (long long)(intptr_t)ms;
	nanosleep(&(struct timespec){ n / 1000, n % 1000 * 1000000 }, NULL);
	weir__link_interrupt(interrupted);
	return NULL;
}

static int stop(struct weir_link *l, const char *ms)
{
	pthread_t t;
	interrupted = l;
	int err = pthread_create(&t, NULL, interrupt, (void *)(intptr_t)atoi(ms));
	return err ? -err : -pthread_detach(t);
}

static const char *after(const char *line, const char *word)
{
	size_t n = strlen(word);
	return strncmp(line, word, n) == 0 ? line + n : NULL;
}

static void own(struct weir_link *l, char *line)
{
	struct rusage u;
	struct iovec args[64];
	redisReply *reply = NULL;
	const char *at;
	int n = 0;
	if ((at = after(line, "@send ")) != NULL) {
		size_t words = split(args, line + 6);
		n = weir__link_send(l, args, words);
	} else if ((at = after(line, "@receive ")) != NULL) {
		n = weir__link_receive(l, (uint32_t)atoi(at), &reply);
	} else if ((at = after(line, "@take ")) != NULL) {
		n = weir__link_poll(l, (uint32_t)atoi(at), &reply);
	} else if ((at = after(line, "@ready ")) != NULL) {
		n = poll(&(struct pollfd){ .fd = weir__link_fd(l), .events = POLLIN }, 1, atoi(at));
	} else if ((at = after(line, "@stop ")) != NULL) {
		n = stop(l, at);
	} else if (strcmp(line, "@moved") == 0) {
		n = weir__link_master_moved(l);
	} else if (strcmp(line, "@number") == 0) {
		n = (int)weir__link_connections(l);
	} else if (strcmp(line, "@rest") == 0) {
		weir__link_reset(l);
	} else if (strcmp(line, "@rss") == 0 && getrusage(RUSAGE_SELF, &u) == 0) {
		n = (int)u.ru_maxrss;
	} else if (strcmp(line, "@peer") == 0) {
		printf("OK %s\n", weir__link_peer(l));
		return;
	}
	say(n, reply);
}

static void one(struct weir_link *l, char *line)
{
	struct iovec args[64];
	redisReply *reply;
	if (*line == '@') {
		own(l, line);
		return;
	}
	size_t n = split(args, line);
	int err = weir__link_call(l, args, n, &reply);
	say(err, reply);
}

static void serve(char *line)
{
	if (strcmp(line, "@close") == 0) {
		weir__link_close(beside);
		weir__link_close(first);
		first = beside = NULL;
		printf("OK %d\n", descriptors());
	} else if (strcmp(line, "@beside @close") == 0) {
		weir__link_close(beside);
		beside = NULL;
		printf("OK 0\n");
	} else if (after(line, "@beside ")) {
		int err = beside ? 0 : weir__link_open_second(&beside, first);
		if (err)
			say(err, NULL);
		else
			one(beside, line + 8);
	} else {
		one(first, line);
	}
}

static void take(struct weir_link_options *o, char *word)
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
		{ "sentinel_user=", &o->sentinel_user, NULL },
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
		const char *value = after(word, known[i].name);
		if (!value)
			continue;
		if (known[i].text)
			*known[i].text = value;
		else
			*known[i].number = (uint32_t)strtoul(value, NULL, 10);
		return;
	}
	if (after(word, "max="))
		o->max_bytes = strtoull(word + 4, NULL, 10);
	else if (strcmp(word, "insecure") == 0)
		o->insecure = true;
	else
		exit(2);
}

int main(int argc, char **argv)
{
	/* Connecting may take long on a busy machine. */
	struct weir_link_options o = { .connect_ms = 30000 };
	static char line[1 << 20];
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc; i++)
		take(&o, argv[i]);
	int err = weir__link_open(&first, &o);
	if (err) {
		say(err, NULL);
		return 0;
	}
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = '\0';
		serve(line);
	}
	weir__link_close(beside);
	weir__link_close(first);
	return 0;
}

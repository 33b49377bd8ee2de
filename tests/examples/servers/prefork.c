/* SPDX-License-Identifier: MIT
 * An example: a server of processes that share one mapped image. The parent maps the image before
 * it forks, so that all children read the same pages. At SIGHUP the parent maps the image anew,
 * starts new children and lets the old children end. A set that no child changes needs no handle.
 *
 *     prefork IMAGE CHILDREN [PORT]    listens on 127.0.0.1; SIGTERM ends it
 *
 *     ? KEY     answers "no", or "maybe" if the client must ask the store
 *
 * A nightly job builds the image, from a file in /etc/cron.d. An image that is mapped must be
 * replaced by renaming, as weir does it, and never written to: if a mapped file shrinks, its
 * readers die (SIGBUS).
 *
 *     PATH=/usr/local/bin:/usr/bin:/bin
 *     17 3 * * *  app  weir build -q -p 0.001 -o /srv/set.weir /srv/keys && pkill -HUP -ox prefork
 */
#define _GNU_SOURCE /* accept4 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <weir/weir.h>
#include "lines.h"

enum { MOST = 64 };

static int listener;
static pid_t parent, children[MOST];
static int wanted;

static volatile sig_atomic_t ending; /* true: this child exits after its current connection */

static void end_soon(int number)
{
	(void)number;
	ending = 1;
}

struct connection {
	int s;
	const struct weir_filter *set;
};

static void answer(void *context, char *line, size_t len)
{
	struct connection *c = context;
	if (len > 2 && !memcmp(line, "? ", 2))
		reply(c->s, weir_contains(c->set, line + 2, len - 2) ? "maybe\n" : "no\n");
	else
		reply(c->s, "error: ? KEY\n");
}

/* Serve one connection after the other. SIGTERM is blocked except during the wait for the next
 * connection, so that no signal is lost between the check of ending and the wait. */
static void child(const struct weir_filter *set, const sigset_t *waiting)
{
	struct sigaction soon = { .sa_handler = end_soon };
	sigaction(SIGTERM, &soon, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM); /* the child ends with its parent */
	if (getppid() != parent)
		_exit(0);
	while (!ending) {
		fd_set ready;
		FD_ZERO(&ready);
		FD_SET(listener, &ready);
		if (pselect(listener + 1, &ready, NULL, NULL, NULL, waiting) < 0)
			continue;
		struct connection c = { accept4(listener, NULL, NULL, SOCK_CLOEXEC), set };
		struct lines lines = { .used = 0 };
		if (c.s < 0)
			continue; /* another child was faster */
		struct timeval idle = { .tv_sec = 5 };
		setsockopt(c.s, SOL_SOCKET, SO_RCVTIMEO, &idle, sizeof idle);
		while (read_lines(&lines, c.s, answer, &c) > 0)
			;
		close(c.s);
	}
	_exit(0);
}

static pid_t start_child(const struct weir_filter *set, const sigset_t *waiting)
{
	pid_t pid = fork();
	if (pid == 0)
		child(set, waiting);
	if (pid < 0)
		perror("fork");
	return pid;
}

static void stop_child(pid_t pid)
{
	if (pid > 0) /* pid is -1 after a failed fork; kill(-1) would signal every process */
		kill(pid, SIGTERM);
}

/* Start new children with the current image, and stop the old children. If the image cannot be
 * mapped, the old children go on. */
static void renew(struct weir_filter **set, const char *image, const sigset_t *waiting)
{
	struct weir_filter *next;
	if (weir_load(&next, weir_location_map(image, WEIR_MAP_READ), NULL) < 0) {
		fprintf(stderr, "the set stays as it is: %s\n", weir_error_detail());
		return;
	}
	for (int i = 0; i < wanted; i++) {
		pid_t old = children[i];
		children[i] = start_child(next, waiting);
		stop_child(old);
	}
	weir_destroy(*set); /* the old children have their own mappings */
	*set = next;
	fprintf(stderr, "%d children serve %s\n", wanted, image);
}

/* Start a new child for each child that has ended by itself. */
static void replace_ended(const struct weir_filter *set, const sigset_t *waiting)
{
	for (pid_t pid; (pid = waitpid(-1, NULL, WNOHANG)) > 0;)
		for (int i = 0; i < wanted; i++)
			if (children[i] == pid)
				children[i] = start_child(set, waiting);
}

int main(int argc, char **argv)
{
	unsigned short port = argc > 3 ? (unsigned short)atoi(argv[3]) : 0;
	struct weir_filter *set = NULL;
	sigset_t handled, waiting;
	wanted = argc > 2 ? atoi(argv[2]) : 0;
	if (argc < 3 || argc > 4 || wanted < 1 || wanted > MOST) {
		fprintf(stderr, "usage: %s IMAGE CHILDREN [PORT], CHILDREN from 1 to %d\n",
		        argv[0], MOST);
		return 2;
	}
	sigemptyset(&handled);
	for (size_t i = 0; i < 4; i++)
		sigaddset(&handled, (const int[]){ SIGTERM, SIGINT, SIGHUP, SIGCHLD }[i]);
	sigprocmask(SIG_BLOCK, &handled, &waiting);
	parent = getpid();
	listener = listen_on(&port, SOCK_NONBLOCK);
	if (listener < 0) {
		perror(argv[0]);
		return 1;
	}
	renew(&set, argv[1], &waiting);
	if (!set)
		return 1;
	printf("listening on %u\n", port);
	fflush(stdout);
	for (int number; sigwait(&handled, &number) == 0;) {
		if (number == SIGHUP)
			renew(&set, argv[1], &waiting);
		else if (number == SIGCHLD)
			replace_ended(set, &waiting);
		else
			break;
	}
	for (int i = 0; i < wanted; i++)
		stop_child(children[i]);
	while (wait(NULL) > 0 || errno == EINTR)
		;
	weir_destroy(set);
	return 0;
}

/* SPDX-License-Identifier: MIT
 * A server as a child of the example. The child is killed when this process ends in any way. The
 * child's messages go to standard error. */
#ifndef WEIR_EXAMPLES_CHILD_H
#define WEIR_EXAMPLES_CHILD_H

#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "../example.h"

enum { SKIPPED = 77 };

/* @user: the user of the child if this process is root, or NULL. A change of user clears the
 * parent-death signal, so prctl() comes after it. */
static inline _Noreturn void become(const struct passwd *user, char *const argv[])
{
	if (user && (setgroups(0, NULL) || setgid(user->pw_gid) || setuid(user->pw_uid)))
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (chdir("/") || dup2(nowhere, STDOUT_FILENO) < 0)
		_exit(1);
	execvp(argv[0], argv);
	_exit(SKIPPED);
}

static inline pid_t start_child(const struct passwd *user, char *const argv[])
{
	const pid_t child = fork();
	must(child < 0 ? -errno : 0, "fork");
	if (child == 0)
		become(user, argv);
	return child;
}

/* Return: the child's exit status; -1 if a signal ended it. */
static inline int wait_for(pid_t child)
{
	int status = 0;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline void stop_child(pid_t child, int signal)
{
	if (child > 0 && kill(child, signal) == 0)
		wait_for(child);
}

/* Return: true if the child has ended by itself; *child is then 0. */
static inline bool child_ended(pid_t *child)
{
	if (*child > 0 && waitpid(*child, NULL, WNOHANG) == *child)
		*child = 0;
	return *child == 0;
}

#endif

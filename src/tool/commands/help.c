/* SPDX-License-Identifier: MIT
 * weir help COMMAND: runs man(1) for the command's page. */
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include "commands.h"
#include "output/say.h"

enum { NO_MAN = 127 }; /* man could not be run; shells exit with 127 in this case */

/* Replaces this process, a child of fork(), by man. First restores the default actions of the
 * signals that weir ignores, since man would inherit them as ignored. */
static _Noreturn void become_man(char *page)
{
	static char man[] = "man";
	char *argv[] = { man, page, NULL };
	(void)signal(SIGXFSZ, SIG_DFL);
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGQUIT, SIG_DFL);
	execvp(man, argv);
	_exit(NO_MAN);
}

/* Return: the exit status of man; NO_MAN if it could not run or a signal ended it. */
static int run_man(char *page)
{
	/* Ignore Ctrl-C and Ctrl-\ while man runs, so that they act only on man and its pager. */
	void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
	void (*quit)(int) = signal(SIGQUIT, SIG_IGN);
	int status = 0;
	pid_t child = fork();
	if (child == 0)
		become_man(page);
	bool ended = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
	(void)signal(SIGINT, interrupt);
	(void)signal(SIGQUIT, quit);
	return ended ? WEXITSTATUS(status) : NO_MAN;
}

bool help_shows(const char *command, const char *part)
{
	char page[64];
	snprintf(page, sizeof page, "weir-%s%s%s", command, part ? "-" : "", part ? part : "");
	int status = run_man(page);
	if (status == 0)
		return true;
	if (status == NO_MAN)
		say("cannot run man: install man-db; the page is %s/man1/%s.1", WEIR_MAN_FOLDER,
		    page);
	else
		say("man does not show %s(1), whose place is %s/man1/%s.1: install weir there, or "
		    "add that man folder to MANPATH", page, WEIR_MAN_FOLDER, page);
	return false;
}

/* SPDX-License-Identifier: MIT
 * Decides which call fails. The wrapped calls are in shim_files.c, shim_memory.c and
 * shim_waits.c. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "shim.h"

struct shim shim;

static void look(const struct shim_call *call)
{
	void (*looks)(const struct shim_call *) = shim.look;
	if (!looks)
		return;
	shim.look = NULL;
	looks(call);
	shim.look = looks;
}

static bool refused(const char *what)
{
	return (shim.refused && strcmp(what, shim.refused) == 0) ||
	       (shim.refused2 && strcmp(what, shim.refused2) == 0);
}

bool shim_strikes(const struct shim_call *call)
{
	look(call);
	if (refused(call->what)) {
		errno = shim.refused_error;
		return true;
	}
	if (!shim.armed || ++shim.calls != shim.at)
		return false;
	shim.what = call->what;
	if (shim.die)
		kill(getpid(), SIGKILL);
	errno = shim.error;
	return true;
}

void shim_done(struct shim_call *call)
{
	call->done = true;
	look(call);
}

bool shim_ignored(const char *what)
{
	return shim.ignored && strcmp(what, shim.ignored) == 0 && shim.ignored_at &&
	       --shim.ignored_at == 0;
}

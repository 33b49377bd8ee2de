/* SPDX-License-Identifier: MIT
 * det: runs executions until the strategy ends or an execution fails. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "det_internal.h"

struct det det;

bool det_running(void)
{
	return det.running;
}

void det_fail(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(det.result.why, sizeof det.result.why, format, args);
	va_end(args);
	det.result.failed = true;
	_longjmp(det.scheduler, DET_GIVEN_UP);
}

static void call_body(void *body)
{
	(*(void (**)(void))body)();
}

static void execute(void (**body)(void))
{
	det.execution++;
	det.step = 0;
	det_threads_begin();
	det_memory_begin();
	det_heap_begin();
	det_sync_begin();
	det_rcu_begin();
	det_choose_begin();
	det_spawn(call_body, (void *)body);
	det.current = -1;
	int left = _setjmp(det.scheduler);
	if (!left)
		det_resume(det_choose_thread());
	if (left == DET_GIVEN_UP)
		det_threads_abandon();
}

struct det_result det_run(const struct det_options *options, void (*body)(void))
{
	bool more = true;
	memset(&det.result, 0, sizeof det.result);
	det.options = *options;
	det_random_seed(options->seed);
	det_choose_replay(options->replay);
	while (more) {
		det.running = true;
		execute(&body);
		det.running = false;
		det.result.executions++;
		more = !det.result.failed && !options->replay;
		if (more && options->strategy == DET_DFS && !det_choose_next()) {
			det.result.complete = !det.result.forgotten;
			more = false;
		}
		if (options->executions && det.result.executions >= options->executions)
			more = false;
	}
	if (det.result.failed)
		det_choose_print(det.result.schedule, sizeof det.result.schedule);
	return det.result;
}

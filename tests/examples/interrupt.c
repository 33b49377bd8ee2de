/* SPDX-License-Identifier: MIT
 * A library to preload under the weir command. Every two milliseconds its thread sends a signal to
 * each other thread. The handler does not restart system calls, so blocking calls fail with
 * EINTR. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void nothing(int number)
{
	(void)number;
}

static void *interrupt_all(void *unused)
{
	for (;;) {
		DIR *threads = opendir("/proc/self/task");
		for (struct dirent *one; threads && (one = readdir(threads)) != NULL;) {
			long id = atol(one->d_name);
			if (id > 0 && id != syscall(SYS_gettid))
				syscall(SYS_tgkill, getpid(), id, SIGUSR2);
		}
		if (threads)
			closedir(threads);
		usleep(2000);
	}
	return unused;
}

__attribute__((constructor)) static void begin(void)
{
	const struct sigaction action = { .sa_handler = nothing };
	pthread_t thread;
	sigaction(SIGUSR2, &action, NULL);
	pthread_create(&thread, NULL, interrupt_all, NULL);
}

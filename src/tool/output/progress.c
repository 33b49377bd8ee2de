/* SPDX-License-Identifier: MIT
 * Draws and wipes the progress line. The stdio lock of stderr guards the line, since the main
 * thread draws it and messages of other threads wipe it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include "progress.h"
#include "units.h"

static struct {
	bool allowed, drawn;
	const char *what;
	double began, last;
} line;

double seconds_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void progress_allow(bool wanted)
{
	const char *terminal = getenv("TERM");
	line.allowed = wanted && isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

void progress_begin(const char *what)
{
	line.what = what;
	line.began = seconds_now();
	line.last = 0.0;
}

static int terminal_columns(void)
{
	struct winsize size;
	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

/* Writes for example "12.3 M keys, 4.10 M/s, 0:12 left". */
static void write_figures(char *to, size_t room, double part, uint64_t keys, double elapsed)
{
	size_t n = 0;
	to[0] = '\0';
	if (keys)
		n = (size_t)snprintf(to, room, "%s keys, %s/s, ", show_short(SHOW, (double)keys),
		                     show_short(SHOW, (double)keys / (elapsed > 0 ? elapsed : 1)));
	if (part > 0)
		snprintf(to + n, room - n, "%s left",
		         show_clock(SHOW, elapsed * (1 - part) / part));
	else
		snprintf(to + n, room - n, "%s", show_clock(SHOW, elapsed));
}

static void draw(double part, const char *right)
{
	char bar[61] = "";
	int free_columns = terminal_columns() - (int)strlen(line.what) - (int)strlen(right) - 12;
	int width = free_columns > 60 ? 60 : free_columns;
	if (part < 0) {
		fprintf(stderr, "\r%s  %s\033[K", line.what, right);
	} else if (width < 5) {
		fprintf(stderr, "\r%s %3.0f%%  %s\033[K", line.what, part * 100, right);
	} else {
		int done = (int)(part * width);
		for (int i = 0; i < width; i++)
			bar[i] = i < done ? '=' : i == done ? '>' : ' ';
		fprintf(stderr, "\r%s %3.0f%% [%.*s]  %s\033[K", line.what, part * 100, width, bar,
		        right);
	}
	line.drawn = true;
}

/* Return: true if the progress line should be drawn now. */
static bool should_draw(double now)
{
	/* Work shorter than 0.2 s needs no line. The line is redrawn at most every 0.1 s. */
	if (!line.allowed || now - line.began < 0.2 || now - line.last < 0.1)
		return false;
	line.last = now;
	return true;
}

static void show(double part, const char *right)
{
	flockfile(stderr);
	draw(part > 1 ? 1 : part, right);
	fflush(stderr);
	funlockfile(stderr);
}

void progress_show(double part, const char *right)
{
	if (should_draw(seconds_now()))
		show(part, right);
}

void progress_at(double part, uint64_t keys)
{
	char right[100];
	double now = seconds_now();
	if (!should_draw(now))
		return;
	write_figures(right, sizeof right, part, keys, now - line.began);
	show(part, right);
}

void progress_of(uint64_t done, uint64_t total)
{
	progress_at(total ? (double)done / (double)total : -1.0, 0);
}

int progress_reported(void *unused, uint64_t done, uint64_t total)
{
	(void)unused;
	progress_of(done, total);
	return 0;
}

void progress_wipe(void)
{
	flockfile(stderr);
	if (line.drawn)
		fputs("\r\033[K", stderr);
	line.drawn = false;
	funlockfile(stderr);
}

void progress_end(void)
{
	progress_wipe();
	fflush(stderr);
}

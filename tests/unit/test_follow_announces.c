/* SPDX-License-Identifier: MIT
 * A follower without a report function. The follower writes a line to standard error when it
 * refuses a file, and when it accepts a file after a refusal. */
#include "../followers.h"
#include "../image_bytes.h"

static struct weir_handle *h;
static char lines[4096];
static FILE *said;
static int before = -1; /* a copy of standard error's descriptor */

static int open_it(void **state)
{
	(void)setup(state);
	/* the escape sequence would clear a terminal */
	snprintf(path, sizeof path, "%s/a\033[2J.weir", folder);
	h = open_handle(flavors, 10000);
	return 0;
}

static int close_it(void **state)
{
	close_handle(flavors, h);
	return folder_teardown(state);
}

static struct weir_follower *begin(const struct weir_follow_options *options)
{
	struct weir_follower *f;
	said = tmpfile();
	assert_non_null(said);
	fflush(stderr);
	before = dup(2);
	assert_int_equal(dup2(fileno(said), 2), 2);
	assert_ok(weir_follower_start(&f, h, path, options));
	return f;
}

static void end(struct weir_follower *f)
{
	assert_ok(weir_follower_stop(f));
	fflush(stderr);
	assert_int_equal(dup2(before, 2), 2);
	close(before);
}

static unsigned read_lines(void)
{
	unsigned found = 0;
	ssize_t n = pread(fileno(said), lines, sizeof lines - 1, 0);
	assert_true(n >= 0);
	lines[n] = '\0';
	for (ssize_t i = 0; i < n; i++)
		found += lines[i] == '\n';
	return found;
}

/* Wait for @n lines. Asserts that no more lines follow and that the last line contains @part. */
static void expect_lines(unsigned n, const char *part)
{
	WAIT_UNTIL(read_lines() >= n);
	usleep(100000);
	unsigned there = read_lines();
	const char *last = lines;
	for (char *at = lines; (at = strchr(at, '\n')) && at[1]; at++)
		last = at + 1;
	if (there != n || !strstr(last, part) || strncmp(last, "weir: /", 7) ||
	    !strstr(last, "/a\\033[2J.weir: ") || strchr(last, '\033'))
		print_message("%s", lines);
	assert_int_equal(there, n);
	assert_non_null(strstr(last, part));
	assert_int_equal(strncmp(last, "weir: /", 7), 0);
	const char *name = strstr(last, "/a\\033[2J.weir: ");
	assert_non_null(name);
	assert_null(strstr(name + 1, "/a\\033[2J.weir")); /* the name appears once */
	assert_null(strchr(last, '\033'));
}

static void test_a_line_when_a_failure_begins_changes_and_ends(void **state)
{
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	struct weir_reload *r;
	char moved[4200];
	(void)state;
	o.poll_seconds = often;
	struct weir_follower *f = begin(&o);
	expect_lines(1, "no such file");
	assert_true(image_spit(other, "nonsense", 8));
	assert_int_equal(rename(other, path), 0);
	expect_lines(2, "check the path");
	save(0, 10);
	expect_lines(3, "taken over");
	save(0, 20);
	WAIT_UNTIL(stats_of(h).swaps >= 2);
	expect_lines(3, "taken over"); /* the second swap wrote no line */
	snprintf(moved, sizeof moved, "%s.moved", folder);
	assert_int_equal(rename(folder, moved), 0);
	expect_lines(4, "no such file");
	assert_int_equal(rename(moved, folder), 0);
	expect_lines(5, "no longer refused");
	while (weir_reload_begin(&r, h, NULL)) /* the call succeeds between two polls */
		;
	expect_lines(6, "under way"); /* the message is about the handle, not about the file */
	weir_reload_abort(r);
	expect_lines(7, "no longer refused");
	end(f);
	fclose(said);
}

static void test_polls_of_a_refused_file_report_no_recovery(void **state)
{
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	(void)state;
	o.poll_seconds = often;
	assert_true(image_spit(path, "nonsense", 8));
	struct weir_follower *f = begin(&o);
	expect_lines(1, "check the path");
	usleep(200000);
	expect_lines(1, "check the path");
	end(f);
	fclose(said);
}

/* A program keeps replacing the file. Each new file is refused for another reason. */
static void test_refusals_do_not_flood_the_log(void **state)
{
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	(void)state;
	o.poll_seconds = often;
	double begun = now();
	struct weir_follower *f = begin(&o);
	for (unsigned i = 1; i <= 100; i++) {
		char nonsense[8] = { (char)i };
		assert_true(image_spit(other, nonsense, sizeof nonsense));
		assert_int_equal(rename(other, path), 0);
		WAIT_UNTIL(stats_of(h).refused >= i);
	}
	unsigned there = read_lines(), at_most = 10 + (unsigned)((now() - begun) / 5);
	/* the last reason is reported */
	WAIT_UNTIL(read_lines() && strstr(lines, "byte 0 is 0x64"));
	end(f);
	fclose(said);
	assert_in_range(there, 10, at_most);
	char *last = strstr(lines, "byte 0 is 0x64");
	assert_true(last && strstr(last, " lines before it were held back)\n"));
}

static void test_no_lines_if_quiet_or_reported(void **state)
{
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	(void)state;
	o.poll_seconds = often;
	for (unsigned reported = 0; reported < 2; reported++) {
		o.quiet = !reported;
		o.report = reported ? report : NULL;
		o.context = &heard;
		struct weir_follower *f = begin(&o);
		usleep(200000);
		end(f);
		assert_int_equal(read_lines(), 0);
		fclose(said);
		assert_int_equal(heard.failures, reported);
	}
}

static void test_a_reported_swap_is_escaped(void **state)
{
	(void)state;
	image_spit(path, "nonsense", 8);
	struct weir_follower *f = follow(h, often, false);
	expect(flavors, 0, 1);
	heard_last(-EBADMSG, "/a\\033[2J.weir: ");
	save(0, 10);
	expect(flavors, 1, 1);
	heard_last(1, "/a\\033[2J.weir: taken over");
	assert_ok(weir_follower_stop(f));
}

static void fill_pipe(int ends[2])
{
	char page[4096] = { 0 };
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	while (write(ends[1], page, sizeof page) > 0)
		;
	assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0);
}

static void test_follow_does_not_block_on_a_full_log(void **state)
{
	struct weir_follow_options o = WEIR_FOLLOW_OPTIONS_INIT;
	int ends[2];
	(void)state;
	o.poll_seconds = often;
	image_spit(path, "nonsense", 8);
	struct weir_follower *f = begin(&o);
	/* wait, so that no line is in flight when the log changes */
	expect_lines(1, "check the path");
	fclose(said);
	fill_pipe(ends);
	assert_int_equal(dup2(ends[1], 2), 2);
	uint64_t refused = stats_of(h).refused;
	assert_true(image_spit(other, "", 0));
	/* an empty file fails for another reason, so the follower has a line to write */
	assert_int_equal(rename(other, path), 0);
	WAIT_UNTIL(stats_of(h).refused != refused);
	save(0, 10);
	WAIT_UNTIL(stats_of(h).swaps >= 1);
	assert_int_equal(dup2(before, 2), 2);
	assert_int_equal(stats_of(h).swaps, 1);
	end(f);
	close(ends[0]);
	close(ends[1]);
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, open_it, close_it)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fresh(test_a_line_when_a_failure_begins_changes_and_ends),
		fresh(test_polls_of_a_refused_file_report_no_recovery),
		fresh(test_refusals_do_not_flood_the_log),
		fresh(test_follow_does_not_block_on_a_full_log),
		fresh(test_no_lines_if_quiet_or_reported),
		fresh(test_a_reported_swap_is_escaped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

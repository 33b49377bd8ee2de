/* SPDX-License-Identifier: MIT
 * The weir command: runs the subcommand, and checks that its output was written. */
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <weir/version.h>
#include "commands.h"
#include "images/images.h"
#include "output/say.h"

static const struct command commands[] = {
	{ "plan", "what a filter will cost: memory, rate, layouts", cmd_plan },
	{ "build", "make a filter of the lines of files", cmd_build },
	{ "query", "print the lines that may be in the set", cmd_query },
	{ "info", "what an image holds", cmd_info },
	{ "merge", "the union of several images", cmd_merge },
	{ "delta", "what is different between two images, as a small file", cmd_delta },
	{ "apply", "make the new image of the old one and deltas", cmd_apply },
	{ "add", "add keys to an image", cmd_add },
	{ "remove", "remove keys from an image that counts them", cmd_remove },
	{ "count", "print how often each line is in the set, at most", cmd_count },
	{ "route", "print which of several sets may have each line", cmd_route },
	{ "seal", "seal an image that a killed process left live", cmd_seal },
	{ "verify", "check images for damage", cmd_verify },
	{ "parquet", "each filter of a Parquet file", cmd_parquet },
#ifdef WEIR_HAVE_REPLICATE
	{ "replicate", "one set on many machines, by redis", cmd_replicate },
#endif
	{ "drill", "rehearse replacing a set under load: is anything lost?", cmd_drill },
};
#define COMMANDS (sizeof commands / sizeof *commands)

static int usage(FILE *to)
{
	fputs("Usage: weir COMMAND [OPTION]... [ARGUMENT]...\n"
	      "Sets of keys as filters: might this key be in the set? No is certain, yes is\n"
	      "wrong at a rate you choose.\n\n",
	      to);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(to, "  %-9s %s\n", commands[i].name, commands[i].summary);
	fputs("\n'weir help COMMAND' opens the manual page of a command, 'weir COMMAND --help'\n"
	      "prints its options, and 'weir --version', or -V, prints the version.\n"
	      "\n"
	      "  weir plan -n 100M -p 0.1%\n"
	      "  weir build -p 1% -o words.weir /usr/share/dict/words\n"
	      "  weir query words.weir text.txt\n",
	      to);
	return TOOL_OK;
}

static int version(void)
{
	printf("weir %s (library %s)\n", WEIR_VERSION_STRING, weir_version());
	return TOOL_OK;
}

/* Command names of other tools and likely synonyms, with the matching command of weir. */
static const struct {
	const char *word, *command;
} others[] = {
	{ "version", "--version" }, { "fold", "merge" },    { "union", "merge" },
	{ "create", "build" },      { "make", "build" },    { "rebuild", "build" },
	{ "lookup", "query" },      { "contains", "query" }, { "grep", "query" },
	{ "check", "verify" },      { "insert", "add" },    { "stats", "info" },
	{ "show", "info" },         { "delete", "remove" },   { "erase", "remove" },
	{ "frequency", "count" },   { "diff", "delta" },    { "patch", "apply" },
};

/* Return: the end of a message, such as ": did you mean query?", or "". */
static const char *meant(const char *typed)
{
	static char text[64];
	char name[32] = "";
	struct nearest nearest = { 0 };
	for (size_t i = 0; typed[i] && i < sizeof name - 1; i++)
		name[i] = (char)tolower((unsigned char)typed[i]);
	for (size_t i = 0; i < sizeof others / sizeof *others && !nearest.word; i++)
		if (strcmp(name, others[i].word) == 0)
			nearest.word = others[i].command;
	bool known = nearest.word != NULL;
	for (size_t i = 0; i < COMMANDS && !known; i++)
		nearest_offer(&nearest, name, strlen(name), commands[i].name);
	if (nearest.word)
		snprintf(text, sizeof text, ": did you mean %s?", nearest.word);
	return text;
}

/* Return: the command of that name, or NULL. */
static const struct command *find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(name, commands[i].name) == 0)
			return &commands[i];
	return NULL;
}

static int run(const char *name, int argc, char **argv)
{
	static char full_name[32];
	const struct command *command = find(name);
	if (command) {
		snprintf(full_name, sizeof full_name, "weir %s", name);
		say_as(full_name);
		argv[0] = full_name;
		return command->run(argc, argv);
	}
	if (strcmp(name, "replicate") == 0)
		return trouble("this build has no replicate: install libhiredis-dev and "
		               "libsodium-dev, and build weir with -Dreplicate=enabled");
	return misuse("'%s' is not a command%s", name, meant(name));
}

/* Shows the manual page of a command. If there is no page, prints the text of --help instead. */
static int help(int argc, char **argv)
{
	static char dash_help[] = "--help";
	const char *part = NULL;
	if (argc < 2 || strcmp(argv[1], "help") == 0)
		return usage(stdout);
	char *asked[] = { argv[1], dash_help, NULL };
	const struct command *command = find(argv[1]);
#ifdef WEIR_HAVE_REPLICATE
	if (argc > 2 && command && command->run == cmd_replicate) {
		part = replicate_part(argv[2]);
		if (!part)
			return run(argv[1], 2, argv + 1); /* prints an error with all parts */
	}
#endif
	if (command && help_shows(command->name, part))
		return TOOL_OK;
	return run(argv[1], 2, asked);
}

static int dispatch(int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return TOOL_TROUBLE;
	}
	const char *first = argv[1];
	if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0)
		return usage(stdout);
	if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0)
		return version();
	if (strcmp(first, "help") == 0)
		return help(argc - 1, argv + 1);
	return run(first, argc - 1, argv + 1);
}

/* Handles SIGBUS, in the thread that could not read a page of a mapped image. */
static void on_bus_error(int number)
{
	(void)number;
	image_lost();
	_exit(TOOL_TROUBLE);
}

/* Opens the standard descriptors that are closed. Otherwise the next file that weir opens would get
 * the number of a closed descriptor, and weir could read an image as the keys of standard input.
 * O_PATH makes each read and write of the new descriptors fail. Return: false if an open fails. */
static bool standard_taken(void)
{
	bool taken = true;
	for (int fd = STDIN_FILENO; taken && fd <= STDERR_FILENO; fd++)
		taken = fcntl(fd, F_GETFD) >= 0 || open("/", O_PATH) == fd;
	return taken;
}

int main(int argc, char **argv)
{
	if (!standard_taken())
		return TOOL_TROUBLE;
	(void)signal(SIGBUS, on_bus_error);
	(void)signal(SIGXFSZ, SIG_IGN); /* write() then fails, and weir prints a message */
	return close_stdout(dispatch(argc, argv));
}

/* SPDX-License-Identifier: MIT
 * weir replicate: finds and runs the subcommand. */
#include <stdio.h>
#include <string.h>
#include "commands/commands.h"
#include "input/file.h"
#include "output/say.h"
#include "replicate.h"

static const char help[] =
	"Usage: weir replicate publish [OPTION]... IMAGE\n"
	"       weir replicate publish --replace [OPTION]... IMAGE -- COMMAND [ARGUMENT]...\n"
	"       weir replicate follow [OPTION]... -o FILE\n"
	"       weir replicate status [OPTION]...\n"
	"       weir replicate rollback [OPTION]... --generation=ERA.NUMBER\n"
	"       weir replicate key SECRET-FILE PUBLIC-FILE\n"
	"One set on many machines, by way of redis (see <weir/replica.h>).\n"
	"  publish   make the next generation: the set with IMAGE's keys added, or if there\n"
	"            is no such set yet, IMAGE. With --replace: IMAGE in place of the set,\n"
	"            which COMMAND makes of the application's record when the place in the\n"
	"            log of inserts has been noted. Nothing is lost if applications write\n"
	"            their record before they insert, and COMMAND reads all of it.\n"
	"  follow    write each generation to FILE, which servers follow (see "
        "weir_follower_start())\n"
	"  status    how the nodes stand\n"
	"  rollback  an older generation, and all that was inserted since, as the newest\n"
	"  key       draw a pair of keys for signatures\n"
	"\n"
	"      --set=NAME       the set\n"
	"      --url=URL        redis://[USER@]HOST[:PORT][,HOST...][/DB] or rediss:// (TLS),\n"
	"                       unix:///PATH[?db=N], redis[s]+sentinel://HOST[,HOST...]/MASTER;\n"
	"                       without it: $WEIR_REDIS_URL\n"
	"      --user=NAME      another user than that of the URL\n"
	"      --password-file=FILE  its first line is the password; others see a URL on the\n"
	"                       command line, so no password should be there\n"
	"      --ca-file=FILE   TLS: certificates of the authorities by one of which the server's\n"
	"                       is to be signed, in PEM form (default: the system's)\n"
	"      --cert-file=FILE  TLS: the own certificate\n"
	"      --key-file=FILE  TLS: and its key\n"
	"      --server-name=NAME  TLS: to be in the certificate (default: the URL's host)\n"
	"      --insecure       TLS: any certificate will do\n"
	"      --timeout=SEC    to connect, until redis has greeted, and to wait for an answer\n"
	"                       after that (default: 1, and 10)\n"
	"      --trusted=FILE   take only generations signed by one of these keys\n"
	"      --state=FILE     the newest version that was taken: with --trusted an older one\n"
	"                       is refused; for each set, and for each use, a file of its own\n"
	"      --secret=FILE    sign with this key: needs --trusted, which has its public key\n"
	"      --expires=SEC    how long the signature is valid (default: a day)\n"
	"      --keep=N         generations to keep for a rollback (default: 2)\n"
	"      --zstd[=LEVEL]   compress images (default level: 3)\n"
	"      --keyed-by=FILE  the key of keyed images\n"
	"      --replace        publish: in place of the set\n"
	"      --generation=ERA.NUMBER  rollback: which one\n"
	"      --max-age=SEC    status: a newest generation older than this is an alert\n"
	"      --json           status: for programs\n"
	"      --prometheus     status: as metrics\n"
	"  -o, --output=FILE    follow: the image to write\n"
	"      --force          follow: replace what stands there, whatever it is; --replace\n"
	"                       and rollback: although a node has keys that may come back\n"
	"  -q, --quiet          say only what is wrong\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit status: 0 done, and all is well; 1 refused, or status: something is not well;\n"
	"2 an error.\n";

static const struct {
	const char *name;
	int (*run)(struct replicate *r);
	unsigned command;
} commands[] = {
	{ "publish", replicate_publish, REPLICATE_PUBLISH },
	{ "follow", replicate_follow, REPLICATE_FOLLOW },
	{ "status", replicate_status, REPLICATE_STATUS },
	{ "rollback", replicate_rollback, REPLICATE_ROLLBACK },
	{ "key", replicate_key, REPLICATE_KEY },
};

const char *replicate_part(const char *name)
{
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (strcmp(name, commands[i].name) == 0)
			return commands[i].name;
	return NULL;
}

/* Checks that the image, the password file and the files of signing keys exist, so that a missing
 * file gets the same message as in other commands. The library checks the TLS files, since its
 * message also names the option. */
static bool files_there(const struct replicate *r, unsigned command)
{
	const struct weir_replica_options *o = &r->options;
	const bool reads = command == REPLICATE_PUBLISH && !r->replace;
	const char *image = reads ? r->arguments[0] : NULL;
	return is_there(image, SAY_IMAGE) && is_there(o->password_file, SAY_PASSWORD) &&
	       is_there(o->trusted_keys, SAY_KEY_PAIR) && is_there(o->secret_key, SAY_KEY_PAIR);
}

static int check(const struct replicate *r, unsigned command)
{
	if (!r->options.set)
		return misuse("--set=NAME is missing");
	if (!r->options.url)
		return misuse("--url=URL is missing, and $WEIR_REDIS_URL is not set: such as "
		              "--url=redis://127.0.0.1");
	return files_there(r, command) ? TOOL_OK : TOOL_TROUBLE;
}

int cmd_replicate(int argc, char **argv)
{
	static char name[48];
	struct replicate r;
	if (argc < 2)
		return misuse("publish, follow, status, rollback or key is missing");
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		fputs(help, stdout);
		return TOOL_OK;
	}
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		if (strcmp(argv[1], commands[i].name) != 0)
			continue;
		snprintf(name, sizeof name, "weir replicate %s", commands[i].name);
		say_as(name);
		argv[1] = name;
		int status = replicate_options(&r, commands[i].command, argc - 1, argv + 1);
		if (status < 0)
			fputs(help, stdout);
		if (status)
			return status < 0 ? TOOL_OK : status;
		if (commands[i].command != REPLICATE_KEY)
			status = check(&r, commands[i].command);
		return status ? status : commands[i].run(&r);
	}
	return misuse("'%s' is not a command of replicate: give publish, follow, status, rollback "
	              "or key", argv[1]);
}

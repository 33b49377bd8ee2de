/* SPDX-License-Identifier: MIT
 * A node of a set, for the tests of the module: node URL SET. Each line of standard input is a
 * word and a key. The node answers each line with a line:
 *     insert KEY   1 if KEY was new, else 0; redis has KEY before the node answers
 *     has KEY      0 or 1
 *     publish .    0: the node has published
 *     joined .     the version that the node has */
#include <stdio.h>
#include <string.h>
#include <weir/replica.h>

static struct weir_replica *replica;

static int fail(int err)
{
	printf("%d %s\n", err, weir_error_detail());
	return err;
}

static int print_version(void)
{
	struct weir_replica_stats s = WEIR_REPLICA_STATS_INIT;
	int err = weir_replica_measure(replica, &s);
	if (!err)
		printf("%llu.%llu\n", (unsigned long long)s.joined.era,
		       (unsigned long long)s.joined.number);
	return err;
}

static int answer(const char *word, const char *key)
{
	if (!strcmp(word, "joined"))
		return print_version();
	int is = !strcmp(word, "publish") ? weir_replica_publish(replica) :
	         !strcmp(word, "has") ?
		weir_handle_contains(weir_replica_handle(replica), key, strlen(key)) :
		weir_replica_insert(replica, key, strlen(key), WEIR_REPLICA_CONFIRMED);
	if (is < 0)
		return is;
	printf("%d\n", is);
	return 0;
}

int main(int argc, char **argv)
{
	struct weir_replica_options o = WEIR_REPLICA_OPTIONS_INIT;
	char word[16], key[64];
	if (argc != 3)
		return 2;
	o.url = argv[1];
	o.set = argv[2];
	int err = weir_replica_open(&replica, &o);
	if (err)
		return fail(err) != 0;
	while (scanf("%15s %63s", word, key) == 2) {
		err = answer(word, key);
		if (err)
			(void)fail(err);
		fflush(stdout);
	}
	return weir_replica_close(replica) != 0;
}

/* SPDX-License-Identifier: MIT
 * Finds the deltas of a followed file, orders them and applies them (set/follow/follow.h). */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "ground/error.h"
#include "hash/hash.h"
#include "image/delta.h"
#include "set/follow/follow.h"

enum { MOST_DELTAS = 4096 };

/* Return: the length of the path's folder, with the last slash. */
static size_t folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? (size_t)(slash - path) + 1 : 0;
}

static bool is_of(const char *entry, const char *name)
{
	const size_t n = strlen(name), mark = strlen(WEIR__DELTA_MARK);
	return strncmp(entry, name, n) == 0 && strncmp(entry + n, WEIR__DELTA_MARK, mark) == 0;
}

static int add_path(struct weir_chain *chain, const char *path, const char *entry)
{
	const size_t folder = folder_of(path), bytes = folder + strlen(entry) + 1;
	if (chain->n == MOST_DELTAS)
		return weir__fail(-E2BIG, "%s: has more than %d deltas beside it: apply some (weir "
		                  "apply), and remove those", path, MOST_DELTAS);
	if ((chain->n & (chain->n - 1)) == 0) { /* 0 or a power of two: grow the array */
		char **more = realloc(chain->paths, (chain->n ? 2 * chain->n : 1) * sizeof *more);
		if (!more)
			return weir__fail(-ENOMEM, "%s: no memory for its deltas' names", path);
		chain->paths = more;
	}
	char *found = malloc(bytes);
	if (!found)
		return weir__fail(-ENOMEM, "%s: no memory for its deltas' names", path);
	memcpy(found, path, folder);
	memcpy(found + folder, entry, bytes - folder);
	chain->paths[chain->n++] = found;
	return 0;
}

static int open_folder(DIR **out, const char *path)
{
	const size_t folder = folder_of(path);
	char *name = folder ? strndup(path, folder) : strdup(".");
	*out = name ? opendir(name) : NULL;
	const int err = *out ? 0 :
	                !name ? weir__fail(-ENOMEM, "%s: no memory for its folder's name", path) :
	                        weir__fail(-errno, "%s: cannot look for its deltas: %s", path,
	                                   weir_strerror(errno));
	free(name);
	return err;
}

static int in_order(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Return: a checksum that changes when a file of the chain is replaced or written to. */
static uint64_t identity_of(const struct weir_chain *chain)
{
	struct weir_checksum sum;
	weir__checksum_begin(&sum);
	for (size_t i = 0; i < chain->n; i++) {
		struct stat st;
		uint64_t of[7] = { 0 };
		if (stat(chain->paths[i], &st) == 0) {
			const uint64_t is[7] = { (uint64_t)st.st_dev,
			                         (uint64_t)st.st_ino,
			                         (uint64_t)st.st_size,
			                         (uint64_t)st.st_mtim.tv_sec,
			                         (uint64_t)st.st_mtim.tv_nsec,
			                         (uint64_t)st.st_ctim.tv_sec,
			                         (uint64_t)st.st_ctim.tv_nsec };
			memcpy(of, is, sizeof of);
		}
		weir__checksum_add(&sum, chain->paths[i], strlen(chain->paths[i]) + 1);
		weir__checksum_add(&sum, of, sizeof of);
	}
	return chain->n ? weir__checksum_end(&sum) : 0;
}

int weir__chain_find(struct weir_chain *out, const char *path)
{
	struct weir_chain chain = { 0 };
	DIR *folder;
	int err = open_folder(&folder, path);
	if (err)
		return err;
	for (struct dirent *e; !err && (e = readdir(folder)) != NULL;)
		if (is_of(e->d_name, path + folder_of(path)))
			err = add_path(&chain, path, e->d_name);
	closedir(folder);
	if (err) {
		weir__chain_free(&chain);
		return err;
	}
	if (chain.n)
		qsort(chain.paths, chain.n, sizeof *chain.paths, in_order);
	chain.identity = identity_of(&chain);
	*out = chain;
	return 0;
}

void weir__chain_free(struct weir_chain *chain)
{
	for (size_t i = 0; i < chain->n; i++)
		free(chain->paths[i]);
	free(chain->paths);
	free(chain->heads);
	*chain = (struct weir_chain){ 0 };
}

static bool may_be_delta(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
}

int weir__chain_heads(struct weir_chain *chain)
{
	size_t kept = 0, i = 0;
	int err = 0;
	chain->heads = calloc(chain->n, sizeof *chain->heads);
	if (!chain->heads)
		return weir__fail(-ENOMEM, "no memory for the heads of %zu deltas", chain->n);
	for (; i < chain->n && !err; i++) {
		char *path = chain->paths[i];
		struct weir_delta_info *head = &chain->heads[kept];
		*head = (struct weir_delta_info)WEIR_DELTA_INFO_INIT;
		if (may_be_delta(path))
			err = weir_delta_inspect(weir_location_path(path), head);
		else
			err = -ENOENT;
		if (err == -ENOENT) { /* not a regular file, or removed just now */
			free(path);
			err = 0;
			continue;
		}
		chain->paths[kept++] = path;
		if (err)
			chain->failed = path;
	}
	while (i < chain->n)
		chain->paths[kept++] = chain->paths[i++];
	chain->n = kept;
	return err;
}

/* The deltas to apply, in order. step has @n indices into the heads of the chain. */
struct walk {
	size_t *step;
	size_t n;
};

static bool is_end(const struct weir_delta_info *head, uint64_t id, uint64_t bytes)
{
	return head->new_id == id && head->new_bytes == bytes;
}

/* Add delta @i to the steps. But if the delta leads back to an earlier state, do not add it, and
 * drop the steps after that state. */
static void walk_on(struct walk *w, const struct weir_chain *chain, size_t i,
                    const struct weir_plain *image)
{
	const struct weir_delta_info *head = &chain->heads[i];
	size_t back = 0;
	if (!is_end(head, image->commit, image->bytes))
		for (back = 1; back <= w->n; back++)
			if (is_end(&chain->heads[w->step[back - 1]], head->new_id, head->new_bytes))
				break;
	if (back > w->n)
		w->step[w->n++] = i;
	else
		w->n = back;
}

static void walk(struct walk *w, const struct weir_chain *chain, const struct weir_plain *image)
{
	for (size_t i = 0; i < chain->n; i++) {
		const struct weir_delta_info *last = w->n ? &chain->heads[w->step[w->n - 1]] : NULL;
		const uint64_t id = last ? last->new_id : image->commit;
		const uint64_t bytes = last ? last->new_bytes : image->bytes;
		if (chain->heads[i].old_id == id && chain->heads[i].old_bytes == bytes)
			walk_on(w, chain, i, image);
	}
}

int weir__chain_apply(struct weir_chain *chain, struct weir_plain *plain, const char *name,
                      const struct weir_load_options *options)
{
	struct walk w = { .step = calloc(chain->n + 1, sizeof *w.step) };
	int err = 0;
	if (!w.step)
		return weir__fail(-ENOMEM, "no memory for the order of %zu deltas", chain->n);
	walk(&w, chain, plain);
	for (size_t i = 0; !err && i < w.n; i++) {
		const char *path = chain->paths[w.step[i]];
		err = weir__delta_apply(plain, name, path, options);
		if (err)
			chain->failed = path;
	}
	free(w.step);
	return err;
}

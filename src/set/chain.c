/* SPDX-License-Identifier: MIT
 * See chain.h. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <weir/delta.h>
#include "error.h"
#include "hash.h"
#include "image/delta_apply.h"
#include "set/chain.h"

enum { MOST = 4096 };

/* Bytes of the path up to the name, the last slash too. */
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

static int note(struct weir_chain *chain, const char *path, const char *entry)
{
	const size_t folder = folder_of(path), bytes = folder + strlen(entry) + 1;
	if (chain->n == MOST)
		return weir__fail(-E2BIG, "%s: has more than %d deltas beside it: apply some (weir "
		                  "apply), and remove those", path, MOST);
	if ((chain->n & (chain->n - 1)) == 0) { /* 0, 1, 2, 4, ... */
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

/* A file that is replaced or written to has another one. */
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
			err = note(&chain, path, e->d_name);
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
	*chain = (struct weir_chain){ 0 };
}

int weir__chain_apply(struct weir_chain *chain, struct weir_plain *plain, const char *name,
                      const struct weir_load_options *options)
{
	int err = 0;
	for (size_t i = 0; !err && i < chain->n; i++) {
		struct weir_delta_info info = WEIR_DELTA_INFO_INIT;
		const char *path = chain->paths[i];
		err = weir_delta_info(path, &info);
		if (!err && info.old_id == plain->commit && info.old_bytes == plain->bytes)
			err = weir__delta_apply(plain, name, path, options);
		if (err)
			chain->failed = path;
	}
	return err;
}

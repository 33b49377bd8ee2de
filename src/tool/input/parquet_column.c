/* SPDX-License-Identifier: MIT
 * Finds a column of a Parquet file, and reads its filters into memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "file.h"
#include "output/say.h"
#include "output/units.h"
#include "parquet.h"

enum { FOOTER_COSTS = 32 }; /* upper bound on bytes of memory per byte of a footer */

/* Return: true if the path is a regular file that begins like a Parquet file, encrypted or not. */
static bool begins(const char *path)
{
	char magic[4];
	struct stat st;
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	bool same = fd >= 0 && read(fd, magic, sizeof magic) == sizeof magic &&
	            (memcmp(magic, "PAR1", 4) == 0 || memcmp(magic, "PARE", 4) == 0);
	if (fd >= 0)
		close(fd);
	return same;
}

/* Return: the file's name, which the caller frees, or NULL if the argument names no Parquet file.
 * @column: receives the text after the colon, or NULL. File names and columns may contain colons,
 * so the shortest file name that exists is used. */
static char *split(const char *argument, const char **column)
{
	struct stat st;
	char *file = xmalloc(strlen(argument) + 1);
	*column = NULL;
	strcpy(file, argument);
	if (stat(file, &st) == 0 && begins(file))
		return file;
	for (char *colon = file; stat(argument, &st) && (colon = strchr(colon, ':')); colon++) {
		*colon = '\0';
		if (begins(file)) {
			*column = argument + (colon - file) + 1;
			return file;
		}
		*colon = ':';
	}
	free(file);
	return NULL;
}

bool parquet_named(const char *argument)
{
	const char *column;
	char *file = split(argument, &column);
	free(file);
	return file != NULL;
}

int parquet_trouble(int err, const char *path, uint64_t max_memory)
{
	return err == -EFBIG ? trouble("%s: its footer or its filters need more memory than "
	                               "--max-memory allows (%s)", path,
	                               show_bytes(SHOW, max_memory)) :
	       image_begins(path) ? trouble("%s: a weir image, not a Parquet file: weir info shows "
	                                    "it", path) :
	       err == -ENOENT ? trouble_unopened(ENOENT, path, SAY_PARQUET) :
	                        trouble_weir(err, path);
}

struct weir_parquet *parquet_open(const char *path, uint64_t max_memory)
{
	struct weir_parquet_file_options options = WEIR_PARQUET_FILE_OPTIONS_INIT;
	struct weir_parquet *file = NULL;
	options.max_footer_bytes = max_memory / FOOTER_COSTS + 1;
	options.max_filter_bytes = max_memory / 2 + 1; /* a filter is read and then copied */
	int err = weir_parquet_open(&file, path, &options);
	if (err)
		(void)parquet_trouble(err, path, max_memory);
	return file;
}

char *parquet_path(const struct weir_parquet *file, uint32_t column)
{
	size_t room = weir_parquet_path(file, column, NULL, 0) + 1;
	char *path = xmalloc(room);
	(void)weir_parquet_path(file, column, path, room);
	return path;
}

/* ---- a column by its name ---- */

enum { NAMES_BYTES = 300 };

/* Lists as many names of columns as fit into NAMES_BYTES bytes. */
static void names_of(const struct weir_parquet *file, char names[NAMES_BYTES])
{
	size_t at = 0;
	*names = '\0';
	for (uint32_t i = 0; i < weir_parquet_columns(file); i++) {
		char *path = parquet_path(file, i);
		size_t n = strlen(path);
		bool fits = n + sizeof ", ..." < NAMES_BYTES - at;
		at += (size_t)snprintf(names + at, NAMES_BYTES - at, "%s%s", at ? ", " : "",
		                       fits ? path : "...");
		free(path);
		if (!fits)
			break;
	}
}

static int find(const struct weir_parquet *file, const char *path, const char *column,
                uint32_t *number)
{
	char names[NAMES_BYTES];
	int err = column ? weir_parquet_find(file, column, number) : -ENOENT;
	if (!err)
		return TOOL_OK;
	if (err == -EEXIST)
		return trouble_weir(err, path);
	names_of(file, names);
	if (column)
		return trouble("%s: has no column %s; it has: %s", path, column, names);
	return trouble("%s: name a column of this file, %s:COLUMN; it has: %s", path, path, names);
}

/* ---- the filters of a column ---- */

static int load_group(struct parquet_group *group, const struct weir_parquet *file,
                      uint32_t row_group, uint32_t column)
{
	struct weir_parquet_chunk chunk = WEIR_PARQUET_CHUNK_INIT;
	int err = weir_parquet_inspect_chunk(file, row_group, column, &chunk);
	group->rows = chunk.rows;
	if (!err)
		err = weir_parquet_read(&group->filter, file, row_group, column);
	return err == -ENOENT ? 0 : err;
}

static int load_groups(struct parquet_column *c, const struct weir_parquet *file, const char *path,
                       uint32_t column, uint64_t max_memory)
{
	uint64_t left = max_memory;
	c->n = weir_parquet_row_groups(file);
	c->groups = xmalloc((c->n + 1) * sizeof *c->groups);
	memset(c->groups, 0, (c->n + 1) * sizeof *c->groups);
	for (uint32_t i = 0; i < c->n; i++) {
		struct weir_stats stats = WEIR_STATS_INIT;
		int err = load_group(&c->groups[i], file, i, column);
		if (err)
			return parquet_trouble(err, path, max_memory);
		if (!c->groups[i].filter)
			c->lacking++;
		else if (weir_measure(c->groups[i].filter, WEIR_SAMPLED, &stats) == 0 &&
		         stats.bytes > left)
			return parquet_trouble(-EFBIG, path, max_memory);
		left -= stats.bytes;
	}
	return TOOL_OK;
}

int parquet_load(struct parquet_column *out, const char *argument, uint64_t max_memory)
{
	uint32_t column = 0;
	*out = (struct parquet_column){ .is = WEIR_PARQUET_COLUMN_INIT };
	char *path = split(argument, &out->name);
	struct weir_parquet *file = parquet_open(path, max_memory);
	int status = file ? find(file, path, out->name, &column) : TOOL_TROUBLE;
	if (!status)
		status = weir_parquet_inspect_column(file, column, &out->is) ?
		                 trouble_weir(-EINVAL, path) :
		                 TOOL_OK;
	if (!status)
		status = load_groups(out, file, path, column, max_memory);
	weir_parquet_close(file);
	free(path);
	return status;
}

void parquet_free(struct parquet_column *column)
{
	for (uint32_t i = 0; column->groups && i < column->n; i++)
		weir_destroy(column->groups[i].filter);
	free(column->groups);
}

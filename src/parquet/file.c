/* SPDX-License-Identifier: MIT
 * Opens a Parquet file, which consists of PAR1, data, footer, the footer's length, and PAR1.
 * Threads share one descriptor and read by offset, so they never wait for each other. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ground/error.h"
#include "parquet/footer.h"

enum {
	MAGIC = 4,
	TAIL = 8, /* the footer's length, and the magic again */
	LEAST = MAGIC + TAIL,
	MOST_AT_ONCE = 1 << 30,
};

int weir__parquet_read(const struct weir_parquet *p, void *out, uint64_t n, uint64_t at)
{
	for (uint64_t done = 0; done < n;) {
		size_t part = n - done < MOST_AT_ONCE ? (size_t)(n - done) : MOST_AT_ONCE;
		ssize_t got = pread(p->fd, (unsigned char *)out + done, part, (off_t)(at + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int err = -errno;
			return weir__fail(err, "%s: cannot read at byte %llu: %s", p->name,
			                  (unsigned long long)(at + done), weir_strerror(err));
		}
		if (got == 0)
			return weir__fail(-EBADMSG, "%s: ends at byte %llu: it was longer when it "
			                  "was opened", p->name, (unsigned long long)(at + done));
		done += (uint64_t)got;
	}
	return 0;
}

/* ---- opening ---- */

static int open_file(struct weir_parquet *p, uint64_t *length)
{
	struct stat st;
	do /* O_NONBLOCK: open() must not wait for the writer of a FIFO */
		p->fd = open(p->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	while (p->fd < 0 && errno == EINTR);
	if (p->fd < 0)
		return weir__unopened(-errno, p->name);
	if (fstat(p->fd, &st)) {
		int err = -errno;
		return weir__fail(err, "%s: cannot ask for its size: %s", p->name,
		                  weir_strerror(err));
	}
	if (S_ISDIR(st.st_mode))
		return weir__fail(-EISDIR, "%s: is a directory, not a Parquet file", p->name);
	if (!S_ISREG(st.st_mode))
		return weir__fail(-EINVAL, "%s: is not a regular file, but a pipe, a socket or a "
		                  "device", p->name);
	*length = (uint64_t)st.st_size;
	return 0;
}

/* Check both ends of the file. @footer: receives the footer's length. */
static int check_ends(const struct weir_parquet *p, uint64_t length, uint32_t *footer)
{
	unsigned char first[MAGIC] = { 0 }, last[TAIL] = { 0 };
	int err = 0;
	if (length >= LEAST) {
		err = weir__parquet_read(p, first, sizeof first, 0);
		if (!err)
			err = weir__parquet_read(p, last, sizeof last, length - TAIL);
	}
	if (err)
		return err;
	if (memcmp(last + 4, "PARE", MAGIC) == 0)
		return weir__fail(-ENOTSUP, "%s: its footer is encrypted, which weir cannot read",
		                  p->name);
	if (memcmp(first, "PAR1", MAGIC) || memcmp(last + 4, "PAR1", MAGIC))
		return weir__fail(-EBADMSG, "%s: not a Parquet file, which begins and ends with "
		                  "PAR1: give another name", p->name);
	*footer = (uint32_t)last[0] | (uint32_t)last[1] << 8 | (uint32_t)last[2] << 16 |
	          (uint32_t)last[3] << 24;
	if (*footer > length - LEAST)
		return weir__fail(-EBADMSG, "%s: its footer of %u bytes is longer than the file of "
		                  "%llu", p->name, *footer, (unsigned long long)length);
	return 0;
}

static int read_footer(struct weir_parquet *p, uint64_t length, uint64_t most)
{
	uint32_t n = 0;
	int err = check_ends(p, length, &n);
	if (err)
		return err;
	if (n > most)
		return weir__fail(-EFBIG, "%s: its footer of %u bytes is larger than "
		                  "max_footer_bytes, %llu", p->name, n, (unsigned long long)most);
	p->filters_end = length - TAIL - n;
	p->bytes = malloc(n ? n : 1);
	if (!p->bytes)
		return weir__fail(-ENOMEM, "%s: no memory for its footer of %u bytes", p->name, n);
	err = weir__parquet_read(p, p->bytes, n, p->filters_end);
	return err ? err : weir__footer_read(&p->footer, p->name, p->bytes, n, p->filters_end);
}

int weir_parquet_open(struct weir_parquet **out, const char *path,
                      const struct weir_parquet_file_options *options)
{
	struct weir_parquet_file_options o = WEIR_PARQUET_FILE_OPTIONS_INIT;
	int err = weir__options_copy(&o, sizeof o, options, "weir_parquet_file_options");
	if (err)
		return err;
	if (!path)
		return weir__fail(-EINVAL, "path is NULL: the Parquet file's name");
	const size_t name_bytes = strlen(path) + 1;
	struct weir_parquet *p = calloc(1, sizeof *p);
	if (!p || !(p->name = malloc(name_bytes))) {
		free(p);
		return weir__fail(-ENOMEM, "%s: no memory to open it", path);
	}
	memcpy(p->name, path, name_bytes);
	uint64_t length = 0;
	p->fd = -1;
	p->max_filter_bytes = o.max_filter_bytes;
	err = open_file(p, &length);
	if (!err)
		err = read_footer(p, length,
		                  o.max_footer_bytes ? o.max_footer_bytes : UINT64_C(64) << 20);
	if (err)
		weir_parquet_close(p);
	else
		*out = p;
	return err;
}

int weir_parquet_close(struct weir_parquet *p)
{
	if (!p)
		return 0;
	if (p->fd >= 0)
		close(p->fd);
	weir__footer_free(&p->footer);
	free(p->bytes);
	free(p->name);
	free(p);
	return 0;
}

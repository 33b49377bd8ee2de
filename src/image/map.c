/* SPDX-License-Identifier: MIT
 * Maps images: the pages of a file, or the caller's memory, become the filter's bits. The head is
 * copied once. Later only its checksums and commit record are read from the mapping. Verification
 * reads the file, not the mapping, so a file that shrinks gives an error, not a SIGBUS. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "ground/error.h"
#include "image/compound.h"
#include "image/load.h"
#include "image/map.h"

#define HUGE_PAGE (UINT64_C(2) << 20)

enum { LINE = 64 };

enum { MOST_AGAIN = 100 }; /* the most retries while other processes mark or seal the image */

int weir__map_check(const struct weir_load_options *o, uint32_t mode)
{
	if (mode > WEIR_MAP_LIVE)
		return weir__fail(-EINVAL, "mode %u: WEIR_MAP_READ (0), WEIR_MAP_PRIVATE (1) or "
		                  "WEIR_MAP_LIVE (2)", mode);
	if (o->lock_dir && mode != WEIR_MAP_LIVE)
		return weir__fail(-EINVAL, "lock_dir %s: is for WEIR_MAP_LIVE: leave it out",
		                  o->lock_dir);
	if (o->keyless)
		return weir__fail(-EINVAL, "keyless is for what is read: a mapping needs no key to "
		                  "be measured");
	if (o->flags || o->memory || o->memory_bytes)
		return weir__fail(-EINVAL,
		                  "flags 0x%x, memory %p, memory_bytes %zu: a mapping takes none "
		                  "of them: the memory is the file's",
		                  o->flags, o->memory, o->memory_bytes);
	return 0;
}

static int verify_file(struct weir_source *source, const struct weir_preface *preface,
                       const struct weir_load_options *options)
{
	if (options->no_verify || preface->head.commit == WEIR_IMAGE_LIVE)
		return 0;
	return weir__bits_read(source, preface, options, NULL);
}

/* Map a file of 2 MiB or more at a multiple of 2 MiB, as huge pages need, and ask for huge pages
 * for its bits. Ask for none before the bits, where the padding is a hole. With a huge page there,
 * a live mapping's write to the head would allocate the hole, and raise SIGBUS on a full disk. */
static void *map_file(int fd, uint64_t length, uint64_t bits, int protection, int flags)
{
	if (length < HUGE_PAGE)
		return mmap(NULL, length, protection, flags, fd, 0);
	uint64_t slack = length + HUGE_PAGE;
	char *room = mmap(NULL, slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	                  -1, 0);
	if (room == MAP_FAILED)
		return MAP_FAILED;
	char *aligned = (char *)(((uintptr_t)room + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
	void *p = mmap(aligned, length, protection, flags | MAP_FIXED, fd, 0);
	if (p == MAP_FAILED) {
		munmap(room, slack);
		return MAP_FAILED;
	}
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char *end = aligned + (length + page - 1) / page * page;
	if (aligned > room)
		munmap(room, (size_t)(aligned - room));
	if (end < room + slack)
		munmap(end, (size_t)(room + slack - end));
	/* Ignore errors: most file systems have no huge pages. */
	(void)madvise((char *)p + bits, length - bits, MADV_HUGEPAGE);
	return p;
}

static int make_mapping(struct weir_mapping **out, struct weir_source *source,
                        const struct weir_preface *preface, enum weir_map_mode mode)
{
	int protection = mode == WEIR_MAP_READ ? PROT_READ : PROT_READ | PROT_WRITE;
	uint64_t length = weir__image_length(&preface->head);
	if (length > SIZE_MAX / 2)
		return weir__fail(-ENOMEM, "%s: its %llu bytes do not fit this address space",
		                  source->name, (unsigned long long)length);
	struct weir_mapping *m = malloc(sizeof *m + strlen(source->name) + 1);
	if (!m)
		return weir__fail(-ENOMEM, "%s: no memory for the mapping's record", source->name);
	*m = (struct weir_mapping){
		.mode = mode,
		.head = preface->head,
		.length = length,
		.given = source->fd < 0,
		.lock = WEIR_NO_LIVE_LOCK
	};
	strcpy(m->name, source->name);
	if (m->given) /* go back to the start of the image, since the head was read already */
		m->image = (unsigned char *)(uintptr_t)(source->memory - source->at);
	else
		m->image = map_file(source->fd, length, weir__image_bits_offset(&m->head),
		                    protection,
		                    mode == WEIR_MAP_PRIVATE ? MAP_PRIVATE : MAP_SHARED);
	if (m->image == MAP_FAILED) {
		int err = weir__syscall_failed(source, -errno);
		free(m);
		return weir__fail(err, "%s: cannot map its %llu bytes: %s", source->name,
		                  (unsigned long long)length, weir_strerror(err));
	}
	*out = m;
	return 0;
}

static void unmap(const struct weir_memory *memory)
{
	struct weir_mapping *m = memory->origin;
	if (!m->given)
		munmap(memory->base, memory->base_bytes);
	weir__live_close(m); /* [LIVE-LOCKS]: release the locks after the unmapping */
	free(m);
}

static int map_filter(struct weir_filter **out, struct weir_source *source,
                      const struct weir_preface *preface, enum weir_map_mode mode,
                      const struct weir_layout *layout)
{
	struct weir_mapping *m = NULL;
	struct weir_filter *f;
	int err = make_mapping(&m, source, preface, mode);
	if (err)
		return err;
	struct weir_memory memory = {
		.bits = (uint64_t *)(void *)(m->image + weir__image_bits_offset(&m->head)),
		.base = m->image,
		.base_bytes = m->length,
		.release = unmap,
		.shared = mode == WEIR_MAP_LIVE,
		.origin = m,
	};
	err = weir__filter_make(&f, layout, &memory,
	                        mode == WEIR_MAP_READ ? -EROFS : 0);
	if (err) {
		weir__memory_free(&memory);
		return err;
	}
	f->marks = m->head.marks;
	err = weir__bits_check(f, source->name);
	if (err) {
		weir_destroy(f);
		return err;
	}
	*out = f;
	return 0;
}

/* Map a compound, and make a filter around the mapped bits of each member. These bits are verified
 * by reading the file. */
static int map_compound(struct weir_filter **out, struct weir_source *source,
                        const struct weir_preface *preface, enum weir_map_mode mode,
                        const struct weir_load_options *options, const struct weir_layout *layout)
{
	struct weir_member member[WEIR_IMAGE_MEMBERS];
	const int insert_error = mode == WEIR_MAP_READ ? -EROFS : 0;
	struct weir_mapping *m = NULL;
	int err = make_mapping(&m, source, preface, mode);
	if (err)
		return err;
	struct weir_memory memory = { .base = m->image,
		                      .base_bytes = m->length,
		                      .release = unmap,
		                      .origin = m };
	err = weir__members_map(member, m->image, preface, source, options, insert_error);
	if (!err)
		err = weir__members_join(out, layout, member, preface->head.members, insert_error,
		                         source->name);
	if (err) {
		weir__memory_free(&memory);
		return err;
	}
	memory.bits = (*out)->memory.bits;
	(*out)->memory = memory;
	(*out)->marks = preface->head.marks;
	return 0;
}

static int verify_and_map(struct weir_filter **out, struct weir_source *source,
                          const struct weir_preface *preface, enum weir_map_mode mode,
                          const struct weir_load_options *options)
{
	struct weir_layout layout;
	int err = weir__preface_layout(&layout, preface, options->secret, source->name);
	if (!err && weir__is_compound(preface))
		return map_compound(out, source, preface, mode, options, &layout);
	if (!err)
		err = verify_file(source, preface, options);
	return err ? err : map_filter(out, source, preface, mode, &layout);
}

static bool can_map(const struct weir_preface *preface)
{
	return weir__kind_can(preface->kind) & WEIR_CAN_MAP;
}

/* Map, then check that the filter has the abilities in options.can. */
static int map_wanted(struct weir_filter **out, struct weir_source *source,
                      const struct weir_preface *preface, enum weir_map_mode mode,
                      const struct weir_load_options *options)
{
	struct weir_filter *f;
	int err = verify_and_map(&f, source, preface, mode, options);
	if (err)
		return err;
	err = weir__preface_can(preface, f, options->can, source->name);
	if (err)
		weir_destroy(f);
	else
		*out = f;
	return err;
}

/* Refuse images that cannot be mapped in this mode, whatever their bits. */
static int check_form(const struct weir_preface *p, enum weir_map_mode mode, const char *name)
{
	if (!can_map(p))
		return weir__fail(-ENOTSUP, "%s: kind %s cannot be mapped: load it",
		                  name, p->kind->name);
	if (p->head.compression != WEIR_IMAGE_PLAIN)
		return weir__fail(-EINVAL,
		                  "%s: is compressed, which cannot be mapped: load it", name);
	if (mode == WEIR_MAP_LIVE && p->kind->head_lines)
		return weir__fail(-ENOTSUP, "%s: kind %s cannot be mapped live: load it, and save "
		                  "it again", name, p->kind->name);
	if (mode == WEIR_MAP_LIVE && weir__is_compound(p))
		return weir__fail(-ENOTSUP, "%s: kind %s cannot be mapped live: what one process "
		                  "adds to it others would miss", name, p->kind->name);
	if (mode == WEIR_MAP_LIVE && !(weir__kind_can(p->kind) & WEIR_CAN_MAP_LIVE))
		return weir__fail(-ENOTSUP, "%s: kind %s cannot be mapped live: load it, or map it "
		                  "to read", name, p->kind->name);
	return 0;
}

int weir__map_source(struct weir_filter **out, struct weir_source *source, enum weir_map_mode mode,
                     const struct weir_load_options *options)
{
	struct weir_preface preface;
	int err = weir__preface_read(&preface, source, options->max_bytes, mode == WEIR_MAP_LIVE);
	if (err)
		return err;
	err = weir__preface_can(&preface, NULL, options->can, source->name);
	if (!err)
		err = check_form(&preface, mode, source->name);
	if (!err)
		err = map_wanted(out, source, &preface, mode, options);
	weir__preface_free(&preface);
	return err;
}

static bool is_line(const void *memory)
{
	return (uintptr_t)memory % LINE == 0;
}

/* Return: true if a source whose head was read can be mapped. A stream cannot. */
static bool mappable(const struct weir_source *source, const struct weir_preface *p)
{
	return source->exact && (source->fd >= 0 || is_line(source->memory - source->at)) &&
	       p->head.compression == WEIR_IMAGE_PLAIN && can_map(p);
}

int weir__map_or_load(struct weir_filter **out, struct weir_source *source,
                      enum weir_map_mode mode, const struct weir_load_options *options)
{
	struct weir_preface preface;
	int err = weir__preface_read(&preface, source, options->max_bytes, false);
	if (!err) {
		err = mappable(source, &preface) ?
		      verify_and_map(out, source, &preface, mode, options) :
		      weir__preface_load(out, source, &preface, options);
		weir__preface_free(&preface);
	}
	return weir__source_settle(source, err);
}

/* Mark the image live. On success the mapping owns the locks and the source's descriptor. */
static int go_live(struct weir_filter *f, struct weir_live_lock *lock, struct weir_source *source)
{
	struct weir_mapping *m = weir__mapping_of(f);
	m->lock = *lock;
	int err = weir__live_begin(m);
	if (!err)
		err = weir__live_confirm(lock, m->name);
	if (err)
		m->lock = (struct weir_live_lock)WEIR_NO_LIVE_LOCK;
	else
		source->fd = -1;
	return err;
}

static int map_live(struct weir_filter **out, struct weir_source *source,
                    const struct weir_load_options *options, bool *changed)
{
	struct weir_filter *f = NULL;
	struct weir_live_lock lock;
	int err = weir__live_share(&lock, source, options->lock_dir);
	*changed = err == -ESTALE;
	if (err)
		return err;
	err = weir__map_source(&f, source, WEIR_MAP_LIVE, options);
	if (!err)
		err = go_live(f, &lock, source);
	err = weir__source_settle(source, err);
	*changed = err == -EBUSY || err == -ESTALE;
	if (!err) {
		*out = f;
		return 0;
	}
	weir_destroy(f);
	weir__live_drop(&lock);
	return err;
}

/* Map the file. @changed: receives true if another process marked the image live or sealed it
 * during the read, so the caller should retry. */
static int map_once(struct weir_filter **out, const char *path, enum weir_map_mode mode,
                    const struct weir_load_options *options,
                    bool *changed)
{
	bool live = mode == WEIR_MAP_LIVE;
	struct weir_source source;
	int err = weir__source_open(&source, path, live ? O_RDWR : O_RDONLY);
	if (err)
		return err;
	if (live)
		err = map_live(out, &source, options, changed);
	else
		err = weir__source_settle(&source,
		                          weir__map_source(out, &source, mode, options));
	weir__source_close(&source);
	return err;
}

/* Map a file. With WEIR_MAP_LIVE, retry if another process marks the image live or seals it during
 * the read. */
static int map_path(struct weir_filter **out, const char *path, enum weir_map_mode mode,
                    const struct weir_load_options *options)
{
	unsigned again = mode == WEIR_MAP_LIVE ? MOST_AGAIN : 0;
	bool changed;
	int err;
	do {
		changed = false;
		err = map_once(out, path, mode, options, &changed);
	} while (changed && again-- > 0);
	return err;
}

static int map_memory(struct weir_filter **out, const struct weir_location *from,
                      const struct weir_load_options *options)
{
	struct weir_source source = weir__source_of_memory("the image in memory", from->memory,
	                                                   from->bytes);
	if (!is_line(from->memory))
		return weir__fail(-EINVAL, "image %p: a multiple of %d that is not NULL",
		                  from->memory, LINE);
	return weir__map_source(out, &source, WEIR_MAP_READ, options);
}

int weir__map_location(struct weir_filter **out, const struct weir_location *from,
                       const struct weir_load_options *options)
{
	int err = weir__map_check(options, from->mode);
	if (err)
		return err;
	return from->form == WEIR_LOCATION_MAP_MEMORY ?
	       map_memory(out, from, options) :
	       map_path(out, from->path, (enum weir_map_mode)from->mode, options);
}

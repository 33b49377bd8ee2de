/* SPDX-License-Identifier: MIT
 * Images of routers: those of an array whose first page is checked too (weir_kind.check). */
#include <string.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "image/load.h"
#include "image/map.h"
#include "image/save.h"
#include "router/router.h"

static int save_check(const struct weir_save_options *options)
{
	struct weir_save_options o;
	int err = weir__save_options(&o, options);
	if (!err && o.marks)
		err = weir__fail(-EINVAL, "marks 0x%x: 0: a router has no guard against a set that "
		                 "is too small", o.marks);
	return err;
}

int weir_router_save(const struct weir_router *r, const char *path,
                     const struct weir_save_options *options)
{
	int err = save_check(options);
	return err ? err : weir_save(weir__router_filter(r), path, options);
}

int weir_router_save_fd(const struct weir_router *r, int fd,
                        const struct weir_save_options *options)
{
	int err = save_check(options);
	return err ? err : weir_save_fd(weir__router_filter(r), fd, options);
}

static int load(struct weir_router **out, struct weir_source *source,
                const struct weir_load_options *options)
{
	struct weir_load_options o;
	struct weir_filter *f;
	int err = weir__load_options(&o, options);
	if (!err && o.no_verify)
		err = weir__fail(-EINVAL, "no_verify is for weir_router_map: what is read is "
		                 "always checked");
	if (!err)
		err = weir__memory_given(o.memory, o.memory_bytes);
	source->as = &weir__kind_router;
	if (!err)
		err = weir__source_load(&f, source, &o);
	if (!err)
		*out = weir__router_of(f);
	return err;
}

static int no_place(void)
{
	return weir__fail(-EINVAL, "out is NULL: the router needs a place");
}

int weir_router_load(struct weir_router **out, const char *path,
                     const struct weir_load_options *options)
{
	struct weir_source source;
	int err = out ? weir__source_open(&source, path, O_RDONLY) : no_place();
	if (err)
		return err;
	err = weir__source_settle(&source, load(out, &source, options));
	weir__source_close(&source);
	return err;
}

int weir_router_load_fd(struct weir_router **out, int fd, const struct weir_load_options *options)
{
	char name[32];
	struct weir_source source;
	int err = out ? weir__source_of_fd(&source, fd, name) : no_place();
	return err ? err : load(out, &source, options);
}

int weir_router_load_memory(struct weir_router **out, const void *image, size_t bytes,
                            const struct weir_load_options *options)
{
	struct weir_source source;
	int err = out ? weir__source_of_memory(&source, image, bytes) : no_place();
	return err ? err : load(out, &source, options);
}

int weir_router_map(struct weir_router **out, const char *path, enum weir_map_mode mode,
                    const struct weir_load_options *options)
{
	struct weir_load_options o;
	struct weir_filter *f;
	int err = out ? weir__map_options(&o, options, mode) : no_place();
	if (!err && mode == WEIR_MAP_LIVE)
		err = weir__fail(-ENOTSUP, "%s: a router cannot be mapped live: load it, and save "
		                 "it again", path);
	if (!err)
		err = weir__map_path(&f, path, &weir__kind_router, mode, &o);
	if (!err)
		*out = weir__router_of(f);
	return err;
}

int weir_router_image_stats(const char *path, const struct weir_load_options *options,
                            struct weir_router_stats *out)
{
	struct weir_load_options o;
	struct weir_router *r;
	int err = weir__load_options(&o, options);
	if (err)
		return err;
	o.hash_key = o.hash_key ? o.hash_key : weir__no_hash_key;
	err = weir_router_load(&r, path, &o);
	if (err)
		return err;
	err = weir_router_stats(r, out);
	weir_router_destroy(r);
	return err;
}

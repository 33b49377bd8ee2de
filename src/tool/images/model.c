/* SPDX-License-Identifier: MIT
 * See model.h. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "input/file.h"
#include "model.h"
#include "output/report.h"
#include "output/say.h"
#include "shape.h"

#define OTHER_KEY "servers that follow it refuse that, also those that take any seed"
#define NEW_SEED "servers that follow it refuse one of another seed, unless they take any"

/* Fills the model with the settings of @f, and destroys @f. Return: 0, or a negative errno. */
static int take_model(struct model *out, struct weir_filter *f, const char *path, double fp_rate,
                      const struct image_how *how)
{
	struct model model = { .path = path,
		               .params = WEIR_PARAMS_INIT,
		               .fp_rate = fp_rate,
		               .normal_known = true };
	int err = weir_params_of(f, &model.params);
	weir_text_of(f, &model.normal);
	weir_destroy(f);
	if (model.params.secret) { /* points into the destroyed filter */
		model.params.secret = how->secret;
		model.params.seed = 0;
	}
	if (!err)
		*out = model;
	return err;
}

int model_like(struct model *out, const char *path, const struct image_how *how)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	struct weir_filter *f;
	if (!image_named(path))
		return image_unnamed(path, true);
	if (image_open(&f, path, how))
		return TOOL_TROUBLE;
	/* weir_image_inspect() fails for a pipe, which image_open() has read to its end */
	bool known = weir_image_inspect(weir_location_path(path), &info) == 0;
	return take_model(out, f, path, known ? info.fp_rate : 0.0, how) ? TOOL_TROUBLE : TOOL_OK;
}

/* Return: true if only this user and root can write the image. Prints a message if another user can
 * write the image. That user may have chosen the seed and keys that collide under this seed. */
static bool trusted(int fd, const char *path)
{
	struct stat st;
	if (fstat(fd, &st))
		return false;
	if (st.st_uid != geteuid() && st.st_uid != 0)
		say("%s: its seed is not kept, since user %u, who owns it, may have chosen it: "
		    NEW_SEED "; chown it, or --new-seed if that is meant",
		    path, (unsigned)st.st_uid);
	else if (st.st_mode & (S_IWGRP | S_IWOTH))
		say("%s: its seed is not kept, since others may write it (mode %04o) and may have "
		    "chosen it: " NEW_SEED "; chmod go-w it, or --new-seed if that is meant",
		    path, (unsigned)(st.st_mode & 07777));
	else
		return true;
	return false;
}

/* Return: true if the image and the new image are both keyed (--keyed-by), or both not keyed.
 * Whether they have the same secret key shows only when the image is opened. */
static bool same_hash(const struct weir_image_info *info, bool keyed, const char *path)
{
	if (info->keyed != keyed)
		say("%s: its keys were hashed by %s, and are %s now: " OTHER_KEY ": they are to be "
		    "started anew, %s",
		    path, info->hash, keyed ? "keyed (--keyed-by)" : "not keyed",
		    keyed ? "with the key" : "without a key");
	return info->keyed == keyed;
}

/* The image to be replaced. The descriptor refers to this image even if another process replaces
 * the file. */
struct replaced {
	const char *path;
	int fd;
	char name[40]; /* path of the descriptor, if /proc is mounted */
	struct weir_image_info info;
};

/* Return: true if the path is an image that is not live. The caller then closes r->fd. */
static bool open_replaced(struct replaced *r, const char *path)
{
	*r = (struct replaced){ .path = path, .info = WEIR_IMAGE_INFO_INIT };
	r->fd = image_begins(path) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	if (r->fd < 0)
		return false;
	snprintf(r->name, sizeof r->name, "/proc/self/fd/%d", r->fd);
	bool named = access(r->name, F_OK) == 0;
	if (weir_image_inspect(weir_location_path(named ? r->name : path), &r->info) == 0 &&
	    !r->info.live)
		return true;
	close(r->fd);
	return false;
}

static int read_replaced(struct model *out, const struct replaced *r, bool wanted, bool force,
                         const struct image_how *how)
{
	struct image_how quiet = *how;
	struct weir_filter *f;
	quiet.wordless = true;
	quiet.check = false;
	int err = access(r->name, F_OK) == 0 ? image_open(&f, r->name, &quiet) :
	                                       image_load_fd(&f, r->fd, r->path, &quiet);
	if (!err)
		err = take_model(out, f, r->path, r->info.fp_rate, how);
	if (!err)
		return TOOL_OK;
	if (err == -EKEYREJECTED)
		say("%s: is keyed by another key: " OTHER_KEY ": they are to be started anew, with "
		    "the new key",
		    r->path);
	else if (wanted && force)
		say("%s: its seed is not kept, since it cannot be read: %s: " NEW_SEED, r->path,
		    image_trouble(err, r->name));
	else if (wanted)
		say("%s: not replaced: its seed cannot be kept: %s: " NEW_SEED
		    "; if that is meant, --new-seed",
		    r->path, image_trouble(err, r->name));
	return err != -EKEYREJECTED && wanted && !force ? TOOL_TROUBLE : TOOL_OK;
}

int model_replaced(struct model *out, const char *path, const struct model_wish *wish, bool force,
                   const struct image_how *how)
{
	struct replaced r;
	char text[NORMAL_STEPS];
	bool keyed = wish->params.secret != NULL, wanted = !wish->new_seed && !wish->params.seed;
	if (strcmp(path, "-") == 0 || !open_replaced(&r, path))
		return TOOL_OK;
	if (r.info.shape.kind == WEIR_WINDOW || r.info.shape.kind == WEIR_ROUTER) {
		close(r.fd); /* windows and routers cannot be models */
		return TOOL_OK;
	}
	int status = TOOL_OK;
	bool trust = !wanted || trusted(r.fd, path);
	out->normal_known = trust;
	if (trust)
		out->normal = r.info.text;
	else if (r.info.text.steps)
		say("%s: nor is done again what was done to its keys (%s), unless options say so",
		    path, normal_steps(text, r.info.text.steps));
	if (same_hash(&r.info, keyed, path) && trust)
		status = read_replaced(out, &r, wanted, force, how);
	close(r.fd);
	return status;
}

/* Return: the upper bound on the rate of an answer, which is the sum of the rates of its
 * lookups. */
static double rate_of_answer(const struct model *model)
{
	return model->fp_rate * weir_text_most(&model->normal);
}

/* Return: true if two rates are equal except for rounding. */
static bool same_rate(double a, double b)
{
	return fabs(a - b) <= 1e-12 * b;
}

static bool wants_other_size(const struct model *model, const struct model_wish *wish,
                             uint32_t steps)
{
	const struct weir_params *w = &wish->params, *is = &model->params;
	return !model->path || w->max_bytes || w->capacity ||
	       steps != model->normal.steps ||
	       (w->fp_rate != 0.0 && !same_rate(w->fp_rate, rate_of_answer(model))) ||
	       (wish->kind_given && w->kind != is->kind) ||
	       shape_differs(w, is);
}

struct model_taken model_take(const struct model *model, const struct model_wish *wish,
                              struct weir_params *params)
{
	struct model_taken taken = { false, false, 0 };
	if (!model->path)
		return taken;
	taken.seed = !wish->new_seed && !params->seed;
	if (taken.seed)
		params->seed = model->params.seed; /* 0 if the model is keyed */
	/* A rate that follows from a size may be outside of the range that options accept. Such a
	 * rate is not copied. */
	if (params->fp_rate == 0.0 && !params->max_bytes && model->fp_rate >= 1e-9 &&
	    model->fp_rate <= 0.5)
		params->fp_rate = fmin(rate_of_answer(model), 0.5);
	return taken;
}

/* Return: the number of doublings after which the capacity holds @keys keys. If the capacity is
 * already large enough: the negative number of halvings that keep it above @keys, or 0 with
 * @never_smaller. Half of an odd number is rounded up. */
static int doublings_for(uint64_t capacity, uint64_t keys, bool never_smaller)
{
	int n = 0;
	for (; capacity < keys && capacity <= UINT64_MAX / 2; n++)
		capacity *= 2;
	for (; !never_smaller && capacity > 1 && capacity - capacity / 2 > keys; n--)
		capacity -= capacity / 2;
	return n;
}

static uint64_t times_power_of_2(uint64_t number, int n)
{
	for (; n > 0; n--)
		number *= 2;
	for (; n < 0 && number > 1; n++)
		number -= number / 2;
	return number;
}

double model_rate(const struct model *model, const struct weir_text *noted, double rate)
{
	uint32_t lookups = weir_text_most(noted);
	bool own = model->path && lookups == weir_text_most(&model->normal) &&
	           same_rate(rate, rate_of_answer(model));
	return own ? model->fp_rate : rate / lookups;
}

/* Return: true if the model's size follows from its rate, rather than from an option. */
static bool follows_from_rate(const struct model *model, const struct weir_params *params)
{
	struct weir_params p = *params;
	struct weir_plan plan = WEIR_PLAN_INIT;
	p.capacity = model->params.capacity;
	p.shards = model->params.shards;
	p.fp_rate = model->fp_rate;
	return p.fp_rate != 0.0 && weir_plan_make(&p, &plan) == 0 &&
	       plan.bytes == model->params.max_bytes;
}

/* Return: the capacity of the model's size at the rate of @params. This rate differs from the
 * model's if the number of lookups per answer has changed. */
static uint64_t capacity_of(const struct model *model, const struct weir_params *params)
{
	struct weir_params p = *params;
	struct weir_plan plan = WEIR_PLAN_INIT;
	if (p.fp_rate == model->fp_rate || !follows_from_rate(model, params))
		return model->params.capacity;
	p.capacity = 0;
	p.max_bytes = model->params.max_bytes;
	p.shards = model->params.shards;
	return weir_plan_make(&p, &plan) ? model->params.capacity : plan.capacity;
}

/* Doubles or halves the model's bytes exactly, so that the larger of the two images can be folded
 * to the size of the smaller. The capacity becomes the largest that keeps the rate. Without a rate,
 * or if that capacity is below @keys, the capacity is doubled or halved like the bytes, and the
 * rate follows from capacity and bytes. */
static void resize(const struct model *model, int n, uint64_t keys, struct weir_params *params)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	struct weir_params p = *params;
	p.capacity = 0;
	p.max_bytes = 64 * times_power_of_2(model->params.max_bytes / 64, n);
	if (model->params.shards)
		p.shards = (uint32_t)times_power_of_2(model->params.shards, n);
	if (p.fp_rate == 0.0 || weir_plan_make(&p, &plan) || plan.capacity < keys) {
		/* Size and capacity determine the rate. */
		p.capacity = times_power_of_2(model->params.capacity, n);
		p.fp_rate = 0.0;
	}
	*params = p;
}

/* Sizes a growing filter, which adds layers by itself. The model's first layer and limit on keys
 * are doubled only if the keys exceed the limit. Return: the number of doublings. */
static int take_growing(const struct model *model, uint64_t keys, struct weir_params *params)
{
	enum { MOST = 21845 }; /* the default limit on keys, as a multiple of the first layer */
	const struct weir_params *is = &model->params;
	uint64_t room = is->growing.max_capacity ? is->growing.max_capacity : is->capacity * MOST;
	int n = doublings_for(room, keys, true);
	params->capacity = times_power_of_2(is->capacity, n);
	params->growing.max_capacity = times_power_of_2(is->growing.max_capacity, n);
	params->shards = n ? 0 : is->shards;
	if (!n && is->max_bytes) { /* the model's size was given, and the rate follows from it */
		params->max_bytes = is->max_bytes;
		params->fp_rate = 0.0;
	}
	return n;
}

void model_size(const struct model *model, const struct model_wish *wish,
                const struct weir_text *noted, uint64_t keys, struct weir_params *params,
                struct model_taken *taken)
{
	const struct weir_params *is = &model->params;
	bool given = params->capacity || (params->max_bytes && params->fp_rate != 0.0);
	params->fp_rate = model_rate(model, noted, params->fp_rate);
	if (!given)
		params->capacity = keys ? keys : 1;
	if (wants_other_size(model, wish, noted->steps))
		return;
	taken->size = true;
	shape_as(params, is);
	if (weir_kind_can(is->kind, WEIR_CAN_GROW)) {
		taken->doublings = take_growing(model, params->capacity, params);
		return;
	}
	uint64_t room = capacity_of(model, params);
	taken->doublings = doublings_for(room, params->capacity, wish->never_smaller);
	if (taken->doublings || room != is->capacity) {
		resize(model, taken->doublings, params->capacity, params);
		return;
	}
	bool from_rate = follows_from_rate(model, params);
	params->capacity = is->capacity;
	params->shards = is->shards;
	if (!from_rate) {
		params->fp_rate = 0.0;
		params->max_bytes = is->max_bytes;
	}
}

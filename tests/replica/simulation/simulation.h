/* SPDX-License-Identifier: MIT
 * Nodes with the rounds that the service makes of them, on the toy of a server. Time is counted in
 * steps: one is what a node waits between two words of its own (idle_ms). */
#ifndef WEIR_TESTS_REPLICA_SIMULATION_H
#define WEIR_TESTS_REPLICA_SIMULATION_H

#include <weir/handle.h>
#include "../toy.h"
#include "node.h"

enum { SIM_NODES = 5, SIM_KEYS = 200, SIM_KEPT = 4096 };

struct sim_node {
	struct weir_node node;
	struct weir_handle *handle;
	unsigned life; /* which of those that were born in this place */
	uint64_t asleep_until, incomplete_since, met;
	uint64_t looked; /* the generation that it knows of */
	char last_epoch[WEIR_REPLICA_EPOCH + 1];
	bool publish_now;
};

/* A key, inserted by a node of a place while that lived. */
struct sim_key {
	unsigned place, life;
	bool promised; /* its batch was confirmed by all replicas */
	bool excused;  /* nobody has to have it */
};

struct sim {
	struct toy toy;
	struct sim_node at[SIM_NODES];
	unsigned nodes;
	struct sim_key keys[SIM_KEYS];
	unsigned inserted;
	uint64_t now;
	struct {
		uint64_t node, said;
	} reports[SIM_KEPT];
	unsigned report_count;
	struct {
		char *text;
		size_t len;
		uint64_t generation;
	} kept[SIM_KEPT]; /* every manifest that there was */
	unsigned kept_count;
	uint64_t lease_of, lease_until;
	char failure[128]; /* "": none; a kind, a colon, where */
};

/* ---- sim_nodes.c: what a node does ---- */
void sim_be_born(struct sim *s, unsigned i);
void sim_die(struct sim *s, unsigned i);
struct weir_filter *sim_filter(void);
/* A look where there is something to see; an answer that means that somebody has to look. */
void sim_look(struct sim *s, unsigned i);
void sim_look_after(struct sim *s, unsigned i, int err);
/* What a round does; @confirm: and whoever inserted waits for all replicas. */
void sim_round(struct sim *s, unsigned i, bool confirm);
/* What is due now and then; @publish: also a generation. */
void sim_due(struct sim *s, unsigned i, bool publish);
void sim_publish(struct sim *s, unsigned i);
/* From a record; it lacks some keys if @lacks is not 0. */
void sim_record(struct sim *s, unsigned i, uint64_t lacks);
/* One of the last generations again: by a node that publishes it, or by a hand that puts the
 * manifest there. */
void sim_back(struct sim *s, unsigned i, uint64_t which);
void sim_put(struct sim *s, uint64_t which);

/* ---- sim_oracle.c: what must be ---- */
void sim_insert(struct sim *s, unsigned i);
/* What node @i has inserted so far is promised. */
void sim_promise(struct sim *s, unsigned i);
/* Excuse what only those had who are there no more: dead nodes, and what the server has lost. */
void sim_excuse(struct sim *s);
/* Excuse what the image of a generation of before and the stream lack: it was taken away. */
void sim_excuse_removed(struct sim *s);
/* At any time: a node has what it inserted. When all is quiet: everybody has everything. */
void sim_check_own(struct sim *s);
void sim_check_all(struct sim *s);
void sim_fail(struct sim *s, const char *kind, unsigned i, unsigned k);

#endif

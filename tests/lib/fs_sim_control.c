// SPDX-License-Identifier: Apache-2.0
/* A simulated disk as a whole: made, copied, switched off; its faults and counts. */

#include <stdlib.h>
#include <string.h>

#include "fs_sim_inside.h"

/* ---- the disk ---- */

static struct fs_sim *new_sim(uint64_t seed)
{
    struct fs_sim *sim = sim_realloc(NULL, sizeof *sim);

    memset(sim, 0, sizeof *sim);
    sim->fs = sim_calls;
    pthread_mutex_init(&sim->lock, NULL);
    sim->chance = seed;
    sim->files = sim_realloc(NULL, SIM_OPEN_FILES * sizeof *sim->files);
    memset(sim->files, 0, SIM_OPEN_FILES * sizeof *sim->files);
    return sim;
}

struct fs_sim *fs_sim_open(const struct fs_sim_options *options)
{
    static const struct fs_sim_options none;
    const struct fs_sim_options *chosen = options == NULL ? &none : options;
    struct fs_sim *sim = new_sim(chosen->seed);

    sim->root = sim_node_new(sim, true);
    sim->names_are_ordered = chosen->names == FS_SIM_NAMES_ORDERED ||
                             (chosen->names == FS_SIM_NAMES_BY_SEED && sim_percent(sim, 50));
    sim->total_bytes = chosen->total_bytes;
    sim->reads_are_cold = chosen->reads_are_cold;
    return sim;
}

void fs_sim_close(struct fs_sim *sim)
{
    if (sim == NULL) return;
    sim_end_life(sim);
    sim_forget_changes(sim);
    free(sim->changes);
    sim_node_release(sim, sim->root);
    free(sim->files);
    pthread_mutex_destroy(&sim->lock);
    free(sim);
}

struct fs_sim *fs_sim_copy(struct fs_sim *sim, uint64_t seed)
{
    struct fs_sim *copy = new_sim(seed);

    pthread_mutex_lock(&sim->lock);
    copy->names_are_ordered = sim->names_are_ordered;
    copy->total_bytes = sim->total_bytes;
    copy->reads_are_cold = sim->reads_are_cold;
    copy->used_blocks = sim->used_blocks;
    for (struct sim_node *node = sim->nodes; node != NULL; node = node->next) {
        node->copy = sim_node_new(copy, node->is_folder);
        sim_copy_data(node->copy, node);
    }
    sim_copy_names(copy, sim);
    copy->root = sim_node_keep(sim->root->copy);
    /* What only a descriptor held is gone. */
    for (struct sim_node *node = sim->nodes; node != NULL; node = node->next) {
        sim_node_release(copy, node->copy);
        node->copy = NULL;
    }
    pthread_mutex_unlock(&sim->lock);
    return copy;
}

struct fs *fs_sim_fs(struct fs_sim *sim)
{
    return &sim->fs;
}

/* ---- lives ---- */

void fs_sim_kill(struct fs_sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    sim_end_life(sim);
    sim->is_dead = true;
    sim->cut_at = 0;
    pthread_mutex_unlock(&sim->lock);
}

void fs_sim_cut_power(struct fs_sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    if (!sim->is_off) sim_cut_power(sim);
    pthread_mutex_unlock(&sim->lock);
}

void fs_sim_restart(struct fs_sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    sim_end_life(sim);
    sim->is_off = sim->is_dead = false;
    pthread_mutex_unlock(&sim->lock);
}

void fs_sim_cut_power_at(struct fs_sim *sim, long nth)
{
    pthread_mutex_lock(&sim->lock);
    sim->cut_at = nth == 0 ? 0 : sim->change_calls + nth;
    pthread_mutex_unlock(&sim->lock);
}

bool fs_sim_is_off(struct fs_sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    bool is_off = sim->is_off || sim->is_dead;
    pthread_mutex_unlock(&sim->lock);
    return is_off;
}

/* ---- faults and counts ---- */

void fs_sim_fail(struct fs_sim *sim, const struct fs_sim_fault *fault)
{
    pthread_mutex_lock(&sim->lock);
    memset(&sim->fault, 0, sizeof sim->fault);
    if (fault != NULL) sim->fault = *fault;
    sim->fault_calls = 0;
    sim->has_failed = false;
    pthread_mutex_unlock(&sim->lock);
}

void fs_sim_ignore(struct fs_sim *sim, unsigned calls, const char *suffix)
{
    pthread_mutex_lock(&sim->lock);
    if (sim->ignored_count < (int)(sizeof sim->ignored / sizeof *sim->ignored))
        sim->ignored[sim->ignored_count++] = (struct fs_sim_fault){ .calls = calls,
                                                                    .suffix = suffix };
    pthread_mutex_unlock(&sim->lock);
}

bool fs_sim_has_failed(struct fs_sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    bool has_failed = sim->has_failed;
    pthread_mutex_unlock(&sim->lock);
    return has_failed;
}

void fs_sim_set_total_bytes(struct fs_sim *sim, int64_t total_bytes)
{
    pthread_mutex_lock(&sim->lock);
    sim->total_bytes = total_bytes;
    pthread_mutex_unlock(&sim->lock);
}

int64_t fs_sim_used_bytes(struct fs_sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    int64_t bytes = sim->used_blocks * SIM_BLOCK;
    pthread_mutex_unlock(&sim->lock);
    return bytes;
}

long fs_sim_changes(struct fs_sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    long changes = sim->change_calls;
    pthread_mutex_unlock(&sim->lock);
    return changes;
}

int fs_sim_open_files(struct fs_sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    int open_files = sim->open_files;
    pthread_mutex_unlock(&sim->lock);
    return open_files;
}

long fs_sim_misuses(struct fs_sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    long misuses = sim->misuses;
    pthread_mutex_unlock(&sim->lock);
    return misuses;
}

int64_t fs_sim_bytes_read(struct fs_sim *sim, const char *suffix)
{
    int64_t bytes = 0;

    pthread_mutex_lock(&sim->lock);
    for (int i = 0; i < sim->read_count; i++)
        if (strcmp(sim->reads[i].suffix, suffix) == 0) bytes = sim->reads[i].bytes;
    pthread_mutex_unlock(&sim->lock);
    return bytes;
}

void fs_sim_forget_reads(struct fs_sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    sim->read_count = 0;
    pthread_mutex_unlock(&sim->lock);
}

void fs_sim_set_hook(struct fs_sim *sim,
                     void (*hook)(void *context, const struct fs_sim_event *event), void *context)
{
    pthread_mutex_lock(&sim->lock);
    sim->hook = hook;
    sim->hook_context = context;
    pthread_mutex_unlock(&sim->lock);
}

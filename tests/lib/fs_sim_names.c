// SPDX-License-Identifier: Apache-2.0
/* The names of files: in the page cache, on the disk, and the changes that are not decided yet. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs_sim_inside.h"

/* ---- one folder ---- */

static struct sim_name *find_name(const struct sim_names *names, const char *text)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->names[i].text, text) == 0) return &names->names[i];
    return NULL;
}

struct sim_node *sim_name_get(const struct sim_names *names, const char *text)
{
    const struct sim_name *name = find_name(names, text);

    return name == NULL ? NULL : name->node;
}

static void remove_name(struct fs_sim *sim, struct sim_names *names, const char *text)
{
    struct sim_name *name = find_name(names, text);

    if (name == NULL) return;
    struct sim_node *node = name->node;
    free(name->text);
    *name = names->names[--names->count];
    sim_node_release(sim, node);
}

static void set_name(struct fs_sim *sim, struct sim_names *names, const char *text,
                     struct sim_node *node)
{
    sim_node_keep(node);
    remove_name(sim, names, text);
    if (names->count == names->capacity) {
        names->capacity = names->capacity == 0 ? 8 : names->capacity * 2;
        names->names = sim_realloc(names->names, names->capacity * sizeof *names->names);
    }
    names->names[names->count++] = (struct sim_name){ sim_text(text, strlen(text)), node };
}

void sim_names_close(struct fs_sim *sim, struct sim_names *names)
{
    while (names->count > 0) {
        struct sim_name *name = &names->names[--names->count];
        free(name->text);
        sim_node_release(sim, name->node);
    }
    free(names->names);
    memset(names, 0, sizeof *names);
}

/* ---- paths ---- */

/* The next word of a path, and what follows it; NULL at the end. */
static const char *next_word(const char *path, char name[256])
{
    for (;;) {
        while (*path == '/')
            path++;
        size_t length = strcspn(path, "/");
        if (length == 0) return NULL;
        if (length == 1 && path[0] == '.') {
            path++;
            continue;
        }
        if (length > 255) length = 255;
        memcpy(name, path, length);
        name[length] = '\0';
        return path + length;
    }
}

struct sim_node *sim_find_parent(struct fs_sim *sim, const char *path, char name[256])
{
    struct sim_node *folder = sim->root;
    char following[256];

    const char *rest = next_word(path, name);
    if (rest == NULL) {
        errno = EBUSY; /* The root has no name. */
        return NULL;
    }
    for (;;) {
        const char *further = next_word(rest, following);
        if (further == NULL) return folder;
        folder = sim_name_get(&folder->now, name);
        if (folder == NULL || !folder->is_folder) {
            errno = folder == NULL ? ENOENT : ENOTDIR;
            return NULL;
        }
        memcpy(name, following, sizeof following);
        rest = further;
    }
}

struct sim_node *sim_find(struct fs_sim *sim, const char *path)
{
    char name[256];

    if (next_word(path, name) == NULL) return sim->root;
    struct sim_node *folder = sim_find_parent(sim, path, name);
    struct sim_node *node = folder == NULL ? NULL : sim_name_get(&folder->now, name);
    if (folder != NULL && node == NULL) errno = ENOENT;
    return node;
}

/* ---- changes ---- */

static void close_change(struct fs_sim *sim, struct sim_change *change)
{
    sim_node_release(sim, change->node);
    sim_node_release(sim, change->from_folder);
    sim_node_release(sim, change->to_folder);
    free(change->from);
    free(change->to);
}

void sim_forget_changes(struct fs_sim *sim)
{
    for (size_t i = 0; i < sim->change_count; i++)
        close_change(sim, &sim->changes[i]);
    sim->change_count = 0;
}

static struct sim_change *add_change(struct fs_sim *sim)
{
    if (sim->change_count == sim->change_capacity) {
        sim->change_capacity = sim->change_capacity == 0 ? 16 : sim->change_capacity * 2;
        sim->changes = sim_realloc(sim->changes, sim->change_capacity * sizeof *sim->changes);
    }
    return &sim->changes[sim->change_count++];
}

void sim_change_names(struct fs_sim *sim, struct sim_node *node, struct sim_node *from_folder,
                      const char *from, struct sim_node *to_folder, const char *to)
{
    struct sim_change *change = add_change(sim);

    *change = (struct sim_change){ .node = sim_node_keep(node) };
    if (from_folder != NULL) {
        change->from_folder = sim_node_keep(from_folder);
        change->from = sim_text(from, strlen(from));
        remove_name(sim, &from_folder->now, from);
    }
    if (to_folder != NULL) {
        change->to_folder = sim_node_keep(to_folder);
        change->to = sim_text(to, strlen(to));
        set_name(sim, &to_folder->now, to, node);
    }
}

static void make_last(struct fs_sim *sim, struct sim_change *change)
{
    if (change->from_folder != NULL &&
        sim_name_get(&change->from_folder->disk, change->from) == change->node)
        remove_name(sim, &change->from_folder->disk, change->from);
    if (change->to_folder != NULL)
        set_name(sim, &change->to_folder->disk, change->to, change->node);
}

void sim_sync_names(struct fs_sim *sim, const struct sim_node *folder)
{
    size_t until = 0, kept = 0;

    /* A journal that is written up to a change has all that came before. */
    if (sim->names_are_ordered)
        for (size_t i = 0; i < sim->change_count; i++)
            if (sim->changes[i].from_folder == folder || sim->changes[i].to_folder == folder)
                until = i + 1;
    for (size_t i = 0; i < sim->change_count; i++) {
        struct sim_change change = sim->changes[i];
        if (i < until || change.from_folder == folder || change.to_folder == folder) {
            make_last(sim, &change);
            close_change(sim, &change);
        } else {
            sim->changes[kept++] = change;
        }
    }
    sim->change_count = kept;
}

static bool is_same_name(const struct sim_node *folder, const char *name,
                         const struct sim_node *other_folder, const char *other_name)
{
    return folder != NULL && folder == other_folder && strcmp(name, other_name) == 0;
}

/* Would it come before one that is lost and has a name in common? */
static bool follows_a_lost_one(const struct fs_sim *sim, size_t index)
{
    const struct sim_change *change = &sim->changes[index];

    for (size_t i = 0; i < index; i++) {
        const struct sim_change *other = &sim->changes[i];
        if (!other->is_lost) continue;
        if (is_same_name(change->from_folder, change->from, other->from_folder, other->from) ||
            is_same_name(change->from_folder, change->from, other->to_folder, other->to) ||
            is_same_name(change->to_folder, change->to, other->from_folder, other->from) ||
            is_same_name(change->to_folder, change->to, other->to_folder, other->to))
            return true;
    }
    return false;
}

/* What is on the disk is now what there is. */
static void show_disk(struct fs_sim *sim)
{
    struct sim_node **nodes;
    size_t count = 0;

    for (const struct sim_node *node = sim->nodes; node != NULL; node = node->next)
        count++;
    nodes = sim_realloc(NULL, (count + 1) * sizeof *nodes);
    count = 0;
    /* No node may go before all have been looked at. */
    for (struct sim_node *node = sim->nodes; node != NULL; node = node->next)
        nodes[count++] = sim_node_keep(node);
    for (size_t i = 0; i < count; i++) {
        sim_names_close(sim, &nodes[i]->now);
        for (size_t k = 0; k < nodes[i]->disk.count; k++)
            set_name(sim, &nodes[i]->now, nodes[i]->disk.names[k].text,
                     nodes[i]->disk.names[k].node);
    }
    for (size_t i = 0; i < count; i++)
        sim_node_release(sim, nodes[i]);
    free(nodes);
}

void sim_settle_names(struct fs_sim *sim, unsigned percent)
{
    size_t until = sim->change_count;

    if (percent < 100 && until > 0) until = percent == 0 ? 0 : sim_chance(sim) % (until + 1);
    for (size_t i = 0; i < sim->change_count; i++) {
        struct sim_change *change = &sim->changes[i];
        change->is_lost = sim->names_are_ordered
                              ? i >= until
                              : !sim_percent(sim, percent) || follows_a_lost_one(sim, i);
        if (!change->is_lost) make_last(sim, change);
    }
    sim_forget_changes(sim);
    show_disk(sim);
}

static void copy_list(struct sim_names *to, const struct sim_names *from)
{
    to->count = to->capacity = from->count;
    if (from->count == 0) return;
    to->names = sim_realloc(NULL, from->count * sizeof *to->names);
    for (size_t i = 0; i < from->count; i++)
        to->names[i] = (struct sim_name){
            sim_text(from->names[i].text, strlen(from->names[i].text)),
            sim_node_keep(from->names[i].node->copy),
        };
}

void sim_copy_names(struct fs_sim *to, const struct fs_sim *from)
{
    for (const struct sim_node *node = from->nodes; node != NULL; node = node->next) {
        copy_list(&node->copy->now, &node->now);
        copy_list(&node->copy->disk, &node->disk);
    }
    for (size_t i = 0; i < from->change_count; i++) {
        const struct sim_change *old = &from->changes[i];
        struct sim_change *change = add_change(to);
        *change = (struct sim_change){ .node = sim_node_keep(old->node->copy) };
        if (old->from_folder != NULL) {
            change->from_folder = sim_node_keep(old->from_folder->copy);
            change->from = sim_text(old->from, strlen(old->from));
        }
        if (old->to_folder != NULL) {
            change->to_folder = sim_node_keep(old->to_folder->copy);
            change->to = sim_text(old->to, strlen(old->to));
        }
    }
}

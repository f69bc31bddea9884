// SPDX-License-Identifier: Apache-2.0
/* What the files of fs_sim share. All under the disk's lock. */

#ifndef TESTS_FS_SIM_INSIDE_H
#define TESTS_FS_SIM_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "fs_sim.h"

#define SIM_BLOCK      4096
#define SIM_SECTOR     512
#define SIM_OPEN_FILES 4096

/* Shared by copies of a disk, and by page cache and disk where they agree. Never changed while shared. */
struct sim_block {
    atomic_int references;
    uint8_t bytes[SIM_BLOCK];
};

/* One block of a file. NULL is zeros. */
struct sim_page {
    struct sim_block *now;  /* In the page cache. */
    struct sim_block *disk; /* After a power cut. */
    bool is_dirty;          /* The next sync() writes it. */
    bool is_reserved;
};

struct sim_node;

struct sim_name {
    char *text;
    struct sim_node *node;
};

struct sim_names {
    struct sim_name *names;
    size_t count, capacity;
};

/* A file or a folder. */
struct sim_node {
    struct sim_node *next, *previous; /* All of a disk. */
    int references;                   /* From names, changes and descriptors. */
    bool is_folder;
    bool is_locked;

    struct sim_names now, disk; /* A folder's. */

    struct sim_page *pages; /* A file's. */
    size_t page_count, page_capacity;
    int64_t size, disk_size;
    bool size_is_dirty;

    struct sim_node *copy; /* While a disk is copied. */
};

/* Something done to names that a power cut may undo: `from` goes (if there is one), `to` comes. */
struct sim_change {
    struct sim_node *node;
    struct sim_node *from_folder, *to_folder; /* NULL: none. */
    char *from, *to;
    bool is_lost;
};

struct sim_file {
    struct sim_node *node; /* NULL: the slot is free. */
    char *path;
    bool holds_lock;
    bool may_write;
    unsigned generation; /* Part of the descriptor: an old one does not fit. */
};

struct sim_reads {
    char suffix[16];
    int64_t bytes;
};

struct fs_sim {
    struct fs fs; /* First: what the seam hands back. */
    pthread_mutex_t lock;
    uint64_t chance;
    bool names_are_ordered;
    bool reads_are_cold;
    bool is_off;  /* No power, */
    bool is_dead; /* or the process was killed. */
    int64_t total_bytes, used_blocks;

    struct sim_node *root;
    struct sim_node *nodes;
    struct sim_change *changes;
    size_t change_count, change_capacity;

    struct sim_file *files; /* SIM_OPEN_FILES */
    int file_count;         /* Slots used so far. */
    int open_files;
    unsigned first_generation; /* Of this life. */
    unsigned generation;

    long change_calls;
    long cut_at; /* 0: never. */
    struct fs_sim_fault fault;
    long fault_calls;
    bool has_failed;
    struct fs_sim_fault ignored[8];
    int ignored_count;
    long misuses;
    struct sim_reads reads[16];
    int read_count;
    void (*hook)(void *context, const struct fs_sim_event *event);
    void *hook_context;
};

/* Memory, or the end of the program. */
void *sim_realloc(void *old, size_t size);
char *sim_text(const char *text, size_t length);

uint64_t sim_chance(struct fs_sim *sim);
bool sim_percent(struct fs_sim *sim, unsigned percent);

extern const struct fs sim_calls;
void sim_end_life(struct fs_sim *sim);
void sim_cut_power(struct fs_sim *sim);

/* ---- fs_sim_data.c ---- */

struct sim_node *sim_node_new(struct fs_sim *sim, bool is_folder); /* With one reference. */
struct sim_node *sim_node_keep(struct sim_node *node);
void sim_node_release(struct fs_sim *sim, struct sim_node *node); /* NULL is fine. */

size_t sim_read(const struct sim_node *file, void *to, size_t length, int64_t offset);
/* How much of it there was room for. */
size_t sim_write(struct fs_sim *sim, struct sim_node *file, const void *from, size_t length,
                 int64_t offset);
void sim_truncate(struct fs_sim *sim, struct sim_node *file, int64_t size);
bool sim_reserve(struct fs_sim *sim, struct sim_node *file, int64_t offset, int64_t length);
/* `percent` of the dirty blocks reach the disk, the others are forgotten. */
void sim_sync(struct fs_sim *sim, struct sim_node *file, unsigned percent);
/* What a power cut leaves, when `percent` of the unsynced blocks had been written. */
void sim_settle_file(struct fs_sim *sim, struct sim_node *file, unsigned percent);
void sim_copy_data(struct sim_node *to, const struct sim_node *from);

/* ---- fs_sim_names.c ---- */

struct sim_node *sim_name_get(const struct sim_names *names, const char *text);
void sim_names_close(struct fs_sim *sim, struct sim_names *names);
/* The folder that holds the last word of `path`, and that word; NULL with errno set. */
struct sim_node *sim_find_parent(struct fs_sim *sim, const char *path, char name[256]);
struct sim_node *sim_find(struct fs_sim *sim, const char *path); /* The same for the whole path. */
/* Does it in the page cache, and remembers it as undecided. */
void sim_change_names(struct fs_sim *sim, struct sim_node *node, struct sim_node *from_folder,
                      const char *from, struct sim_node *to_folder, const char *to);
void sim_sync_names(struct fs_sim *sim, const struct sim_node *folder);
void sim_settle_names(struct fs_sim *sim, unsigned percent);
void sim_copy_names(struct fs_sim *to, const struct fs_sim *from); /* By the nodes' `copy`. */
void sim_forget_changes(struct fs_sim *sim);

#endif

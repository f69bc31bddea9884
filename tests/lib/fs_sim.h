// SPDX-License-Identifier: Apache-2.0
/* A disk in memory that loses power, fills up and fails, by seed.
 *
 *  (1) What was written and not synced is, after a power cut, there, or not there, or torn: per block
 *      of 4096 bytes, with tears between sectors of 512. The size of a file likewise: the synced one,
 *      the last one, or one in between, with zeros where no block survived.
 *  (2) sync() makes the data of a file and its size last, but not its name: a new file is there after a
 *      power cut if the folder that names it was synced (or by luck).
 *  (3) What was done to names (create, make_folder, rename, remove, remove_folder) lasts when
 *      sync_folder() of the folder returns. At a power cut the rest is, by `names`, kept up to some
 *      point in time and undone after it, as a journal does, or kept and undone each for itself. A
 *      rename is always whole, and what is done to one name keeps its order.
 *  (4) A failed sync() forgets: some of what it should have written is on the disk, the rest never will
 *      be, although the next sync() succeeds and reads may still show it (as Linux does). That a file was
 *      cut shorter is not forgotten: it is in the journal, whatever becomes of blocks.
 *  (5) The same seed and the same calls give the same disk. Chance comes from nowhere else.
 *
 * Any number of disks in one process; each may be used by any thread (one lock each). Descriptors are
 * numbers that no system call takes. Memory is malloc's, so that mem_fail_at() does not meet it. */

#ifndef TESTS_FS_SIM_H
#define TESTS_FS_SIM_H

#include "fs.h"

struct fs_sim;

enum fs_sim_names {
    FS_SIM_NAMES_BY_SEED,
    FS_SIM_NAMES_ORDERED, /* A journal: what is kept is what was done first. */
    FS_SIM_NAMES_EACH     /* Stricter. */
};

struct fs_sim_options {
    uint64_t seed;
    enum fs_sim_names names;
    int64_t total_bytes; /* Room for data and what is reserved for it; 0: without end. */
    bool reads_are_cold; /* read_nowait() often gives ERR_NEEDS_IO. */
};

/* An empty disk, switched on. `options` may be NULL. */
struct fs_sim *fs_sim_open(const struct fs_sim_options *options);
void fs_sim_close(struct fs_sim *sim); /* NULL is fine. */

/* Hand this to what is tested. */
struct fs *fs_sim_fs(struct fs_sim *sim);

/* ---- how a life ends ---- */

/* kill -9: the descriptors and locks of this life are gone, the page cache stays. Until fs_sim_restart()
 * every call fails with ERR_IO and changes nothing, so what the dead process had in memory can be freed. */
void fs_sim_kill(struct fs_sim *sim);

/* The power goes: the same, and decides what the disk has by (1) and (3). */
void fs_sim_cut_power(struct fs_sim *sim);

/* The next life begins. A descriptor of an earlier one fails in every call, and closing it does
 * nothing. */
void fs_sim_restart(struct fs_sim *sim);

/* Cuts the power before the nth change from now (1 is the next); 0: no more. A change is a call that
 * makes, writes, truncates, reserves, syncs, renames or removes, or tries to. */
void fs_sim_cut_power_at(struct fs_sim *sim, long nth);
bool fs_sim_is_off(struct fs_sim *sim); /* Killed or without power. */

/* Another disk with the same content, page cache, undecided changes and options, without descriptors,
 * switched on; its chance goes on from `seed`. So one run can end in many power cuts. */
struct fs_sim *fs_sim_copy(struct fs_sim *sim, uint64_t seed);

/* ---- what goes wrong meanwhile ---- */

enum fs_sim_call {
    FS_SIM_OPEN = 1 << 0, /* Of a file that is there. */
    FS_SIM_CREATE = 1 << 1,
    FS_SIM_READ = 1 << 2, /* read_nowait() too. */
    FS_SIM_WRITE = 1 << 3,
    FS_SIM_TRUNCATE = 1 << 4,
    FS_SIM_RESERVE = 1 << 5,
    FS_SIM_SYNC = 1 << 6,
    FS_SIM_SYNC_FOLDER = 1 << 7,
    FS_SIM_MAKE_FOLDER = 1 << 8,
    FS_SIM_RENAME = 1 << 9,
    FS_SIM_REMOVE = 1 << 10, /* Folders too. */
    FS_SIM_LIST = 1 << 11,
    FS_SIM_LOOK = 1 << 12 /* size(), path_size(), exists(), free_bytes(), lock(). */
};

#define FS_SIM_CHANGES                                                               \
    (FS_SIM_CREATE | FS_SIM_WRITE | FS_SIM_TRUNCATE | FS_SIM_RESERVE | FS_SIM_SYNC | \
     FS_SIM_SYNC_FOLDER | FS_SIM_MAKE_FOLDER | FS_SIM_RENAME | FS_SIM_REMOVE)

struct fs_sim_fault {
    unsigned calls;     /* Counts these calls, */
    const char *suffix; /* on paths that end so (borrowed; NULL: all), */
    long nth;           /* and lets the nth from now fail (1 is the next; 0: none) */
    bool keeps_failing; /* and all later ones, */
    int error;          /* with this; 0 on FS_SIM_READ: a bit of what it reads is turned over. */
};

/* One fault at a time; NULL: none. A write that fails has written a part; a sync that fails, see (4). */
void fs_sim_fail(struct fs_sim *sim, const struct fs_sim_fault *fault);
bool fs_sim_has_failed(struct fs_sim *sim); /* The fault has come, since it was set. */

/* From now on these calls (FS_SIM_SYNC, FS_SIM_SYNC_FOLDER) on paths that end so (borrowed) do nothing and
 * say that they did: for tests that must see a test fail. At most eight. */
void fs_sim_ignore(struct fs_sim *sim, unsigned calls, const char *suffix);

/* From now on the disk has this much room; less than is used is fine. 0: without end. */
void fs_sim_set_total_bytes(struct fs_sim *sim, int64_t total_bytes);
int64_t fs_sim_used_bytes(struct fs_sim *sim);

/* ---- what was done ---- */

long fs_sim_changes(struct fs_sim *sim); /* So far. */
int fs_sim_open_files(struct fs_sim *sim);
/* Calls that used a descriptor that this life never had or has closed: a bug of the caller. */
long fs_sim_misuses(struct fs_sim *sim);

/* Bytes read since they were forgotten, from files whose name has this from its last dot on (".log"; "":
 * no dot). */
int64_t fs_sim_bytes_read(struct fs_sim *sim, const char *suffix);
void fs_sim_forget_reads(struct fs_sim *sim);

/* Called before each call takes effect, without the lock; it may use the functions above. */
struct fs_sim_event {
    enum fs_sim_call call;
    const char *path; /* Borrowed. Of a rename the old one. */
    int64_t offset;   /* Of reads, writes and truncations; otherwise 0. */
    int64_t length;
};
void fs_sim_set_hook(struct fs_sim *sim,
                     void (*hook)(void *context, const struct fs_sim_event *event), void *context);

#endif

// SPDX-License-Identifier: Apache-2.0

#include "fs_sim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "fs_sim_inside.h"

/* A descriptor: a mark, the generation of its slot, the slot. */
#define FD_MARK         (1 << 30)
#define FD_GENERATIONS  (1u << 18)
#define UNLIMITED_BYTES ((int64_t)1 << 40)

/* ---- memory and chance ---- */

void *sim_realloc(void *old, size_t size)
{
    void *memory = realloc(old, size);

    if (memory == NULL) {
        fputs("fs_sim: out of memory\n", stderr);
        abort();
    }
    return memory;
}

char *sim_text(const char *text, size_t length)
{
    char *copy = sim_realloc(NULL, length + 1);

    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

/* splitmix64. */
uint64_t sim_chance(struct fs_sim *sim)
{
    uint64_t z = sim->chance += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

bool sim_percent(struct fs_sim *sim, unsigned percent)
{
    return sim_chance(sim) % 100 < percent;
}

/* ---- descriptors ---- */

static struct fs_sim *sim_of(struct fs *fs)
{
    return (struct fs_sim *)(void *)fs; /* Its first member. */
}

/* NULL, with errno, if it is none of this life that is open. */
static struct sim_file *find_file(struct fs_sim *sim, int fd)
{
    struct sim_file *file = &sim->files[fd & (SIM_OPEN_FILES - 1)];
    unsigned generation = (unsigned)fd / SIM_OPEN_FILES % FD_GENERATIONS;

    if (fd >= FD_MARK && file->node != NULL && file->generation == generation) return file;
    unsigned age = (sim->first_generation - generation) % FD_GENERATIONS;
    bool is_of_earlier_life = fd >= FD_MARK && age > 0 && age < FD_GENERATIONS / 2;
    if (!is_of_earlier_life) sim->misuses++;
    errno = EBADF;
    return NULL;
}

static int add_file(struct fs_sim *sim, struct sim_node *node, const char *path, bool may_write,
                    int *fd)
{
    int slot = 0;

    while (slot < SIM_OPEN_FILES && sim->files[slot].node != NULL)
        slot++;
    if (slot == SIM_OPEN_FILES) {
        errno = EMFILE;
        return ERR_IO;
    }
    sim->generation = (sim->generation + 1) % FD_GENERATIONS;
    sim->files[slot] = (struct sim_file){
        .node = sim_node_keep(node),
        .path = sim_text(path, strlen(path)),
        .may_write = may_write,
        .generation = sim->generation,
    };
    if (slot >= sim->file_count) sim->file_count = slot + 1;
    sim->open_files++;
    *fd = FD_MARK | (int)(sim->generation * SIM_OPEN_FILES) | slot;
    return 0;
}

static void close_file(struct fs_sim *sim, struct sim_file *file)
{
    if (file->holds_lock) file->node->is_locked = false;
    sim_node_release(sim, file->node);
    free(file->path);
    *file = (struct sim_file){ .node = NULL };
    sim->open_files--;
}

void sim_end_life(struct fs_sim *sim)
{
    for (int i = 0; i < sim->file_count; i++)
        if (sim->files[i].node != NULL) close_file(sim, &sim->files[i]);
    sim->file_count = 0;
    sim->generation = (sim->generation + 1) % FD_GENERATIONS;
    sim->first_generation = sim->generation;
}

/* ---- what every call does first and last ---- */

void sim_cut_power(struct fs_sim *sim)
{
    /* Cuts differ in how much had been written anyway. */
    static const unsigned percents[] = { 0, 5, 30, 50, 50, 70, 95, 100 };
    unsigned names = percents[sim_chance(sim) % 8];
    unsigned data = percents[sim_chance(sim) % 8];

    sim->is_off = true;
    sim->cut_at = 0;
    sim_end_life(sim);
    sim_settle_names(sim, names);
    for (struct sim_node *node = sim->nodes; node != NULL; node = node->next)
        if (!node->is_folder)
            sim_settle_file(sim, node, sim_percent(sim, 70) ? data : percents[sim_chance(sim) % 8]);
}

static const char *suffix_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash == NULL ? path : slash, '.');

    return dot == NULL ? "" : dot;
}

static int set_errno_for(int err)
{
    errno = err == ERR_NO_SPACE ? ENOSPC : err == ERR_NO_MEMORY ? ENOMEM : EIO;
    return err;
}

static bool is_meant(const struct fs_sim_fault *fault, enum fs_sim_call call, const char *path)
{
    size_t length = strlen(path);
    size_t suffix_length = fault->suffix == NULL ? 0 : strlen(fault->suffix);

    if ((fault->calls & call) == 0 || suffix_length > length) return false;
    return suffix_length == 0 || strcmp(path + length - suffix_length, fault->suffix) == 0;
}

static bool is_ignored(const struct fs_sim *sim, enum fs_sim_call call, const char *path)
{
    for (int i = 0; i < sim->ignored_count; i++)
        if (is_meant(&sim->ignored[i], call, path)) return true;
    return false;
}

/* The planned fault, if this call is the one; 0 if not. `*flip`: it has come, without an error. */
static int planned(struct fs_sim *sim, enum fs_sim_call call, const char *path, bool *flip)
{
    const struct fs_sim_fault *fault = &sim->fault;

    *flip = false;
    if (fault->nth == 0 || !is_meant(fault, call, path)) return 0;
    sim->fault_calls++;
    if (sim->fault_calls < fault->nth || (sim->fault_calls > fault->nth && !fault->keeps_failing))
        return 0;
    sim->has_failed = true;
    *flip = fault->error == 0;
    return fault->error == 0 ? 0 : set_errno_for(fault->error);
}

/* What a call on a path or a file must know. */
struct visit {
    struct fs_sim *sim;
    struct sim_file *file; /* NULL: it has none, or a bad one. */
    bool is_planned;       /* The error is the planned fault. */
    bool flip;
};

static void tell(struct fs_sim *sim, enum fs_sim_call call, const char *path, int64_t offset,
                 int64_t length)
{
    struct fs_sim_event event = { call, path, offset, length };

    if (sim->hook != NULL) sim->hook(sim->hook_context, &event);
}

/* Takes the lock, whatever it returns. */
static int begin(struct visit *visit, struct fs *fs, enum fs_sim_call call, const char *path)
{
    struct fs_sim *sim = sim_of(fs);

    *visit = (struct visit){ .sim = sim };
    pthread_mutex_lock(&sim->lock);
    if ((call & FS_SIM_CHANGES) != 0 && !sim->is_off && !sim->is_dead) {
        sim->change_calls++;
        if (sim->cut_at != 0 && sim->change_calls >= sim->cut_at) sim_cut_power(sim);
    }
    if (sim->is_off || sim->is_dead) {
        errno = EIO;
        return ERR_IO;
    }
    int err = planned(sim, call, path, &visit->flip);
    visit->is_planned = err != 0;
    return err;
}

static int begin_path(struct visit *visit, struct fs *fs, enum fs_sim_call call, const char *path)
{
    tell(sim_of(fs), call, path, 0, 0);
    return begin(visit, fs, call, path);
}

static int begin_file(struct visit *visit, struct fs *fs, enum fs_sim_call call, int fd,
                      int64_t offset, int64_t length)
{
    struct fs_sim *sim = sim_of(fs);
    char path[PATH_MAX] = "";

    pthread_mutex_lock(&sim->lock);
    struct sim_file *file = find_file(sim, fd);
    if (file != NULL) snprintf(path, sizeof path, "%s", file->path);
    pthread_mutex_unlock(&sim->lock);
    if (file == NULL) {
        *visit = (struct visit){ .sim = sim };
        pthread_mutex_lock(&sim->lock);
        return ERR_IO;
    }
    tell(sim, call, path, offset, length);
    int err = begin(visit, fs, call, path);
    visit->file = find_file(sim, fd);
    if (visit->file == NULL) return ERR_IO;
    if (err == 0 && !visit->file->may_write &&
        (call & (FS_SIM_WRITE | FS_SIM_TRUNCATE | FS_SIM_RESERVE)) != 0) {
        sim->misuses++;
        errno = EBADF;
        return ERR_IO;
    }
    return err;
}

static int end(struct visit *visit, int err)
{
    int reason = errno;

    pthread_mutex_unlock(&visit->sim->lock);
    errno = reason;
    return err;
}

static int fail(int reason)
{
    errno = reason;
    return (int)error_from_errno(reason);
}

/* ---- files ---- */

static int sim_open(struct fs *fs, const char *path, enum fs_open_mode mode, int *fd)
{
    struct visit visit;
    struct fs_sim *sim = sim_of(fs);
    char name[256];

    pthread_mutex_lock(&sim->lock);
    bool is_there = sim_find(sim, path) != NULL;
    pthread_mutex_unlock(&sim->lock);
    bool makes = !is_there && (mode == FS_CREATE || mode == FS_CREATE_NEW);
    int err = begin_path(&visit, fs, makes ? FS_SIM_CREATE : FS_SIM_OPEN, path);
    if (err == 0) {
        struct sim_node *folder = sim_find_parent(sim, path, name);
        struct sim_node *node = folder == NULL ? NULL : sim_name_get(&folder->now, name);
        if (folder == NULL)
            err = fail(errno);
        else if (node == NULL && !makes)
            err = fail(ENOENT);
        else if (node != NULL && mode == FS_CREATE_NEW)
            err = fail(EEXIST);
        else if (node != NULL && node->is_folder)
            err = fail(EISDIR);
        else if (node != NULL)
            err = add_file(sim, node, path, mode != FS_READ, fd);
        else {
            node = sim_node_new(sim, false);
            err = add_file(sim, node, path, true, fd);
            if (err == 0) sim_change_names(sim, node, NULL, NULL, folder, name);
            sim_node_release(sim, node);
        }
    }
    return end(&visit, err);
}

static void sim_close(struct fs *fs, int fd)
{
    struct fs_sim *sim = sim_of(fs);

    pthread_mutex_lock(&sim->lock);
    struct sim_file *file = find_file(sim, fd);
    if (file != NULL) close_file(sim, file);
    pthread_mutex_unlock(&sim->lock);
}

static void count_read(struct fs_sim *sim, const char *path, size_t length)
{
    const char *suffix = suffix_of(path);

    for (int i = 0; i < sim->read_count; i++)
        if (strcmp(sim->reads[i].suffix, suffix) == 0) {
            sim->reads[i].bytes += (int64_t)length;
            return;
        }
    if (sim->read_count == (int)(sizeof sim->reads / sizeof *sim->reads)) return;
    struct sim_reads *reads = &sim->reads[sim->read_count++];
    snprintf(reads->suffix, sizeof reads->suffix, "%s", suffix);
    reads->bytes = (int64_t)length;
}

static int read_file(struct fs *fs, int fd, void *to, size_t length, int64_t offset, size_t *got,
                     bool may_wait)
{
    struct visit visit;
    int err = begin_file(&visit, fs, FS_SIM_READ, fd, offset, (int64_t)length);

    if (err == 0 && !may_wait && visit.sim->reads_are_cold && sim_percent(visit.sim, 50))
        err = ERR_NEEDS_IO;
    if (err == 0) {
        *got = sim_read(visit.file->node, to, length, offset);
        count_read(visit.sim, visit.file->path, *got);
        if (visit.flip && *got > 0)
            ((uint8_t *)to)[sim_chance(visit.sim) % *got] ^= (uint8_t)(1u << sim_chance(visit.sim) %
                                                                                 8);
    }
    return end(&visit, err);
}

static int sim_read_wait(struct fs *fs, int fd, void *to, size_t length, int64_t offset,
                         size_t *got)
{
    return read_file(fs, fd, to, length, offset, got, true);
}

static int sim_read_nowait(struct fs *fs, int fd, void *to, size_t length, int64_t offset,
                           size_t *got)
{
    return read_file(fs, fd, to, length, offset, got, false);
}

static int sim_write_parts(struct fs *fs, int fd, const struct iovec *parts, int count,
                           int64_t offset)
{
    struct visit visit;
    size_t length = 0;

    for (int i = 0; i < count; i++)
        length += parts[i].iov_len;
    int err = begin_file(&visit, fs, FS_SIM_WRITE, fd, offset, (int64_t)length);
    if (visit.is_planned && visit.file != NULL && visit.file->may_write)
        length = sim_chance(visit.sim) % (length + 1);
    else if (err != 0)
        length = 0;
    for (int i = 0; i < count && length > 0; i++) {
        size_t part = parts[i].iov_len < length ? parts[i].iov_len : length;
        size_t written = sim_write(visit.sim, visit.file->node, parts[i].iov_base, part, offset);
        offset += (int64_t)written;
        length -= part;
        if (written == part) continue;
        if (err == 0) err = fail(ENOSPC);
        break;
    }
    return end(&visit, err);
}

static int sim_size(struct fs *fs, int fd, int64_t *size)
{
    struct visit visit;
    int err = begin_file(&visit, fs, FS_SIM_LOOK, fd, 0, 0);

    if (err == 0) *size = visit.file->node->size;
    return end(&visit, err);
}

static int sim_set_size(struct fs *fs, int fd, int64_t size)
{
    struct visit visit;
    int err = begin_file(&visit, fs, FS_SIM_TRUNCATE, fd, size, 0);

    if (err == 0) sim_truncate(visit.sim, visit.file->node, size);
    return end(&visit, err);
}

static int sim_reserve_part(struct fs *fs, int fd, int64_t offset, int64_t length)
{
    struct visit visit;
    int err = begin_file(&visit, fs, FS_SIM_RESERVE, fd, offset, length);

    if (err == 0 && !sim_reserve(visit.sim, visit.file->node, offset, length)) err = fail(ENOSPC);
    return end(&visit, err);
}

static int sim_sync_file(struct fs *fs, int fd)
{
    struct visit visit;
    int err = begin_file(&visit, fs, FS_SIM_SYNC, fd, 0, 0);

    if (err == 0 && is_ignored(visit.sim, FS_SIM_SYNC, visit.file->path)) return end(&visit, 0);
    if (err == 0)
        sim_sync(visit.sim, visit.file->node, 100);
    else if (visit.is_planned && visit.file != NULL)
        sim_sync(visit.sim, visit.file->node, (unsigned)(sim_chance(visit.sim) % 60));
    return end(&visit, err);
}

static int sim_lock(struct fs *fs, int fd)
{
    struct visit visit;
    int err = begin_file(&visit, fs, FS_SIM_LOOK, fd, 0, 0);

    if (err == 0 && visit.file->node->is_locked && !visit.file->holds_lock) err = ERR_BUSY;
    if (err == 0) visit.file->holds_lock = visit.file->node->is_locked = true;
    return end(&visit, err);
}

/* ---- names ---- */

static int sim_sync_folder(struct fs *fs, const char *path)
{
    struct visit visit;
    int err = begin_path(&visit, fs, FS_SIM_SYNC_FOLDER, path);
    const struct sim_node *folder = NULL;

    if (err == 0) {
        folder = sim_find(visit.sim, path);
        if (folder == NULL || !folder->is_folder) err = fail(folder == NULL ? errno : ENOTDIR);
    }
    if (err == 0 && !is_ignored(visit.sim, FS_SIM_SYNC_FOLDER, path))
        sim_sync_names(visit.sim, folder);
    return end(&visit, err);
}

/* Files and names. A failed one has written some of the files, and of each some part. */
static int sim_sync_all(struct fs *fs, int fd)
{
    struct visit visit;
    int err = begin_file(&visit, fs, FS_SIM_SYNC, fd, 0, 0);
    bool is_done = err == 0 && !is_ignored(visit.sim, FS_SIM_SYNC, visit.file->path);
    bool is_failed = err != 0 && visit.is_planned && visit.file != NULL;

    struct sim_node *node = visit.sim->nodes;
    if (node != NULL) sim_node_keep(node);
    while (node != NULL) {
        if (is_done && node->is_folder)
            sim_sync_names(visit.sim, node); /* Others may be gone after that. */
        else if (is_done)
            sim_sync(visit.sim, node, 100);
        else if (is_failed && !node->is_folder)
            sim_sync(visit.sim, node, (unsigned)(sim_chance(visit.sim) % 60));
        struct sim_node *next = node->next;
        if (next != NULL) sim_node_keep(next);
        sim_node_release(visit.sim, node);
        node = next;
    }
    return end(&visit, err);
}

static int sim_make_folder(struct fs *fs, const char *path)
{
    struct visit visit;
    char name[256];
    int err = begin_path(&visit, fs, FS_SIM_MAKE_FOLDER, path);

    if (err == 0) {
        struct sim_node *parent = sim_find_parent(visit.sim, path, name);
        if (parent == NULL)
            err = fail(errno == EBUSY ? EEXIST : errno);
        else if (sim_name_get(&parent->now, name) != NULL)
            err = fail(EEXIST);
        else {
            struct sim_node *node = sim_node_new(visit.sim, true);
            sim_change_names(visit.sim, node, NULL, NULL, parent, name);
            sim_node_release(visit.sim, node);
        }
    }
    return end(&visit, err);
}

static int remove_node(struct fs *fs, const char *path, bool folder)
{
    struct visit visit;
    char name[256];
    int err = begin_path(&visit, fs, FS_SIM_REMOVE, path);

    if (err == 0) {
        struct sim_node *parent = sim_find_parent(visit.sim, path, name);
        struct sim_node *node = parent == NULL ? NULL : sim_name_get(&parent->now, name);
        if (node == NULL)
            err = fail(parent == NULL ? errno : ENOENT);
        else if (node->is_folder != folder)
            err = fail(folder ? ENOTDIR : EISDIR);
        else if (node->now.count > 0)
            err = fail(ENOTEMPTY);
        else
            sim_change_names(visit.sim, node, parent, name, NULL, NULL);
    }
    return end(&visit, err);
}

static int sim_remove(struct fs *fs, const char *path)
{
    return remove_node(fs, path, false);
}

static int sim_remove_folder(struct fs *fs, const char *path)
{
    return remove_node(fs, path, true);
}

static int sim_rename(struct fs *fs, const char *from, const char *to)
{
    struct visit visit;
    char old_name[256], new_name[256];
    int err = begin_path(&visit, fs, FS_SIM_RENAME, from);

    if (err == 0) {
        struct sim_node *old_parent = sim_find_parent(visit.sim, from, old_name);
        struct sim_node *new_parent = old_parent == NULL ? NULL
                                                         : sim_find_parent(visit.sim, to, new_name);
        struct sim_node *node = new_parent == NULL ? NULL
                                                   : sim_name_get(&old_parent->now, old_name);
        const struct sim_node *over = new_parent == NULL ? NULL
                                                         : sim_name_get(&new_parent->now, new_name);
        if (node == NULL)
            err = fail(new_parent == NULL ? errno : ENOENT);
        else if (over != NULL && over->is_folder != node->is_folder)
            err = fail(node->is_folder ? ENOTDIR : EISDIR);
        else if (over != NULL && over->now.count > 0)
            err = fail(ENOTEMPTY);
        else if (over != node)
            sim_change_names(visit.sim, node, old_parent, old_name, new_parent, new_name);
    }
    return end(&visit, err);
}

static int sim_exists(struct fs *fs, const char *path, bool *exists)
{
    struct visit visit;
    int err = begin_path(&visit, fs, FS_SIM_LOOK, path);

    if (err == 0) *exists = sim_find(visit.sim, path) != NULL;
    return end(&visit, err);
}

static int sim_path_size(struct fs *fs, const char *path, int64_t *size)
{
    struct visit visit;
    int err = begin_path(&visit, fs, FS_SIM_LOOK, path);

    if (err == 0) {
        const struct sim_node *node = sim_find(visit.sim, path);
        if (node == NULL)
            err = fail(errno);
        else
            *size = node->size;
    }
    return end(&visit, err);
}

static void shuffle(struct fs_sim *sim, struct fs_entry *entries, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = sim_chance(sim) % i;
        struct fs_entry entry = entries[i - 1];
        entries[i - 1] = entries[other];
        entries[other] = entry;
    }
}

static int sim_list(struct fs *fs, const char *path,
                    int (*each)(void *context, const struct fs_entry *entry), void *context)
{
    struct visit visit;
    struct fs_entry *entries = NULL;
    size_t count = 0;
    int err = begin_path(&visit, fs, FS_SIM_LIST, path);

    if (err == 0) {
        const struct sim_node *folder = sim_find(visit.sim, path);
        if (folder == NULL || !folder->is_folder)
            err = fail(folder == NULL ? errno : ENOTDIR);
        else {
            count = folder->now.count;
            entries = sim_realloc(NULL, (count + 1) * sizeof *entries);
            for (size_t i = 0; i < count; i++) {
                snprintf(entries[i].name, sizeof entries[i].name, "%s", folder->now.names[i].text);
                entries[i].is_folder = folder->now.names[i].node->is_folder;
                entries[i].is_file = !entries[i].is_folder;
                entries[i].is_link = false; /* It has none. */
            }
            shuffle(visit.sim, entries, count); /* A real one has no order to rely on either. */
        }
    }
    end(&visit, err);
    /* Without the lock: `each` may remove what it is shown. */
    for (size_t i = 0; i < count && err == 0; i++)
        err = each(context, &entries[i]);
    free(entries);
    return err;
}

static int sim_free_bytes(struct fs *fs, const char *path, int64_t *free_bytes,
                          int64_t *total_bytes)
{
    struct visit visit;
    int err = begin_path(&visit, fs, FS_SIM_LOOK, path);

    if (err == 0) {
        int64_t total = visit.sim->total_bytes > 0 ? visit.sim->total_bytes : UNLIMITED_BYTES;
        int64_t used = visit.sim->used_blocks * SIM_BLOCK;
        *free_bytes = used < total ? total - used : 0;
        *total_bytes = total;
    }
    return end(&visit, err);
}

const struct fs sim_calls = {
    .open = sim_open,
    .close = sim_close,
    .read = sim_read_wait,
    .read_nowait = sim_read_nowait,
    .write = sim_write_parts,
    .size = sim_size,
    .truncate = sim_set_size,
    .reserve = sim_reserve_part,
    .sync = sim_sync_file,
    .sync_folder = sim_sync_folder,
    .sync_all = sim_sync_all,
    .make_folder = sim_make_folder,
    .remove_folder = sim_remove_folder,
    .rename = sim_rename,
    .remove = sim_remove,
    .exists = sim_exists,
    .path_size = sim_path_size,
    .list = sim_list,
    .free_bytes = sim_free_bytes,
    .lock = sim_lock,
};

// SPDX-License-Identifier: Apache-2.0

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "checkpoint.h"
#include "data_dir.h"
#include "error.h"
#include "failure_mark.h"
#include "map.h"
#include "topic_settings.h"
#include "trace.h"

#define CLEAN_MARKER       ".kafka_cleanshutdown"
#define PROBE_FILE         ".probe" /* Nothing that Kafka would look at. */
#define IDENTITY_FILE      "meta.properties"
#define IDENTITY_MAX_BYTES 65536
#define SISTERS            "sluice.directory.ids" /* Beside Kafka's own, which overlooks it. */
#define KIND_COUNT         4
#define LEAST_FREE_MIN     ((int64_t)1 << 20)
#define LEAST_FREE_MAX     ((int64_t)256 << 20)
#define ROOM_BYTES         ((int64_t)4 << 20)

/* 8 MiB. The largest index that is usual (segment.index.bytes, 10 MiB) has 2,560 blocks, of which a search
 * touches 12; this holds the ones where searches begin of a few hundred such. */
#define INDEX_BLOCKS 2048

static const char *const checkpoint_files[KIND_COUNT] = {
    [CHECKPOINT_RECOVERY_POINT] = "recovery-point-offset-checkpoint",
    [CHECKPOINT_LOG_START] = "log-start-offset-checkpoint",
    [CHECKPOINT_HIGH_WATERMARK] = "replication-offset-checkpoint",
    [CHECKPOINT_CLEANED] = "cleaner-offset-checkpoint",
};

/* What is remembered of one partition; -1: nothing. */
struct partition_offsets {
    int32_t partition;
    int64_t offsets[KIND_COUNT];
    char topic[];
};

struct data_dir {
    struct fs *fs;
    struct file_cache *files;
    struct block_cache *blocks;
    char *path;
    int lock_fd;
    bool was_clean;
    struct data_dir_identity identity;
    char *sisters; /* As in data_dir_set_sisters(). */
    int64_t reserve_limit;
    _Atomic int64_t reserved;
    int64_t least_free;   /* Less than that is for what makes room, and for the metadata. */
    _Atomic int64_t room; /* What may be written before the free space is looked at again. */
    atomic_bool is_full;

    pthread_mutex_t sweep_lock;
    atomic_bool sweeps_no_more;
    pthread_mutex_t write_lock; /* One writer of checkpoint files. Before `lock`. */
    pthread_mutex_t lock;       /* For these. */
    struct map partitions;      /* Of struct partition_offsets, by name and number. */
    bool is_changed[KIND_COUNT];
    bool has_forgotten; /* The files may name logs that are no more. */
};

/* ---- checkpoints */

struct partition_key {
    size_t length;
    char bytes[256 + sizeof(int32_t)];
};

static bool key_from(struct partition_key *key, struct str topic, int32_t partition)
{
    if (topic.length <= 0 || topic.length >= 256) return false;
    memcpy(key->bytes, &partition, sizeof partition);
    memcpy(key->bytes + sizeof partition, topic.data, (size_t)topic.length);
    key->length = sizeof partition + (size_t)topic.length;
    return true;
}

static int set_offset(struct data_dir *dir, enum checkpoint_kind kind, struct str topic,
                      int32_t partition, int64_t offset)
{
    struct partition_key key;

    if (!key_from(&key, topic, partition)) return ERR_MALFORMED;
    struct partition_offsets *known = map_get(&dir->partitions, key.bytes, key.length);
    if (known == NULL && offset < 0) return 0;
    if (known == NULL) {
        known = mem_alloc(sizeof *known + (size_t)topic.length + 1);
        if (known == NULL) return ERR_NO_MEMORY;
        *known = (struct partition_offsets){ partition, { -1, -1, -1, -1 } };
        memcpy(known->topic, topic.data, (size_t)topic.length);
        known->topic[topic.length] = '\0';
        int err = map_put(&dir->partitions, key.bytes, key.length, known, NULL);
        if (err != 0) {
            mem_free(known);
            return err;
        }
    }
    if (known->offsets[kind] != offset) dir->is_changed[kind] = true;
    known->offsets[kind] = offset;
    bool is_empty = true;
    for (int i = 0; i < KIND_COUNT; i++)
        is_empty = is_empty && known->offsets[i] < 0;
    if (is_empty) {
        map_remove(&dir->partitions, key.bytes, key.length);
        mem_free(known);
    }
    return 0;
}

bool data_dir_checkpoint(struct data_dir *dir, enum checkpoint_kind kind, const char *topic,
                         int32_t partition, int64_t *offset)
{
    struct partition_key key;
    bool is_known = false;

    if (!key_from(&key, str_from(topic), partition)) return false;
    pthread_mutex_lock(&dir->lock);
    const struct partition_offsets *known = map_get(&dir->partitions, key.bytes, key.length);
    if (known != NULL && known->offsets[kind] >= 0) {
        *offset = known->offsets[kind];
        is_known = true;
    }
    pthread_mutex_unlock(&dir->lock);
    return is_known;
}

int data_dir_set_checkpoint(struct data_dir *dir, enum checkpoint_kind kind, const char *topic,
                            int32_t partition, int64_t offset)
{
    pthread_mutex_lock(&dir->lock);
    int err = set_offset(dir, kind, str_from(topic), partition, offset < 0 ? -1 : offset);
    pthread_mutex_unlock(&dir->lock);
    return err;
}

/* Prints one kind's lines; false if nothing changed since they were written. */
static bool print_changed(struct data_dir *dir, enum checkpoint_kind kind, struct buffer *lines,
                          size_t *count)
{
    struct map_cursor cursor = { 0 };
    const void *key;
    size_t key_length;
    void *value;

    pthread_mutex_lock(&dir->lock);
    bool is_changed = dir->is_changed[kind];
    dir->is_changed[kind] = false;
    while (is_changed && map_next(&dir->partitions, &cursor, &key, &key_length, &value)) {
        const struct partition_offsets *known = value;
        if (known->offsets[kind] < 0) continue;
        checkpoint_print(lines, "%s %" PRId32 " %" PRId64 "\n", known->topic, known->partition,
                         known->offsets[kind]);
        ++*count;
    }
    pthread_mutex_unlock(&dir->lock);
    return is_changed;
}

static int write_checkpoint(struct data_dir *dir, enum checkpoint_kind kind)
{
    char path[PATH_MAX];
    struct buffer lines;
    size_t count = 0;
    int err = 0;

    buffer_init(&lines);
    if (print_changed(dir, kind, &lines, &count)) {
        err = fs_path(path, "%s/%s", dir->path, checkpoint_files[kind]);
        if (err == 0) err = checkpoint_write(dir->fs, path, &lines, count);
        if (err != 0) {
            pthread_mutex_lock(&dir->lock);
            dir->is_changed[kind] = true;
            pthread_mutex_unlock(&dir->lock);
        }
    }
    buffer_close(&lines);
    return err;
}

int data_dir_write_checkpoints(struct data_dir *dir)
{
    int err = 0;

    pthread_mutex_lock(&dir->write_lock);
    pthread_mutex_lock(&dir->lock);
    bool has_forgotten = dir->has_forgotten;
    dir->has_forgotten = false;
    pthread_mutex_unlock(&dir->lock);
    for (int kind = 0; kind < KIND_COUNT && err == 0; kind++)
        err = write_checkpoint(dir, (enum checkpoint_kind)kind);
    if (err != 0 && has_forgotten) {
        pthread_mutex_lock(&dir->lock);
        dir->has_forgotten = true;
        pthread_mutex_unlock(&dir->lock);
    }
    pthread_mutex_unlock(&dir->write_lock);
    return err;
}

/* In memory. */
static void forget(struct data_dir *dir, const char *topic, int32_t partition)
{
    pthread_mutex_lock(&dir->lock);
    for (int kind = 0; kind < KIND_COUNT; kind++)
        set_offset(dir, (enum checkpoint_kind)kind, str_from(topic), partition, -1);
    for (int kind = 0; kind < KIND_COUNT; kind++)
        dir->has_forgotten = dir->has_forgotten || dir->is_changed[kind];
    pthread_mutex_unlock(&dir->lock);
}

int data_dir_forget(struct data_dir *dir, const char *topic, int32_t partition)
{
    int64_t offset;
    bool is_known = false;

    for (int kind = 0; kind < KIND_COUNT; kind++)
        is_known = is_known ||
                   data_dir_checkpoint(dir, (enum checkpoint_kind)kind, topic, partition, &offset);
    if (is_known) forget(dir, topic, partition);
    pthread_mutex_lock(&dir->lock);
    bool has_forgotten = dir->has_forgotten;
    pthread_mutex_unlock(&dir->lock);
    return has_forgotten ? data_dir_write_checkpoints(dir) : 0;
}

struct checkpoint_reading {
    struct data_dir *dir;
    enum checkpoint_kind kind;
};

static int take_line(void *context, const struct checkpoint_line *line)
{
    struct checkpoint_reading *reading = context;
    int64_t partition, offset;

    /* Written again it would be another line, or none. */
    int err = topic_name_is_legal(line->columns[0]) ? 0 : ERR_MALFORMED;
    if (err == 0) err = checkpoint_number(line->columns[1], 0, &partition);
    if (err == 0 && partition > INT32_MAX) err = ERR_MALFORMED;
    if (err == 0) err = checkpoint_number(line->columns[2], 0, &offset);
    if (err == 0)
        err = set_offset(reading->dir, reading->kind, line->columns[0], (int32_t)partition, offset);
    return err;
}

static int read_checkpoints(struct data_dir *dir, char *why, size_t why_size)
{
    int err = 0;

    for (int kind = 0; kind < KIND_COUNT && err == 0; kind++) {
        struct checkpoint_reading reading = { dir, (enum checkpoint_kind)kind };
        char path[PATH_MAX];
        err = fs_path(path, "%s/%s", dir->path, checkpoint_files[kind]);
        if (err == 0) err = checkpoint_read(dir->fs, path, 3, take_line, &reading);
        if (err == ERR_NOT_FOUND) err = 0;
        if (err == ERR_MALFORMED && kind == CHECKPOINT_RECOVERY_POINT) {
            /* Only costs time: what it does not name is checked from its start. */
            trace(TRACE_WARN, "storage", "%s is damaged: all logs are checked", path);
            dir->was_clean = false;
            err = 0;
        }
        if (err == ERR_MALFORMED && kind == CHECKPOINT_CLEANED) {
            trace(TRACE_WARN, "storage", "%s is damaged: what it does not name is compacted again",
                  path);
            err = 0;
        }
        if (err != 0) snprintf(why, why_size, "%s cannot be read: %s", path, error_text(err));
        dir->is_changed[kind] = false;
    }
    return err;
}

/* ---- identity */

/* The value of `name` in a properties text, cut at the end of its line; false if it is not there. */
static bool property(const char *text, const char *name, struct str *value)
{
    size_t name_length = strlen(name);

    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\r\n");
        if (length > name_length && memcmp(line, name, name_length) == 0 &&
            line[name_length] == '=') {
            *value = (struct str){ line + name_length + 1, (int32_t)(length - name_length - 1) };
            return true;
        }
        line += length + strspn(line + length, "\r\n");
    }
    return false;
}

static int parse_sisters(struct data_dir *dir, const char *text)
{
    struct str value;

    if (!property(text, SISTERS, &value)) return 0;
    dir->sisters = mem_printf("%.*s", (int)value.length, value.data);
    return dir->sisters == NULL ? ERR_NO_MEMORY : 0;
}

static int parse_identity(struct data_dir_identity *identity, const char *text)
{
    struct str value;
    int64_t number;
    char id[UUID_TEXT_SIZE];

    if (!property(text, "version", &value) || checkpoint_number(value, 0, &number) != 0 ||
        number > 1)
        return ERR_MALFORMED;
    if (property(text, "cluster.id", &value)) {
        if ((size_t)value.length >= sizeof identity->cluster_id) return ERR_MALFORMED;
        memcpy(identity->cluster_id, value.data, (size_t)value.length);
        identity->cluster_id[value.length] = '\0';
    }
    if (property(text, "node.id", &value) || property(text, "broker.id", &value)) {
        if (checkpoint_number(value, 0, &number) != 0 || number > INT32_MAX) return ERR_MALFORMED;
        identity->node_id = (int32_t)number;
    }
    if (property(text, "directory.id", &value)) {
        if (value.length != UUID_TEXT_SIZE - 1) return ERR_MALFORMED;
        memcpy(id, value.data, UUID_TEXT_SIZE - 1);
        id[UUID_TEXT_SIZE - 1] = '\0';
        return uuid_parse(&identity->directory_id, id);
    }
    return 0;
}

static int read_identity(struct data_dir *dir, char *why, size_t why_size)
{
    char path[PATH_MAX];
    char *text = NULL;
    size_t length;

    dir->identity.node_id = -1;
    int err = fs_path(path, "%s/" IDENTITY_FILE, dir->path);
    if (err == 0) err = fs_read_file(dir->fs, path, IDENTITY_MAX_BYTES, &text, &length);
    if (err == 0) err = parse_identity(&dir->identity, text);
    if (err == 0) err = parse_sisters(dir, text);
    mem_free(text);
    if (err == ERR_NOT_FOUND) {
        dir->identity.is_new = true;
        err = 0;
    }
    if (err == 0 && uuid_is_zero(&dir->identity.directory_id))
        err = uuid_random(&dir->identity.directory_id);
    if (err != 0) snprintf(why, why_size, "%s cannot be read: %s", path, error_text(err));
    return err;
}

const char *data_dir_sisters(const struct data_dir *dir)
{
    return dir->sisters == NULL ? "" : dir->sisters;
}

int data_dir_set_sisters(struct data_dir *dir, const char *sisters)
{
    char *copy = mem_strdup(sisters);

    if (copy == NULL) return ERR_NO_MEMORY;
    mem_free(dir->sisters);
    dir->sisters = copy;
    return 0;
}

int data_dir_set_identity(struct data_dir *dir, const char *cluster_id, int32_t node_id)
{
    struct data_dir_identity identity = dir->identity;
    char path[PATH_MAX];
    char id[UUID_TEXT_SIZE];
    struct buffer text;

    if (strlen(cluster_id) >= sizeof identity.cluster_id) return ERR_LIMIT;
    snprintf(identity.cluster_id, sizeof identity.cluster_id, "%s", cluster_id);
    identity.node_id = node_id;
    identity.is_new = false;
    uuid_print(&identity.directory_id, id);
    buffer_init(&text);
    checkpoint_print(&text, "cluster.id=%s\n", cluster_id);
    checkpoint_print(&text, "directory.id=%s\nnode.id=%" PRId32 "\n", id, node_id);
    if (data_dir_sisters(dir)[0] != '\0') {
        buffer_put(&text, SISTERS "=", sizeof SISTERS);
        buffer_put(&text, dir->sisters, strlen(dir->sisters));
        buffer_put(&text, "\n", 1);
    }
    checkpoint_print(&text, "version=1\n");
    int err = text.failed ? ERR_NO_MEMORY : fs_path(path, "%s/" IDENTITY_FILE, dir->path);
    if (err == 0) err = fs_replace_file(dir->fs, path, text.data, text.length);
    buffer_close(&text);
    if (err == 0) dir->identity = identity;
    return err;
}

int data_dir_disown(struct data_dir *dir)
{
    struct data_dir_identity identity = { .node_id = -1, .is_new = true };
    char from[PATH_MAX], to[PATH_MAX];

    int err = uuid_random(&identity.directory_id);
    if (err == 0) err = fs_path(from, "%s/" IDENTITY_FILE, dir->path);
    if (err == 0) err = fs_path(to, "%s/" IDENTITY_FILE ".adopted", dir->path);
    if (err == 0) err = dir->fs->rename(dir->fs, from, to);
    if (err == 0) err = dir->fs->sync_folder(dir->fs, dir->path);
    if (err != 0) return err;
    dir->identity = identity;
    mem_free(dir->sisters);
    dir->sisters = NULL;
    return 0;
}

/* ---- opening and closing */

/* The folder in which `path` lies. */
static int parent_of(const char *path, char parent[PATH_MAX])
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? fs_path(parent, ".")
                         : fs_path(parent, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

/* Makes the folder and those above it. */
static int make_folders(struct fs *fs, const char *path)
{
    char parent[PATH_MAX];

    int err = fs->make_folder(fs, path);
    if (err == ERR_EXISTS) return 0;
    if (err != ERR_NOT_FOUND || strchr(path, '/') == NULL || path[1] == '\0') return err;
    err = parent_of(path, parent);
    if (err == 0) err = make_folders(fs, parent);
    return err == 0 ? fs->make_folder(fs, path) : err;
}

/* Makes the folder's own name last, and those of the folders above it: some of them may be new, also of a
 * life that ended before it came to this. What we may not look into is not of our making. */
static int sync_names_above(struct fs *fs, const char *path)
{
    char name[PATH_MAX], parent[PATH_MAX];

    int err = fs_path(name, "%s", path);
    bool is_top = false;
    while (err == 0 && !is_top) {
        err = parent_of(name, parent);
        if (err == 0) err = fs->sync_folder(fs, parent);
        if (err == ERR_NOT_PERMITTED) err = 0;
        is_top = strcmp(parent, "/") == 0 || strcmp(parent, ".") == 0;
        if (err == 0) err = fs_path(name, "%s", parent);
    }
    return err;
}

static int take_lock(struct data_dir *dir, char *why, size_t why_size)
{
    char path[PATH_MAX];

    int err = fs_path(path, "%s/.lock", dir->path);
    if (err == 0) err = dir->fs->open(dir->fs, path, FS_CREATE, &dir->lock_fd);
    if (err == 0) err = dir->fs->lock(dir->fs, dir->lock_fd);
    if (err == ERR_BUSY)
        snprintf(why, why_size, "%s is in use by another process", dir->path);
    else if (err != 0)
        snprintf(why, why_size, "%s cannot be locked: %s", path, error_text(err));
    return err;
}

static int read_clean_marker(struct data_dir *dir, char *why, size_t why_size)
{
    char path[PATH_MAX];

    int err = fs_path(path, "%s/" CLEAN_MARKER, dir->path);
    if (err == 0) err = dir->fs->exists(dir->fs, path, &dir->was_clean);
    if (err != 0) snprintf(why, why_size, "%s cannot be read: %s", path, error_text(err));
    return err;
}

int data_dir_begin(struct data_dir *dir)
{
    char path[PATH_MAX];

    int err = fs_path(path, "%s/" CLEAN_MARKER, dir->path);
    if (err == 0) err = dir->fs->remove(dir->fs, path);
    if (err == 0) err = dir->fs->sync_folder(dir->fs, dir->path);
    return err == ERR_NOT_FOUND ? 0 : err;
}

static int find_reserve_limit(struct data_dir *dir, char *why, size_t why_size)
{
    int64_t free_bytes, total_bytes;
    int err = dir->fs->free_bytes(dir->fs, dir->path, &free_bytes, &total_bytes);

    if (err == 0) {
        dir->reserve_limit = total_bytes / 100;
        dir->least_free = total_bytes / 64;
        if (dir->least_free < LEAST_FREE_MIN) dir->least_free = LEAST_FREE_MIN;
        if (dir->least_free > LEAST_FREE_MAX) dir->least_free = LEAST_FREE_MAX;
    } else
        snprintf(why, why_size, "the size of %s is unknown: %s", dir->path, error_text(err));
    return err;
}

int data_dir_open(struct data_dir **dir, struct fs *fs, const char *path, char *why,
                  size_t why_size)
{
    struct data_dir *opened = mem_zalloc(sizeof *opened);

    snprintf(why, why_size, "out of memory");
    if (opened == NULL) return ERR_NO_MEMORY;
    opened->fs = fs;
    opened->lock_fd = -1;
    pthread_mutex_init(&opened->write_lock, NULL);
    pthread_mutex_init(&opened->sweep_lock, NULL);
    atomic_init(&opened->sweeps_no_more, false);
    pthread_mutex_init(&opened->lock, NULL);
    map_init(&opened->partitions);
    opened->path = mem_strdup(path);
    int err = opened->path == NULL ? ERR_NO_MEMORY : 0;
    if (err == 0) err = file_cache_open(&opened->files, fs, file_cache_default_limit());
    if (err == 0) err = block_cache_open(&opened->blocks, INDEX_BLOCKS);
    if (err == 0) {
        err = make_folders(fs, path);
        if (err != 0) snprintf(why, why_size, "%s cannot be made: %s", path, error_text(err));
    }
    if (err == 0) err = take_lock(opened, why, why_size);
    if (err == 0) err = read_identity(opened, why, why_size);
    if (err == 0 && opened->identity.is_new) {
        err = sync_names_above(fs, path);
        if (err != 0) snprintf(why, why_size, "%s cannot be synced: %s", path, error_text(err));
    }
    if (err == 0) err = read_clean_marker(opened, why, why_size);
    if (err == 0) err = read_checkpoints(opened, why, why_size);
    if (err == 0) err = find_reserve_limit(opened, why, why_size);
    if (err != 0) {
        data_dir_close(opened);
        return err;
    }
    if (why_size > 0) why[0] = '\0';
    *dir = opened;
    return 0;
}

void data_dir_close(struct data_dir *dir)
{
    struct map_cursor cursor = { 0 };
    const void *key;
    size_t key_length;
    void *value;

    if (dir == NULL) return;
    while (map_next(&dir->partitions, &cursor, &key, &key_length, &value))
        mem_free(value);
    map_close(&dir->partitions);
    if (dir->lock_fd >= 0) dir->fs->close(dir->fs, dir->lock_fd);
    pthread_mutex_destroy(&dir->lock);
    pthread_mutex_destroy(&dir->write_lock);
    pthread_mutex_destroy(&dir->sweep_lock);
    file_cache_release(dir->files);
    block_cache_close(dir->blocks);
    mem_free(dir->sisters);
    mem_free(dir->path);
    mem_free(dir);
}

struct fs *data_dir_fs(const struct data_dir *dir)
{
    return dir->fs;
}

struct file_cache *data_dir_files(const struct data_dir *dir)
{
    return dir->files;
}

struct block_cache *data_dir_blocks(const struct data_dir *dir)
{
    return dir->blocks;
}

const char *data_dir_path(const struct data_dir *dir)
{
    return dir->path;
}

const struct data_dir_identity *data_dir_identity(const struct data_dir *dir)
{
    return &dir->identity;
}

bool data_dir_was_clean(const struct data_dir *dir)
{
    return dir->was_clean;
}

int data_dir_probe(struct data_dir *dir)
{
    char path[PATH_MAX];

    int err = fs_path(path, "%s/" PROBE_FILE, dir->path);
    if (err == 0) err = fs_write_file(dir->fs, path, "probe\n", 6, true);
    if (err == 0 || err == ERR_NO_SPACE) err = dir->fs->remove(dir->fs, path);
    if (err == ERR_NOT_FOUND) err = 0;
    return err == 0 ? dir->fs->sync_folder(dir->fs, dir->path) : err;
}

int data_dir_sync_all(struct data_dir *dir)
{
    /* The descriptor is as old as our use of the folder: it hears of all failures since. */
    int err = dir->fs->sync_all(dir->fs, dir->lock_fd);
    if (err != 0) failure_mark_leave(dir->fs, dir->path);
    return err;
}

int data_dir_mark_clean(struct data_dir *dir, int64_t broker_epoch)
{
    char path[PATH_MAX];
    char text[64];

    int length = snprintf(text, sizeof text, "{\"version\":0,\"brokerEpoch\":%" PRId64 "}",
                          broker_epoch);
    int err = failure_mark_remove(dir->fs,
                                  dir->path); /* Everything was written and synced again. */
    if (err == 0) err = fs_path(path, "%s/" CLEAN_MARKER, dir->path);
    if (err == 0) err = fs_replace_file(dir->fs, path, text, (size_t)length);
    return err;
}

bool data_dir_take_reserve(struct data_dir *dir, int64_t bytes)
{
    if (atomic_fetch_add(&dir->reserved, bytes) + bytes <= dir->reserve_limit) return true;
    atomic_fetch_sub(&dir->reserved, bytes);
    return false;
}

void data_dir_give_reserve(struct data_dir *dir, int64_t bytes)
{
    atomic_fetch_sub(&dir->reserved, bytes);
}

static void tell_fullness(struct data_dir *dir, bool is_full)
{
    if (atomic_exchange(&dir->is_full, is_full) == is_full) return;
    if (is_full)
        trace(TRACE_WARN, "storage",
              "%s: the disk has less than %" PRId64 " MiB left: records are refused until there is "
              "room again",
              dir->path, dir->least_free >> 20);
    else
        trace(TRACE_INFO, "storage", "%s: there is room again", dir->path);
}

bool data_dir_has_room(struct data_dir *dir, int64_t bytes)
{
    int64_t free_bytes, total_bytes;

    if (atomic_fetch_sub_explicit(&dir->room, bytes, memory_order_relaxed) >= bytes) return true;
    /* If it cannot be told, the write will tell. */
    if (dir->fs->free_bytes(dir->fs, dir->path, &free_bytes, &total_bytes) != 0) return true;
    int64_t room = free_bytes - dir->least_free - bytes;
    atomic_store_explicit(&dir->room,
                          room < 0            ? 0
                          : room < ROOM_BYTES ? room
                                              : ROOM_BYTES,
                          memory_order_relaxed);
    tell_fullness(dir, room < 0);
    return room >= 0;
}

/* ---- the folders in it */

bool data_dir_parse_folder(struct str name, struct str *topic, int32_t *partition)
{
    int32_t dash = name.length;
    int64_t number;

    while (dash > 0 && name.data[dash - 1] != '-')
        dash--;
    if (dash < 2 || dash == name.length) return false;
    struct str digits = { name.data + dash, name.length - dash };
    if ((digits.length > 1 && digits.data[0] == '0') ||
        checkpoint_number(digits, 0, &number) != 0 || number > INT32_MAX)
        return false;
    *topic = (struct str){ name.data, dash - 1 };
    *partition = (int32_t)number;
    return topic_name_is_legal(*topic);
}

#define DELETE_SUFFIX    "-delete"
#define STRAY_SUFFIX     "-stray"
#define DELETE_ID_LENGTH 33 /* '.' and a uuid in 32 hex digits. */

static bool is_deleted_folder(struct str name)
{
    int32_t suffix = (int32_t)sizeof DELETE_SUFFIX - 1;

    return name.length > suffix &&
           memcmp(name.data + name.length - suffix, DELETE_SUFFIX, (size_t)suffix) == 0;
}

struct listing {
    int (*each)(void *context, const char *folder, struct str topic, int32_t partition,
                bool is_deleted);
    void *context;
};

static int list_entry(void *context, const struct fs_entry *entry)
{
    struct listing *listing = context;
    struct str name = str_from(entry->name);
    struct str topic = STR_NULL;
    int32_t partition = -1;

    if (!entry->is_folder) return 0;
    if (is_deleted_folder(name)) {
        name.length -= (int32_t)sizeof DELETE_SUFFIX - 1 + DELETE_ID_LENGTH;
        if (name.length > 0) data_dir_parse_folder(name, &topic, &partition);
        return listing->each(listing->context, entry->name, topic, partition, true);
    }
    if (!data_dir_parse_folder(name, &topic, &partition)) return 0;
    return listing->each(listing->context, entry->name, topic, partition, false);
}

int data_dir_list(struct data_dir *dir,
                  int (*each)(void *context, const char *folder, struct str topic,
                              int32_t partition, bool is_deleted),
                  void *context)
{
    struct listing listing = { each, context };

    return dir->fs->list(dir->fs, dir->path, list_entry, &listing);
}

static int sweep_folder(void *context, const char *folder, struct str topic, int32_t partition,
                        bool is_deleted)
{
    struct data_dir *dir = context;
    char path[PATH_MAX];

    (void)topic;
    (void)partition;
    if (!is_deleted) return 0;
    if (atomic_load(&dir->sweeps_no_more)) return ERR_CANCELED;
    int err = fs_path(path, "%s/%s", dir->path, folder);
    return err != 0 ? err : fs_remove_tree(dir->fs, path);
}

int data_dir_sweep_deleted(struct data_dir *dir)
{
    pthread_mutex_lock(&dir->sweep_lock);
    int err = data_dir_list(dir, sweep_folder, dir);
    pthread_mutex_unlock(&dir->sweep_lock);
    return err == ERR_CANCELED ? 0 : err;
}

void data_dir_stop_sweeping(struct data_dir *dir)
{
    atomic_store(&dir->sweeps_no_more, true);
}

/* `<topic>-<partition>.<uuid in hex><suffix>`, the topic cut so that the name has at most 255 bytes. */
static int print_put_away(const struct data_dir *dir, const char *topic, int32_t partition,
                          const char *suffix, char path[PATH_MAX])
{
    struct uuid id;
    char hex[33];
    char rest[64];

    int err = uuid_random(&id);
    if (err != 0) return err;
    for (size_t i = 0; i < sizeof id.bytes; i++)
        snprintf(hex + 2 * i, 3, "%02x", id.bytes[i]);
    int rest_length = snprintf(rest, sizeof rest, "-%" PRId32 ".%s%s", partition, hex, suffix);
    return fs_path(path, "%s/%.*s%s", dir->path, 255 - rest_length, topic, rest);
}

static int put_away(struct data_dir *dir, const char *topic, int32_t partition, const char *suffix,
                    char to[PATH_MAX])
{
    char from[PATH_MAX];

    int err = fs_path(from, "%s/%s-%" PRId32, dir->path, topic, partition);
    if (err == 0) err = print_put_away(dir, topic, partition, suffix, to);
    if (err == 0) err = dir->fs->rename(dir->fs, from, to);
    if (err == 0) err = dir->fs->sync_folder(dir->fs, dir->path);
    forget(dir, topic, partition);
    return err;
}

int data_dir_give_up(struct data_dir *dir, const char *topic, int32_t partition)
{
    char to[PATH_MAX];

    return put_away(dir, topic, partition, DELETE_SUFFIX, to);
}

int data_dir_set_aside(struct data_dir *dir, const char *topic, int32_t partition)
{
    char to[PATH_MAX];

    int err = put_away(dir, topic, partition, STRAY_SUFFIX, to);
    if (err == 0)
        trace(TRACE_WARN, "storage", "%s-%" PRId32 " belongs to an earlier topic; put aside as %s",
              topic, partition, to);
    return err;
}

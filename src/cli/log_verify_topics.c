// SPDX-License-Identifier: Apache-2.0
/* Which topics there are by the metadata in a data folder: its newest snapshot that is whole, and the log behind that,
 * as a start reads them. An id that does not go with its topic's name costs the partition: a start puts its folder
 * aside. */

#include <stdio.h>

#include "alloc.h"
#include "batch_scan.h"
#include "error.h"
#include "log_dump.h"
#include "log_verify_inside.h"
#include "meta_batch.h"
#include "meta_log.h"
#include "meta_snapshot.h"

struct verify_topics {
    struct meta_state state;
    struct meta_changes changes; /* By the last entry. */
    struct buffer gone; /* Ids of topics that were deleted: a start removes their folders. */
    struct buffer batch;
    uint8_t *crc_buffer;
};

static int note_gone(struct verify_topics *topics)
{
    for (unsigned i = 0; i < topics->changes.count; i++) {
        const struct meta_change *change = &topics->changes.items[i];
        if (change->before != NULL && change->after == NULL)
            buffer_put(&topics->gone, &change->before->id, sizeof change->before->id);
    }
    meta_changes_clear(&topics->changes);
    return topics->gone.failed ? ERR_NO_MEMORY : 0;
}

static bool is_gone(const struct verify_topics *topics, const struct uuid *id)
{
    const struct uuid *ids = (const struct uuid *)topics->gone.data;
    for (size_t i = 0; i < topics->gone.length / sizeof *ids; i++)
        if (uuid_equal(&ids[i], id)) return true;
    return false;
}

static void begin_state(struct verify_topics *topics)
{
    static const uint64_t hash_key[2] = { 0x766572, 0x696679 }; /* One folder, no rivals. */
    meta_state_init(&topics->state, hash_key);
    meta_changes_clear(&topics->changes);
    topics->gone.length = 0;
}

/* ---- the snapshot ---- */

static int load_snapshot(struct verify_topics *topics, struct fs *fs, const char *data_folder,
                         int64_t index)
{
    struct bytes image = BYTES_NULL;
    struct meta_core_snapshot at;
    int err = meta_snapshot_read(fs, data_folder, index, &image);
    if (err == 0) err = meta_snapshot_decode(image, &at, &topics->state, &topics->changes);
    if (err == 0) err = note_gone(topics);
    mem_free((void *)image.data);
    if (err == 0) return 0;
    meta_state_close(&topics->state);
    begin_state(topics);
    return err;
}

/* Without one that is whole, the log has all from the first entry on, or is not enough. */
static int load_snapshots(struct verify_topics *topics, struct fs *fs, const char *data_folder)
{
    int64_t indexes[META_SNAPSHOTS_KEPT];
    unsigned count = 0;
    int err = meta_snapshot_list(fs, data_folder, indexes, META_SNAPSHOTS_KEPT, &count);
    for (unsigned i = 0; err == 0 && i < count; i++) {
        int load_err = load_snapshot(topics, fs, data_folder, indexes[i]);
        if (load_err == 0) break;
        if (load_err != ERR_CORRUPT_MESSAGE) err = load_err;
    }
    return err;
}

/* ---- the log ---- */

static int apply_record(struct verify_topics *topics, const struct record_batch *batch,
                        const struct record *record)
{
    struct meta_entry entry;
    struct meta_outcome outcome;
    if (record->offset <= topics->state.index) return 0; /* The snapshot has it. */
    if (record->offset != topics->state.index + 1) return ERR_CORRUPT_MESSAGE;
    int err = meta_batch_read_record(batch, record, &entry);
    if (err == 0)
        err = meta_apply(&topics->state, record->offset, &entry, &topics->changes, &outcome);
    if (err != 0) return err;
    meta_outcome_close(&outcome);
    return note_gone(topics);
}

static int apply_batch(struct verify_topics *topics, struct batch_scan *scan,
                       struct record_batch *batch, int64_t position)
{
    struct record_walk *walk = NULL;
    struct record record;
    if ((int64_t)batch->size > LOG_BATCH_MAX) return ERR_CORRUPT_MESSAGE;
    topics->batch.length = 0;
    uint8_t *bytes = buffer_extend(&topics->batch, batch->size);
    if (bytes == NULL) return ERR_NO_MEMORY;
    int err = batch_scan_check_crc(scan, batch, position, topics->crc_buffer, VERIFY_CRC_BYTES);
    if (err == 0) err = batch_scan_load(scan, batch, position, bytes, batch->size);
    if (err == 0) err = record_walk_open(&walk, batch, LOG_BATCH_MAX);
    while (err == 0 && (err = record_walk_next(walk, &record)) == 0)
        err = apply_record(topics, batch, &record);
    record_walk_close(walk);
    return err == ERR_NOT_FOUND ? 0 : err;
}

static int apply_segment(struct verify_topics *topics, struct fs *fs, const char *path)
{
    struct batch_scan scan;
    struct record_batch batch;
    int64_t size = 0, position;
    int fd = -1;
    int err = fs->open(fs, path, FS_READ, &fd);
    if (err == 0) err = fs->size(fs, fd, &size);
    if (err == 0)
        batch_scan_init(&scan, fs, fd, 0, size < LOG_FILE_MAX ? size : LOG_FILE_MAX, true);
    while (err == 0 && (err = batch_scan_next(&scan, &batch, &position)) == 0)
        err = apply_batch(topics, &scan, &batch, position);
    if (fd >= 0) fs->close(fs, fd);
    return err == ERR_NOT_FOUND ? 0 : err;
}

static bool is_segment(const char *file)
{
    struct log_file_name name = log_file_name(file);
    return name.kind == LOG_FILE_BATCHES && !name.is_leftover && name.base_offset >= 0;
}

static int apply_log(struct verify_topics *topics, struct fs *fs, const char *folder)
{
    struct log_names names;
    int err = log_names_read(&names, fs, folder, LOG_NAMES_OF_FILES);
    for (size_t i = 0; err == 0 && i < names.count; i++) {
        char path[PATH_MAX];
        if (!is_segment(names.items[i])) continue;
        err = fs_path(path, "%s/%s", folder, names.items[i]);
        if (err == 0) err = apply_segment(topics, fs, path);
    }
    log_names_close(&names);
    return err;
}

/* ---- both ---- */

int verify_topics_read(struct verify_topics **topics, struct fs *fs, const char *data_folder)
{
    char folder[PATH_MAX];
    bool exists = false;
    *topics = NULL;
    int err = fs_path(folder, "%s/" META_LOG_TOPIC "-0", data_folder);
    if (err == 0) err = fs->exists(fs, folder, &exists);
    if (err != 0 || !exists || log_is_in_use(data_folder)) return 0;
    struct verify_topics *read = mem_zalloc(sizeof *read);
    if (read == NULL) return ERR_NO_MEMORY;
    meta_changes_init(&read->changes);
    buffer_init(&read->gone);
    buffer_init(&read->batch);
    begin_state(read);
    read->crc_buffer = mem_alloc(VERIFY_CRC_BYTES);
    if (read->crc_buffer == NULL) err = ERR_NO_MEMORY;
    if (err == 0) err = load_snapshots(read, fs, data_folder);
    if (err == 0) err = apply_log(read, fs, folder);
    if (err == 0)
        *topics = read;
    else
        verify_topics_close(read);
    return err == ERR_NO_MEMORY ? err : 0;
}

void verify_topics_close(struct verify_topics *topics)
{
    if (topics == NULL) return;
    meta_state_close(&topics->state);
    meta_changes_close(&topics->changes);
    buffer_close(&topics->gone);
    buffer_close(&topics->batch);
    mem_free(topics->crc_buffer);
    mem_free(topics);
}

int64_t verify_topics_index(const struct verify_topics *topics)
{
    return topics->state.index;
}

int64_t verify_topics_term(const struct verify_topics *topics)
{
    return topics->state.term;
}

void verify_topic_id(struct partition_check *check, const struct uuid *id)
{
    const struct verify_topics *topics = check->verify->topics;
    const struct meta_topic *topic = topics == NULL
                                         ? NULL
                                         : meta_state_topic(&topics->state, check->topic);
    char found[UUID_TEXT_SIZE], wanted[UUID_TEXT_SIZE];
    if (topic == NULL || uuid_equal(&topic->id, id) || is_gone(topics, id)) return;
    const struct meta_topic *other = meta_state_topic_by_id(&topics->state, id);
    uuid_print(id, found);
    uuid_print(&topic->id, wanted);
    verify_finding(check, "partition.metadata", -1, -1,
                   "it names topic id %s%s%s, but by the metadata %s has %s: the next start puts "
                   "the folder aside",
                   found, other == NULL ? "" : ", which is that of ",
                   other == NULL ? "" : other->name, topic->name, wanted);
}

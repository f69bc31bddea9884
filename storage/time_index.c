// SPDX-License-Identifier: Apache-2.0

#include "bytes.h"
#include "error.h"
#include "time_index.h"

struct limits {
    int64_t timestamp;
    int64_t offset; /* Relative. */
};

static bool is_below(const void *context, const uint8_t *entry)
{
    const struct limits *limits = context;

    return load_i64(entry) < limits->timestamp && load_i32(entry + 8) < limits->offset;
}

/* Zeros are space that Kafka reserved. (An entry of timestamp 0 at offset 0 looks the same; dropping
 * it costs a look-up a few more headers.) */
static bool is_used(const void *context, const uint8_t *entry)
{
    (void)context;
    return load_i64(entry) != 0 || load_i32(entry + 8) != 0;
}

struct time_index_entry time_index_read_entry(const uint8_t bytes[TIME_INDEX_ENTRY_SIZE],
                                              int64_t base_offset)
{
    /* Unsigned, since neither number need make sense in a file. */
    return (struct time_index_entry){ load_i64(bytes), (int64_t)((uint64_t)base_offset +
                                                                 (uint64_t)load_i32(bytes + 8)) };
}

static struct time_index_entry entry_from(const struct time_index *index, uint32_t found,
                                          const uint8_t *last)
{
    if (found == 0) return (struct time_index_entry){ -1, index->base_offset };
    return time_index_read_entry(last, index->base_offset);
}

void time_index_init(struct time_index *index, struct fs *fs, int64_t base_offset)
{
    index_file_init(&index->file, fs, TIME_INDEX_ENTRY_SIZE);
    index->base_offset = base_offset;
    index->last = (struct time_index_entry){ -1, base_offset };
}

void time_index_close(struct time_index *index)
{
    index_file_close(&index->file);
}

int time_index_load(struct time_index *index, const char *path)
{
    uint32_t used = 0;
    uint8_t last[INDEX_ENTRY_MAX];

    int err = index_file_load(&index->file, path);
    if (err == 0) err = index_file_search(&index->file, path, true, is_used, NULL, &used, last);
    if (err != 0) return err;
    index->file.written = index->file.count = used;
    index->last = entry_from(index, used, last);
    if (used > 0 && (index->last.timestamp < 0 || index->last.offset < index->base_offset))
        return ERR_CORRUPT_MESSAGE;
    return 0;
}

int time_index_append(struct time_index *index, int64_t timestamp, int64_t offset)
{
    uint8_t entry[TIME_INDEX_ENTRY_SIZE];

    if (timestamp <= index->last.timestamp) return 0;
    store_i64(entry, timestamp);
    store_i32(entry + 8, (int32_t)(offset - index->base_offset));
    int err = index_file_append(&index->file, entry);
    if (err == 0) index->last = (struct time_index_entry){ timestamp, offset };
    return err;
}

int time_index_find(struct time_index *index, const char *path, bool may_block, int64_t timestamp,
                    int64_t below_offset, struct time_index_entry *entry)
{
    struct limits limits = { timestamp, below_offset - index->base_offset };
    uint32_t found = 0;
    uint8_t last[INDEX_ENTRY_MAX];

    int err = index_file_search(&index->file, path, may_block, is_below, &limits, &found, last);
    if (err == 0) *entry = entry_from(index, found, last);
    return err;
}

int time_index_truncate(struct time_index *index, const char *path, int64_t offset)
{
    struct limits limits = { INT64_MAX, offset - index->base_offset };
    uint32_t found = 0;
    uint8_t last[INDEX_ENTRY_MAX];

    int err = index_file_search(&index->file, path, true, is_below, &limits, &found, last);
    if (err == 0) err = index_file_truncate(&index->file, path, found);
    if (err == 0) index->last = entry_from(index, found, last);
    return err;
}

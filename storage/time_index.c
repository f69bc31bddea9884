// SPDX-License-Identifier: Apache-2.0

#include "time_index.h"

#include "bytes.h"
#include "error.h"

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
static bool is_used(const uint8_t *entry)
{
    return load_i64(entry) != 0 || load_i32(entry + 8) != 0;
}

static const struct index_kind kind = { ".timeindex", TIME_INDEX_ENTRY_SIZE, is_used };

struct time_index_entry time_index_read_entry(const uint8_t bytes[TIME_INDEX_ENTRY_SIZE],
                                              int64_t base_offset)
{
    /* Unsigned, since neither number need make sense in a file. */
    return (struct time_index_entry){ load_i64(bytes), (int64_t)((uint64_t)base_offset +
                                                                 (uint64_t)load_i32(bytes + 8)) };
}

void time_index_write_entry(uint8_t bytes[TIME_INDEX_ENTRY_SIZE], int64_t base_offset,
                            struct time_index_entry entry)
{
    store_i64(bytes, entry.timestamp);
    store_i32(bytes + 8, (int32_t)(entry.offset - base_offset));
}

static struct time_index_entry entry_from(const struct time_index *index, const uint8_t *last)
{
    int64_t base_offset = index->file.base_offset;

    if (last == NULL) return (struct time_index_entry){ -1, base_offset };
    return time_index_read_entry(last, base_offset);
}

void time_index_init(struct time_index *index, struct segment_folder *folder, int64_t base_offset)
{
    index_file_init(&index->file, &kind, folder, base_offset);
}

void time_index_close(struct time_index *index)
{
    index_file_close(&index->file);
}

int time_index_load(struct time_index *index, bool may_be_torn)
{
    return index_file_load(&index->file, may_be_torn);
}

struct time_index_entry time_index_last(const struct time_index *index)
{
    return entry_from(index, index_file_last(&index->file));
}

int time_index_append(struct time_index *index, int64_t timestamp, int64_t offset)
{
    uint8_t entry[TIME_INDEX_ENTRY_SIZE];

    if (timestamp <= time_index_last(index).timestamp) return 0;
    time_index_write_entry(entry, index->file.base_offset,
                           (struct time_index_entry){ timestamp, offset });
    return index_file_append(&index->file, entry);
}

/* What was found in the file; it need not make sense. */
static int take_entry(const struct time_index *index, uint32_t found, const uint8_t *last,
                      struct time_index_entry *entry)
{
    *entry = entry_from(index, found == 0 ? NULL : last);
    return found > 0 && (entry->timestamp < 0 || entry->offset < index->file.base_offset)
               ? ERR_CORRUPT_MESSAGE
               : 0;
}

int time_index_find(struct time_index *index, bool may_block, int64_t timestamp,
                    int64_t below_offset, struct time_index_entry *entry)
{
    struct limits limits = { timestamp, below_offset - index->file.base_offset };
    uint32_t found = 0;
    uint8_t last[INDEX_ENTRY_MAX];

    int err = index_file_search(&index->file, may_block, is_below, &limits, &found, last);
    return err != 0 ? err : take_entry(index, found, last, entry);
}

int time_index_find_last(struct time_index *index, bool may_block, struct time_index_entry *entry)
{
    uint32_t found = 0;
    uint8_t last[INDEX_ENTRY_MAX];
    int err = index_file_find_last(&index->file, may_block, &found, last);

    return err != 0 ? err : take_entry(index, found, last, entry);
}

/* A power cut may leave the timestamp of an entry without its offset, as entries lie across sectors: then
 * it seems to lie below the one in front of it. */
static int drop_torn(struct time_index *index, const uint8_t *last, uint32_t *count)
{
    struct limits before = { 0, INT64_MAX };
    uint32_t found = 0;
    uint8_t previous[INDEX_ENTRY_MAX];

    if (*count < 2) return 0;
    before.timestamp = load_i64(last);
    int err = index_file_search(&index->file, true, is_below, &before, &found, previous);
    if (err == 0 && found + 1 == *count && load_i32(previous + 8) >= load_i32(last + 8))
        *count = found;
    return err;
}

int time_index_truncate(struct time_index *index, int64_t offset)
{
    struct limits limits = { INT64_MAX, offset - index->file.base_offset };
    uint32_t found = 0;
    uint8_t last[INDEX_ENTRY_MAX];

    int err = index_file_search(&index->file, true, is_below, &limits, &found, last);
    if (err == 0) err = drop_torn(index, last, &found);
    if (err == 0) err = index_file_truncate(&index->file, found);
    return err;
}

// SPDX-License-Identifier: Apache-2.0

#include "offset_index.h"

#include "bytes.h"
#include "error.h"

/* What is looked for, in the terms of the file. */
struct limits {
    int64_t offset; /* Relative. */
    int64_t position;
};

static bool is_within(const void *context, const uint8_t *entry)
{
    const struct limits *limits = context;

    return load_i32(entry) <= limits->offset && load_i32(entry + 4) <= limits->position;
}

/* The first batch gets no entry, so no entry is zero: zeros are space that Kafka reserved. */
static bool is_used(const uint8_t *entry)
{
    return load_i32(entry) != 0 || load_i32(entry + 4) != 0;
}

struct offset_index_entry offset_index_read_entry(const uint8_t bytes[OFFSET_INDEX_ENTRY_SIZE],
                                                  int64_t base_offset)
{
    /* Unsigned, since neither number need make sense in a file. */
    return (struct offset_index_entry){
        (int64_t)((uint64_t)base_offset + (uint64_t)load_i32(bytes)), load_i32(bytes + 4)
    };
}

void offset_index_write_entry(uint8_t bytes[OFFSET_INDEX_ENTRY_SIZE], int64_t base_offset,
                              struct offset_index_entry entry)
{
    store_i32(bytes, (int32_t)(entry.last_offset - base_offset));
    store_i32(bytes + 4, (int32_t)entry.position);
}

static const struct index_kind kind = { ".index", OFFSET_INDEX_ENTRY_SIZE, is_used };

void offset_index_init(struct offset_index *index, struct segment_folder *folder,
                       int64_t base_offset)
{
    index_file_init(&index->file, &kind, folder, base_offset);
}

void offset_index_close(struct offset_index *index)
{
    index_file_close(&index->file);
}

int offset_index_load(struct offset_index *index, bool may_be_torn)
{
    return index_file_load(&index->file, may_be_torn);
}

int64_t offset_index_last_position(const struct offset_index *index)
{
    const uint8_t *last = index_file_last(&index->file);

    return last == NULL ? 0 : load_i32(last + 4);
}

int offset_index_append(struct offset_index *index, int64_t last_offset, int64_t position)
{
    uint8_t entry[OFFSET_INDEX_ENTRY_SIZE];

    offset_index_write_entry(entry, index->file.base_offset,
                             (struct offset_index_entry){ last_offset, position });
    return index_file_append(&index->file, entry);
}

/* What was found in the file; it need not make sense. */
static int take_entry(const struct offset_index *index, uint32_t found, const uint8_t *last,
                      struct offset_index_entry *entry)
{
    *entry = found == 0 ? (struct offset_index_entry){ -1, 0 }
                        : offset_index_read_entry(last, index->file.base_offset);
    return found > 0 && (load_i32(last) < 0 || entry->position <= 0) ? ERR_CORRUPT_MESSAGE : 0;
}

int offset_index_find(struct offset_index *index, bool may_block, int64_t offset, int64_t position,
                      struct offset_index_entry *entry)
{
    struct limits limits = { offset - index->file.base_offset, position };
    uint32_t found = 0;
    uint8_t last[INDEX_ENTRY_MAX];

    int err = index_file_search(&index->file, may_block, is_within, &limits, &found, last);
    return err != 0 ? err : take_entry(index, found, last, entry);
}

int offset_index_find_last(struct offset_index *index, bool may_block,
                           struct offset_index_entry *entry)
{
    uint32_t found = 0;
    uint8_t last[INDEX_ENTRY_MAX];
    int err = index_file_find_last(&index->file, may_block, &found, last);

    return err != 0 ? err : take_entry(index, found, last, entry);
}

int offset_index_truncate(struct offset_index *index, int64_t offset)
{
    struct limits limits = { offset - 1 - index->file.base_offset, INT64_MAX };
    uint32_t found = 0;
    uint8_t last[INDEX_ENTRY_MAX];

    int err = index_file_search(&index->file, true, is_within, &limits, &found, last);
    if (err == 0) err = index_file_truncate(&index->file, found);
    return err;
}

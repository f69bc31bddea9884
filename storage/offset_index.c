// SPDX-License-Identifier: Apache-2.0

#include "bytes.h"
#include "error.h"
#include "offset_index.h"

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
static bool is_used(const void *context, const uint8_t *entry)
{
    (void)context;
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

void offset_index_init(struct offset_index *index, struct fs *fs, int64_t base_offset)
{
    index_file_init(&index->file, fs, OFFSET_INDEX_ENTRY_SIZE);
    index->base_offset = base_offset;
    index->last_position = 0;
}

void offset_index_close(struct offset_index *index)
{
    index_file_close(&index->file);
}

int offset_index_load(struct offset_index *index, const char *path, int64_t log_size)
{
    uint32_t used = 0;
    uint8_t last[INDEX_ENTRY_MAX];

    int err = index_file_load(&index->file, path);
    if (err == 0) err = index_file_search(&index->file, path, true, is_used, NULL, &used, last);
    if (err != 0) return err;
    index->file.written = index->file.count = used;
    index->last_position = used == 0 ? 0 : load_i32(last + 4);
    if (used > 0 &&
        (load_i32(last) < 0 || load_i32(last + 4) <= 0 || load_i32(last + 4) >= log_size))
        return ERR_CORRUPT_MESSAGE;
    return 0;
}

int offset_index_append(struct offset_index *index, int64_t last_offset, int64_t position)
{
    uint8_t entry[OFFSET_INDEX_ENTRY_SIZE];

    store_i32(entry, (int32_t)(last_offset - index->base_offset));
    store_i32(entry + 4, (int32_t)position);
    int err = index_file_append(&index->file, entry);
    if (err == 0) index->last_position = position;
    return err;
}

int offset_index_find(struct offset_index *index, const char *path, bool may_block, int64_t offset,
                      int64_t position, struct offset_index_entry *entry)
{
    struct limits limits = { offset - index->base_offset, position };
    uint32_t found = 0;
    uint8_t last[INDEX_ENTRY_MAX];

    int err = index_file_search(&index->file, path, may_block, is_within, &limits, &found, last);
    if (err != 0) return err;
    *entry = found == 0 ? (struct offset_index_entry){ -1, 0 }
                        : offset_index_read_entry(last, index->base_offset);
    return 0;
}

int offset_index_truncate(struct offset_index *index, const char *path, int64_t offset)
{
    struct limits limits = { offset - 1 - index->base_offset, INT64_MAX };
    uint32_t found = 0;
    uint8_t last[INDEX_ENTRY_MAX];

    int err = index_file_search(&index->file, path, true, is_within, &limits, &found, last);
    if (err == 0) err = index_file_truncate(&index->file, path, found);
    if (err == 0) index->last_position = found == 0 ? 0 : load_i32(last + 4);
    return err;
}

// SPDX-License-Identifier: Apache-2.0
/* Record batches (magic 2) as a producer builds them, and a look into those that come back. */

#ifndef TESTS_TEST_BATCH_H
#define TESTS_TEST_BATCH_H

#include "arena.h"
#include "codec.h"

#define BATCH_HEADER_BYTES  61
#define BATCH_CODEC_ZSTD    4
#define BATCH_TRANSACTIONAL 0x10
#define BATCH_CONTROL       0x20

struct batch {
    int64_t producer_id;
    int16_t producer_epoch;
    int32_t base_sequence;
    bool is_idempotent; /* Otherwise it says none of the three above. */
    int16_t attributes;
    int64_t first_timestamp; /* 0: now. */
    int64_t timestamp_step;  /* Between records; may be negative. */
    int32_t record_count;    /* 0: one. */
    int32_t value_bytes;     /* 0: a short text. */
    bool is_keyed;
    int32_t first_key; /* Keys count up from it. */
    uint32_t keyless;  /* Bits: these records have no key all the same. */
};

/* Builds it, uncompressed, in the arena. */
struct records batch_build(struct arena *arena, struct batch batch);

/* The same bytes in the arena, to be spoiled. */
struct records records_copy(struct arena *arena, struct records records);

/* Writes the CRC that the bytes should have. */
void records_repair_crc(struct records records);

/* Ends the test unless `records` are whole batches. */
int32_t records_batch_count(struct records records);

/* The nth batch of them. */
struct records records_batch(struct records records, int32_t nth);

int64_t batch_base_offset(struct records batch);
int64_t batch_last_offset(struct records batch);
int32_t batch_record_count(struct records batch);
int64_t batch_producer_id(struct records batch);
int16_t batch_producer_epoch(struct records batch);
int32_t batch_base_sequence(struct records batch);
int64_t batch_base_timestamp(struct records batch);
int64_t batch_max_timestamp(struct records batch);
int16_t batch_attributes(struct records batch);

/* The same but for what a leader sets: base offset and leader epoch. */
void assert_same_batch(struct records batch, struct records sent);

#endif

// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "meta_fixture.h"

#include <stdlib.h>

#include "alloc.h"

const uint64_t fixture_hash_key[2] = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };

struct uuid id_of(uint32_t number)
{
    struct uuid id = { { 0x11 } };
    store_i32(id.bytes + 12, (int32_t)number);
    return id;
}

struct bytes bytes_in(const struct buffer *buffer)
{
    return (struct bytes){ buffer->data, (int32_t)buffer->length };
}

int apply(struct meta_state *state, const struct meta_command *command,
          struct meta_changes *changes)
{
    struct buffer bytes;
    struct meta_outcome outcome;
    buffer_init(&bytes);
    meta_command_encode(command, &bytes);
    assert_false(bytes.failed);
    struct meta_entry entry = { 1, META_ENTRY_COMMAND, bytes_in(&bytes) };
    assert_int_equal(meta_apply(state, state->index + 1, &entry, changes, &outcome), 0);
    int err = outcome.err;
    meta_outcome_close(&outcome);
    buffer_close(&bytes);
    return err;
}

void brokers_join(struct meta_state *state, int count)
{
    static const struct meta_endpoint endpoint = { "PLAINTEXT", "localhost", 9092 };
    for (int id = 1; id <= count; id++) {
        struct meta_command command = {
            .kind = META_REGISTER_BROKER,
            .as.register_broker = {
                .broker = { .id = id, .endpoints = &endpoint, .endpoint_count = 1 },
                .page_cache_survived = true,
            },
        };
        assert_int_equal(apply(state, &command, NULL), 0);
    }
}

int topic_create(struct meta_state *state, const char *name, uint32_t number, unsigned partitions,
                 struct meta_changes *changes)
{
    static const int32_t broker = 1;
    struct meta_partition *all = mem_calloc(partitions, sizeof *all);
    assert_non_null(all);
    for (unsigned i = 0; i < partitions; i++)
        all[i] = (struct meta_partition){ 1, 0, 0, &broker, 1, &broker, 1 };
    struct meta_command command = {
        .kind = META_TOPIC_CREATED,
        .as.topic_created.topic = {
            .id = id_of(number),
            .name = name,
            .partition_count = partitions,
            .partitions = all,
        },
    };
    int err = apply(state, &command, changes);
    mem_free(all);
    return err;
}

int topic_delete(struct meta_state *state, uint32_t number, struct meta_changes *changes)
{
    struct meta_command command = { .kind = META_TOPIC_DELETED,
                                    .as.topic_deleted = { id_of(number) } };
    return apply(state, &command, changes);
}

// SPDX-License-Identifier: Apache-2.0
#include "request_size.h"

bool request_size_creates_too_many(const struct meta_create_topic *items, unsigned count,
                                   int32_t default_partitions)
{
    int64_t partitions = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct meta_create_topic *wanted = &items[i];
        if (wanted->err != 0) continue;
        if (wanted->assignment_count > 0)
            partitions += wanted->assignment_count;
        else if (wanted->partition_count == -1)
            partitions += default_partitions;
        else if (wanted->partition_count > 0)
            partitions += wanted->partition_count;
    }
    return partitions > REQUEST_SIZE_MAX;
}

bool request_size_adds_too_many(const struct meta_state *state,
                                const struct meta_add_partitions *items, unsigned count)
{
    int64_t partitions = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct meta_topic *topic = meta_state_topic(state, items[i].name);
        int64_t more = topic == NULL ? 0 : (int64_t)items[i].count - topic->partition_count;
        if (more > 0) partitions += more;
    }
    return partitions > REQUEST_SIZE_MAX;
}

unsigned request_size_records(const struct meta_topic *topic)
{
    return 1 + topic->setting_count + topic->partition_count;
}

// SPDX-License-Identifier: Apache-2.0
/* What a request asks for by topic and partition, as Kafka collects it: elements that name one topic are one, a
 * partition is answered once, and a topic without partitions is not answered at all. In time that grows
 * with the request only. */

#ifndef API_GATHER_H
#define API_GATHER_H

#include <stdbool.h>

#include "bytes.h"
#include "repeats.h"
#include "uuid.h"

/* Notes for an element of the request, and for a partition in it; they live as long as the gathering. */
struct gathered_topic {
    struct repeat repeat;
    unsigned part_count; /* Of the first element of a name: what is answered under it. */
    unsigned begin;      /* The place of the first one of them, */
    unsigned next;       /* and of the next one that asks. */
    int32_t answer;      /* Its place among the answer's topics; -1: it has none. */
};

struct gathered_part {
    struct repeat repeat; /* Answered is the one that is_first. */
    struct gathered_topic *topic;
};

struct gathering {
    struct repeats topics, parts;
    struct gathered_topic *topic; /* That following partitions belong to. */
};

void gathering_init(struct gathering *gathering);
void gathering_close(struct gathering *gathering);

/* An element begins, whose topic is known by its id or by its name. 0 or ERR_NO_MEMORY. */
int gather_topic(struct gathering *gathering, bool by_id, const struct uuid *id, struct str name,
                 struct gathered_topic *topic);

/* A partition of the element that began last. 0 or ERR_NO_MEMORY. */
int gather_part(struct gathering *gathering, int32_t index, struct gathered_part *part);

/* Gives each topic its place in the answer, in the request's order, and its partitions theirs, one topic's
 * behind the other's. Returns how many topics the answer has. */
int32_t gather_places(struct gathered_topic *topics, int32_t count);

/* The place of a partition that is_first, asked for once each. */
unsigned gather_take_place(struct gathered_part *part);

#endif

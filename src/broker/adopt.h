// SPDX-License-Identifier: Apache-2.0
/* sluiced --adopt (DESIGN 4.1): partitions that lie in the data folders and that the metadata does not
 * know become topics, through the quorum as any other; from then on they are served.
 *
 *  (1) Nothing in a folder is changed here, but that one without a topic id gets one. What is not taken over
 *      is named in a line, with the reason, and stays as it is.
 *  (2) A topic is taken over whole or not at all. It keeps its id (a folder of before Kafka 2.8 has
 *      none and gets one), has one replica, this node, and empty partitions for those that lack.
 *  (3) Its leader epochs go on above those in its logs, and producer ids that occur in them are not
 *      given out again.
 *  (4) Nothing of it is removed for its age or size until somebody asks for that: how long Kafka was
 *      to keep it is not known here.
 *  (5) It can be done again, also after a crash in the middle: what is known is left out.
 *
 * On one loop. Looks at folders while nobody is served yet, so it may wait for the disk. */

#ifndef BROKER_ADOPT_H
#define BROKER_ADOPT_H

#include "data_dir.h"
#include "meta_quorum.h"

struct adopt;

struct adopt_options {
    struct data_dir *const *dirs;
    unsigned dir_count;
    struct meta_quorum *meta;
    struct clock *clock;
    struct loop *loop;
    int32_t node_id;
    void *owner;
    void (*done)(void *owner, int err); /* Once, on the loop; other than 0: it was told why. */
};

/* The metadata must have caught up. 0 or ERR_NO_MEMORY. */
int adopt_open(struct adopt **adopt, const struct adopt_options *options);
void adopt_start(struct adopt *adopt);

/* After the quorum has ended its requests. NULL is fine. */
void adopt_close(struct adopt *adopt);

#endif

// SPDX-License-Identifier: Apache-2.0
/* Who takes part in the quorum: the payload of a META_ENTRY_MEMBERS entry. Big-endian:
 *
 *    size  meaning
 *       1  version, 1
 *       2  number of members, then for each
 *       4    node id
 *       1    role
 *      16    id of the disk that holds its metadata log; zeros if not known yet
 *     2+n    where it is reached, "host:port"; empty if nobody needs to know (a quorum of one)
 *
 * Ascending by node id. To change it: raise the version and go on reading the old one; a log keeps
 * its first entry until a snapshot covers it. */

#ifndef META_MEMBERS_H
#define META_MEMBERS_H

#include <stdint.h>

#include "buffer.h"
#include "bytes.h"
#include "uuid.h"

#define META_MEMBERS_MAX        64
#define META_MEMBER_ADDRESS_MAX 300

enum meta_member_role {
    META_STANDBY = 0, /* Receives the log, has no vote. */
    META_VOTER = 1,
};

struct meta_member {
    int32_t node_id;
    enum meta_member_role role;
    struct uuid directory_id;
    struct str address; /* Borrowed. */
};

struct meta_members {
    unsigned count;
    struct meta_member members[META_MEMBERS_MAX];
};

/* The members must be in order; the buffer remembers a lack of memory. */
void meta_members_encode(const struct meta_members *members, struct buffer *out);

/* Addresses are borrowed from `payload`. 0 or ERR_MALFORMED. */
int meta_members_decode(struct meta_members *members, struct bytes payload);

unsigned meta_members_voter_count(const struct meta_members *members);
const struct meta_member *meta_members_find(const struct meta_members *members, int32_t node_id);

#endif

// SPDX-License-Identifier: Apache-2.0
#include "meta_members.h"

#include "cursor.h"
#include "error.h"
#include "meta_text.h"

#define MEMBERS_VERSION 1

void meta_members_encode(const struct meta_members *members, struct buffer *out)
{
    buffer_i8(out, MEMBERS_VERSION);
    buffer_i16(out, (int16_t)members->count);
    for (unsigned i = 0; i < members->count; i++) {
        const struct meta_member *member = &members->members[i];
        buffer_i32(out, member->node_id);
        buffer_i8(out, (int8_t)member->role);
        buffer_put(out, member->directory_id.bytes, sizeof member->directory_id.bytes);
        meta_text_put(out, member->address);
    }
}

static void member_take(struct meta_member *member, int32_t above, struct cursor *in)
{
    member->node_id = cursor_i32(in);
    int8_t role = cursor_i8(in);
    member->role = role;
    const uint8_t *id = cursor_take(in, sizeof member->directory_id.bytes);
    if (id != NULL) memcpy(member->directory_id.bytes, id, sizeof member->directory_id.bytes);
    member->address = meta_text_take(in, false);
    if (member->node_id <= above || (role != META_STANDBY && role != META_VOTER) ||
        member->address.length > META_MEMBER_ADDRESS_MAX)
        in->bad = true;
}

int meta_members_decode(struct meta_members *members, struct bytes payload)
{
    if (payload.length <= 0) return ERR_MALFORMED;
    struct cursor in = cursor_over(payload.data, (size_t)payload.length);
    struct meta_members found;
    if (cursor_i8(&in) != MEMBERS_VERSION) return ERR_MALFORMED;
    int16_t count = cursor_i16(&in);
    if (count < 1 || count > META_MEMBERS_MAX) return ERR_MALFORMED;
    found.count = (unsigned)count;
    for (unsigned i = 0; i < found.count && !in.bad; i++)
        member_take(&found.members[i], i == 0 ? -1 : found.members[i - 1].node_id, &in);
    if (in.bad || cursor_left(&in) != 0 || meta_members_voter_count(&found) == 0)
        return ERR_MALFORMED;
    *members = found;
    return 0;
}

unsigned meta_members_voter_count(const struct meta_members *members)
{
    unsigned count = 0;
    for (unsigned i = 0; i < members->count; i++)
        if (members->members[i].role == META_VOTER) count++;
    return count;
}

const struct meta_member *meta_members_find(const struct meta_members *members, int32_t node_id)
{
    for (unsigned i = 0; i < members->count; i++)
        if (members->members[i].node_id == node_id) return &members->members[i];
    return NULL;
}

// SPDX-License-Identifier: Apache-2.0
#include "meta_entry.h"

#include "error.h"
#include "meta_members.h"

static bool index_is_sane(int64_t index)
{
    return index >= 0 && index <= META_MAX_INDEX;
}

/* Index and term of one entry: both are there or neither is. */
static bool position_is_sane(int64_t index, int64_t term, int64_t message_term)
{
    return index_is_sane(index) && term >= 0 && term <= message_term && (index == 0) == (term == 0);
}

static bool entry_is_sane(const struct meta_entry *entry)
{
    struct meta_members members;
    if (entry->payload.length > META_ENTRY_MAX_SIZE) return false;
    switch (entry->type) {
    case META_ENTRY_COMMAND: return entry->payload.length > 0;
    case META_ENTRY_BARRIER: return entry->payload.length <= 0;
    case META_ENTRY_MEMBERS: return meta_members_decode(&members, entry->payload) == 0;
    }
    return false;
}

static bool append_is_sane(const struct meta_message *message)
{
    int64_t term = message->as.append.previous_term;
    if (!position_is_sane(message->as.append.previous_index, term, message->term)) return false;
    if (!index_is_sane(message->as.append.leader_commit)) return false;
    if (message->as.append.entry_count > META_MESSAGE_MAX_ENTRIES) return false;
    for (unsigned i = 0; i < message->as.append.entry_count; i++) {
        const struct meta_entry *entry = &message->as.append.entries[i];
        if (entry->term < 1 || entry->term < term || entry->term > message->term) return false;
        if (!entry_is_sane(entry)) return false;
        term = entry->term;
    }
    /* Whatever begins a log says who takes part. */
    return message->as.append.previous_index != 0 || message->as.append.entry_count == 0 ||
           message->as.append.entries[0].type == META_ENTRY_MEMBERS;
}

static bool snapshot_is_sane(const struct meta_message *message)
{
    struct meta_members members;
    int64_t index = message->as.snapshot.index;
    int64_t members_index = message->as.snapshot.members_index;
    return index >= 1 && position_is_sane(index, message->as.snapshot.last_term, message->term) &&
           members_index >= 1 && members_index <= index &&
           meta_members_decode(&members, message->as.snapshot.members) == 0;
}

static bool message_is_sane(const struct meta_message *message)
{
    if (message->from < 0 || message->to < 0 || message->from == message->to) return false;
    if (message->term < 1 || message->term > META_MAX_TERM) return false;
    switch (message->type) {
    case META_MESSAGE_APPEND: return append_is_sane(message);
    case META_MESSAGE_APPEND_RESULT:
        return index_is_sane(message->as.append_result.rejected) &&
               index_is_sane(message->as.append_result.last_index) &&
               (message->as.append_result.rejected == 0 ||
                message->as.append_result.last_index < message->as.append_result.rejected);
    case META_MESSAGE_VOTE:
        return message->as.vote.candidate == message->from &&
               position_is_sane(message->as.vote.last_index, message->as.vote.last_term,
                                message->term);
    case META_MESSAGE_VOTE_RESULT: return true;
    case META_MESSAGE_TIMEOUT_NOW:
        return position_is_sane(message->as.timeout_now.last_index,
                                message->as.timeout_now.last_term, message->term);
    case META_MESSAGE_SNAPSHOT: return snapshot_is_sane(message);
    }
    return false;
}

int meta_message_check(const struct meta_message *message)
{
    return message_is_sane(message) ? 0 : ERR_MALFORMED;
}

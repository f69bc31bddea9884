// SPDX-License-Identifier: Apache-2.0
/* From bytes to whole frames.
 *
 *  (1) A frame that lies whole in what was read is handed over where it lies.
 *  (2) The last one, of which only a part has come, gets memory of exactly its size, once the
 *      memory budget has given it (DESIGN 2.4). The rest is read straight into it.
 *  (3) What was read and may not be handed over yet (the connection is stalled, or its next
 *      frame waits for memory) is held aside, and nothing is read behind it. Since nobody reads
 *      into the loop's buffer unless all of that would fit into the budget, it is charged
 *      without waiting.
 *  (4) When the budget is tight, frames are read one by one: the length, then, with memory, the
 *      rest. */

#ifndef NET_INBOX_H
#define NET_INBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "list.h"
#include "memory_budget.h"

struct connection;

struct inbox {
    uint8_t length[4];
    uint8_t length_have;
    bool reads_length;  /* The read under way goes to `length`, by (4). */
    bool is_waiting;    /* For memory; the connection is held until the message comes. */
    bool expects_large; /* Frames lately were larger than a read. */
    uint32_t frame_length;
    uint32_t frame_have;
    uint32_t frame_looked_at; /* What the last look at its progress found, */
    uint8_t slow_looks;       /* and how many in a row found it too slow. */
    uint8_t *frame;           /* By (2); the frame pool's. */
    struct memory_wait wait;  /* Its grant is the frame's. */
    struct list incomplete;   /* The loop's, while a frame of its own is not whole. */
    uint8_t *held;            /* By (3); the frame pool's. */
    uint32_t held_length, held_at;
    struct memory_grant held_grant;
};

void inbox_init(struct connection *connection);
void inbox_drop(struct connection *connection); /* Everything that was read and not handed over. */

/* May more be read? */
bool inbox_may_read(const struct connection *connection);

/* Where the next read goes: fills `pieces`, returns their number. */
int inbox_plan_read(struct connection *connection, struct iovec pieces[2]);

/* `got` bytes have come as planned. Returns how many of them lie in the loop's buffer. */
size_t inbox_took(struct connection *connection, size_t got);

/* Hands over what is whole, as long as the connection is not stalled and a burst lasts, and says how many bytes of
 * `data` it is done with. */
size_t inbox_hand_over(struct connection *connection, const uint8_t *data, size_t length);

/* Did the peer leave while its frame waited for memory, without the rest of the frame being here? Nobody
 * reads meanwhile, so nobody saw it go; and memory that is got and given back for each of thousands
 * that are gone would keep the living waiting. */
bool inbox_is_hopeless(const struct connection *connection);

/* (3) Puts bytes aside. False when out of memory. */
bool inbox_hold(struct connection *connection, const uint8_t *data, size_t length);

/* Is there something aside that could be handed over now? */
bool inbox_can_go_on(const struct connection *connection);

/* The first `count` bytes of what was held are done with. */
void inbox_held_done(struct connection *connection, size_t count);

/* To be called once a second for a half-read frame. False: it has come much too slowly for some time, while others
 * waited for the memory that it holds. */
bool inbox_look_at_progress(struct connection *connection);

#endif

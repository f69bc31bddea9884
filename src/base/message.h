// SPDX-License-Identifier: Apache-2.0
/* Something that happens later on the thread of whoever it is for, and where it is left until then.
 *
 * The message is embedded in whoever waits, so leaving it never fails and never blocks. */

#ifndef BASE_MESSAGE_H
#define BASE_MESSAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct message {
    struct message *next; /* The mailbox's. */
    atomic_bool queued;   /* Set when it is posted, cleared just before `deliver` is called. */
    void (*deliver)(
        struct message *message); /* On the owner's thread. May free or post it again. */
};

static inline void message_init(struct message *message, void (*deliver)(struct message *message))
{
    message->next = NULL;
    atomic_init(&message->queued, false);
    message->deliver = deliver;
}

/* Whose messages these are is known to it. A loop has one (loop_mailbox()); a simulator is one. */
struct mailbox {
    void (*post)(struct mailbox *mailbox, struct message *message); /* Any thread. */
};

static inline void mailbox_post(struct mailbox *mailbox, struct message *message)
{
    mailbox->post(mailbox, message);
}

#endif

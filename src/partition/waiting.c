// SPDX-License-Identifier: Apache-2.0
#include "waiting.h"

void waiting_add(struct list *waiting, struct waiter *waiter)
{
    list_push_back(waiting, &waiter->node);
}

void waiting_wake(struct list *waiting, int64_t reached)
{
    struct list *node = waiting->next;
    while (node != waiting) {
        struct waiter *waiter = LIST_OWNER(node, struct waiter, node);
        node = node->next;
        if (waiter->offset < reached) {
            list_remove(&waiter->node);
            loop_post(waiter->loop, waiter->wake);
        }
    }
}

void waiting_wake_all(struct list *waiting)
{
    waiting_wake(waiting, INT64_MAX);
}

// SPDX-License-Identifier: Apache-2.0
#include "later.h"

#include "clock.h"

static void later_run(struct message *turn)
{
    struct later *later = LIST_OWNER(turn, struct later, turn);
    struct clock *clock = loop_clock(later->loop);
    int64_t until_us = clock_monotonic_us(clock) + LATER_TURN_US;
    do {
        struct list *node = list_pop_front(&later->tasks);
        if (node == NULL) return;
        struct later_task *task = LIST_OWNER(node, struct later_task, node);
        task->run(task);
    } while (clock_monotonic_us(clock) < until_us);
    if (!list_is_empty(&later->tasks)) loop_post(later->loop, &later->turn);
}

void later_init(struct later *later, struct loop *loop)
{
    later->loop = loop;
    list_init(&later->tasks);
    message_init(&later->turn, later_run);
}

void later_add(struct later *later, struct later_task *task)
{
    list_push_back(&later->tasks, &task->node);
    loop_post(later->loop, &later->turn);
}

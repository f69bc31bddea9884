// SPDX-License-Identifier: Apache-2.0
/* A doubly linked ring of nodes embedded in their owners. */

#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *next;
    struct list *prev;
};

/* The struct of `type` whose `member` is `node`. */
#define LIST_OWNER(node, type, member) ((type *)(void *)((char *)(node)-offsetof(type, member)))

static inline void list_init(struct list *list)
{
    list->next = list->prev = list;
}

static inline bool list_is_empty(const struct list *list)
{
    return list->next == list;
}

static inline void list_push_back(struct list *list, struct list *node)
{
    node->prev = list->prev;
    node->next = list;
    list->prev->next = node;
    list->prev = node;
}

static inline void list_push_front(struct list *list, struct list *node)
{
    list_push_back(list->next, node);
}

/* Takes `node` out of whatever list it is in; it is then a list of its own, so twice is fine. */
static inline void list_remove(struct list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}

/* The first node, taken out; NULL if there is none. */
static inline struct list *list_pop_front(struct list *list)
{
    struct list *node = list->next;
    if (node == list) return NULL;
    list_remove(node);
    return node;
}

#endif

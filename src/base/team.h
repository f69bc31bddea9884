// SPDX-License-Identifier: Apache-2.0
/* Threads that all do the same work, and whose number can be changed while they do.
 *
 *  (1) A member that asks team_leaves() and hears true returns from its work without asking again.
 *  (2) Members are numbered from 0. The highest leave first, so that those who stay are 0 to wanted - 1.
 *  (3) Whoever makes a team smaller wakes its members: each finds out at its next question. */

#ifndef BASE_TEAM_H
#define BASE_TEAM_H

#include <pthread.h>
#include <stdbool.h>

struct team_member;

struct team {
    const char *name; /* Of the threads, with their number: at most 10 letters. */
    void (*work)(void *context, unsigned index);
    void *context;
    pthread_mutex_t lock; /* Taken last. */
    struct team_member **members;
    unsigned member_count; /* Places; the last ones may be empty. */
    unsigned wanted;
};

/* Nobody works yet. `name` is borrowed until the close. */
void team_init(struct team *team, const char *name, void (*work)(void *context, unsigned index),
               void *context);

/* So many from now on. Starts those that lack; does not wait for those who leave, but for one who is on
 * his way out of a place that is wanted again. Not from a member. 0, or ERR_NO_MEMORY or ERR_IO with
 * fewer than wanted. */
int team_resize(struct team *team, unsigned wanted);

/* Is this member one too many? */
bool team_leaves(struct team *team, unsigned index);

unsigned team_wanted(struct team *team);

/* Waits for all, who were told to end in some other way, or by team_resize(). */
void team_close(struct team *team);

#endif

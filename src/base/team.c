// SPDX-License-Identifier: Apache-2.0
#include "team.h"

#include <stdio.h>

#include "alloc.h"
#include "error.h"

/* Its memory stays where it is while its thread runs. */
struct team_member {
    struct team *team;
    unsigned index;
    pthread_t thread;
    bool is_there;   /* It was started, and is not joined. */
    bool is_leaving; /* It has been told, and does not come back to us. */
};

void team_init(struct team *team, const char *name, void (*work)(void *context, unsigned index),
               void *context)
{
    *team = (struct team){ .name = name, .work = work, .context = context };
    pthread_mutex_init(&team->lock, NULL);
}

static void *run(void *argument)
{
    struct team_member *member = argument;
    member->team->work(member->team->context, member->index);
    return NULL;
}

/* Under the lock. */
static int make_places(struct team *team, unsigned wanted)
{
    if (wanted <= team->member_count) return 0;
    struct team_member **members = mem_realloc(team->members,
                                               wanted * sizeof(struct team_member *));
    if (members == NULL) return ERR_NO_MEMORY;
    team->members = members;
    while (team->member_count < wanted) {
        struct team_member *member = mem_zalloc(sizeof *member);
        if (member == NULL) return ERR_NO_MEMORY;
        member->team = team;
        member->index = team->member_count;
        members[team->member_count++] = member;
    }
    return 0;
}

/* Under the lock. */
static int fill_place(struct team *team, struct team_member *member)
{
    char name[16];
    if (member->is_there && member->is_leaving) {
        pthread_join(member->thread, NULL); /* By (1) it needs nothing of us any more. */
        member->is_there = member->is_leaving = false;
    }
    if (member->is_there) return 0;
    if (pthread_create(&member->thread, NULL, run, member) != 0) return ERR_IO;
    member->is_there = true;
    snprintf(name, sizeof name, "%.10s-%u", team->name, member->index % 1000);
    pthread_setname_np(member->thread, name);
    return 0;
}

int team_resize(struct team *team, unsigned wanted)
{
    pthread_mutex_lock(&team->lock);
    int err = make_places(team, wanted);
    if (err == 0) team->wanted = wanted;
    for (unsigned i = 0; err == 0 && i < wanted; i++)
        err = fill_place(team, team->members[i]);
    pthread_mutex_unlock(&team->lock);
    return err;
}

bool team_leaves(struct team *team, unsigned index)
{
    pthread_mutex_lock(&team->lock);
    bool leaves = index >= team->wanted;
    if (leaves) team->members[index]->is_leaving = true;
    pthread_mutex_unlock(&team->lock);
    return leaves;
}

unsigned team_wanted(struct team *team)
{
    pthread_mutex_lock(&team->lock);
    unsigned wanted = team->wanted;
    pthread_mutex_unlock(&team->lock);
    return wanted;
}

/* Nobody resizes any more, so the places stay as they are. Without the lock: members may still ask. */
void team_close(struct team *team)
{
    for (unsigned i = 0; i < team->member_count; i++) {
        if (team->members[i]->is_there) pthread_join(team->members[i]->thread, NULL);
        mem_free(team->members[i]);
    }
    mem_free(team->members);
    pthread_mutex_destroy(&team->lock);
}

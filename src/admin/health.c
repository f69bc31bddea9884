// SPDX-License-Identifier: Apache-2.0
#include "health.h"

#include <stdio.h>

#include "alloc.h"
#include "error.h"

static void end_round(struct health *health)
{
    timer_cancel(health->loop, &health->patience);
    health->awaited = 0;
    health->done(health);
}

static void patience_is_over(struct timer *timer)
{
    end_round(LIST_OWNER(timer, struct health, patience));
}

/* On the loop that was asked. */
static void asked(struct message *message)
{
    struct health_probe *probe = LIST_OWNER(message, struct health_probe, question);
    loop_post(probe->health->loop, &probe->answer);
}

static void answered(struct message *message)
{
    struct health_probe *probe = LIST_OWNER(message, struct health_probe, answer);
    struct health *health = probe->health;
    if (!probe->is_awaited) return;
    probe->is_awaited = false;
    if (health->awaited > 0 && --health->awaited == 0) end_round(health);
}

void health_open(struct health *health, struct loop *loop, void (*done)(struct health *health))
{
    *health = (struct health){ .loop = loop, .done = done };
    timer_init(&health->patience, patience_is_over);
}

int health_add(struct health *health, struct loop *target, const char *name, int number)
{
    struct health_probe *probe = mem_zalloc(sizeof *probe);
    if (probe == NULL) return ERR_NO_MEMORY;
    message_init(&probe->question, asked);
    message_init(&probe->answer, answered);
    probe->health = health;
    probe->target = target;
    if (number < 0)
        snprintf(probe->name, sizeof probe->name, "%s", name);
    else
        snprintf(probe->name, sizeof probe->name, "%s %d", name, number);
    probe->next = health->probes;
    health->probes = probe;
    health->probe_count++;
    return 0;
}

void health_ask(struct health *health)
{
    if (health->awaited > 0) return;
    health->awaited = health->probe_count;
    timer_set(health->loop, &health->patience, HEALTH_PATIENCE_MS);
    for (struct health_probe *probe = health->probes; probe != NULL; probe = probe->next) {
        probe->is_awaited = true;
        loop_post(probe->target, &probe->question);
    }
}

const char *health_silent_loop(const struct health *health)
{
    for (const struct health_probe *probe = health->probes; probe != NULL; probe = probe->next)
        if (probe->is_awaited) return probe->name;
    return NULL;
}

void health_stop(struct health *health)
{
    timer_cancel(health->loop, &health->patience);
    health->awaited = 0;
}

void health_close(struct health *health)
{
    while (health->probes != NULL) {
        struct health_probe *probe = health->probes;
        health->probes = probe->next;
        mem_free(probe);
    }
}

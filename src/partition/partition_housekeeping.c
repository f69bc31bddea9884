// SPDX-License-Identifier: Apache-2.0
#include "partition_set_inside.h"

/* ---- what is dirty ---- */

void housekeeping_note_dirty(struct partition_owner *owner, struct partition *partition)
{
    struct set_folder *folder = LIST_OWNER(owner, struct set_folder, owner);
    int64_t flush_ms = partition->settings.flush_ms;
    bool is_hasty = flush_ms < folder->set->options.flush_interval_ms;
    if (is_hasty) partition->flush_by_ms = clock_monotonic_us(partition->clock) / 1000 + flush_ms;
    pthread_mutex_lock(&folder->lock);
    list_push_back(is_hasty ? &folder->hasty : &folder->dirty,
                   &partition_ref(partition)->owner_node);
    pthread_mutex_unlock(&folder->lock);
    loop_post(folder->set->options.loop, &folder->set->arm_flush);
}

/* For the first of the hasty ones. */
static void arm_hasty(struct partition_set *set)
{
    int64_t first_ms = INT64_MAX;
    for (unsigned i = 0; i < set->folder_count; i++) {
        struct set_folder *folder = &set->folders[i];
        pthread_mutex_lock(&folder->lock);
        for (struct list *node = folder->hasty.next; node != &folder->hasty; node = node->next) {
            int64_t by_ms = LIST_OWNER(node, struct partition, owner_node)->flush_by_ms;
            if (by_ms < first_ms) first_ms = by_ms;
        }
        pthread_mutex_unlock(&folder->lock);
    }
    if (first_ms == INT64_MAX) return;
    int64_t delay_ms = first_ms - clock_monotonic_us(set->options.clock) / 1000;
    timer_set(set->options.loop, &set->hasty_timer, delay_ms < 0 ? 0 : delay_ms);
}

/* The rounds that come some time after an append. */
static void arm_rounds(struct partition_set *set)
{
    if (!timer_is_set(&set->checkpoint_timer))
        timer_set(set->options.loop, &set->checkpoint_timer, set->options.checkpoint_interval_ms);
    if (!timer_is_set(&set->watermark_timer))
        timer_set(set->options.loop, &set->watermark_timer,
                  set->options.high_watermark_interval_ms);
    if (set->options.producer_expiration_ms > 0 && !timer_is_set(&set->expiration_timer))
        timer_set(set->options.loop, &set->expiration_timer, set->options.expiration_interval_ms);
}

static void arm_flush(struct message *message)
{
    struct partition_set *set = LIST_OWNER(message, struct partition_set, arm_flush);
    arm_hasty(set);
    if (!timer_is_set(&set->flush_timer))
        timer_set(set->options.loop, &set->flush_timer, set->options.flush_interval_ms);
    arm_rounds(set);
}

static bool is_due(const struct list *node, int64_t now_ms)
{
    return LIST_OWNER(node, struct partition, owner_node)->flush_by_ms <= now_ms;
}

/* The next of a folder's hasty partitions that is due, then of the others, clean from now on, with its
 * reference; NULL at the end. */
static struct partition *take_dirty(struct set_folder *folder, int64_t now_ms, bool others)
{
    pthread_mutex_lock(&folder->lock);
    struct list *node = folder->hasty.next;
    while (node != &folder->hasty && !is_due(node, now_ms))
        node = node->next;
    if (node != &folder->hasty)
        list_remove(node);
    else
        node = others ? list_pop_front(&folder->dirty) : NULL;
    pthread_mutex_unlock(&folder->lock);
    if (node == NULL) return NULL;
    struct partition *partition = LIST_OWNER(node, struct partition, owner_node);
    pthread_mutex_lock(&partition->lock);
    partition->is_dirty = false;
    pthread_mutex_unlock(&partition->lock);
    return partition;
}

/* A partition says once that it is dirty. What was appended after that may have missed a round, so the
 * flush asks for them again. */
static void flush_those(struct partition_set *set, int64_t now_ms, bool others)
{
    bool has_flushed = false;
    for (unsigned i = 0; i < set->folder_count; i++) {
        struct partition *partition;
        while ((partition = take_dirty(&set->folders[i], now_ms, others)) != NULL) {
            partition_flush_soon(partition);
            partition_unref(partition);
            has_flushed = true;
        }
    }
    if (has_flushed) arm_rounds(set);
}

static void flush_dirty(struct timer *timer)
{
    struct partition_set *set = LIST_OWNER(timer, struct partition_set, flush_timer);
    flush_those(set, clock_monotonic_us(set->options.clock) / 1000, true);
}

static void flush_hasty(struct timer *timer)
{
    struct partition_set *set = LIST_OWNER(timer, struct partition_set, hasty_timer);
    flush_those(set, clock_monotonic_us(set->options.clock) / 1000, false);
    arm_hasty(set);
}

/* ---- rounds ---- */

static void checkpoint_one(void *context, struct partition *partition)
{
    (void)context;
    pthread_mutex_lock(&partition->lock);
    bool needs = partition->needs_checkpoint;
    pthread_mutex_unlock(&partition->lock);
    if (needs) partition_checkpoint_soon(partition);
}

static void write_checkpoints(struct partition_set *set)
{
    for (unsigned i = 0; i < set->folder_count; i++)
        set_folder_start(&set->folders[i], &set->folders[i].checkpoint_job,
                         &set->folders[i].checkpoint_runs);
}

/* What was checkpointed in memory by the round before is written now. */
static void checkpoint_all(struct timer *timer)
{
    struct partition_set *set = LIST_OWNER(timer, struct partition_set, checkpoint_timer);
    (void)partition_set_visit(set, checkpoint_one, NULL);
    write_checkpoints(set);
}

static void note_one(void *context, struct partition *partition)
{
    (void)context;
    partition_note_high_watermark(partition);
}

/* What is appended later arms the timer again. */
static void note_watermarks(struct timer *timer)
{
    struct partition_set *set = LIST_OWNER(timer, struct partition_set, watermark_timer);
    (void)partition_set_visit(set, note_one, NULL);
    write_checkpoints(set);
}

static void retain_one(void *context, struct partition *partition)
{
    (void)context;
    partition_retain_soon(partition);
}

static void retain_all(struct timer *timer)
{
    struct partition_set *set = LIST_OWNER(timer, struct partition_set, retention_timer);
    (void)partition_set_visit(set, retain_one, NULL);
    timer_set(set->options.loop, &set->retention_timer, set->options.retention_interval_ms);
}

static void expire_one(void *context, struct partition *partition)
{
    struct partition_set *set = context;
    if (partition_expire_soon(partition)) set->has_producers = true;
}

/* The next round is set here if there is anybody left, otherwise by the next append. */
static void expire_all(struct timer *timer)
{
    struct partition_set *set = LIST_OWNER(timer, struct partition_set, expiration_timer);
    set->has_producers = false;
    (void)partition_set_visit(set, expire_one, set);
    if (set->has_producers)
        timer_set(set->options.loop, &set->expiration_timer, set->options.expiration_interval_ms);
}

/* ---- beginning and end ---- */

void housekeeping_hurry(struct partition_owner *owner)
{
    struct partition_set *set = LIST_OWNER(owner, struct set_folder, owner)->set;
    loop_post(set->options.loop, &set->hurry);
}

static void flush_now(struct message *message)
{
    struct partition_set *set = LIST_OWNER(message, struct partition_set, hurry);
    flush_those(set, INT64_MAX, true);
}

void housekeeping_flush_all(struct partition_set *set)
{
    flush_those(set, INT64_MAX, true);
}

void housekeeping_forget_dirty(struct set_folder *folder)
{
    struct partition *partition;
    while ((partition = take_dirty(folder, INT64_MAX, true)) != NULL)
        partition_unref(partition);
}

/* The first delivery, on the loop's thread: from here on timers may be set. */
static void start_retention(struct message *message)
{
    struct partition_set *set = LIST_OWNER(message, struct partition_set, arm_flush);
    timer_set(set->options.loop, &set->retention_timer, set->options.retention_interval_ms);
    message->deliver = arm_flush;
    arm_flush(message);
}

void housekeeping_start(struct partition_set *set)
{
    message_init(&set->arm_flush, start_retention);
    message_init(&set->hurry, flush_now);
    timer_init(&set->flush_timer, flush_dirty);
    timer_init(&set->hasty_timer, flush_hasty);
    timer_init(&set->checkpoint_timer, checkpoint_all);
    timer_init(&set->watermark_timer, note_watermarks);
    timer_init(&set->retention_timer, retain_all);
    timer_init(&set->expiration_timer, expire_all);
    loop_post(set->options.loop, &set->arm_flush);
}

void housekeeping_stop(struct partition_set *set)
{
    timer_cancel(set->options.loop, &set->flush_timer);
    timer_cancel(set->options.loop, &set->hasty_timer);
    timer_cancel(set->options.loop, &set->checkpoint_timer);
    timer_cancel(set->options.loop, &set->watermark_timer);
    timer_cancel(set->options.loop, &set->retention_timer);
    timer_cancel(set->options.loop, &set->expiration_timer);
}

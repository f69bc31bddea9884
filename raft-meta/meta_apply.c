// SPDX-License-Identifier: Apache-2.0
#include "meta_apply.h"

#include "alloc.h"
#include "error.h"
#include "topic_settings.h"

/* One command on its way. */
struct application {
    struct meta_state *state;
    struct meta_changes *changes;
    struct meta_outcome *outcome;
};

void meta_outcome_close(struct meta_outcome *outcome)
{
    meta_topic_unref(outcome->topic);
    outcome->topic = NULL;
}

/* ---- changes ---- */

void meta_changes_init(struct meta_changes *changes)
{
    *changes = (struct meta_changes){ NULL, 0, 0 };
}

void meta_changes_clear(struct meta_changes *changes)
{
    for (unsigned i = 0; i < changes->count; i++) {
        meta_topic_unref(changes->items[i].before);
        meta_topic_unref(changes->items[i].after);
    }
    changes->count = 0;
}

void meta_changes_close(struct meta_changes *changes)
{
    meta_changes_clear(changes);
    mem_free(changes->items);
    meta_changes_init(changes);
}

int meta_changes_add(struct meta_changes *changes, const struct meta_topic *before,
                     const struct meta_topic *after)
{
    if (changes->count == changes->capacity) {
        unsigned capacity = changes->capacity == 0 ? 16 : changes->capacity * 2;
        struct meta_change *items = mem_realloc(changes->items, capacity * sizeof *items);
        if (items == NULL) return ERR_NO_MEMORY;
        changes->items = items;
        changes->capacity = capacity;
    }
    changes->items[changes->count++] = (struct meta_change){
        .before = before == NULL ? NULL : meta_topic_ref(before),
        .after = after == NULL ? NULL : meta_topic_ref(after),
    };
    return 0;
}

static int change_topic(struct application *application, const struct meta_topic *before,
                        struct meta_topic *after)
{
    int err = 0;
    if (application->changes != NULL) err = meta_changes_add(application->changes, before, after);
    if (err == 0) err = meta_state_change_topic(application->state, before, after);
    return err;
}

/* ---- bootstrap ---- */

static int apply_bootstrap(struct application *application, const struct meta_bootstrap *bootstrap)
{
    struct meta_state *state = application->state;
    if (state->cluster_id[0] != '\0') {
        application->outcome->err = ERR_INCONSISTENT_CLUSTER_ID;
        return 0;
    }
    memcpy(state->cluster_id, bootstrap->cluster_id.data, (size_t)bootstrap->cluster_id.length);
    state->cluster_id[bootstrap->cluster_id.length] = '\0';
    return 0;
}

/* ---- register_broker ---- */

/* Every partition that `broker` leads begins a new leader epoch. */
static int raise_leader_epochs(struct application *application, const struct meta_topic *topic,
                               int32_t broker)
{
    bool leads = false;
    for (unsigned i = 0; i < topic->partition_count; i++)
        if (topic->partitions[i].leader == broker) leads = true;
    if (!leads) return 0;

    struct meta_topic *raised = meta_topic_copy(topic);
    if (raised == NULL) return ERR_NO_MEMORY;
    /* The copy is ours alone until it is in the state. */
    struct meta_partition *partitions = (struct meta_partition *)(uintptr_t)raised->partitions;
    for (unsigned i = 0; i < raised->partition_count; i++) {
        if (partitions[i].leader != broker) continue;
        if (partitions[i].leader_epoch < INT32_MAX) partitions[i].leader_epoch++;
        if (partitions[i].partition_epoch < INT32_MAX) partitions[i].partition_epoch++;
    }
    int err = change_topic(application, topic, raised);
    meta_topic_unref(raised);
    return err;
}

/* A broker whose page cache is gone may have lost the ends of its logs: what it appends next would
 * have the offsets of what readers saw before. So it leads on in another epoch, by which they can
 * tell (KIP-101, KIP-320). */
static int raise_all_leader_epochs(struct application *application, int32_t broker)
{
    struct meta_state before;
    struct meta_topic_cursor cursor = { 0, 0 };
    const struct meta_topic *topic;
    int err = 0;
    meta_state_copy(&before, application->state); /* To walk while it changes. */
    while (err == 0 && (topic = meta_state_next_topic(&before, &cursor)) != NULL)
        err = raise_leader_epochs(application, topic, broker);
    meta_state_close(&before);
    return err;
}

static int apply_register_broker(struct application *application,
                                 const struct meta_register_broker *command)
{
    struct meta_broker broker = command->broker;
    broker.incarnation = application->state->index;
    bool is_known = meta_state_broker(application->state, broker.id) != NULL;
    int err = meta_state_put_broker(application->state, &broker);
    if (err == 0 && is_known && !command->page_cache_survived)
        err = raise_all_leader_epochs(application, broker.id);
    return err;
}

/* ---- topic_created ---- */

static bool is_among(const int32_t *brokers, unsigned count, int32_t broker)
{
    for (unsigned i = 0; i < count; i++)
        if (brokers[i] == broker) return true;
    return false;
}

static bool partition_is_right(const struct meta_partition *partition)
{
    if (partition->replica_count == 0 || partition->isr_count == 0) return false;
    for (unsigned i = 0; i < partition->replica_count; i++)
        if (is_among(partition->replicas, i, partition->replicas[i])) return false;
    for (unsigned i = 0; i < partition->isr_count; i++)
        if (is_among(partition->isr, i, partition->isr[i]) ||
            !is_among(partition->replicas, partition->replica_count, partition->isr[i]))
            return false;
    return partition->leader == META_NOBODY ||
           is_among(partition->isr, partition->isr_count, partition->leader);
}

static int check_topic(const struct meta_state *state, const struct meta_topic *topic)
{
    /* Again: paths are made of it (DESIGN 11). */
    if (!topic_name_is_legal(str_from(topic->name))) return ERR_INVALID_TOPIC;
    if (meta_state_topic(state, str_from(topic->name)) != NULL) return ERR_TOPIC_ALREADY_EXISTS;
    if (meta_state_topic_like(state, str_from(topic->name)) != NULL) return ERR_INVALID_TOPIC;
    if (uuid_is_zero(&topic->id) || meta_state_topic_by_id(state, &topic->id) != NULL)
        return ERR_INCONSISTENT_TOPIC_ID;
    if (topic->partition_count == 0) return ERR_INVALID_PARTITIONS;
    for (unsigned i = 0; i < topic->partition_count; i++)
        if (!partition_is_right(&topic->partitions[i])) return ERR_INVALID_REPLICA_ASSIGNMENT;
    return 0;
}

static int apply_topic_created(struct application *application,
                               const struct meta_topic_created *command)
{
    struct meta_outcome *outcome = application->outcome;
    outcome->err = check_topic(application->state, &command->topic);
    if (outcome->err != 0) return 0;
    struct meta_topic *topic = meta_topic_copy(&command->topic);
    if (topic == NULL) return ERR_NO_MEMORY;
    outcome->topic = topic;
    return change_topic(application, NULL, topic);
}

/* ---- topic_deleted, producer_ids_taken ---- */

static int apply_topic_deleted(struct application *application,
                               const struct meta_topic_deleted *command)
{
    struct meta_topic *topic = meta_state_topic_by_id(application->state, &command->id);
    if (topic == NULL) {
        application->outcome->err = ERR_UNKNOWN_TOPIC_ID;
        return 0;
    }
    application->outcome->topic = meta_topic_ref(topic);
    return change_topic(application, topic, NULL);
}

static int apply_producer_ids_taken(struct application *application,
                                    const struct meta_producer_ids_taken *command)
{
    struct meta_state *state = application->state;
    if (state->next_producer_id > INT64_MAX - command->count) {
        application->outcome->err = ERR_LIMIT;
        return 0;
    }
    application->outcome->first_producer_id = state->next_producer_id;
    state->next_producer_id += command->count;
    return 0;
}

/* ---- partitions_added ---- */

static int check_added(const struct meta_topic *topic, const struct meta_partitions_added *command)
{
    if (topic == NULL) return ERR_UNKNOWN_TOPIC_ID;
    unsigned first = (unsigned)command->first, there = topic->partition_count;
    if (there < first || (uint64_t)first + command->count <= there) return ERR_INVALID_PARTITIONS;
    if (command->is_by_hand && there != first) return ERR_INVALID_REPLICA_ASSIGNMENT;
    for (unsigned i = 0; i < command->count; i++)
        if (!partition_is_right(&command->partitions[i])) return ERR_INVALID_REPLICA_ASSIGNMENT;
    return 0;
}

static int apply_partitions_added(struct application *application,
                                  const struct meta_partitions_added *command)
{
    struct meta_topic *before = meta_state_topic_by_id(application->state, &command->topic_id);
    application->outcome->err = check_added(before, command);
    if (application->outcome->err != 0) return 0;

    unsigned there = before->partition_count;
    unsigned count = (unsigned)command->first + command->count;
    struct meta_partition *partitions = mem_calloc(count, sizeof *partitions);
    if (partitions == NULL) return ERR_NO_MEMORY;
    memcpy(partitions, before->partitions, there * sizeof *partitions);
    memcpy(partitions + there, command->partitions + (there - (unsigned)command->first),
           (count - there) * sizeof *partitions);
    struct meta_topic grown = *before;
    grown.partitions = partitions;
    grown.partition_count = count;
    struct meta_topic *after = meta_topic_copy(&grown);
    mem_free(partitions);
    if (after == NULL) return ERR_NO_MEMORY;
    int err = change_topic(application, before, after);
    application->outcome->topic = after;
    return err;
}

/* ---- topic_settings_changed, broker_settings_changed, resource_settings_changed ---- */

static int apply_topic_settings_changed(struct application *application,
                                        const struct meta_topic_settings_changed *command)
{
    struct meta_topic *topic = meta_state_topic_by_id(application->state, &command->id);
    if (topic == NULL) {
        application->outcome->err = ERR_UNKNOWN_TOPIC_OR_PARTITION;
        return 0;
    }
    struct meta_topic changed = *topic;
    struct meta_setting *settings;
    struct arena arena;
    char memory[4096];
    arena_init(&arena, memory, sizeof memory, SIZE_MAX);
    int err = meta_settings_apply(topic->settings, topic->setting_count, &command->change, &arena,
                                  &settings, &changed.setting_count);
    if (err == 0) {
        changed.settings = settings;
        application->outcome->topic = meta_topic_copy(&changed);
        if (application->outcome->topic == NULL) err = ERR_NO_MEMORY;
    }
    arena_close(&arena);
    return err == 0 ? change_topic(application, topic, application->outcome->topic) : err;
}

static int apply_broker_settings_changed(struct application *application,
                                         const struct meta_broker_settings_changed *command)
{
    struct meta_state *state = application->state;
    const struct meta_broker_settings *before = meta_broker_settings_find(state->broker_settings,
                                                                          command->broker);
    struct meta_broker_settings after = { .broker = command->broker };
    struct meta_setting *settings;
    struct arena arena;
    char memory[4096];
    arena_init(&arena, memory, sizeof memory, SIZE_MAX);
    int err = meta_settings_apply(before == NULL ? NULL : before->settings,
                                  before == NULL ? 0 : before->count, &command->change, &arena,
                                  &settings, &after.count);
    if (err == 0) {
        after.settings = settings;
        err = meta_state_put_broker_settings(state, &after);
    }
    arena_close(&arena);
    return err;
}

static int apply_resource_settings_changed(struct application *application,
                                           const struct meta_resource_settings_changed *command)
{
    struct meta_resources *resources = &application->state->resources;
    const struct meta_resource *before = meta_resources_find(resources, command->type,
                                                             str_from(command->name));
    struct meta_resource after = { .type = command->type, .name = command->name };
    struct meta_setting *settings;
    struct arena arena;
    char memory[4096];
    arena_init(&arena, memory, sizeof memory, SIZE_MAX);
    int err = meta_settings_apply(before == NULL ? NULL : before->settings,
                                  before == NULL ? 0 : before->setting_count, &command->change,
                                  &arena, &settings, &after.setting_count);
    if (err == 0) {
        after.settings = settings;
        err = meta_resources_put(resources, &after);
    }
    arena_close(&arena);
    return err;
}

/* ---- all ---- */

static int apply_command(struct application *application, struct bytes payload)
{
    struct meta_command command;
    struct arena arena;
    char memory[4096];
    arena_init(&arena, memory, sizeof memory, SIZE_MAX);
    int err = meta_command_decode(&command, payload, &arena);
    if (err == 0) {
        switch (command.kind) {
#define META_COMMAND_APPLY(kind, version, name, stem) \
    case name: err = apply_##stem(application, &command.as.stem); break;
            META_COMMAND_TABLE(META_COMMAND_APPLY)
#undef META_COMMAND_APPLY
        }
    }
    arena_close(&arena);
    return err;
}

int meta_apply(struct meta_state *state, int64_t index, const struct meta_entry *entry,
               struct meta_changes *changes, struct meta_outcome *outcome)
{
    struct application application = { state, changes, outcome };
    *outcome = (struct meta_outcome){ 0, NULL, 0 };
    state->index = index;
    state->term = entry->term;
    if (entry->type != META_ENTRY_COMMAND) return 0;
    int err = apply_command(&application, entry->payload);
    if (err != 0) meta_outcome_close(outcome);
    return err;
}

// SPDX-License-Identifier: Apache-2.0
#include "controller.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "alter_settings.h"
#include "error.h"
#include "map.h"
#include "meta_entry.h"
#include "placement.h"
#include "topic_settings.h"
#include "trace.h"

#define INTERNAL_PREFIX "__sluice"
#define KAFKAS_METADATA "__cluster_metadata"

static int refuse(struct meta_create_topic *wanted, int err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int refuse(struct meta_create_topic *wanted, int err, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(wanted->why, sizeof wanted->why, format, arguments);
    va_end(arguments);
    wanted->err = err;
    return err;
}

static int no_memory(struct meta_create_topic *wanted)
{
    return refuse(wanted, ERR_NO_MEMORY, "%s", error_text(ERR_NO_MEMORY));
}

/* ---- names ---- */

int controller_mark_repeated(struct meta_create_topic *items, unsigned count)
{
    struct map seen;
    int err = 0;
    map_init(&seen);
    for (unsigned i = 0; err == 0 && i < count; i++) {
        void *first = NULL;
        size_t length = items[i].name.length > 0 ? (size_t)items[i].name.length : 0;
        items[i].err = 0;
        items[i].why[0] = '\0';
        items[i].topic = NULL;
        err = map_put(&seen, length == 0 ? "" : items[i].name.data, length, &items[i], &first);
        if (err != 0 || first == NULL) continue;
        refuse(first, ERR_INVALID_REQUEST, "The request names this topic more than once.");
        refuse(&items[i], ERR_INVALID_REQUEST, "The request names this topic more than once.");
    }
    map_close(&seen);
    return err;
}

static bool is_internal(struct str name)
{
    size_t length = strlen(INTERNAL_PREFIX);
    return (size_t)name.length >= length && memcmp(name.data, INTERNAL_PREFIX, length) == 0;
}

static int check_name(const struct controller *controller, struct meta_create_topic *wanted)
{
    char shown[64];
    if (str_is_null(wanted->name) || !topic_name_is_legal(wanted->name))
        return refuse(wanted, ERR_INVALID_TOPIC,
                      "A topic's name is 1 to 249 of a-z, A-Z, 0-9, '.', '_' and '-', and neither "
                      "\".\" nor \"..\".");
    if (is_internal(wanted->name))
        return refuse(wanted, ERR_INVALID_TOPIC,
                      "Names that begin with " INTERNAL_PREFIX " are kept for Sluice itself.");
    if (str_equals_text(wanted->name, KAFKAS_METADATA))
        return refuse(wanted, ERR_INVALID_REQUEST,
                      KAFKAS_METADATA " is where Kafka keeps what its cluster agreed on.");
    if (meta_state_topic(controller->state, wanted->name) != NULL)
        return refuse(wanted, ERR_TOPIC_ALREADY_EXISTS, "Topic '%s' exists already.",
                      trace_escape(shown, sizeof shown, wanted->name));
    const struct meta_topic *like = meta_state_topic_like(controller->state, wanted->name);
    if (like != NULL)
        return refuse(wanted, ERR_INVALID_TOPIC,
                      "It differs from topic '%s' only in '.' and '_', which metrics cannot tell "
                      "apart.",
                      trace_escape(shown, sizeof shown, str_from(like->name)));
    return 0;
}

static int check_id(const struct controller *controller, struct meta_create_topic *wanted,
                    const struct uuid *id)
{
    char shown[64];
    const struct meta_topic *known = meta_state_topic_by_id(controller->state, id);
    if (known == NULL) return 0;
    return refuse(wanted, ERR_INCONSISTENT_TOPIC_ID, "Its id is that of topic '%s'.",
                  trace_escape(shown, sizeof shown, str_from(known->name)));
}

/* ---- settings ---- */

/* By name; of one name in the request's order. */
static int compare_wanted(const void *a, const void *b)
{
    const struct meta_wanted_setting *left = *(const struct meta_wanted_setting *const *)a;
    const struct meta_wanted_setting *right = *(const struct meta_wanted_setting *const *)b;
    int32_t length = left->name.length < right->name.length ? left->name.length
                                                            : right->name.length;
    int order = length > 0 ? memcmp(left->name.data, right->name.data, (size_t)length) : 0;
    if (order != 0) return order;
    if (left->name.length != right->name.length)
        return left->name.length < right->name.length ? -1 : 1;
    return left < right ? -1 : left > right;
}

static bool has_nul(struct str text)
{
    return text.length > 0 && memchr(text.data, 0, (size_t)text.length) != NULL;
}

static int take_setting(struct meta_create_topic *wanted, const struct meta_wanted_setting *from,
                        struct arena *arena, struct meta_setting *to)
{
    struct str name, value;
    if (str_is_null(from->name) || has_nul(from->name) || has_nul(from->value))
        return refuse(wanted, ERR_INVALID_CONFIG, "A setting without a name, or with a NUL in it.");
    if (str_is_null(from->value))
        return refuse(wanted, ERR_INVALID_CONFIG, "A setting of a new topic needs a value.");
    if (from->value.length > INT16_MAX) /* What a command can say (meta_text.h). */
        return refuse(wanted, ERR_INVALID_CONFIG, "A setting's value is too long.");
    if (topic_settings_check(from->name, from->value, wanted->why, sizeof wanted->why) != 0) {
        wanted->err = ERR_INVALID_CONFIG;
        return wanted->err;
    }
    wanted->why[0] = '\0';
    if (arena_str(arena, from->name, &name) != 0 || arena_str(arena, from->value, &value) != 0)
        return no_memory(wanted);
    *to = (struct meta_setting){ name.data, value.data };
    return 0;
}

/* Of a name that is given again the last value counts, as in Kafka. */
static int take_settings(struct meta_create_topic *wanted, struct arena *arena,
                         struct meta_topic *topic)
{
    unsigned given = wanted->setting_count, count = 0;
    struct meta_setting *settings = arena_calloc(arena, given + 1u, sizeof *settings);
    const struct meta_wanted_setting **order = arena_calloc(arena, given + 1u,
                                                            sizeof(struct meta_wanted_setting *));
    if (settings == NULL || order == NULL) return no_memory(wanted);
    for (unsigned i = 0; i < given; i++)
        order[i] = &wanted->settings[i];
    if (given > 1) qsort(order, given, sizeof order[0], compare_wanted);
    for (unsigned i = 0; i < given; i++) {
        if (i + 1 < given && str_equal(order[i]->name, order[i + 1]->name)) continue;
        int err = take_setting(wanted, order[i], arena, &settings[count]);
        if (err != 0) return err;
        count++;
    }
    if (alter_settings_fit(settings, count, wanted->why, sizeof wanted->why) != 0)
        return wanted->err = ERR_INVALID_CONFIG;
    topic->settings = settings;
    topic->setting_count = count;
    return 0;
}

/* ---- partitions ---- */

static int partition_fill(struct meta_partition *partition, const struct meta_state *state,
                          int32_t *replicas, unsigned count, struct arena *arena)
{
    int32_t *isr = arena_calloc(arena, count, sizeof *isr);
    if (isr == NULL) return ERR_NO_MEMORY;
    *partition = (struct meta_partition){ .replicas = replicas,
                                          .replica_count = count,
                                          .isr = isr };
    for (unsigned i = 0; i < count; i++) {
        const struct meta_broker *broker = meta_state_broker(state, replicas[i]);
        if (broker != NULL && !broker->fenced) isr[partition->isr_count++] = replicas[i];
    }
    /* The first live one in replica order (DESIGN 8.4). */
    partition->leader = partition->isr_count > 0 ? isr[0] : META_NOBODY;
    return 0;
}

/* `partitions` are those from number `first` on. */
static int check_assignment(const struct controller *controller, struct meta_create_topic *wanted,
                            const struct meta_assignment *assignment, int32_t first,
                            const struct meta_partition *partitions)
{
    int32_t partition = assignment->partition;
    if (partition < first || (unsigned)(partition - first) >= wanted->assignment_count)
        return refuse(wanted, ERR_INVALID_REPLICA_ASSIGNMENT,
                      "Partitions must be numbered from 0 without a gap; %" PRId32 " is not among "
                      "the first %u.",
                      partition, wanted->assignment_count);
    if (partitions[partition - first].replicas != NULL)
        return refuse(wanted, ERR_INVALID_REPLICA_ASSIGNMENT,
                      "Partition %" PRId32 " is assigned twice.", partition);
    if (assignment->broker_count == 0)
        return refuse(wanted, ERR_INVALID_REPLICA_ASSIGNMENT,
                      "Partition %" PRId32 " has no broker.", partition);
    if (assignment->broker_count != wanted->assignments[0].broker_count)
        return refuse(wanted, ERR_INVALID_REPLICA_ASSIGNMENT,
                      "Partition %" PRId32 " has another number of replicas than partition %" PRId32
                      ".",
                      partition, wanted->assignments[0].partition);
    /* Also keeps the search for repetitions short, whatever the request holds. */
    if (assignment->broker_count > meta_state_broker_count(controller->state))
        return refuse(wanted, ERR_INVALID_REPLICA_ASSIGNMENT,
                      "Partition %" PRId32 " names more brokers than there are.", partition);
    if (assignment->leader_epoch < 0)
        return refuse(wanted, ERR_INVALID_REPLICA_ASSIGNMENT,
                      "Partition %" PRId32 " begins with a leader epoch that cannot be.",
                      partition);
    for (unsigned i = 0; i < assignment->broker_count; i++) {
        for (unsigned j = 0; j < i; j++)
            if (assignment->brokers[i] == assignment->brokers[j])
                return refuse(wanted, ERR_INVALID_REPLICA_ASSIGNMENT,
                              "Partition %" PRId32 " names broker %" PRId32 " twice.", partition,
                              assignment->brokers[i]);
        if (meta_state_broker(controller->state, assignment->brokers[i]) == NULL)
            return refuse(wanted, ERR_INVALID_REPLICA_ASSIGNMENT,
                          "Partition %" PRId32 " names broker %" PRId32 ", which is not known.",
                          partition, assignment->brokers[i]);
    }
    return 0;
}

static int check_size(struct meta_create_topic *wanted, uint64_t partitions, uint64_t replicas)
{
    if (partitions <= CONTROLLER_MAX_PARTITIONS && replicas <= CONTROLLER_MAX_REPLICAS) return 0;
    return refuse(wanted, ERR_INVALID_PARTITIONS,
                  "A topic may have %d partitions and %d replicas in all, which no setting "
                  "changes.",
                  CONTROLLER_MAX_PARTITIONS, CONTROLLER_MAX_REPLICAS);
}

/* Partitions from number `first` on, where the request says. */
static int assign_by_hand(const struct controller *controller, struct meta_create_topic *wanted,
                          int32_t first, struct arena *arena, struct meta_topic *topic)
{
    if (wanted->partition_count != -1 || wanted->replication_factor != -1)
        return refuse(wanted, ERR_INVALID_REQUEST,
                      "With assignments, both partition count and replication factor must be -1.");
    uint64_t replicas = 0;
    for (unsigned i = 0; i < wanted->assignment_count; i++)
        replicas += wanted->assignments[i].broker_count;
    int err = check_size(wanted, wanted->assignment_count, replicas);
    if (err != 0) return err;

    struct meta_partition *partitions = arena_calloc(arena, wanted->assignment_count,
                                                     sizeof *partitions);
    if (partitions == NULL) return no_memory(wanted);
    for (unsigned i = 0; i < wanted->assignment_count; i++) {
        const struct meta_assignment *assignment = &wanted->assignments[i];
        err = check_assignment(controller, wanted, assignment, first, partitions);
        if (err != 0) return err;
        struct meta_partition *partition = &partitions[assignment->partition - first];
        int32_t *brokers = arena_dup(arena, assignment->brokers,
                                     assignment->broker_count * sizeof *assignment->brokers);
        if (brokers == NULL || partition_fill(partition, controller->state, brokers,
                                              assignment->broker_count, arena) != 0)
            return no_memory(wanted);
        partition->leader_epoch = assignment->leader_epoch;
        if (partition->isr_count == 0)
            return refuse(wanted, ERR_INVALID_REPLICA_ASSIGNMENT,
                          "All brokers of partition %" PRId32 " are fenced.",
                          assignment->partition);
    }
    topic->partitions = partitions;
    topic->partition_count = wanted->assignment_count;
    return 0;
}

static int live_brokers(const struct controller *controller, struct arena *arena, int32_t **brokers,
                        unsigned *count)
{
    unsigned all = meta_state_broker_count(controller->state);
    *count = 0;
    *brokers = arena_calloc(arena, all + 1, sizeof **brokers);
    if (*brokers == NULL) return ERR_NO_MEMORY;
    for (unsigned i = 0; i < all; i++) {
        const struct meta_broker *broker = meta_state_broker_at(controller->state, i);
        if (!broker->fenced) (*brokers)[(*count)++] = broker->id;
    }
    return 0;
}

static int check_counts(struct meta_create_topic *wanted, int16_t factor, int32_t partitions,
                        unsigned live)
{
    if (factor < 1)
        return refuse(wanted, ERR_INVALID_REPLICATION_FACTOR,
                      "The replication factor must be above 0, or -1 for the default.");
    if (partitions < 1)
        return refuse(wanted, ERR_INVALID_PARTITIONS,
                      "The number of partitions must be above 0, or -1 for the default.");
    if ((unsigned)factor > live)
        return refuse(wanted, ERR_INVALID_REPLICATION_FACTOR,
                      "The replication factor is %d, but only %u broker%s live.", factor, live,
                      live == 1 ? " is" : "s are");
    return check_size(wanted, (uint64_t)partitions, (uint64_t)partitions * (uint64_t)factor);
}

/* Partitions from number `first` on, where placement puts them. */
static int assign_by_rule(const struct controller *controller, struct meta_create_topic *wanted,
                          int32_t first, struct arena *arena, struct meta_topic *topic)
{
    int32_t count = wanted->partition_count == -1 ? controller->default_partitions
                                                  : wanted->partition_count;
    int16_t factor = wanted->replication_factor == -1 ? controller->default_replication_factor
                                                      : wanted->replication_factor;
    int32_t *live = NULL;
    unsigned live_count = 0;
    if (live_brokers(controller, arena, &live, &live_count) != 0) return no_memory(wanted);
    int err = check_counts(wanted, factor, count, live_count);
    if (err != 0) return err;

    struct meta_partition *partitions = arena_calloc(arena, (size_t)count, sizeof *partitions);
    if (partitions == NULL) return no_memory(wanted);
    for (int32_t i = 0; i < count; i++) {
        int32_t *replicas = arena_calloc(arena, (size_t)factor, sizeof *replicas);
        if (replicas == NULL) return no_memory(wanted);
        for (int16_t j = 0; j < factor; j++)
            replicas[j] = placement_broker(live, live_count, (uint32_t)(first + i), (uint32_t)j);
        if (partition_fill(&partitions[i], controller->state, replicas, (unsigned)factor, arena) !=
            0)
            return no_memory(wanted);
    }
    topic->partitions = partitions;
    topic->partition_count = (unsigned)count;
    return 0;
}

/* ---- requests ---- */

int controller_create_topic(const struct controller *controller, struct meta_create_topic *wanted,
                            const struct uuid *id, struct arena *arena, struct meta_topic *topic)
{
    struct str name;
    struct meta_topic filled = { .id = *id };
    wanted->err = 0;
    wanted->why[0] = '\0';
    int err = check_name(controller, wanted);
    if (err == 0) err = check_id(controller, wanted, id);
    if (err == 0) err = take_settings(wanted, arena, &filled);
    if (err == 0)
        err = wanted->assignment_count > 0 ? assign_by_hand(controller, wanted, 0, arena, &filled)
                                           : assign_by_rule(controller, wanted, 0, arena, &filled);
    if (err != 0) return err;
    if (arena_str(arena, wanted->name, &name) != 0) return no_memory(wanted);
    filled.name = name.data;
    *topic = filled;
    return 0;
}

/* What is wanted of the new partitions, as if they were a topic of their own. */
static int describe_added(const struct meta_topic *topic, const struct meta_add_partitions *wanted,
                          struct arena *arena, struct meta_create_topic *added)
{
    int32_t first = (int32_t)topic->partition_count;
    unsigned factor = topic->partitions[0].replica_count;
    *added = (struct meta_create_topic){ .name = wanted->name,
                                         .partition_count = wanted->count - first,
                                         .replication_factor = (int16_t)factor };
    if (!wanted->is_by_hand) return 0;
    if (wanted->assignment_count != (unsigned)(wanted->count - first))
        return refuse(added, ERR_INVALID_REPLICA_ASSIGNMENT,
                      "%" PRId32 " more partitions are wanted, and brokers are named for %u.",
                      wanted->count - first, wanted->assignment_count);
    struct meta_assignment *assignments = arena_dup(arena, wanted->assignments,
                                                    wanted->assignment_count * sizeof *assignments);
    if (assignments == NULL) return no_memory(added);
    for (unsigned i = 0; i < wanted->assignment_count; i++) {
        assignments[i].partition = first + (int32_t)i;
        assignments[i].leader_epoch = 0;
        if (assignments[i].broker_count != factor)
            return refuse(added, ERR_INVALID_REPLICA_ASSIGNMENT,
                          "The topic has %u replicas of each partition, and %u are named for "
                          "partition %" PRId32 ".",
                          factor, assignments[i].broker_count, assignments[i].partition);
    }
    added->partition_count = added->replication_factor = -1;
    added->assignments = assignments;
    added->assignment_count = wanted->assignment_count;
    return 0;
}

static int assign_added(const struct controller *controller, const struct meta_topic *topic,
                        const struct meta_add_partitions *wanted, struct arena *arena,
                        struct meta_create_topic *added, struct meta_topic *filled)
{
    int32_t there = (int32_t)topic->partition_count;
    if (wanted->count <= there)
        return refuse(added, ERR_INVALID_PARTITIONS,
                      "The topic has %" PRId32 " partitions: %" PRId32 " are not more.", there,
                      wanted->count);
    uint64_t count = (uint64_t)wanted->count;
    int err = check_size(added, count, count * topic->partitions[0].replica_count);
    if (err == 0) err = describe_added(topic, wanted, arena, added);
    if (err != 0) return err;
    return wanted->is_by_hand ? assign_by_hand(controller, added, there, arena, filled)
                              : assign_by_rule(controller, added, there, arena, filled);
}

int controller_add_partitions(const struct controller *controller,
                              struct meta_add_partitions *wanted, struct arena *arena,
                              struct meta_partitions_added *command)
{
    const struct meta_topic *topic = meta_state_topic(controller->state, wanted->name);
    struct meta_create_topic added = { .err = 0 };
    struct meta_topic filled = { .partition_count = 0 };
    int err = topic == NULL ? refuse(&added, ERR_UNKNOWN_TOPIC_OR_PARTITION, "%s",
                                     error_text(ERR_UNKNOWN_TOPIC_OR_PARTITION))
                            : assign_added(controller, topic, wanted, arena, &added, &filled);
    wanted->err = err;
    memcpy(wanted->why, added.why, sizeof wanted->why);
    if (err != 0) return err;
    *command = (struct meta_partitions_added){
        .topic_id = topic->id,
        .first = (int32_t)topic->partition_count,
        .is_by_hand = wanted->is_by_hand,
        .partitions = filled.partitions,
        .count = filled.partition_count,
    };
    return 0;
}

int controller_delete_topic(const struct controller *controller, struct meta_delete_topic *wanted,
                            const struct meta_topic **topic)
{
    bool by_name = !str_is_null(wanted->name);
    const struct meta_topic *found = by_name
                                         ? meta_state_topic(controller->state, wanted->name)
                                         : meta_state_topic_by_id(controller->state, &wanted->id);
    wanted->topic = NULL;
    wanted->err = 0;
    if (found == NULL)
        wanted->err = by_name ? ERR_UNKNOWN_TOPIC_OR_PARTITION : ERR_UNKNOWN_TOPIC_ID;
    else
        *topic = found;
    return wanted->err;
}

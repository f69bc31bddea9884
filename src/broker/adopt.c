// SPDX-License-Identifier: Apache-2.0
/*    adopt_start ── look ──► producer ids ──► topics, some at a time ──► done
 *                              ▲   │            ▲   │
 *                              └───┘            └───┘                            */

#include "adopt.h"

#include <inttypes.h>
#include <string.h>

#include "adopt_find.h"
#include "alloc.h"
#include "arena.h"
#include "error.h"
#include "partition_log.h"
#include "topic_settings.h"
#include "trace.h"

#define TIMEOUT_MS         60000
#define REQUEST_TOPICS     500
#define REQUEST_PARTITIONS 50000 /* The quorum grants a request no more than twice that. */
#define OFFSETS_PARTITIONS 50    /* Of Kafka, unless it was told otherwise. */
#define ID_ROUNDS          64    /* Each takes up to INT32_MAX of them. */

struct adopt {
    struct adopt_options options;
    struct adopt_find find;
    struct map_cursor at; /* The next topic. */
    struct arena arena;   /* Of one request. */
    struct meta_request request;
    struct meta_create_topic *items;
    unsigned id_rounds;
    unsigned topics, partitions, missing; /* Taken over. */
};

static void submit(struct adopt *adopt)
{
    adopt->request.loop = adopt->options.loop;
    adopt->request.deadline_ms = clock_monotonic_us(adopt->options.clock) / 1000 + TIMEOUT_MS;
    meta_quorum_request(adopt->options.meta, &adopt->request);
}

static void finish(struct adopt *adopt, int err)
{
    if (err != 0 && err != ERR_CANCELED) /* The broker is stopping. */
        trace(TRACE_ERROR, "broker", "--adopt failed: %s; it can be tried again", error_text(err));
    else if (err == 0 && adopt->topics == 0 && adopt->find.left_alone == 0)
        trace(TRACE_INFO, "broker", "--adopt: there is nothing to take over");
    else if (err == 0)
        trace(
            adopt->missing > 0 ? TRACE_WARN : TRACE_INFO, "broker",
            "--adopt: took over %u topics with %u partitions, %u of them missing and made empty%s; "
            "left %u folders alone",
            adopt->topics, adopt->partitions, adopt->missing,
            adopt->missing > 0
                ? " (they were on other brokers, or in a folder that log.dirs does not name)"
                : "",
            adopt->find.left_alone);
    adopt->options.done(adopt->options.owner, err);
}

/* ---- topics ---- */

static const struct meta_wanted_setting kept_forever[] = {
    { STR_LITERAL("retention.ms"), STR_LITERAL("-1") }, /* By (4). */
    { STR_LITERAL("retention.bytes"), STR_LITERAL("-1") },
    { STR_LITERAL("cleanup.policy"), STR_LITERAL("compact") }, /* Of offsets only. */
};

/* Which partition of the offsets a group's are in depends on how many there are: where some are on other
 * brokers there may be more than those seen here, Kafka's default; where none lacks those are all. */
static int32_t partition_count(const struct adopt_topic *topic)
{
    int32_t seen = topic->highest + 1;
    bool some_lack = topic->count < (unsigned)seen;
    bool is_offsets = strcmp(topic->name, ADOPT_OFFSETS_TOPIC) == 0;
    return is_offsets && some_lack && seen < OFFSETS_PARTITIONS ? OFFSETS_PARTITIONS : seen;
}

/* Whether this version can: offsets that are not compacted grow, and are as right. */
static bool compacts(void)
{
    const struct meta_wanted_setting *compact = &kept_forever[2];
    char why[256];
    return topic_settings_check(compact->name, compact->value, why, sizeof why) == 0;
}

/* The folder may be a link to one on another file system than that which was synced at the start. */
static int sync_elsewhere(struct fs *fs, const char *folder)
{
    char path[PATH_MAX];
    int fd;
    int err = fs_path(path, "%s/partition.metadata", folder);
    if (err == 0) err = fs->open(fs, path, FS_READ, &fd);
    if (err != 0) return err;
    err = fs->sync_all(fs, fd);
    fs->close(fs, fd);
    return err;
}

/* A folder that does not say whose it is would not be known for the topic's when it is opened. Before the
 * topic is made, so that a crash leaves what can be taken over once more. */
static int complete_ids(struct adopt_topic *topic)
{
    char path[PATH_MAX];
    int err = uuid_is_zero(&topic->id) ? uuid_random(&topic->id) : 0;
    for (unsigned i = 0; i < topic->count && err == 0; i++) {
        const struct adopt_partition *partition = &topic->partitions[i];
        err = fs_path(path, "%s/%s-%" PRId32, data_dir_path(partition->dir), topic->name,
                      partition->index);
        if (err == 0 && !partition->has_id)
            err = partition_log_set_topic_id(data_dir_fs(partition->dir), path, &topic->id);
        if (err == 0 && !data_dir_syncs_all_logs(partition->dir))
            err = sync_elsewhere(data_dir_fs(partition->dir), path);
        if (err != 0)
            trace(TRACE_ERROR, "broker",
                  "--adopt: %s/partition.metadata cannot be written, or what is there not be "
                  "synced: %s",
                  path, error_text(err));
    }
    return err;
}

static int fill_item(struct adopt *adopt, struct adopt_topic *topic, struct meta_create_topic *item)
{
    int32_t count = partition_count(topic);
    int err = complete_ids(topic);
    if (err != 0) return err;
    struct meta_assignment *assignments = arena_calloc(&adopt->arena, (size_t)count,
                                                       sizeof *assignments);
    if (assignments == NULL) return ERR_NO_MEMORY;
    for (int32_t i = 0; i < count; i++)
        assignments[i] = (struct meta_assignment){ .partition = i,
                                                   .brokers = &adopt->options.node_id,
                                                   .broker_count = 1 };
    for (unsigned i = 0; i < topic->count; i++) /* By (3). */
        assignments[topic->partitions[i].index].leader_epoch = topic->partitions[i].last_epoch + 1;
    bool is_offsets = strcmp(topic->name, ADOPT_OFFSETS_TOPIC) == 0;
    *item = (struct meta_create_topic){
        .name = str_from(topic->name),
        .id = topic->id,
        .partition_count = -1,
        .replication_factor = -1,
        .assignments = assignments,
        .assignment_count = (unsigned)count,
        .settings = kept_forever,
        .setting_count = is_offsets && compacts() ? 3 : 2,
    };
    return 0;
}

static void topics_answered(struct meta_request *request);

static void ask_for_topics(struct adopt *adopt)
{
    const void *name;
    size_t length;
    void *value;
    unsigned count = 0, partitions = 0;
    int err = 0;
    arena_close(&adopt->arena);
    arena_init(&adopt->arena, NULL, 0, SIZE_MAX);
    adopt->items = arena_calloc(&adopt->arena, REQUEST_TOPICS, sizeof *adopt->items);
    if (adopt->items == NULL) err = ERR_NO_MEMORY;
    while (err == 0 && count < REQUEST_TOPICS && partitions < REQUEST_PARTITIONS &&
           map_next(&adopt->find.topics, &adopt->at, &name, &length, &value)) {
        err = fill_item(adopt, value, &adopt->items[count]);
        partitions += adopt->items[count].assignment_count;
        count++;
    }
    if (err != 0 || count == 0) {
        finish(adopt, err);
        return;
    }
    adopt->request = (struct meta_request){
        .kind = META_CREATE_TOPICS,
        .done = topics_answered,
        .as.create_topics = { .items = adopt->items, .count = count },
    };
    submit(adopt);
}

static void note_answer(struct adopt *adopt, const struct meta_create_topic *item)
{
    const struct adopt_topic *topic = map_get(&adopt->find.topics, item->name.data,
                                              (size_t)item->name.length);
    if (item->err == 0) {
        adopt->topics++;
        adopt->partitions += item->assignment_count;
        adopt->missing += item->assignment_count - topic->count;
        return;
    }
    adopt->find.left_alone += topic->count;
    trace(TRACE_WARN, "broker", "--adopt leaves the %u partitions of %s alone: %s", topic->count,
          topic->name, item->why[0] != '\0' ? item->why : error_text(item->err));
}

static void topics_answered(struct meta_request *request)
{
    struct adopt *adopt = LIST_OWNER(request, struct adopt, request);
    for (unsigned i = 0; i < request->as.create_topics.count; i++) {
        if (request->err == 0) note_answer(adopt, &adopt->items[i]);
        meta_topic_unref(adopt->items[i].topic);
    }
    if (request->err != 0)
        finish(adopt, request->err);
    else
        ask_for_topics(adopt);
}

/* ---- producer ids ---- */

static void ids_answered(struct meta_request *request);

static void ask_for_ids(struct adopt *adopt, int32_t count)
{
    adopt->request = (struct meta_request){
        .kind = META_ALLOCATE_PRODUCER_IDS,
        .done = ids_answered,
        .as.producer_ids = { .count = count },
    };
    submit(adopt);
}

/* By (3): ids up to the highest that occurs are taken, for nobody. */
static void ids_answered(struct meta_request *request)
{
    struct adopt *adopt = LIST_OWNER(request, struct adopt, request);
    if (request->err != 0) {
        finish(adopt, request->err);
        return;
    }
    int64_t last = request->as.producer_ids.first + request->as.producer_ids.count - 1;
    int64_t lack = adopt->find.last_producer_id - last;
    if (lack > 0 && adopt->id_rounds++ < ID_ROUNDS) {
        ask_for_ids(adopt, lack > INT32_MAX ? INT32_MAX : (int32_t)lack);
        return;
    }
    if (lack > 0)
        trace(TRACE_WARN, "broker",
              "--adopt: producer ids from %" PRId64 " to %" PRId64 " occur and may be given to "
              "others later",
              last + 1, adopt->find.last_producer_id);
    ask_for_topics(adopt);
}

/* ---- all ---- */

int adopt_open(struct adopt **adopt, const struct adopt_options *options)
{
    struct adopt *opened = mem_zalloc(sizeof *opened);
    if (opened == NULL) return ERR_NO_MEMORY;
    opened->options = *options;
    map_init(&opened->find.topics);
    arena_init(&opened->arena, NULL, 0, SIZE_MAX);
    *adopt = opened;
    return 0;
}

void adopt_start(struct adopt *adopt)
{
    struct meta_view *view = meta_quorum_view(adopt->options.meta);
    int err = adopt_find(&adopt->find, adopt->options.dirs, adopt->options.dir_count, view);
    meta_view_unref(view);
    if (err != 0)
        finish(adopt, err);
    else if (adopt->find.topics.count > 0 && adopt->find.last_producer_id >= 0)
        ask_for_ids(adopt, 1); /* Tells how far they have come. */
    else
        ask_for_topics(adopt);
}

void adopt_close(struct adopt *adopt)
{
    if (adopt == NULL) return;
    adopt_find_close(&adopt->find);
    arena_close(&adopt->arena);
    mem_free(adopt);
}

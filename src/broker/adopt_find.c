// SPDX-License-Identifier: Apache-2.0
#include "adopt_find.h"

#include <string.h>

#include "alloc.h"
#include "bytes.h"
#include "controller.h"
#include "error.h"
#include "log_survey.h"
#include "meta_log.h"
#include "partition_log.h"
#include "trace.h"

/* A walk through one data folder. */
struct folder_walk {
    struct adopt_find *find;
    struct data_dir *dir;
    const struct meta_view *view;
};

static void leave_alone(struct adopt_find *find, const struct data_dir *dir, const char *folder,
                        const char *why)
{
    char shown[300];
    find->left_alone++;
    trace(TRACE_WARN, "broker", "--adopt leaves %s/%s alone: %s", data_dir_path(dir),
          trace_escape(shown, sizeof shown, str_from(folder)), why);
}

/* Topics in which Kafka keeps what only itself can go on with. __consumer_offsets is none of them: its
 * format is ours. */
static const char *kafkas_own(struct str topic)
{
    static const struct {
        const char *name, *why;
    } own[] = {
        { "__cluster_metadata", "it is Kafka's metadata log, which Sluice's own stands for" },
        { "__transaction_state",
          "it says how far Kafka's coordinator had come with transactions that end with it; those "
          "that are open hold readers of committed records where they were" },
        { "__share_group_state", "it is the state of Kafka's share groups" },
        { "__remote_log_metadata", "it is of Kafka's tiered storage" },
    };
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (str_equals_text(topic, own[i].name)) return own[i].why;
    return NULL;
}

/* Known already, or in the way of what is known? NULL and *is_known false: neither. */
static const char *compare_with_view(const struct meta_view *view, struct str topic,
                                     int32_t partition, const struct uuid *id, bool *is_known)
{
    const struct meta_topic *known = meta_view_topic(view, topic);
    bool has_id = !uuid_is_zero(id);
    *is_known = false;
    if (known != NULL) {
        if (has_id && !uuid_equal(&known->id, id))
            return "there is another topic of that name, with another id";
        if ((uint32_t)partition >= known->partition_count)
            return "the topic of that name has not so many partitions";
        *is_known = true;
        return NULL;
    }
    if (has_id && meta_view_topic_by_id(view, id) != NULL)
        return "its topic id is that of a topic with another name";
    return NULL;
}

/* ---- topics ---- */

static int find_topic(struct adopt_find *find, struct str name, struct adopt_topic **topic)
{
    struct adopt_topic *found = map_get(&find->topics, name.data, (size_t)name.length);
    if (found == NULL) {
        found = mem_zalloc(sizeof *found + (size_t)name.length + 1);
        if (found == NULL) return ERR_NO_MEMORY;
        memcpy(found->name, name.data, (size_t)name.length);
        found->highest = -1;
        int err = map_put(&find->topics, name.data, (size_t)name.length, found, NULL);
        if (err != 0) {
            mem_free(found);
            return err;
        }
    }
    *topic = found;
    return 0;
}

static int add_partition(struct adopt_topic *topic, const struct adopt_partition *partition)
{
    if (topic->count == topic->capacity) {
        unsigned capacity = topic->capacity == 0 ? 4 : topic->capacity * 2;
        struct adopt_partition *partitions = mem_realloc(topic->partitions,
                                                         capacity * sizeof *partitions);
        if (partitions == NULL) return ERR_NO_MEMORY;
        topic->partitions = partitions;
        topic->capacity = capacity;
    }
    topic->partitions[topic->count++] = *partition;
    if (partition->index > topic->highest) topic->highest = partition->index;
    return 0;
}

/* By (2): one thing that is wrong with a partition keeps its topic out. */
static void judge(struct adopt_topic *topic, const struct adopt_partition *partition,
                  const struct uuid *id, const struct log_survey *survey)
{
    if (!uuid_is_zero(id) && !uuid_is_zero(&topic->id) && !uuid_equal(id, &topic->id))
        topic->why = "its partitions say different topic ids";
    if (uuid_is_zero(&topic->id)) topic->id = *id;
    if (partition->index >= CONTROLLER_MAX_PARTITIONS)
        topic->why = "it has more partitions than a topic may have";
    if (survey->has_old_format)
        topic->why = "it has messages of before Kafka 0.11, which Sluice does not read";
    if (partition->last_epoch == INT32_MAX) topic->why = "its leader epochs are used up";
}

/* ---- folders ---- */

/* Zeros where a folder says nothing that makes sense. */
static int read_id(struct data_dir *dir, const char *path, struct uuid *id)
{
    int err = partition_log_topic_id(data_dir_fs(dir), path, id);
    if (err == ERR_NOT_FOUND || err == ERR_MALFORMED || err == ERR_LIMIT) {
        memset(id, 0, sizeof *id);
        err = 0;
    }
    return err;
}

static int survey_folder(struct folder_walk *walk, const char *name, struct str topic_name,
                         int32_t index)
{
    struct adopt_find *find = walk->find;
    struct fs *fs = data_dir_fs(walk->dir);
    struct log_survey survey;
    struct uuid id;
    char path[PATH_MAX];
    bool is_known = false;
    int err = fs_path(path, "%s/%s", data_dir_path(walk->dir), name);
    if (err == 0) err = read_id(walk->dir, path, &id);
    if (err != 0) return err;
    const char *why = compare_with_view(walk->view, topic_name, index, &id, &is_known);
    if (is_known) return 0;
    const char *own = kafkas_own(topic_name);
    if (why == NULL && own == NULL)
        err = log_survey(fs, path, data_dir_was_clean(walk->dir), &survey);
    if (err == 0 && why == NULL && own == NULL && survey.segment_count == 0)
        why = "no log is in it";
    if (err == 0 && why != NULL) {
        leave_alone(find, walk->dir, name, why);
        return 0;
    }
    struct adopt_topic *topic = NULL;
    struct adopt_partition partition = { index, -1, !uuid_is_zero(&id), walk->dir };
    if (err == 0) err = find_topic(find, topic_name, &topic);
    if (err != 0) return err;
    if (own != NULL) {
        topic->why = own;
        return add_partition(topic, &partition);
    }
    partition.last_epoch = survey.last_epoch;
    if (survey.last_producer_id > find->last_producer_id)
        find->last_producer_id = survey.last_producer_id;
    judge(topic, &partition, &id, &survey);
    return add_partition(topic, &partition);
}

static int look_at(void *context, const struct fs_entry *entry)
{
    struct folder_walk *walk = context;
    struct str topic;
    int32_t partition;
    if (!entry->is_folder) return 0;
    if (data_dir_parse_folder(str_from(entry->name), &topic, &partition))
        return str_equals_text(topic, META_LOG_TOPIC)
                   ? 0
                   : survey_folder(walk, entry->name, topic, partition);
    if (text_ends_with(entry->name, "-future"))
        leave_alone(walk->find, walk->dir, entry->name,
                    "it is the copy of a partition on its way to this data folder");
    else if (text_ends_with(entry->name, "-stray"))
        leave_alone(walk->find, walk->dir, entry->name,
                    "it was put aside since its topic was not known any more");
    /* -delete: its topic was deleted, and it goes as it would have gone. */
    return 0;
}

static void drop_refused(struct adopt_find *find)
{
    struct map_cursor cursor = { 0 };
    const void *name;
    size_t length;
    void *value;
    while (map_next(&find->topics, &cursor, &name, &length, &value)) {
        struct adopt_topic *topic = value;
        if (topic->why == NULL) continue;
        find->left_alone += topic->count;
        trace(TRACE_WARN, "broker", "--adopt leaves the %u partitions of %s alone: %s",
              topic->count, topic->name, topic->why);
        map_remove(&find->topics, topic->name, strlen(topic->name));
        mem_free(topic->partitions);
        mem_free(topic);
    }
}

int adopt_find(struct adopt_find *find, struct data_dir *const *dirs, unsigned count,
               const struct meta_view *view)
{
    int err = 0;
    *find = (struct adopt_find){ .last_producer_id = -1 };
    map_init(&find->topics);
    for (unsigned i = 0; err == 0 && i < count; i++) {
        struct fs *fs = data_dir_fs(dirs[i]);
        struct folder_walk walk = { find, dirs[i], view };
        err = fs->list(fs, data_dir_path(dirs[i]), look_at, &walk);
        if (err != 0)
            trace(TRACE_ERROR, "broker", "--adopt cannot look into %s: %s", data_dir_path(dirs[i]),
                  error_text(err));
    }
    if (err == 0) drop_refused(find);
    return err;
}

void adopt_find_close(struct adopt_find *find)
{
    struct map_cursor cursor = { 0 };
    const void *name;
    size_t length;
    void *value;
    while (map_next(&find->topics, &cursor, &name, &length, &value)) {
        struct adopt_topic *topic = value;
        mem_free(topic->partitions);
        mem_free(topic);
    }
    map_close(&find->topics);
}

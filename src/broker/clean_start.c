// SPDX-License-Identifier: Apache-2.0
#include "clean_start.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "buffer.h"
#include "error.h"
#include "trace.h"

#define METADATA_FOLDER "__sluice_metadata-0"

bool clean_start_page_cache_survived(struct data_dir *const *dirs, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!data_dir_was_clean(dirs[i])) return false;
    return true;
}

static int check_node(const struct data_dir *dir, int32_t node_id)
{
    const struct data_dir_identity *identity = data_dir_identity(dir);
    if (identity->is_new || identity->node_id == node_id) return 0;
    trace(TRACE_ERROR, "broker",
          "%s belongs to node %" PRId32 ": set node.id=%" PRId32 " or another log.dirs",
          data_dir_path(dir), identity->node_id, identity->node_id);
    return ERR_INCONSISTENT_CLUSTER_ID;
}

static int check_cluster(const struct data_dir *dir, const char *cluster_id)
{
    const struct data_dir_identity *identity = data_dir_identity(dir);
    if (identity->is_new || strcmp(identity->cluster_id, cluster_id) == 0) return 0;
    trace(
        TRACE_ERROR, "broker",
        "%s belongs to cluster %s, this node to cluster %s: give it another log.dirs, or start it "
        "once with --adopt to take over what lies there",
        data_dir_path(dir), identity->cluster_id, cluster_id);
    return ERR_INCONSISTENT_CLUSTER_ID;
}

static int has_metadata(const struct data_dir *dir, bool *has_it)
{
    char path[PATH_MAX];
    struct fs *fs = data_dir_fs(dir);
    int err = fs_path(path, "%s/" METADATA_FOLDER, data_dir_path(dir));
    return err != 0 ? err : fs->exists(fs, path, has_it);
}

static int any_metadata(struct data_dir *const *dirs, unsigned count, bool *has_any)
{
    int err = 0;
    *has_any = false;
    for (unsigned i = 0; err == 0 && i < count && !*has_any; i++)
        err = has_metadata(dirs[i], has_any);
    return err;
}

/* Whose folders they are is what the metadata says, and the folder that has it. Where there is none, an
 * identity is another's; where there is some and no identity beside it, this node has not yet come so far
 * as to write any. */
static int is_foreign(struct data_dir *const *dirs, unsigned count, unsigned i, bool *is_other)
{
    const struct data_dir_identity *first = data_dir_identity(dirs[0]);
    const struct data_dir_identity *identity = data_dir_identity(dirs[i]);
    bool has_any = false, has_it = false;
    int err = any_metadata(dirs, count, &has_any);
    if (err == 0) err = has_metadata(dirs[i], &has_it);
    *is_other = !identity->is_new && !has_it &&
                (!has_any ||
                 (!first->is_new && strcmp(first->cluster_id, identity->cluster_id) != 0));
    return err;
}

int clean_start_adopt(struct data_dir *const *dirs, unsigned count)
{
    int err = 0;
    for (unsigned i = 0; err == 0 && i < count; i++) {
        bool is_other = false;
        char cluster_id[64];
        /* A copy made a moment ago is in the page cache, and Kafka's clean marker in it says nothing of that: after
         * a power cut the metadata would know of topics that are not there. */
        data_dir_distrust_cache(dirs[i]);
        err = is_foreign(dirs, count, i, &is_other);
        if (err != 0 || !is_other) continue;
        snprintf(cluster_id, sizeof cluster_id, "%s", data_dir_identity(dirs[i])->cluster_id);
        err = data_dir_disown(dirs[i]);
        if (err == 0)
            trace(TRACE_INFO, "broker",
                  "%s: taken over from cluster %s; its meta.properties is kept as "
                  "meta.properties.adopted",
                  data_dir_path(dirs[i]), cluster_id);
        else
            trace(TRACE_ERROR, "broker", "%s: meta.properties cannot be renamed: %s",
                  data_dir_path(dirs[i]), error_text(err));
    }
    return err;
}

/* The names of some partition folders, for a line. */
struct folder_names {
    char text[256];
    size_t used;
    unsigned count;
};

static int add_name(void *context, const char *folder, struct str topic, int32_t partition,
                    bool is_deleted)
{
    struct folder_names *names = context;
    char shown[128];
    (void)topic;
    (void)partition;
    if (is_deleted) return 0;
    names->count++;
    trace_escape(shown, sizeof shown, str_from(folder));
    if (names->used + strlen(shown) + 5 < sizeof names->text)
        names->used += (size_t)snprintf(names->text + names->used, sizeof names->text - names->used,
                                        " %s", shown);
    else if (names->used + 4 < sizeof names->text)
        names->used += (size_t)snprintf(names->text + names->used, sizeof names->text - names->used,
                                        " ...");
    return 0;
}

static bool is_here(struct data_dir *const *dirs, unsigned count, const char *id)
{
    for (unsigned i = 0; i < count; i++) {
        char known[UUID_TEXT_SIZE];
        uuid_print(&data_dir_identity(dirs[i])->directory_id, known);
        if (strncmp(known, id, UUID_TEXT_SIZE - 1) == 0) return true;
    }
    return false;
}

/* Are all folders here that this one knows of? */
static int check_sisters(struct data_dir *const *dirs, unsigned count, const struct data_dir *dir)
{
    const char *id = data_dir_sisters(dir);
    while (*id != '\0') {
        size_t length = strcspn(id, ",");
        if (length != UUID_TEXT_SIZE - 1 || !is_here(dirs, count, id)) {
            trace(TRACE_ERROR, "broker",
                  "%s: this node has a further data folder, with directory.id=%.*s, that is not "
                  "among log.dirs, nor metadata.log.dir, or was emptied; bring it back, or, if its "
                  "partitions are lost, "
                  "take "
                  "that id out of meta.properties in all folders",
                  data_dir_path(dir), (int)length, id);
            return ERR_INCONSISTENT_CLUSTER_ID;
        }
        id += length + (id[length] == ',');
    }
    return 0;
}

/* Nothing here is ours: a Kafka's folder must not be served, nor swept, by mistake. */
static int check_foreign(struct data_dir *const *dirs, unsigned count)
{
    bool has_any = false;
    int err = any_metadata(dirs, count, &has_any);
    for (unsigned i = 0; err == 0 && !has_any && i < count; i++) {
        const struct data_dir_identity *identity = data_dir_identity(dirs[i]);
        struct folder_names names = { .text = "" };
        if (identity->is_new) continue;
        err = check_sisters(dirs, count, dirs[i]); /* The metadata may be in one that is missing. */
        if (err == 0) err = data_dir_list(dirs[i], add_name, &names);
        if (err != 0) return err;
        trace(TRACE_ERROR, "broker",
              "%s belongs to cluster %s, and there is no metadata of ours; it has %u partitions, "
              "which are left alone: start once with --adopt to take them over, or give another "
              "log.dirs:%s",
              data_dir_path(dirs[i]), identity->cluster_id, names.count, names.text);
        err = ERR_INCONSISTENT_CLUSTER_ID;
    }
    return err;
}

/* The metadata is to be in the first folder (metadata.log.dir, or else the first of log.dirs). If that one
 * is empty and others are not, it is not the first. */
static int check_first(struct data_dir *const *dirs, unsigned count)
{
    bool has_it = false;
    int err = has_metadata(dirs[0], &has_it);
    if (err != 0 || has_it) return err;
    for (unsigned i = 1; err == 0 && i < count; i++) {
        err = has_metadata(dirs[i], &has_it);
        if (err == 0 && has_it) {
            trace(TRACE_ERROR, "broker",
                  "the metadata is in %s: set metadata.log.dir to that folder, or name it first in "
                  "log.dirs",
                  data_dir_path(dirs[i]));
            err = ERR_INCONSISTENT_CLUSTER_ID;
        } else if (err == 0 && !data_dir_identity(dirs[i])->is_new) {
            trace(TRACE_ERROR, "broker",
                  "%s belongs to cluster %s, whose metadata is not in %s: set metadata.log.dir to "
                  "the "
                  "folder that has it, or begin with empty folders",
                  data_dir_path(dirs[i]), data_dir_identity(dirs[i])->cluster_id,
                  data_dir_path(dirs[0]));
            err = ERR_INCONSISTENT_CLUSTER_ID;
        }
    }
    return err;
}

int clean_start_check(struct data_dir *const *dirs, unsigned count, int32_t node_id)
{
    const char *cluster_id = NULL;
    int err = check_foreign(dirs, count);
    for (unsigned i = 0; err == 0 && i < count; i++) {
        const struct data_dir_identity *identity = data_dir_identity(dirs[i]);
        if (cluster_id == NULL && !identity->is_new) cluster_id = identity->cluster_id;
        err = check_node(dirs[i], node_id);
        if (err == 0 && cluster_id != NULL) err = check_cluster(dirs[i], cluster_id);
    }
    if (err == 0) err = check_first(dirs, count);
    for (unsigned i = 0; err == 0 && i < count; i++)
        err = check_sisters(dirs, count, dirs[i]);
    return err;
}

static int print_sisters(struct data_dir *const *dirs, unsigned count, struct buffer *text)
{
    for (unsigned i = 0; i < count; i++) {
        char id[UUID_TEXT_SIZE];
        uuid_print(&data_dir_identity(dirs[i])->directory_id, id);
        if (i > 0) buffer_put(text, ",", 1);
        buffer_put(text, id, strlen(id));
    }
    buffer_put(text, "", 1);
    return text->failed ? ERR_NO_MEMORY : 0;
}

static int claim(struct data_dir *dir, const char *sisters, const char *cluster_id, int32_t node_id)
{
    int err = check_cluster(dir, cluster_id);
    if (err != 0) return err;
    if (!data_dir_identity(dir)->is_new && strcmp(data_dir_sisters(dir), sisters) == 0) return 0;
    err = data_dir_set_sisters(dir, sisters);
    if (err == 0) err = data_dir_set_identity(dir, cluster_id, node_id);
    if (err != 0)
        trace(TRACE_ERROR, "broker", "%s: meta.properties cannot be written: %s",
              data_dir_path(dir), error_text(err));
    return err;
}

int clean_start_claim(struct data_dir *const *dirs, unsigned count, const char *cluster_id,
                      int32_t node_id)
{
    struct buffer sisters;
    buffer_init(&sisters);
    int err = print_sisters(dirs, count, &sisters);
    /* A lone folder says nothing of others, as Kafka's do. */
    const char *text = err == 0 && count > 1 ? (const char *)sisters.data : "";
    /* From the last to the first: the first has an identity, and whoever is named must have one. */
    for (unsigned i = count; err == 0 && i > 0; i--)
        if (data_dir_identity(dirs[i - 1])->is_new)
            err = claim(dirs[i - 1], text, cluster_id, node_id);
    for (unsigned i = 0; err == 0 && i < count; i++)
        err = claim(dirs[i], text, cluster_id, node_id);
    buffer_close(&sisters);
    return err;
}

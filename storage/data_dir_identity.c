// SPDX-License-Identifier: Apache-2.0
/* Whose the folder is: meta.properties. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "checkpoint.h"
#include "data_dir_inside.h"
#include "error.h"

#define IDENTITY_FILE      "meta.properties"
#define IDENTITY_MAX_BYTES 65536
#define SISTERS            "sluice.directory.ids" /* Beside Kafka's own, which overlooks it. */

/* The value of `name` in a properties text, cut at the end of its line; false if it is not there. */
static bool property(const char *text, const char *name, struct str *value)
{
    size_t name_length = strlen(name);

    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\r\n");
        if (length > name_length && memcmp(line, name, name_length) == 0 &&
            line[name_length] == '=') {
            *value = (struct str){ line + name_length + 1, (int32_t)(length - name_length - 1) };
            return true;
        }
        line += length + strspn(line + length, "\r\n");
    }
    return false;
}

static int parse_sisters(const char *text, char **sisters)
{
    struct str value;

    if (!property(text, SISTERS, &value)) return 0;
    *sisters = mem_printf("%.*s", (int)value.length, value.data);
    return *sisters == NULL ? ERR_NO_MEMORY : 0;
}

/* *name: of the property that is being looked at. */
static int parse_identity(struct data_dir_identity *identity, const char *text, const char **name)
{
    struct str value;
    int64_t number;
    char id[UUID_TEXT_SIZE];

    *name = "version";
    if (!property(text, "version", &value) || checkpoint_number(value, 0, &number) != 0 ||
        number > 1)
        return ERR_MALFORMED;
    *name = "cluster.id";
    if (property(text, "cluster.id", &value)) {
        if ((size_t)value.length >= sizeof identity->cluster_id) return ERR_MALFORMED;
        memcpy(identity->cluster_id, value.data, (size_t)value.length);
        identity->cluster_id[value.length] = '\0';
    }
    *name = "node.id";
    if (property(text, "node.id", &value) || property(text, "broker.id", &value)) {
        if (checkpoint_number(value, 0, &number) != 0 || number > INT32_MAX) return ERR_MALFORMED;
        identity->node_id = (int32_t)number;
    }
    *name = "directory.id";
    if (property(text, "directory.id", &value)) {
        if (value.length != UUID_TEXT_SIZE - 1) return ERR_MALFORMED;
        memcpy(id, value.data, UUID_TEXT_SIZE - 1);
        id[UUID_TEXT_SIZE - 1] = '\0';
        return uuid_parse(&identity->directory_id, id);
    }
    return 0;
}

/* `sisters` stays as it is where the file names none; NULL: not wanted. */
static int read_file(struct fs *fs, const char *folder, struct data_dir_identity *identity,
                     char **sisters, const char **wrong)
{
    char path[PATH_MAX];
    char *text = NULL;
    size_t length;

    *identity = (struct data_dir_identity){ .node_id = -1 };
    *wrong = "";
    int err = fs_path(path, "%s/" IDENTITY_FILE, folder);
    if (err == 0) err = fs_read_file(fs, path, IDENTITY_MAX_BYTES, &text, &length);
    if (err == 0) err = parse_identity(identity, text, wrong);
    if (err != ERR_MALFORMED) *wrong = "";
    if (err == 0 && sisters != NULL) err = parse_sisters(text, sisters);
    mem_free(text);
    return err;
}

int data_dir_look_at_identity(struct fs *fs, const char *folder, struct data_dir_identity *identity,
                              const char **wrong)
{
    return read_file(fs, folder, identity, NULL, wrong);
}

int data_dir_read_identity(struct data_dir *dir, char *why, size_t why_size)
{
    const char *wrong;

    int err = read_file(dir->fs, dir->path, &dir->identity, &dir->sisters, &wrong);
    if (err == ERR_NOT_FOUND) {
        dir->identity.is_new = true;
        err = 0;
    }
    if (err == 0 && uuid_is_zero(&dir->identity.directory_id))
        err = uuid_random(&dir->identity.directory_id);
    if (err == ERR_MALFORMED)
        snprintf(why, why_size,
                 "%s/" IDENTITY_FILE " is damaged: its %s is missing or cannot be; restore it",
                 dir->path, wrong);
    else if (err != 0)
        snprintf(why, why_size, "%s/" IDENTITY_FILE " cannot be read: %s", dir->path,
                 error_text(err));
    return err;
}

const char *data_dir_sisters(const struct data_dir *dir)
{
    return dir->sisters == NULL ? "" : dir->sisters;
}

int data_dir_set_sisters(struct data_dir *dir, const char *sisters)
{
    char *copy = mem_strdup(sisters);

    if (copy == NULL) return ERR_NO_MEMORY;
    mem_free(dir->sisters);
    dir->sisters = copy;
    return 0;
}

int data_dir_set_identity(struct data_dir *dir, const char *cluster_id, int32_t node_id)
{
    struct data_dir_identity identity = dir->identity;
    char path[PATH_MAX];
    char id[UUID_TEXT_SIZE];
    struct buffer text;

    if (strlen(cluster_id) >= sizeof identity.cluster_id) return ERR_LIMIT;
    snprintf(identity.cluster_id, sizeof identity.cluster_id, "%s", cluster_id);
    identity.node_id = node_id;
    identity.is_new = false;
    uuid_print(&identity.directory_id, id);
    buffer_init(&text);
    checkpoint_print(&text, "cluster.id=%s\n", cluster_id);
    checkpoint_print(&text, "directory.id=%s\nnode.id=%" PRId32 "\n", id, node_id);
    if (data_dir_sisters(dir)[0] != '\0') {
        buffer_put(&text, SISTERS "=", sizeof SISTERS);
        buffer_put(&text, dir->sisters, strlen(dir->sisters));
        buffer_put(&text, "\n", 1);
    }
    checkpoint_print(&text, "version=1\n");
    int err = text.failed ? ERR_NO_MEMORY : fs_path(path, "%s/" IDENTITY_FILE, dir->path);
    if (err == 0) err = fs_replace_file(dir->fs, path, text.data, text.length);
    buffer_close(&text);
    if (err == 0) dir->identity = identity;
    return err;
}

int data_dir_disown(struct data_dir *dir)
{
    struct data_dir_identity identity = { .node_id = -1, .is_new = true };
    char from[PATH_MAX], to[PATH_MAX];

    int err = uuid_random(&identity.directory_id);
    if (err == 0) err = fs_path(from, "%s/" IDENTITY_FILE, dir->path);
    if (err == 0) err = fs_path(to, "%s/" IDENTITY_FILE ".adopted", dir->path);
    if (err == 0) err = dir->fs->rename(dir->fs, from, to);
    if (err == 0) err = dir->fs->sync_folder(dir->fs, dir->path);
    if (err != 0) return err;
    dir->identity = identity;
    mem_free(dir->sisters);
    dir->sisters = NULL;
    return 0;
}

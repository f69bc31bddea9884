// SPDX-License-Identifier: Apache-2.0
/* What the checkpoints in a data folder say of its partitions. Each file is read once, and again when a running broker
 * has replaced it meanwhile: with thousands of partitions a walk for each of them would take minutes. */

#include <stdlib.h>
#include <sys/stat.h>

#include "alloc.h"
#include "checkpoint.h"
#include "error.h"
#include "log_verify_inside.h"

struct point {
    struct str topic; /* Of the file's names. */
    size_t topic_at;  /* In them, until all are there. */
    int64_t partition;
    int64_t offset;
    size_t line;
};

struct point_file {
    struct stat seen; /* All zeros: none was there. */
    struct point *points;
    size_t count, capacity;
    struct buffer names;
};

struct verify_points {
    struct point_file files[CHECKPOINT_FILES];
};

int verify_points_open(struct verify_points **points)
{
    *points = mem_zalloc(sizeof **points);
    for (size_t i = 0; *points != NULL && i < CHECKPOINT_FILES; i++)
        buffer_init(&(*points)->files[i].names);
    return *points == NULL ? ERR_NO_MEMORY : 0;
}

void verify_points_close(struct verify_points *points)
{
    if (points == NULL) return;
    for (size_t i = 0; i < CHECKPOINT_FILES; i++) {
        mem_free(points->files[i].points);
        buffer_close(&points->files[i].names);
    }
    mem_free(points);
}

/* ---- reading a file ---- */

static int make_room(struct point_file *file)
{
    if (file->count < file->capacity) return 0;
    size_t capacity = file->capacity == 0 ? 64 : file->capacity * 2;
    struct point *points = mem_realloc(file->points, capacity * sizeof *points);
    if (points == NULL) return ERR_NO_MEMORY;
    file->points = points;
    file->capacity = capacity;
    return 0;
}

static int add_line(void *context, const struct checkpoint_line *line)
{
    struct point_file *file = context;
    struct point point = { .topic = line->columns[0],
                           .topic_at = file->names.length,
                           .line = file->count };
    if (checkpoint_number(line->columns[1], 0, &point.partition) != 0 ||
        checkpoint_number(line->columns[2], 0, &point.offset) != 0)
        return ERR_MALFORMED;
    buffer_put(&file->names, point.topic.data, (size_t)point.topic.length);
    int err = file->names.failed ? ERR_NO_MEMORY : make_room(file);
    if (err == 0) file->points[file->count++] = point;
    return err;
}

static int compare_places(const struct point *a, const struct point *b)
{
    int order = str_compare(a->topic, b->topic);
    return order != 0 ? order : (a->partition > b->partition) - (a->partition < b->partition);
}

static int compare_points(const void *left, const void *right)
{
    const struct point *a = left, *b = right;
    int order = compare_places(a, b);
    return order != 0 ? order : (a->line > b->line) - (a->line < b->line);
}

/* A file that is damaged says nothing here, and is told of where the data folder is looked at. */
static int read_file(struct point_file *file, struct fs *fs, const char *path)
{
    file->count = file->names.length = 0;
    int err = checkpoint_read(fs, path, 3, add_line, file, NULL);
    if (err != 0) file->count = 0;
    for (size_t i = 0; i < file->count; i++)
        file->points[i].topic.data = (const char *)file->names.data + file->points[i].topic_at;
    if (file->count > 0) qsort(file->points, file->count, sizeof *file->points, compare_points);
    return err == ERR_NO_MEMORY ? err : 0;
}

/* A checkpoint is replaced by another file, never written to. */
static bool is_the_same(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static int refresh(struct point_file *file, struct fs *fs, const char *data_folder,
                   const char *name)
{
    struct stat now;
    char path[PATH_MAX];
    int err = fs_path(path, "%s/%s", data_folder, name);
    if (err != 0) return err;
    if (stat(path, &now) != 0) {
        file->count = 0;
        file->seen = (struct stat){ 0 };
        return 0;
    }
    if (is_the_same(&now, &file->seen)) return 0;
    file->seen = now;
    return read_file(file, fs, path);
}

/* ---- asking ---- */

/* A start believes the last line about a partition. */
static int64_t find(const struct point_file *file, struct str topic, int32_t partition)
{
    const struct point wanted = { .topic = topic, .partition = partition };
    size_t low = 0, high = file->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_places(&file->points[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || compare_places(&file->points[low - 1], &wanted) != 0) return -1;
    return file->points[low - 1].offset;
}

int verify_points_get(struct verify_points *points, struct fs *fs, const char *data_folder,
                      struct str topic, int32_t partition, int64_t offsets[CHECKPOINT_FILES])
{
    int err = 0;
    for (size_t i = 0; i < CHECKPOINT_FILES && err == 0; i++) {
        err = refresh(&points->files[i], fs, data_folder, verify_checkpoint_names[i]);
        offsets[i] = err == 0 ? find(&points->files[i], topic, partition) : -1;
    }
    return err;
}

// SPDX-License-Identifier: Apache-2.0
#include "fuzz_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "bytes.h"
#include "crc32c.h"
#include "cursor.h"
#include "error.h"
#include "fuzz.h"

#define FILE_MAX ((size_t)1 << 20)

/* ---- out of a folder ---- */

struct saving {
    struct fs *fs;
    const char *prefix; /* "", or the folder's name with a slash. */
    struct buffer *image;
};

static void save_file(struct saving *saving, const char *name)
{
    char path[PATH_MAX], whole[512];
    char *data = NULL;
    size_t length = 0;
    int name_length = snprintf(whole, sizeof whole, "%s%s", saving->prefix, name);
    if (fs_path(path, FUZZ_FOLDER "/%s", whole) != 0 ||
        fs_read_file(saving->fs, path, FILE_MAX, &data, &length) != 0)
        abort();
    buffer_i8(saving->image, (int8_t)name_length);
    buffer_put(saving->image, whole, (size_t)name_length);
    buffer_i32(saving->image, (int32_t)length);
    buffer_put(saving->image, data, length);
    mem_free(data);
}

static int save_entry(void *context, const struct fs_entry *entry)
{
    struct saving *saving = context;
    char path[PATH_MAX], prefix[sizeof entry->name + 1];
    if (!entry->is_folder) {
        save_file(saving, entry->name);
        return 0;
    }
    snprintf(prefix, sizeof prefix, "%s/", entry->name);
    struct saving below = { saving->fs, prefix, saving->image };
    if (saving->prefix[0] != '\0' || fs_path(path, FUZZ_FOLDER "/%s", entry->name) != 0) return 0;
    return saving->fs->list(saving->fs, path, save_entry, &below);
}

void fuzz_folder_save(struct fs *fs, struct buffer *image)
{
    struct saving saving = { fs, "", image };
    if (fs->list(fs, FUZZ_FOLDER, save_entry, &saving) != 0) abort();
}

/* ---- and back ---- */

struct file_in_image {
    char name[256];
    uint8_t *data; /* In the image. */
    size_t length;
};

/* False at the end of what makes sense. */
static bool next_file(struct cursor *in, struct file_in_image *file)
{
    size_t name_length = (uint8_t)cursor_i8(in);
    const uint8_t *name = cursor_take(in, name_length);
    uint32_t length = (uint32_t)cursor_i32(in);
    if (in->bad || name_length == 0) return false;
    if (length > cursor_left(in)) length = (uint32_t)cursor_left(in);
    memcpy(file->name, name, name_length);
    file->name[name_length] = '\0';
    file->data = (uint8_t *)(uintptr_t)cursor_take(in, length);
    file->length = length;
    return true;
}

/* One folder deep, and nowhere else. */
static bool is_usable(const char *name)
{
    const char *slash = strchr(name, '/');
    return name[0] != '/' && name[0] != '.' && strstr(name, "..") == NULL &&
           (slash == NULL || (strchr(slash + 1, '/') == NULL && slash[1] != '\0'));
}

void fuzz_folder_load(const uint8_t *image, size_t length, struct fs *fs)
{
    struct cursor in = cursor_over(image, length);
    struct file_in_image file;
    fs->make_folder(fs, FUZZ_FOLDER);
    while (next_file(&in, &file)) {
        char path[PATH_MAX];
        char *slash = strchr(file.name, '/');
        if (!is_usable(file.name)) continue;
        if (slash != NULL) {
            *slash = '\0';
            if (fs_path(path, FUZZ_FOLDER "/%s", file.name) == 0) fs->make_folder(fs, path);
            *slash = '/';
        }
        if (fs_path(path, FUZZ_FOLDER "/%s", file.name) == 0)
            fs_write_file(fs, path, file.data, file.length, false);
    }
}

void fuzz_folder_mend(uint8_t *image, size_t length)
{
    struct cursor in = cursor_over(image, length);
    struct file_in_image file;
    while (next_file(&in, &file)) {
        if (text_ends_with(file.name, ".log")) fuzz_mend_batches(file.data, file.length);
        if (text_ends_with(file.name, ".snapshot") && file.length >= 10)
            store_i32(file.data + 2, (int32_t)crc32c(file.data + 6, file.length - 6));
    }
}

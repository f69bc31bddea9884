// SPDX-License-Identifier: Apache-2.0
#include "log_tool_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "error.h"

static void copy_folder(const char *from, const char *to);

struct copying {
    const char *from, *to;
};

static int copy_entry(void *context, const struct fs_entry *entry)
{
    struct copying *copying = context;
    struct fs *fs = fs_posix();
    char from[PATH_MAX], to[PATH_MAX];
    char *data = NULL;
    size_t length = 0;
    assert_int_equal(fs_path(from, "%s/%s", copying->from, entry->name), 0);
    assert_int_equal(fs_path(to, "%s/%s", copying->to, entry->name), 0);
    if (entry->is_folder) {
        copy_folder(from, to);
        return 0;
    }
    assert_int_equal(fs_read_file(fs, from, 1 << 20, &data, &length), 0);
    assert_int_equal(fs_write_file(fs, to, data, length, false), 0);
    mem_free(data);
    return 0;
}

static void copy_folder(const char *from, const char *to)
{
    struct copying copying = { from, to };
    int err = fs_posix()->make_folder(fs_posix(), to);
    assert_true(err == 0 || err == ERR_EXISTS);
    assert_int_equal(fs_posix()->list(fs_posix(), from, copy_entry, &copying), 0);
}

void tool_start(struct tool *tool)
{
    *tool = (struct tool){ .said = NULL };
    snprintf(tool->data, sizeof tool->data, "%s", test_folder());
    copy_folder(test_data("data/segment-data"), tool->data);
}

static void forget(struct tool *tool)
{
    free(tool->said);
    tool->said = NULL;
}

void tool_end(struct tool *tool)
{
    forget(tool);
}

/* ---- changes ---- */

static FILE *open_file(struct tool *tool, const char *file, const char *mode)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", tool->data, file);
    FILE *opened = fopen(path, mode);
    assert_non_null(opened);
    return opened;
}

void tool_store(struct tool *tool, const char *file, long position, const void *bytes,
                size_t length)
{
    FILE *opened = open_file(tool, file, "r+b");
    assert_int_equal(fseek(opened, position, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, length, opened), length);
    fclose(opened);
}

void tool_flip(struct tool *tool, const char *file, long position, unsigned char bits)
{
    FILE *opened = open_file(tool, file, "rb");
    assert_int_equal(fseek(opened, position, SEEK_SET), 0);
    int byte = fgetc(opened);
    assert_true(byte != EOF);
    fclose(opened);
    unsigned char changed = (unsigned char)byte ^ bits;
    tool_store(tool, file, position, &changed, 1);
}

void tool_cut(struct tool *tool, const char *file, long length)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", tool->data, file);
    assert_int_equal(truncate(path, length), 0);
}

void tool_write(struct tool *tool, const char *file, const char *text)
{
    FILE *opened = open_file(tool, file, "wb");
    fputs(text, opened);
    fclose(opened);
}

void tool_remove(struct tool *tool, const char *file)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", tool->data, file);
    assert_int_equal(unlink(path), 0);
}

/* ---- calls ---- */

static void listen(struct tool *tool)
{
    forget(tool);
    tool->said_length = 0;
    tool->to = open_memstream(&tool->said, &tool->said_length);
    assert_non_null(tool->to);
}

static void name_of(const struct tool *tool, const char *file, char path[PATH_MAX])
{
    if (file[0] == '/')
        snprintf(path, PATH_MAX, "%s", file);
    else
        assert_int_equal(fs_path(path, "%s/%s", tool->data, file), 0);
}

int tool_verify_as(struct tool *tool, const char *file, struct log_verify *how)
{
    char path[PATH_MAX];
    how->fs = fs_posix();
    name_of(tool, file, path);
    listen(tool);
    log_output_init(&how->output, tool->to, false);
    int err = log_verify_path(how, path);
    tool->flushed = tool->said_length;
    if (err == 0) log_verify_summary(how);
    assert_false(how->output.failed);
    log_output_close(&how->output);
    fclose(tool->to);
    return err;
}

int tool_verify(struct tool *tool, const char *file, uint64_t *findings)
{
    struct log_verify how = { .records = true };
    int err = tool_verify_as(tool, file, &how);
    *findings = how.findings;
    return err;
}

int tool_dump_as(struct tool *tool, const char *file, struct log_dump *how)
{
    char path[PATH_MAX];
    bool is_json = how->output.is_json;
    how->fs = fs_posix();
    name_of(tool, file, path);
    listen(tool);
    log_output_init(&how->output, tool->to, is_json);
    buffer_init(&how->data);
    int err = log_dump_file(how, path);
    assert_false(how->output.failed);
    buffer_close(&how->data);
    log_output_close(&how->output);
    fclose(tool->to);
    return err;
}

int tool_dump(struct tool *tool, const char *file, bool *found_damage)
{
    struct log_dump how = { .records = true, .keys = true, .values = true };
    int err = tool_dump_as(tool, file, &how);
    *found_damage = how.found_damage;
    return err;
}

unsigned tool_count(const struct tool *tool, const char *text)
{
    unsigned count = 0;
    for (const char *at = tool->said; (at = strstr(at, text)) != NULL; at += strlen(text))
        count++;
    return count;
}

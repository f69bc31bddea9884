// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <string.h>

#include "batch_builder.h"
#include "error.h"
#include "log_tool_fixture.h"
#include "meta_command.h"
#include "meta_entry.h"

static struct tool tool;

static void assert_dumped(const char *file, const char *kind, unsigned count)
{
    bool found_damage = true;
    char line[64];
    assert_int_equal(tool_dump(&tool, file, &found_damage), 0);
    assert_false(found_damage);
    snprintf(line, sizeof line, "\n%s ", kind);
    if (tool_count(&tool, line) != count)
        fail_msg("%s: expected %u lines '%s', not:\n%s", file, count, kind, tool.said);
}

TEST(every_batch_and_record_is_shown)
{
    tool_start(&tool);
    assert_dumped(FIRST_LOG, "batch", 6);
    assert_int_equal(tool_count(&tool, "\nrecord "), 18);
    assert_int_equal(tool_count(&tool, "codec=lz4"), 1);
    assert_int_equal(tool_count(&tool, "value=idempotent and compressed 4"), 1);
    assert_dumped(SECOND_LOG, "batch", 6);
    assert_true(tool_count(&tool, "control=abort coordinator_epoch=") > 0);
    assert_dumped(LAST_LOG, "batch", 2);
    tool_end(&tool);
}

TEST(every_entry_beside_the_batches_is_shown)
{
    tool_start(&tool);
    assert_dumped("orders-0/00000000000000000000.index", "index", 4);
    assert_dumped("orders-0/00000000000000000000.timeindex", "timeindex", 5);
    assert_dumped("orders-0/00000000000000000018.snapshot", "producer", 1);
    assert_dumped("orders-0/00000000000000000018.txnindex", "aborted", 1);
    assert_dumped("orders-0/leader-epoch-checkpoint", "epoch", 3);
    assert_dumped("orders-0/partition.metadata", "line", 2);
    assert_dumped("recovery-point-offset-checkpoint", "checkpoint", 1);
    assert_dumped("meta.properties", "line", 4);
    tool_end(&tool);
}

TEST(each_line_is_json_where_asked)
{
    struct log_dump how = { .output.is_json = true, .records = true, .values = true };
    tool_start(&tool);
    assert_int_equal(tool_dump_as(&tool, SECOND_LOG, &how), 0);
    unsigned lines = 0;
    for (char *line = strtok(tool.said, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        json_t *object = json_loads(line, JSON_ALLOW_NUL, NULL);
        assert_non_null(object);
        assert_non_null(json_string_value(json_object_get(object, "kind")));
        json_decref(object);
        lines++;
    }
    assert_int_equal(lines, 1 + 6 + 6);
    tool_end(&tool);
}

TEST(a_dump_goes_on_behind_damage)
{
    bool found_damage = false;
    tool_start(&tool);
    tool_flip(&tool, FIRST_LOG, 124 + 8, 0x40); /* The length. */
    assert_int_equal(tool_dump(&tool, FIRST_LOG, &found_damage), 0);
    assert_true(found_damage);
    assert_int_equal(tool_count(&tool, "damage position=124"), 1);
    assert_int_equal(tool_count(&tool, "skipped position=124 size=124 goes_on=yes"), 1);
    assert_int_equal(tool_count(&tool, "\nbatch "), 5);
    tool_end(&tool);
}

TEST(a_dump_of_any_prefix_ends_well)
{
    bool found_damage = false;
    tool_start(&tool);
    for (long length = 732; length >= 0; length -= 13) {
        tool_cut(&tool, FIRST_LOG, length);
        assert_int_equal(tool_dump(&tool, FIRST_LOG, &found_damage), 0);
    }
    tool_end(&tool);
}

TEST(what_is_no_file_of_a_log_is_said_to_be_none)
{
    bool found_damage = false;
    tool_start(&tool);
    tool_write(&tool, "notes.txt", "buy milk");
    assert_int_equal(tool_dump(&tool, "notes.txt", &found_damage), ERR_MALFORMED);
    assert_int_equal(tool_dump(&tool, "orders-0", &found_damage), ERR_MALFORMED);
    assert_int_equal(tool_dump(&tool, "nothing.log", &found_damage), ERR_NOT_FOUND);
    tool_end(&tool);
}

/* ---- the metadata log ---- */

static void put_entry(struct buffer *out, struct batch_builder *builder, enum meta_entry_type type,
                      struct bytes payload)
{
    uint8_t key = (uint8_t)type;
    builder->base_offset++;
    int64_t offset = builder->base_offset;
    builder->leader_epoch = 3;
    batch_builder_append(builder, 1700000000000, (struct bytes){ &key, 1 }, payload, NULL, 0);
    assert_int_equal(batch_builder_finish(builder, out), 0);
    builder->base_offset = offset;
}

static void write_metadata_log(struct buffer *log)
{
    struct batch_builder builder;
    struct buffer payload;
    struct meta_command command = { .kind = META_PRODUCER_IDS_TAKEN,
                                    .as.producer_ids_taken = { 1, 1000 } };
    batch_builder_init(&builder);
    buffer_init(&payload);
    meta_command_encode(&command, &payload);
    put_entry(log, &builder, META_ENTRY_BARRIER, BYTES_NULL);
    put_entry(log, &builder, META_ENTRY_COMMAND,
              (struct bytes){ payload.data, (int32_t)payload.length });
    store_i16(payload.data + 2, 99); /* A version to come. */
    put_entry(log, &builder, META_ENTRY_COMMAND,
              (struct bytes){ payload.data, (int32_t)payload.length });
    batch_builder_close(&builder);
    buffer_close(&payload);
}

TEST(entries_of_the_metadata_log_are_told_in_words)
{
    bool found_damage = false;
    struct buffer log;
    char folder[PATH_MAX], path[PATH_MAX];
    tool_start(&tool);
    buffer_init(&log);
    write_metadata_log(&log);
    assert_int_equal(fs_path(folder, "%s/__sluice_metadata-0", tool.data), 0);
    assert_int_equal(fs_posix()->make_folder(fs_posix(), folder), 0);
    assert_int_equal(fs_path(path, "%s/00000000000000000001.log", folder), 0);
    assert_int_equal(fs_write_file(fs_posix(), path, log.data, log.length, false), 0);
    buffer_close(&log);
    assert_int_equal(tool_dump(&tool, path, &found_damage), 0);
    assert_int_equal(tool_count(&tool, "entry=barrier"), 1);
    assert_int_equal(tool_count(&tool, "entry=command version=1 command=producer_ids_taken "
                                       "content={\"broker\":1,\"count\":1000}"),
                     1);
    assert_true(found_damage);
    assert_int_equal(tool_count(&tool, "an entry that this version does not know"), 1);
    tool_end(&tool);
}

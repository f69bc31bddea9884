// SPDX-License-Identifier: Apache-2.0
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "error.h"
#include "log_dump.h"
#include "log_verify.h"
#include "output.h"

/* Behind a command that only reads: what it found. */
#define LOG_IS_FINE  STATUS_OK
#define LOG_IS_WRONG STATUS_FAILED
#define LOG_NOT_SEEN STATUS_USAGE /* It could not look. */

static enum status cannot_look(const char *path, int err)
{
    output_complain("%s cannot be read: %s", path, error_text(err));
    if (err == ERR_NOT_FOUND)
        output_hint("name a segment's file, or a folder: log.dirs has one for each partition");
    else if (err == ERR_NOT_PERMITTED)
        output_hint("run this as the user that owns the data folder");
    else if (err == ERR_MALFORMED)
        output_hint("it is no file of a log: .log, .index, .timeindex, .txnindex, .snapshot, a "
                    "checkpoint, quorum-state or *.properties");
    return LOG_NOT_SEEN;
}

/* The worse of two. */
static enum status worse(enum status one, enum status other)
{
    return one > other ? one : other;
}

/* ---- dump -------------------------------------------------------------------------------------- */

struct dump_settings {
    struct common_settings common;
    bool records, keys, values, headers;
};

static enum status dump_path(struct log_dump *dump, const char *path)
{
    int err = log_dump_file(dump, path);
    if (err != 0) return cannot_look(path, err);
    return dump->found_damage ? LOG_IS_WRONG : LOG_IS_FINE;
}

static enum status dump_folder(struct log_dump *dump, const char *folder)
{
    struct log_names names;
    enum status status = LOG_IS_FINE;
    unsigned seen = 0;
    int err = log_names_read(&names, dump->fs, folder, LOG_NAMES_OF_NO_FOLDERS);
    for (size_t i = 0; err == 0 && i < names.count; i++) {
        char path[PATH_MAX];
        if (log_file_name(names.items[i]).kind == LOG_FILE_OTHER) continue;
        err = fs_path(path, "%s/%s", folder, names.items[i]);
        if (err == 0) status = worse(status, dump_path(dump, path));
        seen++;
    }
    log_names_close(&names);
    if (err != 0) return cannot_look(folder, err);
    if (seen > 0) return status;
    output_complain("%s holds no file of a log", folder);
    output_hint("name a partition's folder, as data/orders-0, or a data folder");
    return LOG_NOT_SEEN;
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static enum status run_dump(const void *given, const struct operands *operands)
{
    const struct dump_settings *settings = given;
    struct log_dump dump = {
        .fs = fs_posix(),
        .records = settings->records || settings->keys || settings->values || settings->headers,
        .keys = settings->keys,
        .values = settings->values,
        .headers = settings->headers,
    };
    enum status status = LOG_IS_FINE;
    log_output_init(&dump.output, stdout, settings->common.as_json);
    buffer_init(&dump.data);
    for (unsigned i = 0; i < operands->count && !dump.output.failed; i++) {
        const char *path = operands->items[i];
        status = worse(status, is_folder(path) ? dump_folder(&dump, path) : dump_path(&dump, path));
    }
    bool failed = dump.output.failed;
    buffer_close(&dump.data);
    log_output_close(&dump.output);
    if (output_finish() != 0) return LOG_NOT_SEEN;
    if (failed) {
        output_complain("%s", error_text(ERR_NO_MEMORY));
        return LOG_NOT_SEEN;
    }
    return status;
}

/* clang-format off */
static const struct option_row dump_options[] = {
    { "records", 'r', OPTION_FLAG, offsetof(struct dump_settings, records), 0, 0, NULL, "each record, too, decompressed" },
    { "keys", 'k', OPTION_FLAG, offsetof(struct dump_settings, keys), 0, 0, NULL, "records with their keys" },
    { "values", 'v', OPTION_FLAG, offsetof(struct dump_settings, values), 0, 0, NULL, "records with their values" },
    { "headers", 'H', OPTION_FLAG, offsetof(struct dump_settings, headers), 0, 0, NULL, "records with their headers" },
};
/* clang-format on */

const struct command log_dump_command = {
    .name = "log dump",
    .operands = "FILE|FOLDER…",
    .least_operands = 1,
    .most_operands = UINT_MAX,
    .summary = "Print what a log's files hold",
    .about =
        "Reads files, not a broker: segments and their indexes, producer snapshots, checkpoints, "
        "the\n"
        "metadata log and the quorum's vote, of Sluice or of Kafka. A line for each batch, entry "
        "or\n"
        "producer. Where bytes are damaged a line says so, and it goes on behind them.\n"
        "\n"
        "Exit status: 0 all is well, 1 something is damaged, 2 something could not be read.\n",
    .example = "  sluice log dump data/orders-0 --records\n"
               "  sluice log dump data/orders-0/00000000000000000000.log --keys --values --json\n",
    .takes = TAKES_JSON,
    .options = dump_options,
    .option_count = sizeof dump_options / sizeof dump_options[0],
    .settings_size = sizeof(struct dump_settings),
    .run = run_dump,
};

/* ---- verify ------------------------------------------------------------------------------------ */

struct verify_settings {
    struct common_settings common;
    bool records, compacted;
};

static enum status run_verify(const void *given, const struct operands *operands)
{
    const struct verify_settings *settings = given;
    struct log_verify verify = {
        .fs = fs_posix(),
        .records = settings->records,
        .gaps_are_fine = settings->compacted,
    };
    int err = 0;
    log_output_init(&verify.output, stdout, settings->common.as_json);
    for (unsigned i = 0; err == 0 && i < operands->count; i++) {
        err = log_verify_path(&verify, operands->items[i]);
        if (err != 0) cannot_look(operands->items[i], err);
    }
    if (err == 0) log_verify_summary(&verify);
    if (verify.output.failed) err = ERR_NO_MEMORY;
    log_output_close(&verify.output);
    if (output_finish() != 0 || err != 0) return LOG_NOT_SEEN;
    if (verify.findings == 0) return LOG_IS_FINE;
    if (!settings->common.as_json)
        output_hint("to look closer: sluice log dump FILE; indexes are built again when their "
                    "files are removed from a stopped broker");
    return LOG_IS_WRONG;
}

/* clang-format off */
static const struct option_row verify_options[] = {
    { "records", 'r', OPTION_FLAG, offsetof(struct verify_settings, records), 0, 0, NULL, "unpack and read each record, too" },
    { "compacted", 0, OPTION_FLAG, offsetof(struct verify_settings, compacted), 0, 0, NULL, "offsets may be missing: the topic was compacted" },
};
/* clang-format on */

const struct command log_verify_command = {
    .name = "log verify",
    .operands = "FOLDER…",
    .least_operands = 1,
    .most_operands = UINT_MAX,
    .summary = "Say what is wrong with a log",
    .about =
        "Reads a partition's folder, or a whole data folder, and compares all that is in it: "
        "CRCs,\n"
        "offsets, indexes, snapshots, epochs, checkpoints; of a data folder also whose it is, the\n"
        "node's vote, and topic ids against its metadata. A line for each finding, as it is "
        "found;\n"
        "one that begins with 'note' is of what is not wrong, and does not change the exit "
        "status.\n"
        "Changes nothing; a broker may be running there.\n"
        "\n"
        "Exit status: 0 all is well, 1 something is wrong, 2 something could not be read.\n",
    .example = "  sluice log verify /var/lib/sluice\n"
               "  sluice log verify /var/lib/sluice/orders-0 --records\n",
    .takes = TAKES_JSON,
    .options = verify_options,
    .option_count = sizeof verify_options / sizeof verify_options[0],
    .settings_size = sizeof(struct verify_settings),
    .run = run_verify,
};

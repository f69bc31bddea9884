// SPDX-License-Identifier: Apache-2.0
/* The metadata log in a folder that holds anything: it opens or says why not; its entries can be read or
 * are said to be damaged; those that can be read are applied, or refused as what nobody understands; and
 * one more can be appended and is there when it is opened again. */

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "fs_sim.h"
#include "fuzz.h"
#include "fuzz_folder.h"
#include "fuzz_meta_entries.h"
#include "meta_apply.h"
#include "meta_log.h"

const char fuzz_name[] = "fuzz_meta_log";

/* In front of the folder: what else is asked, which allocation fails, up to where the log is known to
 * have been on the disk. */
#define HEAD           3
#define FAILS_TO_ALLOC 1
#define TRUNCATES      2 /* One of these, at the index that the second byte says. */
#define TRIMS          4
#define RESTARTS       8
#define READ_AT_ONCE   7

static struct clock_manual fuzz_clock;

struct opened {
    struct fs_sim *sim;
    struct data_dir *dir;
    struct meta_log *log;
};

static int open_log(struct opened *opened, int64_t persisted_index)
{
    char why[512];
    opened->dir = NULL;
    opened->log = NULL;
    int err = data_dir_open(&opened->dir, fs_sim_fs(opened->sim), FUZZ_FOLDER, why, sizeof why);
    if (err == 0)
        err = meta_log_open(&opened->log, opened->dir, &fuzz_clock.clock, 1, persisted_index, 0,
                            why, sizeof why);
    return err;
}

static void close_log(struct opened *opened)
{
    meta_log_close(opened->log);
    data_dir_close(opened->dir);
    opened->log = NULL;
    opened->dir = NULL;
}

/* ---- good inputs ---- */

static void append_some(struct meta_log *log)
{
    int64_t term = 1;
    for (size_t left = chance_below(12); left > 0; left--) {
        struct buffer payload;
        struct meta_entry entry = { .term = term,
                                    .type = (enum meta_entry_type)(1 + chance_below(3)) };
        buffer_init(&payload);
        if (entry.type == META_ENTRY_COMMAND) fuzz_meta_command(&payload);
        if (entry.type == META_ENTRY_MEMBERS) fuzz_meta_members(&payload);
        if (payload.failed) abort();
        entry.payload = (struct bytes){ payload.data,
                                        payload.length == 0 ? -1 : (int32_t)payload.length };
        if (meta_log_append(log, meta_log_last_index(log) + 1, &entry, 1) != 0) abort();
        buffer_close(&payload);
        if (chance_below(3) == 0) term += 1 + (int64_t)chance_below(2);
        if (chance_below(6) == 0 && meta_log_checkpoint(log) != 0) abort();
    }
}

void fuzz_make(struct buffer *input)
{
    struct opened opened = { .sim = fs_sim_open(NULL) };
    clock_manual_init(&fuzz_clock, 1700000000000);
    if (open_log(&opened, 0) != 0) abort();
    append_some(opened.log);
    if (chance_below(2) == 0 &&
        (meta_log_checkpoint(opened.log) != 0 || data_dir_write_checkpoints(opened.dir) != 0))
        abort();
    int64_t last = meta_log_last_index(opened.log);
    close_log(&opened);
    buffer_i8(input, (int8_t)(1u << chance_below(7)));
    buffer_i8(input, (int8_t)(1 + chance_below(100)));
    buffer_i8(input, (int8_t)chance_below((size_t)last + 1));
    fuzz_folder_save(fs_sim_fs(opened.sim), input);
    fs_sim_close(opened.sim);
}

void fuzz_mend(uint8_t *data, size_t length)
{
    if (length > HEAD) fuzz_folder_mend(data + HEAD, length - HEAD);
}

/* ---- the target ---- */

/* False: what follows cannot be applied either. */
static bool apply_entries(struct meta_state *state, int64_t first_index,
                          const struct meta_entry *entries, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct meta_changes changes;
        struct meta_outcome outcome;
        meta_changes_init(&changes);
        int err = meta_apply(state, first_index + i, &entries[i], &changes, &outcome);
        fuzz_promise(err == 0 || err == ERR_MALFORMED || err == ERR_UNSUPPORTED_VERSION,
                     "an entry is applied, or is none that can be understood");
        if (err == 0) meta_outcome_close(&outcome);
        meta_changes_close(&changes);
        if (err != 0) return false;
    }
    return true;
}

static void read_all(struct meta_log *log)
{
    static const uint64_t hash_key[2] = { 1, 2 };
    struct meta_entry entries[READ_AT_ONCE];
    struct meta_state state;
    int64_t last = meta_log_last_index(log);
    bool goes_on = true;
    meta_state_init(&state, hash_key);
    for (int64_t index = meta_log_first_index(log); goes_on && index <= last;
         index += READ_AT_ONCE) {
        unsigned count = last - index + 1 < READ_AT_ONCE ? (unsigned)(last - index + 1)
                                                         : READ_AT_ONCE;
        struct arena arena;
        arena_init(&arena, NULL, 0, SIZE_MAX);
        int err = meta_log_read(log, index, count, entries, &arena);
        fuzz_promise(err == 0 || err == ERR_CORRUPT_MESSAGE || err == ERR_KAFKA_STORAGE_ERROR ||
                         err == ERR_NOT_FOUND || err == ERR_OFFSET_OUT_OF_RANGE,
                     "entries are there, or are damaged");
        goes_on = err == 0 && apply_entries(&state, index, entries, count);
        arena_close(&arena);
    }
    meta_state_close(&state);
}

/* What a new leader, a snapshot or another node's snapshot do to a log. */
static void cut(struct meta_log *log, uint8_t how, int64_t at)
{
    int64_t first = meta_log_first_index(log), last = meta_log_last_index(log);
    struct meta_entry entry = { .term = INT32_MAX,
                                .type = META_ENTRY_BARRIER,
                                .payload = BYTES_NULL };
    int64_t index = first + at % (last - first + 2);
    if ((how & TRUNCATES) != 0) {
        if (meta_log_last_term(log) < INT32_MAX && meta_log_append(log, index, &entry, 1) == 0)
            fuzz_promise(meta_log_last_index(log) == index,
                         "what is appended comes in place of the rest");
    } else if ((how & TRIMS) != 0) {
        if (meta_log_trim(log, index) == 0)
            fuzz_promise(meta_log_first_index(log) == index, "a log begins where it was trimmed");
    } else if ((how & RESTARTS) != 0) {
        if (meta_log_restart(log, index) == 0)
            fuzz_promise(meta_log_last_index(log) == index - 1,
                         "a log is empty when it begins again");
    }
    read_all(log);
}

static void append_one(struct opened *opened)
{
    int64_t last = meta_log_last_index(opened->log), term = meta_log_last_term(opened->log);
    struct meta_entry entry = { .term = term < 1 ? 1 : term,
                                .type = META_ENTRY_BARRIER,
                                .payload = BYTES_NULL };
    if (last >= INT64_MAX / 4 || meta_log_append(opened->log, last + 1, &entry, 1) != 0) return;
    if (meta_log_checkpoint(opened->log) != 0 || data_dir_write_checkpoints(opened->dir) != 0)
        return;
    close_log(opened);
    int err = open_log(opened, last + 1);
    fuzz_promise(err == 0, "what was appended and synced opens");
    fuzz_promise(meta_log_last_index(opened->log) == last + 1, "and is there");
    fuzz_promise(meta_log_last_term(opened->log) == entry.term, "in its term");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    if (length < HEAD) return 0;
    struct opened opened = { .sim = fs_sim_open(NULL) };
    clock_manual_init(&fuzz_clock, 1700000000000);
    fuzz_folder_load(data + HEAD, length - HEAD, fs_sim_fs(opened.sim));
    if ((data[0] & FAILS_TO_ALLOC) != 0) mem_fail_at(data[1]);
    int err = open_log(&opened, data[2]);
    mem_fail_at(0);
    if (err == 0) read_all(opened.log);
    if (err == 0) cut(opened.log, data[0], data[1]);
    if (err == 0) append_one(&opened);
    close_log(&opened);
    fuzz_promise(fs_sim_open_files(opened.sim) == 0, "every file is closed");
    fs_sim_close(opened.sim);
    return 0;
}

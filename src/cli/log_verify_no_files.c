// SPDX-License-Identifier: Apache-2.0
/* What has a file's name and is none: a folder, a pipe, a link that leads nowhere. Whoever reads the others finds
 * that there is no such file; what that means is told here. */

#include <string.h>

#include "error.h"
#include "log_verify_inside.h"

#define IS_SET_ASIDE   "it is no file: the next start sets it aside, and goes on without"
#define IS_PASSED_OVER "it is no file: a start passes it over"
#define IS_IN_THE_WAY  "it is no file: the log cannot be opened"
#define IS_REFUSED     "it is no file: a start is refused"

/* NULL: nothing, since nobody would look for a file of that name here. */
static const char *meaning_in_partition(const char *entry)
{
    struct log_file_name name = log_file_name(entry);
    if (name.is_leftover) return NULL;
    switch (name.kind) {
    case LOG_FILE_BATCHES: return name.base_offset < 0 ? NULL : IS_IN_THE_WAY;
    case LOG_FILE_OFFSET_INDEX:
    case LOG_FILE_TIME_INDEX:
    case LOG_FILE_TXN_INDEX:
    case LOG_FILE_SNAPSHOT: return name.base_offset < 0 ? NULL : IS_SET_ASIDE;
    case LOG_FILE_EPOCHS:
    case LOG_FILE_RECENT_BATCHES: return IS_SET_ASIDE;
    case LOG_FILE_PROPERTIES:
        return strcmp(entry, "partition.metadata") == 0 ? IS_IN_THE_WAY : NULL;
    default: return NULL;
    }
}

static const char *meaning_in_data_folder(const char *entry)
{
    struct log_file_name name = log_file_name(entry);
    if (strcmp(entry, ".kafka_cleanshutdown") == 0) return IS_SET_ASIDE;
    if (name.is_leftover) return NULL;
    switch (name.kind) {
    case LOG_FILE_CHECKPOINT: /* Without this one, what was deleted would be seen again. */
        return strcmp(entry, verify_checkpoint_names[OF_LOG_START]) == 0 ? IS_REFUSED
                                                                         : IS_SET_ASIDE;
    case LOG_FILE_METADATA_SNAPSHOT: return IS_PASSED_OVER;
    case LOG_FILE_VOTE: return IS_REFUSED;
    case LOG_FILE_PROPERTIES: return strcmp(entry, "meta.properties") == 0 ? IS_REFUSED : NULL;
    default: return NULL;
    }
}

int verify_no_files(struct log_verify *verify, const char *folder, bool is_partition)
{
    struct log_names names;
    int err = log_names_read(&names, verify->fs, folder, LOG_NAMES_OF_NO_FILES);
    for (size_t i = 0; err == 0 && i < names.count; i++) {
        char path[PATH_MAX];
        const char *entry = names.items[i];
        const char *meaning = is_partition ? meaning_in_partition(entry)
                                           : meaning_in_data_folder(entry);
        if (meaning == NULL) continue;
        err = fs_path(path, "%s/%s", folder, entry);
        if (err == 0) verify_tell(verify, path, -1, -1, meaning);
    }
    log_names_close(&names);
    return err;
}

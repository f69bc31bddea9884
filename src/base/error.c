// SPDX-License-Identifier: Apache-2.0
#include "error.h"

#include <errno.h>

struct error_row {
    const char *name;
    const char *text;
    int16_t kafka_code;
};

static const struct error_row rows[ERR_COUNT] = { [ERR_NONE] = { "ERR_NONE", "no error", 0 },
#define ERROR_ROW(name, code, sentence) [name] = { #name, sentence, code },
                                                  ERROR_TABLE(ERROR_ROW)
#undef ERROR_ROW
};

/* Numbers may come from anywhere, so that one out of the table is an unexpected error. */
static const struct error_row *error_row(int err)
{
    return err >= 0 && err < ERR_COUNT ? &rows[err] : &rows[ERR_UNKNOWN_SERVER_ERROR];
}

int16_t error_kafka_code(int err)
{
    return error_row(err)->kafka_code;
}

const char *error_name(int err)
{
    return error_row(err)->name;
}

const char *error_text(int err)
{
    return error_row(err)->text;
}

enum err error_from_kafka_code(int16_t code)
{
    /* The first row with the code is Kafka's own: those of ours that share -1 come last. */
    for (int err = 0; err < ERR_COUNT; err++)
        if (rows[err].kafka_code == code) return (enum err)err;
    return ERR_UNKNOWN_SERVER_ERROR;
}

enum err error_from_errno(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT: return ERR_NO_SPACE;
    case ENOMEM:
    case EMFILE: /* Descriptors come back as memory does: it is no reason to give a disk up. */
    case ENFILE: return ERR_NO_MEMORY;
    case ENOENT: return ERR_NOT_FOUND;
    case EEXIST: return ERR_EXISTS;
    case EACCES:
    case EPERM: return ERR_NOT_PERMITTED;
    case EROFS: return ERR_READ_ONLY;
    case ENOTDIR: return ERR_NOT_A_FOLDER;
    case EISDIR: return ERR_NOT_A_FILE;
    default: return ERR_IO;
    }
}

// SPDX-License-Identifier: Apache-2.0
/* Kafka's own data folder (tests/data/segment-data) in a place where it may be harmed, and what
 * `sluice log` says about it. */

#ifndef TESTS_LOG_TOOL_FIXTURE_H
#define TESTS_LOG_TOOL_FIXTURE_H

#include "log_dump.h"
#include "log_verify.h"
#include "runner.h"

#define FIRST_LOG  "orders-0/00000000000000000000.log"
#define SECOND_LOG "orders-0/00000000000000000018.log"
#define LAST_LOG   "orders-0/00000000000000000024.log"

struct tool {
    char data[PATH_MAX]; /* The data folder. */
    char *said;          /* By the last call. */
    size_t said_length;
    size_t flushed; /* So much of it was out before a verification came to its end. */
    FILE *to;
};

void tool_start(struct tool *tool);
void tool_end(struct tool *tool);

/* Changes of the folder's files. */
void tool_flip(struct tool *tool, const char *file, long position, unsigned char bits);
void tool_store(struct tool *tool, const char *file, long position, const void *bytes,
                size_t length);
void tool_cut(struct tool *tool, const char *file, long length);
void tool_write(struct tool *tool, const char *file, const char *text);
void tool_remove(struct tool *tool, const char *file);

/* `file` "" is the data folder. Return the call's result. */
int tool_verify(struct tool *tool, const char *file, uint64_t *findings);
int tool_verify_as(struct tool *tool, const char *file, struct log_verify *how);
int tool_dump(struct tool *tool, const char *file, bool *found_damage);
int tool_dump_as(struct tool *tool, const char *file, struct log_dump *how);

/* In what it said. */
unsigned tool_count(const struct tool *tool, const char *text);

#endif

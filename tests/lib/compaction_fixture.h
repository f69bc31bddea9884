// SPDX-License-Identifier: Apache-2.0
/* Records with keys in a log, passes of compaction over it, and what they left, as text. */

#ifndef TESTS_COMPACTION_FIXTURE_H
#define TESTS_COMPACTION_FIXTURE_H

#include "compaction.h"
#include "log_fixture.h"

/* Appends one batch, as leader. Records are words: `key=value`, `key` alone a tombstone. Of `spec` the
 * count and the value's length are not used. Returns the base offset. */
int64_t compaction_append_as(struct log_fixture *fixture, const char *records,
                             const struct batch_spec *spec);
int64_t compaction_append(struct log_fixture *fixture, const char *records);

/* An end marker. */
int64_t compaction_append_marker(struct log_fixture *fixture, int64_t producer_id, bool is_commit);

/* The next append begins a segment. */
void compaction_roll(struct log_fixture *fixture);

/* Options that ask for nothing special: all that is below the end, at the fixture's time. */
struct compaction_options compaction_plain(struct log_fixture *fixture);

/* A whole pass. Returns its err; 0 also if there was nothing to do. `result` may be NULL. */
int compaction_pass(struct log_fixture *fixture, const struct compaction_options *options,
                    struct compaction_result *result);

/* A pass with plain options that must succeed. */
void compaction_run(struct log_fixture *fixture);

/* All records, `offset:key=value` or `offset:key`, with a space between; a batch without records is
 * `[base-last]`, a marker `offset!`. From `from` on. Static storage. */
const char *compaction_text_from(struct log_fixture *fixture, int64_t from);
const char *compaction_text(struct log_fixture *fixture);

/* Base offsets of the .log files, with a space between. Static storage. */
const char *compaction_segments(const struct log_fixture *fixture);

#endif

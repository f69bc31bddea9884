// SPDX-License-Identifier: Apache-2.0
/* Where lines go, how they look and which are written: the settings sluice.log.*. */

#ifndef BROKER_TRACE_OUTPUT_H
#define BROKER_TRACE_OUTPUT_H

#include "config.h"

/* From now on as `config` says; its file is opened anew. If that fails, lines go where they went, and a line
 * there says so: ERR_IO. One thread at a time. */
int trace_output_apply(const struct config *config);

#endif

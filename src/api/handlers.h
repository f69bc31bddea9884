// SPDX-License-Identifier: Apache-2.0
/* The handlers' prototypes, derived from the table. Each runs on the call's loop and ends the call, at
 * once or later (call.h). The request lives as long as the call; what its strings and bytes point to is
 * as the row says (KEEP, BORROW). */

#ifndef API_HANDLERS_H
#define API_HANDLERS_H

#include "alter_configs.h"
#include "api.h"
#include "api_table.h"
#include "api_versions.h"
#include "create_partitions.h"
#include "create_topics.h"
#include "delete_records.h"
#include "delete_topics.h"
#include "describe_cluster.h"
#include "describe_configs.h"
#include "describe_log_dirs.h"
#include "describe_producers.h"
#include "describe_topic_partitions.h"
#include "fetch.h"
#include "incremental_alter_configs.h"
#include "init_producer_id.h"
#include "list_config_resources.h"
#include "list_offsets.h"
#include "metadata.h"
#include "offset_for_leader_epoch.h"
#include "produce.h"

#define HANDLER_PROTOTYPE(key, name, stem, first, last, told, frame, sequence) \
    void handle_##stem(struct api_loop *loop, struct call *call, struct stem##_request *request);
API_TABLE(HANDLER_PROTOTYPE)
#undef HANDLER_PROTOTYPE

/* An ApiVersions request of a version that nobody knows: answered in version 0 with error 35 and its
 * own range, so that the client can ask again. */
void handle_unknown_api_versions(struct api_loop *loop, struct call *call);

#endif

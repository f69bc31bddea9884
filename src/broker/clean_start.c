// SPDX-License-Identifier: Apache-2.0
#include "clean_start.h"

#include <inttypes.h>
#include <string.h>

#include "error.h"
#include "trace.h"

bool clean_start_page_cache_survived(struct data_dir *const *dirs, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!data_dir_was_clean(dirs[i])) return false;
    return true;
}

int clean_start_claim(struct data_dir *dir, const char *cluster_id, int32_t node_id)
{
    const struct data_dir_identity *identity = data_dir_identity(dir);
    if (identity->is_new) return data_dir_set_identity(dir, cluster_id, node_id);
    if (strcmp(identity->cluster_id, cluster_id) != 0) {
        trace(TRACE_ERROR, "broker",
              "%s belongs to cluster %s, this node to cluster %s: give it another log.dirs",
              data_dir_path(dir), identity->cluster_id, cluster_id);
        return ERR_INCONSISTENT_CLUSTER_ID;
    }
    if (identity->node_id != node_id) {
        trace(TRACE_ERROR, "broker",
              "%s belongs to node %" PRId32 ": set node.id=%" PRId32 " or another log.dirs",
              data_dir_path(dir), identity->node_id, identity->node_id);
        return ERR_INCONSISTENT_CLUSTER_ID;
    }
    return 0;
}

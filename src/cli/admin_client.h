// SPDX-License-Identifier: Apache-2.0
/* A small blocking client for everything administrative: one connection, one request at a time.
 *
 * Any broker takes any admin request and passes it on (DESIGN 8.1), so the first that answers will
 * do. Each wait has a deadline, and the length of a reply a bound. */

#ifndef CLI_ADMIN_CLIENT_H
#define CLI_ADMIN_CLIENT_H

#include <stdint.h>

#include "arena.h"
#include "codec.h"

/* An API as this client uses it: no version below `least_version` (what we ask for cannot be said
 * in it), none above what the shapes know. */
struct admin_api {
    const char *name;
    int16_t key;
    int16_t least_version;
    const struct message_shape *request, *response;
};

extern const struct admin_api admin_metadata, admin_create_topics, admin_delete_topics,
    admin_create_partitions, admin_describe_configs, admin_incremental_alter_configs,
    admin_describe_cluster, admin_describe_log_dirs, admin_list_config_resources;

/* 100,000 partitions are described in a tenth of this. */
#define REPLY_MAX_BYTES (64 * 1024 * 1024)

#define API_KEYS_MAX 128

struct admin_version_range {
    int16_t first, last; /* 0, -1: the broker does not have that API. */
};

struct admin_client {
    int fd; /* -1: not connected. */
    int64_t timeout_ms;
    int32_t correlation_id;
    struct admin_version_range versions[API_KEYS_MAX];
    char peer[280];    /* "host:port" of whom we talk to. */
    char failure[512]; /* What went wrong last, as a sentence; not escaped yet. */
    char hint[256];    /* What to do about it; may be empty. */
};

/* Connects to the first of "host[:port][,…]" that answers ApiVersions. Returns 0 or an error, which
 * client->failure tells; close it in any case. */
int admin_client_open(struct admin_client *client, const char *bootstrap_servers,
                      int64_t timeout_ms);

/* The same over a connected socket, which the client now owns. */
int admin_client_open_socket(struct admin_client *client, int fd, const char *peer,
                             int64_t timeout_ms);

void admin_client_close(struct admin_client *client);

/* The version in which `api` will be called. Returns 0 or ERR_UNSUPPORTED_VERSION. */
int admin_client_version(struct admin_client *client, const struct admin_api *api,
                         int16_t *version);

/* Sends `request` and waits for `response`, which lives in the arena, its bytes too. An error inside
 * of the response is the caller's to find. */
int admin_client_call(struct admin_client *client, const struct admin_api *api, int16_t version,
                      const void *request, struct arena *arena, void *response);

/* Takes the next "host[:port]" or "[address]:port" off *list into `host` and `port`; ports default to
 * 9092. Returns 0, ERR_NOT_FOUND at the end of the list, or ERR_USAGE. */
int bootstrap_next(const char **list, char host[256], char port[6]);

#endif

// SPDX-License-Identifier: Apache-2.0
/* A conversation of an administrative command: a connection, and the memory of what is said. */

#ifndef CLI_TALK_H
#define CLI_TALK_H

#include "admin_client.h"
#include "options.h"

struct talk {
    struct admin_client client;
    struct arena arena;
};

/* Connects as the options say. Returns 0 or an error; talk_close() in any case. */
int talk_open(struct talk *talk, const struct common_settings *common);

/* The same to one broker, by its name and port. */
int talk_open_at(struct talk *talk, struct str host, int32_t port,
                 const struct common_settings *common);

/* Goes on with broker `node_id` of the cluster, over another connection. Returns 0 or an error. */
int talk_move(struct talk *talk, int32_t node_id, const struct common_settings *common);

/* Asks in the highest version that both know, or in `version`. `response` is valid until
 * talk_close(). */
int talk_ask(struct talk *talk, const struct admin_api *api, const void *request, void *response);
int talk_ask_in(struct talk *talk, const struct admin_api *api, int16_t version,
                const void *request, void *response);

/* Closes all. An error of the connection, `err`, is complained about, with what to do next. */
enum status talk_close(struct talk *talk, int err);

#endif

// SPDX-License-Identifier: Apache-2.0
/* The settings of this broker as the API tells them: config_table.h and what the operator said. */

#ifndef BROKER_CONFIG_ROWS_H
#define BROKER_CONFIG_ROWS_H

#include "broker_config.h"
#include "config.h"
#include "meta_view.h"
#include "setting.h"

struct config_rows;

/* `endpoints` are those of the listeners, in their order. What it says lives as long as it does. 0 or
 * ERR_NO_MEMORY. */
int config_rows_open(struct config_rows **rows, const struct config *config,
                     const struct meta_endpoint *endpoints);
void config_rows_close(struct config_rows *rows); /* NULL is fine. */

/* Can it be changed at run time? */
bool config_rows_is_dynamic(const struct setting *setting);

const struct broker_config *config_rows_config(const struct config_rows *rows);

#endif

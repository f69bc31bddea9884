// SPDX-License-Identifier: Apache-2.0
/* Names of Kafka's APIs, for people. What sluiced serves of them stands in the broker's table. */

#ifndef CLI_API_NAMES_H
#define CLI_API_NAMES_H

/* "unknown" for a key that has no name here. */
const char *api_name(int key);

#endif

// SPDX-License-Identifier: Apache-2.0
/* CRC-32C (Castagnoli), as in Kafka's record batches; isa-l picks the instructions at run time. */

#ifndef BASE_CRC32C_H
#define BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(const void *data, size_t length);

/* Goes on with a CRC: crc32c_more(crc32c(a), b) is the CRC of a followed by b. */
uint32_t crc32c_more(uint32_t crc, const void *data, size_t length);

#endif

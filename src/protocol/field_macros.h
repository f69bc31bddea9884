// SPDX-License-Identifier: Apache-2.0
/* How a message's .c file writes its tables: one row per field, as in Kafka's own tables.
 *
 *     FIELD(member, "name", first, last, TYPE, ...)       a field of a primitive type
 *     ARRAY(member, "name", first, last, TYPE, ...)       an array of one
 *     STRUCT(member, "name", first, last, stem, ...)      a struct
 *     STRUCTS(member, "name", first, last, stem, ...)     an array of structs
 *
 * `first` and `last` are the versions that have the field. What may follow are the columns in which
 * the field is not like most: NULLABLE, TAGGED, DEFAULT..., IGNORABLE. The struct that the members
 * are of is what OWNER is defined as around the table. */

#ifndef PROTOCOL_FIELD_MACROS_H
#define PROTOCOL_FIELD_MACROS_H

#include <stddef.h>

#include "codec.h"

/* A row sets the usual value of every column, then its own over it. */
#pragma GCC diagnostic ignored "-Woverride-init"

/* clang-format off */

#define FIELD_COLUMNS(member, wire_name, from, to)                               \
    .name = (wire_name), .present = { (from), (to) }, .nullable = VERSIONS_NONE, \
    .tagged = VERSIONS_NONE, .offset = offsetof(OWNER, member)

#define FIELD(member, name, first, last, primitive, ...) \
    { FIELD_COLUMNS(member, name, first, last), .type = FIELD_##primitive, __VA_ARGS__ }

#define ARRAY(member, name, first, last, primitive, ...)                   \
    { FIELD_COLUMNS(member, name, first, last), .type = FIELD_##primitive, \
      .is_array = true, __VA_ARGS__ }

#define STRUCT(member, name, first, last, stem, ...)                 \
    { FIELD_COLUMNS(member, name, first, last), .type = FIELD_STRUCT, \
      .shape = &stem##_shape, __VA_ARGS__ }

#define STRUCTS(member, name, first, last, stem, ...)                 \
    { FIELD_COLUMNS(member, name, first, last), .type = FIELD_STRUCT, \
      .shape = &stem##_shape, .is_array = true, __VA_ARGS__ }

#define NULLABLE(from, to)       .nullable = { (from), (to) }
#define TAGGED(number, from, to) .tag = (number), .tagged = { (from), (to) }
#define DEFAULT(number)          .default_number = (number)
#define DEFAULT_NULL             .default_is_null = true
#define IGNORABLE                .is_ignorable = true

/* The description of `struct stem`, whose table is stem_fields. */
#define SHAPE(stem)                                  \
    { #stem, sizeof(struct stem), stem##_fields,     \
      sizeof stem##_fields / sizeof stem##_fields[0] }

#define MESSAGE(stem, name, first, last, flexible_from) \
    { (name), { (first), (last) }, (flexible_from), SHAPE(stem) }

/* clang-format on */

#endif

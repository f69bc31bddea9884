// SPDX-License-Identifier: Apache-2.0
/* Memory for zlib, from alloc.h as all else; only compress.c and compressor.c use it. */

#ifndef STORAGE_CODEC_MEMORY_H
#define STORAGE_CODEC_MEMORY_H

#include "alloc.h"

static inline void *codec_zlib_alloc(void *opaque, unsigned count, unsigned size)
{
    (void)opaque;
    return mem_calloc(count, size);
}

static inline void codec_zlib_free(void *opaque, void *memory)
{
    (void)opaque;
    mem_free(memory);
}

#endif

// SPDX-License-Identifier: Apache-2.0
#include "alloc.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local long allocations_until_failure; /* 0: none is to fail. */

void mem_fail_at(long nth)
{
    allocations_until_failure = nth;
}

static bool mem_must_fail(void)
{
    return allocations_until_failure > 0 && --allocations_until_failure == 0;
}

/* What malloc(0) and realloc(old, 0) do is up to the C library; one byte is the same everywhere. */
static size_t mem_at_least_one(size_t size)
{
    return size == 0 ? 1 : size;
}

void *mem_alloc(size_t size)
{
    return mem_must_fail() ? NULL : malloc(mem_at_least_one(size));
}

void *mem_zalloc(size_t size)
{
    return mem_calloc(1, size);
}

void *mem_calloc(size_t count, size_t size)
{
    size_t product;
    if (mem_must_fail() || __builtin_mul_overflow(count, size, &product)) return NULL;
    return calloc(1, mem_at_least_one(product));
}

void *mem_realloc(void *old, size_t size)
{
    return mem_must_fail() ? NULL : realloc(old, mem_at_least_one(size));
}

void *mem_dup(const void *data, size_t size)
{
    void *copy = mem_alloc(size);
    if (copy != NULL && size > 0) memcpy(copy, data, size);
    return copy;
}

char *mem_strdup(const char *text)
{
    return mem_dup(text, strlen(text) + 1);
}

char *mem_printf(const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = length < 0 ? NULL : mem_alloc((size_t)length + 1);
    if (text != NULL) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(arguments);
    return text;
}

void mem_free(void *memory)
{
    free(memory);
}

void mem_trim(void)
{
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}

// SPDX-License-Identifier: Apache-2.0
/* Memory from the heap, through one seam, so that a test can let the nth allocation fail.
 *
 * All of our code allocates here or in an arena (which takes its blocks from here). A size of 0
 * gives a unique pointer. NULL means out of memory, which every caller answers as an error. */

#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stddef.h>

void *mem_alloc(size_t size);
void *mem_zalloc(size_t size);
void *mem_calloc(size_t count, size_t size); /* NULL if the product overflows. */
void *mem_realloc(void *old, size_t size);   /* `old` stays valid on failure. */
void *mem_dup(const void *data, size_t size);
char *mem_strdup(const char *text);
char *mem_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
void mem_free(void *memory); /* NULL is fine. */

/* Gives what is free back to the system, which free() does for the largest pieces only. Takes tens of milliseconds
 * after much was freed: not on a loop. Any thread. */
void mem_trim(void);

/* Tests only: from now on the nth allocation of this thread fails (1 is the next), and no later one.
 * 0 turns it off. */
void mem_fail_at(long nth);

#endif

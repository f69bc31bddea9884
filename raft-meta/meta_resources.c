// SPDX-License-Identifier: Apache-2.0
#include "meta_resources.h"

#include <stdatomic.h>
#include <stddef.h>

#include "alloc.h"
#include "error.h"
#include "siphash.h"

/* ---- one resource ---- */

/* It and everything that it points to, in one piece of memory: the settings, then the texts. */
struct owned_resource {
    atomic_uint refs;
    struct meta_resource resource;
    struct meta_setting settings[];
};

static struct owned_resource *owned_resource_of(void *resource)
{
    return (struct owned_resource *)(void *)((char *)resource -
                                             offsetof(struct owned_resource, resource));
}

static void resource_ref(void *resource)
{
    atomic_fetch_add_explicit(&owned_resource_of(resource)->refs, 1, memory_order_relaxed);
}

static void resource_unref(void *resource)
{
    struct owned_resource *owned = owned_resource_of(resource);
    if (atomic_fetch_sub_explicit(&owned->refs, 1, memory_order_acq_rel) == 1) mem_free(owned);
}

static const struct shared_table_counting resource_counting = { resource_ref, resource_unref };

static const char *copy_text(char **at, const char *text)
{
    char *copy = *at;
    size_t size = strlen(text) + 1;
    memcpy(copy, text, size);
    *at += size;
    return copy;
}

/* With one reference; NULL: no memory. */
static struct meta_resource *resource_copy(const struct meta_resource *resource)
{
    size_t texts = strlen(resource->name) + 1;
    for (unsigned i = 0; i < resource->setting_count; i++)
        texts += strlen(resource->settings[i].name) + strlen(resource->settings[i].value) + 2;
    struct owned_resource *owned = mem_alloc(
        sizeof *owned + resource->setting_count * sizeof owned->settings[0] + texts);
    if (owned == NULL) return NULL;
    atomic_init(&owned->refs, 1);
    char *text = (char *)(owned->settings + resource->setting_count);
    owned->resource = *resource;
    owned->resource.settings = owned->settings;
    owned->resource.name = copy_text(&text, resource->name);
    for (unsigned i = 0; i < resource->setting_count; i++) {
        owned->settings[i].name = copy_text(&text, resource->settings[i].name);
        owned->settings[i].value = copy_text(&text, resource->settings[i].value);
    }
    return &owned->resource;
}

/* ---- all of them ---- */

void meta_resources_init(struct meta_resources *resources, const uint64_t hash_key[2])
{
    shared_table_init(&resources->table, &resource_counting);
    resources->count = 0;
    resources->hash_key[0] = hash_key[0];
    resources->hash_key[1] = hash_key[1];
}

void meta_resources_copy(struct meta_resources *copy, const struct meta_resources *resources)
{
    *copy = *resources;
    shared_table_copy(&copy->table, &resources->table);
}

void meta_resources_close(struct meta_resources *resources)
{
    shared_table_close(&resources->table);
    resources->count = 0;
}

static uint64_t hash_of(const struct meta_resources *resources, enum meta_resource_type type,
                        struct str name)
{
    return siphash_64(resources->hash_key, name.data, (size_t)name.length) ^ (uint64_t)type;
}

const struct meta_resource *meta_resources_find(const struct meta_resources *resources,
                                                enum meta_resource_type type, struct str name)
{
    unsigned count;
    if (name.length <= 0) return NULL;
    void *const *items = shared_table_bucket(&resources->table, hash_of(resources, type, name),
                                             &count);
    for (unsigned i = 0; i < count; i++) {
        const struct meta_resource *resource = items[i];
        if (resource->type == type && str_equals_text(name, resource->name)) return resource;
    }
    return NULL;
}

const struct meta_resource *meta_resources_next(const struct meta_resources *resources,
                                                struct meta_resource_cursor *cursor)
{
    return shared_table_next(&resources->table, &cursor->bucket, &cursor->position);
}

int meta_resources_put(struct meta_resources *resources, const struct meta_resource *resource)
{
    struct str name = str_from(resource->name);
    const struct meta_resource *before = meta_resources_find(resources, resource->type, name);
    struct meta_resource *after = NULL;
    if (before == NULL && resource->setting_count == 0) return 0;
    if (resource->setting_count > 0) {
        after = resource_copy(resource);
        if (after == NULL) return ERR_NO_MEMORY;
    }
    bool is_new = before == NULL, is_gone = after == NULL;
    int err = shared_table_change(&resources->table, hash_of(resources, resource->type, name),
                                  before, after);
    if (after != NULL) resource_unref(after); /* The table has one of its own, or nobody. */
    if (err != 0) return err;
    resources->count += is_new;
    resources->count -= is_gone;
    return 0;
}

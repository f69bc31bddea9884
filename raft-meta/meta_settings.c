// SPDX-License-Identifier: Apache-2.0
#include "meta_settings.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "alloc.h"
#include "error.h"
#include "map.h"

/* ---- lists as values ---- */

/* The next item, without white around it; false at the end. An empty list has none. */
static bool next_item(const char **rest, struct str *item)
{
    if (*rest == NULL || **rest == '\0') return false;
    const char *begin = *rest, *end = strchr(begin, ',');
    *rest = end == NULL ? NULL : end + 1;
    if (end == NULL) end = begin + strlen(begin);
    while (begin < end && (uint8_t)*begin <= ' ')
        begin++;
    while (end > begin && (uint8_t)end[-1] <= ' ')
        end--;
    *item = (struct str){ begin, (int32_t)(end - begin) };
    return true;
}

/* A list that is being written. */
struct list_text {
    char *text; /* Large enough; NULL: no memory. */
    size_t length;
    bool has_items;  /* The only one may be empty. */
    struct map seen; /* What is not written again: its items, and those that are to stay out. */
    int err;
};

static void list_begin(struct list_text *out, size_t room, struct arena *arena)
{
    *out = (struct list_text){ .text = arena_calloc(arena, room, 1) };
    out->err = out->text == NULL ? ERR_NO_MEMORY : 0;
    map_init(&out->seen);
}

/* The text, or NULL: no memory. */
static const char *list_end(struct list_text *out)
{
    map_close(&out->seen);
    return out->err == 0 ? out->text : NULL;
}

/* Whether it was seen for the first time. */
static bool note_item(struct list_text *out, struct str item)
{
    if (out->err != 0 || map_get(&out->seen, item.data, (size_t)item.length) != NULL) return false;
    out->err = map_put(&out->seen, item.data, (size_t)item.length, out, NULL);
    return out->err == 0;
}

static void put_item(struct list_text *out, struct str item)
{
    if (out->err != 0) return;
    if (out->has_items) out->text[out->length++] = ',';
    memcpy(out->text + out->length, item.data, (size_t)item.length);
    out->length += (size_t)item.length;
    out->text[out->length] = '\0';
    out->has_items = true;
}

static void leave_out(struct list_text *out, const char *list)
{
    struct str item;
    while (next_item(&list, &item))
        note_item(out, item);
}

/* Adds those items of `list` that were not seen yet. */
static void put_items(struct list_text *out, const char *list)
{
    struct str item;
    while (next_item(&list, &item))
        if (note_item(out, item)) put_item(out, item);
}

/* Adds what a client wants to add: as Kafka takes it apart, nothing at all is an empty item (which few
 * lists may have), and empty ones at the end are none. */
static int put_added(struct list_text *out, const char *value, struct arena *arena)
{
    size_t length = strlen(value);
    if (length == 0) {
        put_item(out, STR_LITERAL(""));
        return 0;
    }
    while (length > 0 && value[length - 1] == ',')
        length--;
    char *items = arena_calloc(arena, length + 1, 1);
    if (items == NULL) return ERR_NO_MEMORY;
    memcpy(items, value, length);
    put_items(out, items);
    return 0;
}

/* What a change makes of a list. NULL: no memory. */
static const char *changed_list(const char *before, const struct meta_setting_change *change,
                                struct arena *arena)
{
    if (before == NULL) before = change->list == NULL ? "" : change->list;
    struct list_text out;
    list_begin(&out, strlen(before) + strlen(change->value) + 2, arena);
    if (change->op == META_SETTING_SUBTRACT) leave_out(&out, change->value);
    put_items(&out, before);
    if (change->op == META_SETTING_APPEND && out.err == 0)
        out.err = put_added(&out, change->value, arena);
    return list_end(&out);
}

const char *meta_settings_list(const char *text, struct arena *arena)
{
    struct list_text out;
    list_begin(&out, strlen(text) + 1, arena);
    put_items(&out, text);
    return list_end(&out);
}

/* ---- settings ---- */

static int compare_settings(const void *a, const void *b)
{
    const struct meta_setting *left = a, *right = b;
    return strcmp(left->name, right->name);
}

static struct meta_setting *find_setting(struct meta_setting *settings, unsigned count,
                                         const char *name)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(settings[i].name, name) == 0) return &settings[i];
    return NULL;
}

int meta_settings_apply(const struct meta_setting *before, unsigned before_count,
                        const struct meta_settings_change *change, struct arena *arena,
                        struct meta_setting **after, unsigned *after_count)
{
    unsigned count = change->replaces ? 0 : before_count, kept = 0;
    struct meta_setting *settings = arena_calloc(arena, (size_t)count + change->count + 1,
                                                 sizeof *settings);
    if (settings == NULL) return ERR_NO_MEMORY;
    if (count > 0) memcpy(settings, before, count * sizeof *settings);
    for (unsigned i = 0; i < change->count; i++) {
        const struct meta_setting_change *one = &change->changes[i];
        struct meta_setting *found = find_setting(settings, count, one->name);
        const char *value = one->value;
        if (one->op == META_SETTING_APPEND || one->op == META_SETTING_SUBTRACT) {
            value = changed_list(found == NULL ? NULL : found->value, one, arena);
            if (value == NULL) return ERR_NO_MEMORY;
        }
        if (found == NULL && one->op != META_SETTING_DELETE) found = &settings[count++];
        if (found != NULL)
            *found = (struct meta_setting){ one->name,
                                            one->op == META_SETTING_DELETE ? NULL : value };
    }
    for (unsigned i = 0; i < count; i++)
        if (settings[i].value != NULL) settings[kept++] = settings[i];
    if (kept > 1) qsort(settings, kept, sizeof *settings, compare_settings);
    *after = settings;
    *after_count = kept;
    return 0;
}

/* ---- the settings of brokers ---- */

/* Ascending by broker, in one piece of memory: the array, the settings of all, the texts. */
struct meta_broker_settings_list {
    atomic_uint refs;
    unsigned count;
    struct meta_broker_settings items[];
};

void meta_broker_settings_ref(struct meta_broker_settings_list *list)
{
    if (list != NULL) atomic_fetch_add_explicit(&list->refs, 1, memory_order_relaxed);
}

void meta_broker_settings_unref(struct meta_broker_settings_list *list)
{
    if (list != NULL && atomic_fetch_sub_explicit(&list->refs, 1, memory_order_acq_rel) == 1)
        mem_free(list);
}

unsigned meta_broker_settings_count(const struct meta_broker_settings_list *list)
{
    return list == NULL ? 0 : list->count;
}

const struct meta_broker_settings *meta_broker_settings_at(
    const struct meta_broker_settings_list *list, unsigned index)
{
    return &list->items[index];
}

const struct meta_broker_settings *meta_broker_settings_find(
    const struct meta_broker_settings_list *list, int32_t broker)
{
    for (unsigned i = 0; i < meta_broker_settings_count(list); i++)
        if (list->items[i].broker == broker) return &list->items[i];
    return NULL;
}

static const char *copy_text(char **at, const char *text)
{
    char *copy = *at;
    size_t size = strlen(text) + 1;
    memcpy(copy, text, size);
    *at += size;
    return copy;
}

static struct meta_broker_settings_list *copy_list(const struct meta_broker_settings *const *items,
                                                   unsigned count)
{
    size_t settings = 0, texts = 0;
    for (unsigned i = 0; i < count; i++) {
        settings += items[i]->count;
        for (unsigned j = 0; j < items[i]->count; j++)
            texts += strlen(items[i]->settings[j].name) + strlen(items[i]->settings[j].value) + 2;
    }
    struct meta_broker_settings_list *list = mem_alloc(
        sizeof *list + count * sizeof list->items[0] + settings * sizeof(struct meta_setting) +
        texts);
    if (list == NULL) return NULL;
    atomic_init(&list->refs, 1);
    list->count = count;
    struct meta_setting *setting = (struct meta_setting *)(void *)(list->items + count);
    char *text = (char *)(setting + settings);
    for (unsigned i = 0; i < count; i++) {
        list->items[i] = *items[i];
        list->items[i].settings = setting;
        for (unsigned j = 0; j < items[i]->count; j++, setting++) {
            setting->name = copy_text(&text, items[i]->settings[j].name);
            setting->value = copy_text(&text, items[i]->settings[j].value);
        }
    }
    return list;
}

int meta_broker_settings_replace(const struct meta_broker_settings_list *list,
                                 const struct meta_broker_settings *settings,
                                 struct meta_broker_settings_list **result)
{
    unsigned old_count = meta_broker_settings_count(list), at = 0, count = 0;
    const struct meta_broker_settings **items = mem_calloc(old_count + 1u, sizeof *items);
    if (items == NULL) return ERR_NO_MEMORY;
    for (; at < old_count && list->items[at].broker < settings->broker; at++)
        items[count++] = &list->items[at];
    if (settings->count > 0) items[count++] = settings;
    if (at < old_count && list->items[at].broker == settings->broker) at++;
    for (; at < old_count; at++)
        items[count++] = &list->items[at];
    struct meta_broker_settings_list *copy = count == 0 ? NULL : copy_list(items, count);
    mem_free(items);
    if (copy == NULL && count > 0) return ERR_NO_MEMORY;
    *result = copy;
    return 0;
}

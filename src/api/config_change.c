// SPDX-License-Identifier: Apache-2.0
#include "config_change.h"

#include <inttypes.h>

#include "broker_outcome.h"
#include "config_resource.h"
#include "error.h"
#include "repeats.h"
#include "resource_config.h"
#include "topic_settings.h"
#include "trace.h"

#define TIMEOUT_MS    30000 /* These requests bring none. */
#define LONGEST_NAME  512
#define LONGEST_VALUE 16384

static int refuse(struct config_changes *changes, struct config_change *item, int err,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));

static int refuse(struct config_changes *changes, struct config_change *item, int err,
                  const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    item->err = err;
    item->why = config_resource_sentence(&changes->call->arena, format, arguments);
    va_end(arguments);
    return err;
}

/* ---- any resource ---- */

static int refuse_repeated_resources(struct config_changes *changes)
{
    struct repeats repeats;
    int err = 0;
    struct repeat *notes = arena_calloc(&changes->call->arena, changes->count + 1u, sizeof *notes);
    if (notes == NULL) return ERR_NO_MEMORY;
    repeats_init(&repeats);
    for (unsigned i = 0; err == 0 && i < changes->count; i++) {
        const struct config_change *item = &changes->items[i];
        size_t length = (size_t)item->resource_name.length;
        char *key = arena_alloc(&changes->call->arena, length + 1);
        if (key == NULL) {
            err = ERR_NO_MEMORY;
            continue;
        }
        key[0] = (char)item->resource_type;
        memcpy(key + 1, item->resource_name.data, length);
        err = repeats_note(&repeats, key, length + 1, &notes[i]);
    }
    repeats_close(&repeats);
    for (unsigned i = 0; err == 0 && i < changes->count; i++)
        if (notes[i].is_repeated)
            refuse(changes, &changes->items[i], ERR_INVALID_REQUEST,
                   "The request names this resource more than once.");
    return err;
}

static int find_repeated_names(struct config_changes *changes, struct config_change *item)
{
    struct repeats repeats;
    int err = 0;
    bool is_repeated = false;
    struct repeat *notes = arena_calloc(&changes->call->arena, item->change_count + 1u,
                                        sizeof *notes);
    if (notes == NULL) return ERR_NO_MEMORY;
    repeats_init(&repeats);
    for (unsigned i = 0; err == 0 && i < item->change_count; i++) {
        struct str name = item->changes[i].name;
        err = repeats_note(&repeats, name.data, (size_t)name.length, &notes[i]);
    }
    repeats_close(&repeats);
    for (unsigned i = 0; err == 0 && i < item->change_count; i++)
        is_repeated = is_repeated || notes[i].is_repeated;
    if (is_repeated)
        refuse(changes, item, ERR_INVALID_REQUEST, "The request names a setting more than once.");
    return err;
}

static bool is_text(struct str text, int32_t longest)
{
    return text.length <= longest &&
           (text.length <= 0 || memchr(text.data, 0, (size_t)text.length) == NULL);
}

static int check_texts(struct config_changes *changes, struct config_change *item)
{
    for (unsigned i = 0; i < item->change_count; i++) {
        struct meta_wanted_change *change = &item->changes[i];
        char shown[64];
        trace_escape(shown, sizeof shown, change->name);
        if (change->op != META_SETTING_DELETE && str_is_null(change->value))
            return refuse(changes, item, ERR_INVALID_REQUEST, "%s cannot be null.", shown);
        if (!is_text(change->name, LONGEST_NAME) || !is_text(change->value, LONGEST_VALUE))
            return refuse(changes, item, ERR_INVALID_CONFIG,
                          "%s is too long, or holds a zero character.", shown);
        change->value = str_trim(change->value);
    }
    return 0;
}

/* ---- brokers ---- */

static int refuse_operation(struct config_changes *changes, struct config_change *item)
{
    return refuse(
        changes, item, ERR_INVALID_REQUEST,
        "There is no operation %d; a setting is set (0) or deleted (1), or items are added "
        "to a list (2) or taken from it (3).",
        item->unknown_operation);
}

static int check_broker_change(struct config_changes *changes, struct config_change *item,
                               const struct broker_config *config,
                               struct broker_config_layers layers, int32_t broker,
                               struct meta_wanted_change *change)
{
    char shown[96], why[META_WHY_SIZE];
    const struct broker_config_row *row = broker_config_find(config, change->name);
    trace_escape(shown, sizeof shown, change->name);
    if (change->op == META_SETTING_DELETE) return 0; /* As Kafka: of nothing, too. */
    if (row == NULL)
        return refuse(changes, item, ERR_INVALID_CONFIG, "A broker has no setting named \"%s\".",
                      shown);
    if (change->op != META_SETTING_SET && row->type != CONFIG_TYPE_LIST)
        return refuse(changes, item, ERR_INVALID_CONFIG,
                      "%s is not a list: nothing can be added to it or taken from it.", shown);
    if (!row->is_dynamic)
        return refuse(changes, item, ERR_INVALID_REQUEST, "%s cannot be changed at run time.",
                      shown);
    if (row->is_of_one_broker && broker == META_EVERY_BROKER)
        return refuse(changes, item, ERR_INVALID_REQUEST,
                      "%s can be set for one broker, not for all.", shown);
    if (row->type == CONFIG_TYPE_LIST) change->list = row->value == NULL ? "" : row->value;
    struct config_synonym synonyms[CONFIG_SYNONYMS_MAX];
    unsigned count = broker_config_synonyms(config, layers, row->name, synonyms);
    bool is_set = count > 0 && synonyms[0].source <= CONFIG_SOURCE_DYNAMIC_DEFAULT;
    if (change->op != META_SETTING_SUBTRACT &&
        config->check(config, row, change->value, is_set ? synonyms[0].value : row->value, why,
                      sizeof why) != 0)
        return refuse(changes, item, ERR_INVALID_REQUEST, "%s", why);
    return 0;
}

/* Do the settings fit each other once they are changed? What is set for all brokers must do so on one
 * that has nothing of its own as well. */
static int check_outcome(struct config_changes *changes, struct config_change *item, int32_t broker)
{
    char why[META_WHY_SIZE];
    const struct api_loop *loop = call_loop(changes->call);
    const struct broker_config *config = loop->api->options.broker_config;
    struct broker_config_layers before = broker_config_layers(loop->view,
                                                              loop->api->options.node_id);
    struct broker_config_layers after = before;
    struct meta_broker_settings outcome;
    bool is_for_all = broker == META_EVERY_BROKER;
    const struct meta_broker_settings **changed = is_for_all ? &after.all : &after.own;
    if (broker_outcome(*changed, item, changes->replaces, &changes->call->arena, &outcome) != 0)
        return refuse(changes, item, ERR_NO_MEMORY, "%s", error_text(ERR_NO_MEMORY));
    *changed = &outcome;
    int err = config->check_together(config, before, after, why, sizeof why);
    if (err == 0 && is_for_all && before.own != NULL) {
        before.own = after.own = NULL;
        err = config->check_together(config, before, after, why, sizeof why);
    }
    return err == 0 ? 0 : refuse(changes, item, err, "%s", why);
}

static int check_broker(struct config_changes *changes, struct config_change *item,
                        struct meta_alter_settings *wanted)
{
    const struct api_loop *loop = call_loop(changes->call);
    const struct api_options *options = &loop->api->options;
    struct broker_config_layers layers = broker_config_layers(loop->view, options->node_id);
    wanted->broker = META_EVERY_BROKER;
    if (item->resource_name.length > 0) {
        if (!config_resource_broker(item->resource_name, &wanted->broker))
            return refuse(changes, item, ERR_INVALID_REQUEST,
                          "A broker is named by its id, which is a number.");
        if (wanted->broker != options->node_id)
            return refuse(changes, item, ERR_INVALID_REQUEST,
                          "This is broker %" PRId32 "; the settings of broker %" PRId32
                          " are changed there.",
                          options->node_id, wanted->broker);
    }
    if (item->unknown_operation != 0) return refuse_operation(changes, item);
    int err = 0;
    for (unsigned i = 0; err == 0 && i < item->change_count; i++)
        err = check_broker_change(changes, item, options->broker_config, layers, wanted->broker,
                                  &item->changes[i]);
    return err == 0 ? check_outcome(changes, item, wanted->broker) : err;
}

/* There are no loggers that a level could be set of. */
static int refuse_logger(struct config_changes *changes, struct config_change *item)
{
    int32_t broker;
    /* AlterConfigs never knew this type. */
    if (changes->replaces || !config_resource_broker(item->resource_name, &broker) ||
        broker != call_loop(changes->call)->api->options.node_id)
        return refuse(changes, item, ERR_INVALID_REQUEST, "These are not loggers of this broker.");
    if (item->unknown_operation != 0) return refuse_operation(changes, item);
    if (item->change_count == 0) return 0;
    return refuse(changes, item, ERR_INVALID_CONFIG, "There is no logger of that name.");
}

/* ---- topics ---- */

static int check_topic(struct config_changes *changes, struct config_change *item,
                       struct meta_alter_settings *wanted)
{
    wanted->owner = META_SETTINGS_OF_TOPIC;
    wanted->name = item->resource_name;
    if (item->resource_name.length == 0)
        return refuse(changes, item, ERR_INVALID_REQUEST,
                      "What topics have by default is set on brokers.");
    if (!topic_name_is_legal(item->resource_name))
        return refuse(changes, item, ERR_INVALID_TOPIC, "%s", error_text(ERR_INVALID_TOPIC));
    return 0;
}

/* ---- groups and subscriptions to clients' metrics ---- */

/* What they may have is checked by the quorum, with what they have already. */
static int check_resource(struct config_changes *changes, struct config_change *item,
                          struct meta_alter_settings *wanted)
{
    bool is_group = item->resource_type == CONFIG_RESOURCE_GROUP;
    wanted->owner = META_SETTINGS_OF_RESOURCE;
    wanted->resource_type = is_group ? META_RESOURCE_GROUP : META_RESOURCE_CLIENT_METRICS;
    wanted->name = item->resource_name;
    wanted->check = is_group ? group_config_check : client_metrics_config_check;
    wanted->check_context = call_loop(changes->call)->api->options.broker_config;
    for (unsigned i = 0; i < item->change_count; i++) {
        char shown[64];
        if (item->changes[i].op != META_SETTING_APPEND &&
            item->changes[i].op != META_SETTING_SUBTRACT)
            continue;
        return refuse(changes, item, ERR_INVALID_CONFIG,
                      "Nothing can be added to %s or taken from it, only all of it be set.",
                      trace_escape(shown, sizeof shown, item->changes[i].name));
    }
    if (item->resource_name.length == 0)
        return refuse(changes, item, ERR_INVALID_REQUEST,
                      is_group ? "What groups have by default is set on brokers."
                               : "A subscription has a name.");
    if (!is_text(item->resource_name, INT16_MAX))
        return refuse(changes, item, ERR_INVALID_REQUEST,
                      "The name is too long, or holds a zero character.");
    return 0;
}

/* ---- all ---- */

static bool is_of_cluster(const struct config_change *item)
{
    return item->resource_type == CONFIG_RESOURCE_TOPIC ||
           item->resource_type == CONFIG_RESOURCE_CLIENT_METRICS ||
           item->resource_type == CONFIG_RESOURCE_GROUP;
}

/* Fills in what the quorum is asked; `*asks` is false where there is nothing to ask. What is refused has
 * its answer. 0 or ERR_NO_MEMORY. */
static int check(struct config_changes *changes, struct config_change *item,
                 struct meta_alter_settings *wanted, bool *asks)
{
    *asks = false;
    *wanted = (struct meta_alter_settings){ .replaces = changes->replaces,
                                            .changes = item->changes,
                                            .change_count = item->change_count };
    if (item->err != 0) return 0;
    if (item->unknown_operation != 0 && is_of_cluster(item)) {
        item->err = ERR_UNKNOWN_SERVER_ERROR; /* Kafka's answer, without a sentence. */
        return 0;
    }
    if (find_repeated_names(changes, item) != 0) return ERR_NO_MEMORY;
    if (item->err != 0 || check_texts(changes, item) != 0) return 0;
    switch (item->resource_type) {
    case CONFIG_RESOURCE_TOPIC: *asks = check_topic(changes, item, wanted) == 0; break;
    case CONFIG_RESOURCE_BROKER: *asks = check_broker(changes, item, wanted) == 0; break;
    case CONFIG_RESOURCE_BROKER_LOGGER: refuse_logger(changes, item); break;
    case CONFIG_RESOURCE_CLIENT_METRICS:
    case CONFIG_RESOURCE_GROUP: *asks = check_resource(changes, item, wanted) == 0; break;
    default:
        refuse(changes, item, ERR_INVALID_REQUEST, "There is no resource of type %d here.",
               item->resource_type);
    }
    return 0;
}

static void altered(struct meta_request *request)
{
    struct config_changes *changes = LIST_OWNER(request, struct config_changes, request);
    for (unsigned i = 0; i < request->as.alter_settings.count; i++) {
        struct config_change *item = changes->asked[i];
        const struct meta_alter_settings *wanted = &changes->wanted[i];
        item->err = request->err != 0 ? request->err : wanted->err;
        if (item->err != 0)
            item->why = str_from(wanted->why[0] != '\0' ? wanted->why : error_text(item->err));
        /* A full disk passes: with this code clients try again. */
        if (item->err == ERR_NO_SPACE) item->err = ERR_KAFKA_STORAGE_ERROR;
    }
    changes->reply(changes);
}

struct config_changes *config_changes_new(struct call *call, int32_t count, bool validate_only,
                                          void (*reply)(struct config_changes *changes))
{
    struct config_changes *changes = call_alloc(call, 1, sizeof *changes);
    if (changes == NULL) return NULL;
    changes->call = call;
    changes->count = (unsigned)count;
    changes->validate_only = validate_only;
    changes->reply = reply;
    changes->items = call_alloc(call, changes->count + 1u, sizeof *changes->items);
    return changes->items == NULL ? NULL : changes;
}

int config_change_init(struct config_change *item, struct call *call, int8_t resource_type,
                       struct str resource_name, int32_t count)
{
    item->resource_type = resource_type;
    item->resource_name = resource_name;
    item->change_count = (unsigned)count;
    item->changes = arena_calloc(&call->arena, item->change_count + 1u, sizeof *item->changes);
    return item->changes == NULL ? ERR_NO_MEMORY : 0;
}

void config_changes_run(struct api_loop *loop, struct config_changes *changes)
{
    struct call *call = changes->call;
    unsigned count = 0;
    changes->wanted = call_alloc(call, changes->count + 1u, sizeof *changes->wanted);
    if (changes->wanted == NULL) return;
    changes->asked = call_alloc(call, changes->count + 1u, sizeof(struct config_change *));
    if (changes->asked == NULL) return;
    for (unsigned i = 0; i < changes->count; i++)
        changes->items[i].why = STR_NULL;
    int err = refuse_repeated_resources(changes);
    for (unsigned i = 0; err == 0 && i < changes->count; i++) {
        bool asks;
        err = check(changes, &changes->items[i], &changes->wanted[count], &asks);
        if (asks) changes->asked[count++] = &changes->items[i];
    }
    if (err != 0) {
        call_refuse(call, error_text(err));
        return;
    }
    if (count == 0) {
        changes->reply(changes);
        return;
    }
    changes->request.kind = META_ALTER_SETTINGS;
    changes->request.loop = loop->loop;
    changes->request.done = altered;
    changes->request.deadline_ms = clock_monotonic_us(loop->api->options.clock) / 1000 + TIMEOUT_MS;
    changes->request.as.alter_settings.items = changes->wanted;
    changes->request.as.alter_settings.count = count;
    changes->request.as.alter_settings.validate_only = changes->validate_only;
    meta_quorum_request(loop->api->options.meta, &changes->request);
}

// SPDX-License-Identifier: Apache-2.0
#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "alloc.h"
#include "buffer.h"
#include "error.h"
#include "properties.h"
#include "trace.h"

#define FILE_MAX_BYTES (1u << 20)

void settings_init(struct settings *settings)
{
    *settings = (struct settings){ 0 };
}

static void setting_value_close(struct setting_value *item)
{
    mem_free(item->name);
    mem_free(item->value);
    mem_free(item->origin);
}

void settings_close(struct settings *settings)
{
    for (unsigned i = 0; i < settings->count; i++)
        setting_value_close(&settings->items[i]);
    mem_free(settings->items);
    settings_init(settings);
}

static int grow(struct settings *settings)
{
    if (settings->count < settings->capacity) return 0;
    unsigned capacity = settings->capacity == 0 ? 16 : settings->capacity * 2;
    struct setting_value *items = mem_realloc(settings->items, capacity * sizeof *items);
    if (items == NULL) return ERR_NO_MEMORY;
    settings->items = items;
    settings->capacity = capacity;
    return 0;
}

static struct setting_value *find_said(const struct settings *settings, const char *name)
{
    for (unsigned i = 0; i < settings->count; i++)
        if (strcmp(settings->items[i].name, name) == 0) return &settings->items[i];
    return NULL;
}

static void report_unknown(struct config_report *report, const char *name, const char *origin)
{
    char shown[128];
    const char *nearest = setting_nearest(name);
    trace_escape(shown, sizeof shown, str_from(name));
    if (nearest != NULL)
        config_problem(report, "%s: there is no setting \"%s\"; did you mean %s?", origin, shown,
                       nearest);
    else
        config_problem(report, "%s: there is no setting \"%s\"", origin, shown);
}

static int put(struct settings *settings, const char *name, const char *value, const char *origin,
               struct config_report *report)
{
    struct setting_value item = { 0 };
    item.setting = setting_find(name, &item.is_prefixed);
    if (item.setting == NULL) {
        report_unknown(report, name, origin);
        return 0;
    }
    while (*value != '\0' && (uint8_t)*value <= ' ')
        value++;
    size_t length = strlen(value);
    while (length > 0 && (uint8_t)value[length - 1] <= ' ')
        length--;

    item.name = mem_strdup(name);
    item.value = mem_printf("%.*s", (int)length, value);
    item.origin = mem_strdup(origin);
    int err = item.name == NULL || item.value == NULL || item.origin == NULL ? ERR_NO_MEMORY : 0;
    if (err == 0) err = grow(settings);
    if (err != 0) {
        setting_value_close(&item);
        return err;
    }
    struct setting_value *said = find_said(settings, name);
    if (said == NULL) {
        settings->items[settings->count++] = item;
    } else {
        setting_value_close(said);
        *said = item;
    }
    return 0;
}

/* ---- the file ---- */

static int read_all(int fd, struct buffer *text)
{
    for (;;) {
        if (text->length > FILE_MAX_BYTES) return EFBIG;
        if (!buffer_reserve(text, 4096)) return ENOMEM;
        ssize_t got = read(fd, text->data + text->length, 4096);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno;
        if (got == 0) return 0;
        text->length += (size_t)got;
    }
}

struct file_reader {
    struct settings *settings;
    struct config_report *report;
    const char *path;
};

static int put_pair(void *context, unsigned line, const char *key, const char *value)
{
    struct file_reader *reader = context;
    char *origin = mem_printf("%s:%u", reader->path, line);
    if (origin == NULL) return ERR_NO_MEMORY;
    int err = put(reader->settings, key, value, origin, reader->report);
    mem_free(origin);
    return err;
}

static void report_line(void *context, unsigned line, const char *sentence)
{
    const struct file_reader *reader = context;
    config_problem(reader->report, "%s:%u: %s", reader->path, line, sentence);
}

int settings_read_file(struct settings *settings, const char *path, struct config_report *report)
{
    struct buffer text;
    buffer_init(&text);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int problem = fd < 0 ? errno : read_all(fd, &text);
    if (fd >= 0) close(fd);

    int err = 0;
    if (problem == ENOMEM) {
        err = ERR_NO_MEMORY;
    } else if (problem != 0) {
        config_problem(report, "%s cannot be read: %s", path, strerror(problem));
    } else {
        struct file_reader reader = { settings, report, path };
        err = properties_parse((struct str){ (const char *)text.data, (int32_t)text.length },
                               put_pair, report_line, &reader);
    }
    buffer_close(&text);
    return err;
}

/* ---- the environment ---- */

/* Other programs of ours read these. */
static const char *const not_settings[] = { "SLUICE_BOOTSTRAP", "SLUICE_DEV_DIR", "SLUICE_SEED",
                                            "SLUICE_TESTS" };

static bool is_setting(const char *variable)
{
    if (strncmp(variable, "SLUICE_", 7) != 0) return false;
    for (size_t i = 0; i < sizeof not_settings / sizeof not_settings[0]; i++)
        if (strcmp(variable, not_settings[i]) == 0) return false;
    return true;
}

/* LOG_RETENTION_MS is log.retention.ms: no name of Kafka's has a _ or a capital. */
static void name_of_variable(char *name)
{
    for (; *name != '\0'; name++)
        *name = *name == '_' ? '.' : (char)tolower((unsigned char)*name);
}

int settings_read_environment(struct settings *settings, char **environment,
                              struct config_report *report)
{
    int err = 0;
    for (; err == 0 && environment != NULL && *environment != NULL; environment++) {
        if (strncmp(*environment, "SLUICE_", 7) != 0) continue;
        const char *equals = strchr(*environment, '=');
        if (equals == NULL) continue;
        char *variable = mem_printf("%.*s", (int)(equals - *environment), *environment);
        if (variable == NULL) return ERR_NO_MEMORY;
        if (is_setting(variable)) {
            char *name = mem_strdup(variable + 7);
            if (name == NULL) err = ERR_NO_MEMORY;
            if (err == 0) {
                name_of_variable(name);
                err = put(settings, name, equals + 1, variable, report);
            }
            mem_free(name);
        }
        mem_free(variable);
    }
    return err;
}

/* ---- the command line ---- */

int settings_read_argument(struct settings *settings, const char *name_and_value,
                           struct config_report *report)
{
    const char *equals = strchr(name_and_value, '=');
    if (equals == NULL) {
        char shown[128];
        trace_escape(shown, sizeof shown, str_from(name_and_value));
        config_problem(report, "--set needs name=value, not \"%s\"", shown);
        return 0;
    }
    char *name = mem_printf("%.*s", (int)(equals - name_and_value), name_and_value);
    if (name == NULL) return ERR_NO_MEMORY;
    int err = put(settings, name, equals + 1, "--set", report);
    mem_free(name);
    return err;
}

const struct setting_value *settings_find(const struct settings *settings, const char *name)
{
    return find_said(settings, name);
}

const char *settings_value(const struct settings *settings, const char *name)
{
    const struct setting_value *said = find_said(settings, name);
    return said != NULL ? said->value : setting_find(name, NULL)->default_value;
}

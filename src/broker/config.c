// SPDX-License-Identifier: Apache-2.0
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "admin_port.h"
#include "alloc.h"
#include "config_print.h"
#include "config_report.h"
#include "error.h"
#include "listeners.h"
#include "machine.h"
#include "setting_relations.h"
#include "setting_rules.h"
#include "settings.h"
#include "topic_settings.h"
#include "trace.h"

/* ---- the command line ---- */

struct arguments {
    bool dev, adopt, check, help, version, print, print_man;
    const char *file;
};

static void read_option(struct arguments *arguments, const char *option,
                        struct config_report *report)
{
    char shown[128];
    if (strcmp(option, "--dev") == 0)
        arguments->dev = true;
    else if (strcmp(option, "--adopt") == 0)
        arguments->adopt = true;
    else if (strcmp(option, "--check-config") == 0)
        arguments->check = true;
    else if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0)
        arguments->help = true;
    else if (strcmp(option, "--version") == 0)
        arguments->version = true;
    else if (strcmp(option, "--print-configuration") == 0)
        arguments->print = true;
    else if (strcmp(option, "--print-man") == 0)
        arguments->print_man = true;
    else
        config_problem(report, "there is no option %s; --help tells which there are",
                       trace_escape(shown, sizeof shown, str_from(option)));
}

/* The NAME=VALUE of a --set at `*at`, in one word or two; NULL: it is something else. */
static const char *set_argument(int argc, char **argv, int *at)
{
    if (strncmp(argv[*at], "--set=", 6) == 0) return argv[*at] + 6;
    if (strcmp(argv[*at], "--set") != 0) return NULL;
    return *at + 1 < argc ? argv[++*at] : "";
}

static void read_arguments(int argc, char **argv, struct arguments *arguments,
                           struct config_report *report)
{
    for (int i = 1; i < argc; i++) {
        if (set_argument(argc, argv, &i) != NULL) continue; /* read_settings() */
        if (argv[i][0] == '-')
            read_option(arguments, argv[i], report);
        else if (arguments->file == NULL)
            arguments->file = argv[i];
        else
            config_problem(report, "there can be one properties file only, not %s and %s too",
                           arguments->file, argv[i]);
    }
}

/* What wins comes later (DESIGN 12). */
static int read_settings(struct settings *settings, const struct arguments *arguments, int argc,
                         char **argv, char **environment, struct config_report *report)
{
    int err = 0;
    if (arguments->file != NULL) err = settings_read_file(settings, arguments->file, report);
    if (err == 0) err = settings_read_environment(settings, environment, report);
    for (int i = 1; err == 0 && i < argc; i++) {
        const char *name_and_value = set_argument(argc, argv, &i);
        if (name_and_value != NULL) err = settings_read_argument(settings, name_and_value, report);
    }
    return err;
}

/* ---- each for itself ---- */

static void check_refused(const struct setting_value *said, struct config_report *report)
{
    const struct setting *setting = said->setting;
    if (setting_is_default(setting, said->value)) return;
    if (setting->default_value == NULL || setting->default_value[0] == '\0')
        config_problem(report, "%s: %s cannot be set: %s", said->origin, said->name, setting->text);
    else
        config_problem(report, "%s: %s can only be %s: %s", said->origin, said->name,
                       setting->default_value, setting->text);
}

/* 0 or ERR_NO_MEMORY. */
static int check_values(const struct settings *settings, struct config_report *report)
{
    for (unsigned i = 0; i < settings->count; i++) {
        const struct setting_value *said = &settings->items[i];
        char sentence[256];
        int64_t number;
        int err = setting_check(said->setting, said->value, &number, sentence, sizeof sentence);
        if (err == 0)
            err = setting_rules_check(said->setting, said->value, sentence, sizeof sentence);
        if (err == ERR_NO_MEMORY) return err;
        if (err != 0)
            config_problem(report, "%s: %s", said->origin, sentence);
        else if (said->setting->kind == SETTING_REFUSED)
            check_refused(said, report);
        else if (said->setting->kind == SETTING_NO_EFFECT)
            config_warning(report, "%s: %s has no effect in this version", said->origin,
                           said->name);
        else if (said->is_prefixed)
            config_warning(report,
                           "%s: %s has no effect: in this version it cannot be set for one "
                           "listener",
                           said->origin, said->name);
    }
    return 0;
}

static int store(struct config *config, const struct setting *setting, const char *value)
{
    char sentence[256];
    int64_t number;
    void *field = (char *)config + setting->field;
    if (setting_check(setting, value, &number, sentence, sizeof sentence) != 0)
        return 0; /* check_values() told. */
    if (setting->type == SETTING_STRING) {
        char **text = field;
        if (value[0] == '\0') return 0;
        *text = mem_strdup(value);
        return *text == NULL ? ERR_NO_MEMORY : 0;
    }
    if (setting->type == SETTING_DOUBLE)
        *(double *)field = strtod(value, NULL); /* As it was checked. */
    else if (setting->type == SETTING_BOOLEAN)
        *(bool *)field = number != 0;
    else if (setting->field_size == sizeof(int32_t))
        *(int32_t *)field = (int32_t)number;
    else
        *(int64_t *)field = number;
    return 0;
}

static int fill_served(struct config *config, const struct settings *settings)
{
    const struct setting *setting;
    int err = 0;
    for (unsigned i = 0; err == 0 && (setting = setting_at(i)) != NULL; i++) {
        if (setting->kind != SETTING_SERVED) continue;
        const char *value = settings_value(settings, setting->name);
        if (value != NULL) err = store(config, setting, value);
    }
    return err;
}

/* ---- together: who we are ---- */

static int64_t number_of(const struct settings *settings, const char *name)
{
    char sentence[256];
    int64_t number = 0;
    setting_check(setting_find(name, NULL), settings_value(settings, name), &number, sentence,
                  sizeof sentence);
    return number;
}

static void fill_node_id(struct config *config, const struct settings *settings,
                         struct config_report *report)
{
    int32_t node_id = (int32_t)number_of(settings, "node.id");
    int32_t broker_id = (int32_t)number_of(settings, "broker.id");
    config->node_id = node_id;
    if (broker_id < 0) return;
    config->node_id = broker_id;
    if (settings_find(settings, "node.id") != NULL && node_id != broker_id)
        config_problem(report, "node.id is %d and broker.id is %d; they mean the same", node_id,
                       broker_id);
}

static unsigned item_count(const char *list)
{
    struct str item;
    unsigned count = 0;
    while (setting_next_item(&list, &item))
        count++;
    return count;
}

/* A node that started a quorum of its own beside the one it was told of would lose data later. */
static void check_quorum(const struct config *config, const struct settings *settings,
                         struct config_report *report)
{
    const char *voters = settings_value(settings, "controller.quorum.voters");
    const char *servers = settings_value(settings, "controller.quorum.bootstrap.servers");
    if (item_count(voters) > 1 || item_count(servers) > 1) {
        config_problem(report, "%s names several nodes, and this version is a quorum of one node",
                       item_count(voters) > 1 ? "controller.quorum.voters"
                                              : "controller.quorum.bootstrap.servers");
        return;
    }
    char us[16];
    int length = snprintf(us, sizeof us, "%d@", config->node_id);
    struct str voter;
    if (setting_next_item(&voters, &voter) &&
        (voter.length <= length || memcmp(voter.data, us, (size_t)length) != 0))
        config_problem(report, "controller.quorum.voters must be this node itself, %shost:port",
                       us);
}

/* ---- together: where the data is ---- */

static bool has_log_dir(const struct config *config, struct str path)
{
    for (unsigned i = 0; i < config->log_dir_count; i++)
        if (str_equals_text(path, config->log_dirs[i])) return true;
    return false;
}

static int fill_log_dirs(struct config *config, const struct settings *settings,
                         struct config_report *report)
{
    const struct setting_value *said = settings_find(settings, "log.dirs");
    if (said == NULL) said = settings_find(settings, "log.dir");
    const char *list = said != NULL ? said->value : config->dev ? "./sluice-data" : NULL;
    if (list == NULL) {
        config_problem(report,
                       "log.dirs is not set: say where the data is to be kept (or start with "
                       "--dev, which takes ./sluice-data)");
        return 0;
    }
    config->log_dirs = mem_calloc(item_count(list) + 1, sizeof *config->log_dirs);
    if (config->log_dirs == NULL) return ERR_NO_MEMORY;
    struct str path;
    while (setting_next_item(&list, &path)) {
        char shown[128];
        trace_escape(shown, sizeof shown, path);
        if (path.length == 0) {
            config_problem(report, "log.dirs names an empty path");
        } else if (has_log_dir(config, path)) {
            config_problem(report, "log.dirs names %s twice", shown);
        } else {
            char *copy = mem_printf("%.*s", path.length, path.data);
            if (copy == NULL) return ERR_NO_MEMORY;
            config->log_dirs[config->log_dir_count++] = copy;
        }
    }
    if (config->log_dir_count == 0)
        config_problem(report, "log.dirs names no folder: say where the data is to be kept");
    return 0;
}

/* ---- together: what topics get ---- */

/* Kafka's precedence: ms before minutes before hours. */
static bool is_outdone(const struct settings *settings, const struct setting *setting)
{
    for (unsigned i = 0; i < settings->count; i++) {
        const struct setting *other = settings->items[i].setting;
        if (other->kind == SETTING_TOPIC_DEFAULT && !settings->items[i].is_prefixed &&
            strcmp(other->topic_setting, setting->topic_setting) == 0 &&
            (other->unit < setting->unit || (other->unit == setting->unit && other < setting)))
            return true;
    }
    return false;
}

/* The value in the topic's unit; NULL when out of memory. */
static char *topic_value(const struct setting_value *said, int64_t number)
{
    const struct setting *setting = said->setting;
    bool is_retention = strcmp(setting->topic_setting, "retention.ms") == 0;
    if (is_retention && number < 0) return mem_strdup("-1"); /* As Kafka: no limit. */
    if (setting->unit == 1) return mem_strdup(said->value);
    return mem_printf("%lld",
                      (long long)(number * setting->unit)); /* An int times at most an hour. */
}

static int add_topic_default(struct config *config, const struct setting_value *said,
                             struct config_report *report)
{
    const char *topic_setting = said->setting->topic_setting;
    char sentence[256];
    int64_t number;
    if (setting_check(said->setting, said->value, &number, sentence, sizeof sentence) != 0)
        return 0; /* check_values() told. */
    char *value = topic_value(said, number);
    char *name = mem_strdup(topic_setting);
    int err = name == NULL || value == NULL ? ERR_NO_MEMORY : 0;
    if (err == 0 &&
        topic_settings_check(str_from(name), str_from(value), sentence, sizeof sentence) != 0) {
        config_problem(report, "%s: %s: %s", said->origin, said->name, sentence);
    } else if (err == 0) {
        unsigned at = 2 * config->topic_default_count++;
        config->topic_defaults[at] = name;
        config->topic_defaults[at + 1] = value;
        return 0;
    }
    mem_free(name);
    mem_free(value);
    return err;
}

static int fill_topic_defaults(struct config *config, const struct settings *settings,
                               struct config_report *report)
{
    config->topic_defaults = mem_calloc(settings->count + 1, 2 * sizeof *config->topic_defaults);
    int err = config->topic_defaults == NULL ? ERR_NO_MEMORY : 0;
    for (unsigned i = 0; err == 0 && i < settings->count; i++) {
        const struct setting_value *said = &settings->items[i];
        if (said->setting->kind == SETTING_TOPIC_DEFAULT && !said->is_prefixed &&
            !is_outdone(settings, said->setting))
            err = add_topic_default(config, said, report);
    }
    return err;
}

/* ---- what was said ---- */

static int keep_said(struct config *config, const struct settings *settings)
{
    config->said = mem_calloc(settings->count + 1, 2 * sizeof *config->said);
    int err = config->said == NULL ? ERR_NO_MEMORY : 0;
    for (unsigned i = 0; err == 0 && i < settings->count; i++) {
        const struct setting_value *said = &settings->items[i];
        if (said->is_prefixed) continue;
        char **pair = &config->said[2 * config->said_count++];
        pair[0] = mem_strdup(said->setting->name);
        pair[1] = mem_strdup(said->value);
        if (pair[0] == NULL || pair[1] == NULL) err = ERR_NO_MEMORY;
    }
    return err;
}

/* ---- all ---- */

#define LEAST_REQUEST_BYTES  (INT64_C(1) << 20)
#define LEAST_UNSYNCED_BYTES (INT64_C(1) << 20)

static void fill_request_bytes(struct config *config, const struct machine *machine,
                               struct config_report *report)
{
    if (config->queued_max_request_bytes == -1)
        config->queued_max_request_bytes = machine_request_bytes(machine);
    else if (config->queued_max_request_bytes < LEAST_REQUEST_BYTES)
        config_problem(report, "queued.max.request.bytes must be -1 or at least %lld",
                       (long long)LEAST_REQUEST_BYTES);
}

static void check_cleaner(const struct config *config, struct config_report *report)
{
    if (!config->cleaner_enable) return;
    if (config->cleaner_map_bytes < LEAST_KEY_BYTES_OF_THREAD * config->cleaner_threads)
        config_problem(
            report, "log.cleaner.dedupe.buffer.size must be at least %lld for each of %d threads",
            (long long)LEAST_KEY_BYTES_OF_THREAD, config->cleaner_threads);
}

static void check_connections(const struct config *config, struct config_report *report)
{
    if (config->max_connections_per_ip == 0 && config->max_connections_per_ip_overrides == NULL)
        config_problem(report, "max.connections.per.ip can be 0 only if "
                               "max.connections.per.ip.overrides lets somebody in");
}

static void fill_unsynced_bytes(struct config *config, const struct machine *machine,
                                struct config_report *report)
{
    if (config->unsynced_max_bytes == -1)
        config->unsynced_max_bytes = machine_unsynced_bytes(machine);
    else if (config->unsynced_max_bytes < LEAST_UNSYNCED_BYTES)
        config_problem(report, "sluice.unsynced.max.bytes must be -1 or at least %lld",
                       (long long)LEAST_UNSYNCED_BYTES);
}

static void check_admin(const struct config *config, struct config_report *report)
{
    struct admin_address address;
    char why[256];
    if (config->admin_listener != NULL &&
        !admin_address_read(config->admin_listener, &address, why, sizeof why))
        config_problem(report, "sluice.admin.listener %s", why);
}

static int fill(struct config *config, const struct settings *settings,
                struct config_report *report)
{
    char machine_name[256] = "";
    if (gethostname(machine_name, sizeof machine_name - 1) != 0 || machine_name[0] == '\0')
        strcpy(machine_name, "localhost");
    struct machine machine;
    machine_read(&machine, "");
    config->network_threads = machine_network_threads(&machine);
    config->io_threads = machine_io_threads(&machine);
    config->listen_backlog_size = SOMAXCONN;
    config->default_replication_factor = 1; /* Others are refused: nothing is replicated yet. */

    int err = check_values(settings, report);
    if (err == 0) err = fill_served(config, settings);
    if (err == 0) {
        fill_request_bytes(config, &machine, report);
        check_cleaner(config, report);
        check_connections(config, report);
        check_admin(config, report);
        fill_unsynced_bytes(config, &machine, report);
        fill_node_id(config, settings, report);
        check_quorum(config, settings, report);
        err = fill_log_dirs(config, settings, report);
    }
    if (err == 0) err = fill_topic_defaults(config, settings, report);
    if (err == 0) err = keep_said(config, settings);
    if (err == 0)
        err = listeners_read(settings, config->dev, machine_name, &config->listeners,
                             &config->listener_count, report);
    return err;
}

static bool print_what_is_asked(const struct arguments *arguments)
{
    if (arguments->help)
        config_print_help(stdout);
    else if (arguments->version)
        config_print_version(stdout);
    else if (arguments->print)
        config_print_table(stdout);
    else if (arguments->print_man)
        config_print_man(stdout);
    else
        return false;
    return true;
}

int config_load(struct config *config, int argc, char **argv, char **environment,
                enum config_action *action, char *why, size_t why_size)
{
    struct config_report report = { .why = why, .why_size = why_size };
    struct arguments arguments = { 0 };
    read_arguments(argc, argv, &arguments, &report);
    int err = config_report_end(&report);
    if (err != 0) return err;
    if (print_what_is_asked(&arguments)) {
        *config = (struct config){ 0 };
        *action = CONFIG_EXIT_OK;
        return 0;
    }

    struct config made = {
        .dev = arguments.dev,
        .adopt = arguments.adopt,
        .argc = argc,
        .argv = argv,
        .environment = environment,
    };
    struct settings settings;
    settings_init(&settings);
    report.is_check = arguments.check;
    err = read_settings(&settings, &arguments, argc, argv, environment, &report);
    if (err == 0) err = fill(&made, &settings, &report);
    bool has_problems = report.problem_count > 0;
    if (err == 0)
        err = config_report_end(&report);
    else
        snprintf(why, why_size, "%s", error_text(err));
    if (arguments.check && err == ERR_USAGE) {
        puts(why); /* It was asked for, so it is no mistake of the command line. */
        err = 0;
    }
    settings_close(&settings);
    made.warnings = report.warnings;
    made.warning_count = report.warning_count;

    if (err == 0 && arguments.check && !has_problems) puts("configuration is fine");
    if (err != 0 || arguments.check) config_close(&made); /* Leaves it empty. */
    if (err == 0) {
        *config = made;
        *action = !arguments.check ? CONFIG_RUN
                  : has_problems   ? CONFIG_EXIT_PROBLEMS
                                   : CONFIG_EXIT_OK;
    }
    return err;
}

void config_tell_warnings(const struct config *config)
{
    for (unsigned i = 0; i < config->warning_count; i++)
        trace(TRACE_WARN, "config", "%s", config->warnings[i]);
}

int config_read_again(const struct config *config, struct config *fresh, char *why, size_t why_size)
{
    enum config_action action;
    return config_load(fresh, config->argc, config->argv, config->environment, &action, why,
                       why_size);
}

void config_close(struct config *config)
{
    for (unsigned i = 0; i < config->log_dir_count; i++)
        mem_free(config->log_dirs[i]);
    mem_free(config->log_dirs);
    mem_free(config->metadata_log_dir);
    for (unsigned i = 0; i < 2 * config->topic_default_count; i++)
        mem_free(config->topic_defaults[i]);
    mem_free(config->topic_defaults);
    for (unsigned i = 0; i < 2 * config->said_count; i++)
        mem_free(config->said[i]);
    mem_free(config->said);
    listeners_free(config->listeners, config->listener_count);
    for (unsigned i = 0; i < config->warning_count; i++)
        mem_free(config->warnings[i]);
    mem_free(config->warnings);
    mem_free(config->rack);
    mem_free(config->admin_listener);
    mem_free(config->log_level);
    mem_free(config->log_format);
    mem_free(config->log_file);
    mem_free(config->max_connections_per_ip_overrides);
    *config = (struct config){ 0 };
}

// SPDX-License-Identifier: Apache-2.0
#include "config_print.h"

#include <string.h>

#include "config_rows.h"
#include "roff.h"
#include "setting.h"
#include "topic_settings.h"

/* Lines are broken here as help shows them. */
static const struct {
    const char *name, *value, *text;
} options[] = {
    { "--dev", "",
      "for development: listens on localhost:9092 only, keeps its data in\n"
      "./sluice-data; settings that are given go before this" },
    { "--adopt", "",
      "take over the partitions that lie in log.dirs and are not known here:\n"
      "a stopped Kafka's, for example; without it they are left alone" },
    { "--set", "NAME=VALUE", "one setting; may be given again" },
    { "--check-config", "",
      "tell everything that is wrong with the settings, and end: exit status 0\n"
      "if nothing is, 1 if something is, 2 if the command line is" },
    { "--print-configuration", "", "print all settings as Markdown, and end" },
    { "--print-man", "", "print the manual page, and end" },
    { "--version", "", "print the version, and end" },
    { "--help", "", "print this, and end" },
};

#define OPTION_COUNT (sizeof options / sizeof *options)

static const char purpose[] = "A message broker that speaks Kafka's protocol. FILE is a "
                              "server.properties with Kafka's names\n"
                              "of settings.\n";
static const char sources[] =
    "A setting is taken from --set, or from the environment (log.retention.ms is\n"
    "SLUICE_LOG_RETENTION_MS there), or from FILE, in this order.\n";
static const char examples[] =
    "  sluiced --dev\n"
    "  sluiced /etc/sluice/server.properties --set log.dirs=/srv/a,/srv/b\n";

void config_print_help(FILE *out)
{
    fprintf(out, "Usage: sluiced [OPTION…] [FILE]\n\n%s\n", purpose);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        char head[40];
        snprintf(head, sizeof head, "%s%s%s", options[i].name, options[i].value[0] ? " " : "",
                 options[i].value);
        const char *line = options[i].text, *end = strchr(line, '\n');
        int length = (int)(end == NULL ? strlen(line) : (size_t)(end - line));
        fprintf(out, "  %-21s  %.*s\n", head, length, line);
        if (end != NULL) fprintf(out, "%25s%s\n", "", end + 1); /* no text has more than two */
    }
    fprintf(out, "\n%s\nExamples:\n%s", sources, examples);
}

/* What the settings mean has a document of its own; the page lists those that are served. */
void config_print_man(FILE *out)
{
    const struct setting *setting;
    roff_head(out, "SLUICED", "8", PACKAGE_VERSION);
    roff_section(out, ".SH", "NAME");
    fputs("sluiced \\- a message broker that speaks Kafka\\(aqs protocol\n", out);
    roff_section(out, ".SH", "SYNOPSIS");
    fputs("\\fBsluiced\\fR [\\fIOPTION\\fR ...] [\\fIFILE\\fR]\n", out);
    roff_section(out, ".SH", "DESCRIPTION");
    roff_text(out, purpose);
    fputs(".PP\n", out);
    roff_text(out, sources);
    roff_section(out, ".SH", "OPTIONS");
    for (size_t i = 0; i < OPTION_COUNT; i++)
        roff_entry(out, options[i].name, options[i].value, options[i].text);
    roff_section(out, ".SH", "SETTINGS");
    for (unsigned i = 0; (setting = setting_at(i)) != NULL; i++)
        if (setting->kind == SETTING_SERVED || setting->kind == SETTING_TOGETHER)
            roff_entry(out, setting->name,
                       setting->default_value == NULL ? "" : setting->default_value, setting->text);
    roff_section(out, ".SH", "SIGNALS");
    roff_entry(out, "SIGTERM, SIGINT", "", "answers what can be answered, syncs, and ends");
    roff_entry(out, "SIGHUP", "", "reads the settings again, and opens the log file anew");
    roff_section(out, ".SH", "EXIT STATUS");
    roff_entry(out, "0", "", "it was asked to stop");
    roff_entry(out, "1", "", "it could not start, or had to stop; the last line says why");
    roff_entry(out, "2", "", "the settings or the command line are wrong; one sentence says how");
    roff_entry(out, "3", "", "the disk that holds the metadata failed");
    roff_section(out, ".SH", "EXAMPLES");
    roff_lines(out, examples);
    roff_section(out, ".SH", "SEE ALSO");
    fputs("\\fBsluice\\fR(1)\n", out);
}

void config_print_version(FILE *out)
{
    fputs("sluiced " PACKAGE_VERSION "\n", out);
}

/* A | would end the cell. */
static void print_code(FILE *out, const char *text)
{
    if (text == NULL || *text == '\0') {
        fputs(text == NULL ? "–" : "empty", out);
        return;
    }
    fputc('`', out);
    for (; *text != '\0'; text++)
        fputs(*text == '|' ? "\\|" : (char[]){ *text, '\0' }, out);
    fputc('`', out);
}

static void print_valid(FILE *out, const char *valid)
{
    const char *dots = strstr(valid, "..");
    if (valid[0] == '\0')
        fputs("", out);
    else if (dots == NULL)
        print_code(out, valid);
    else if (dots[2] == '\0')
        fprintf(out, "from %.*s", (int)(dots - valid), valid);
    else
        fprintf(out, "%.*s to %s", (int)(dots - valid), valid, dots + 2);
}

static void print_head(FILE *out, const struct setting *setting)
{
    fprintf(out, "| `%s` | %s | ", setting->name, setting_type_name(setting->type));
    print_code(out, setting->default_value);
    fputs(" | ", out);
    print_valid(out, setting->valid);
    fputs(" | ", out);
}

static void print_served(FILE *out)
{
    const struct setting *setting;
    fputs("\n## Settings of the broker\n\n"
          "| name | type | default | valid | meaning |\n|---|---|---|---|---|\n",
          out);
    for (unsigned i = 0; (setting = setting_at(i)) != NULL; i++) {
        if (setting->kind != SETTING_SERVED && setting->kind != SETTING_TOGETHER) continue;
        print_head(out, setting);
        fprintf(out, "%s |\n", setting->text);
    }
}

static bool topic_setting_is_served(const char *name)
{
    struct topic_setting_row row;
    for (unsigned i = 0; topic_settings_row(i, &row); i++)
        if (strcmp(row.name, name) == 0) return row.is_served;
    return false;
}

static void print_topic_defaults(FILE *out)
{
    const struct setting *setting;
    fputs(
        "\n## What a topic gets that says nothing itself\n\n"
        "Of several for one setting of a topic the one with the finest unit counts: `.ms` before\n"
        "`.minutes` before `.hours`. Where \"no effect\" stands, it is kept and told, and nothing "
        "acts\n"
        "on it in this version.\n\n"
        "| name | type | default | valid | setting of the topic | |\n|---|---|---|---|---|---|\n",
        out);
    for (unsigned i = 0; (setting = setting_at(i)) != NULL; i++) {
        if (setting->kind != SETTING_TOPIC_DEFAULT) continue;
        print_head(out, setting);
        fprintf(out, "`%s`", setting->topic_setting);
        if (setting->unit != 1) fprintf(out, " × %lld", (long long)setting->unit);
        fprintf(out, " | %s |\n",
                topic_setting_is_served(setting->topic_setting) ? "" : "no effect");
    }
}

static void print_dynamic(FILE *out)
{
    const struct setting *setting;
    fputs(
        "\n## At run time\n\n"
        "Clients can change these (IncrementalAlterConfigs), for one broker or for all. What is "
        "set "
        "so counts\n"
        "at once, is kept in the metadata, and wins over what is said at the start: first what one "
        "broker\n"
        "has, then what all have.\n\n",
        out);
    for (unsigned i = 0; (setting = setting_at(i)) != NULL; i++)
        if (config_rows_is_dynamic(setting))
            fprintf(out, "- `%s`%s\n", setting->name,
                    setting->kind == SETTING_NO_EFFECT ? " (no effect in this version)" : "");
}

static void print_refused(FILE *out)
{
    const struct setting *setting;
    fputs("\n## Refused\n\n"
          "Only the default is accepted, since to go on without a word would weaken a promise.\n\n"
          "| name | the only value | why |\n|---|---|---|\n",
          out);
    for (unsigned i = 0; (setting = setting_at(i)) != NULL; i++) {
        if (setting->kind != SETTING_REFUSED) continue;
        fprintf(out, "| `%s` | ", setting->name);
        print_code(out, setting->default_value);
        fprintf(out, " | %s |\n", setting->text);
    }
}

static void print_without_effect(FILE *out)
{
    const struct setting *setting;
    fputs("\n## Without effect\n\n"
          "Kafka has these settings. Here they do nothing, or nothing yet: they are accepted, with "
          "one\n"
          "warning each.\n\n",
          out);
    for (unsigned i = 0; (setting = setting_at(i)) != NULL; i++)
        if (setting->kind == SETTING_NO_EFFECT) fprintf(out, "- `%s`\n", setting->name);
}

void config_print_table(FILE *out)
{
    fputs("# Configuration\n\n"
          "Printed by `sluiced --print-configuration`; change `src/broker/config_table.h`, not "
          "this.\n\n"
          "Settings have Kafka's names. They are taken from `--set name=value`, or from the "
          "environment, or\n"
          "from the properties file that the command line names, in this order. A variable of the "
          "environment\n"
          "is `SLUICE_` and the name in capitals with `_` for `.`: `SLUICE_LOG_RETENTION_MS`. A "
          "name that is\n"
          "not in this file is refused. `sluiced --check-config` tells what is wrong without "
          "starting.\n\n"
          "`listener.name.<name>.` before a name sets it for one listener. Nothing can be set so "
          "in this\n"
          "version: where the setting is one of those refused below, so is this; otherwise it is "
          "accepted with\n"
          "a warning.\n",
          out);
    print_served(out);
    print_topic_defaults(out);
    print_dynamic(out);
    print_refused(out);
    print_without_effect(out);
}

// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdio.h>
#include <string.h>

#include "reload.h"
#include "trace.h"

static char path[256];
static char said[1024];
static struct config config;
static struct reload reload;

static void note_line(void *context, const char *line)
{
    (void)context;
    snprintf(said, sizeof said, "%s", line + 25); /* Behind the time. */
}

static void file_says(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void broker_started_with(const char *text)
{
    enum config_action action;
    char why[256] = "";
    static char *argv[] = { (char *)"sluiced", path, NULL };
    static char *environment[] = { NULL };
    snprintf(path, sizeof path, "%s/server.properties", test_folder());
    file_says(text);
    assert_int_equal(config_load(&config, 2, argv, environment, &action, why, sizeof why), 0);
    reload_init(&reload, &config);
    trace_set_sink(note_line, NULL);
}

static void sighup_comes(void)
{
    said[0] = '\0';
    reload_now(&reload);
}

static void broker_ends(void)
{
    trace_set_sink(NULL, NULL);
    trace_set_level(TRACE_INFO);
    trace_set_format(TRACE_TEXT);
    reload_close(&reload);
    config_close(&config);
}

/* Setting: sluice.log.level */
TEST(sighup_changes_what_can_change_and_names_the_rest)
{
    broker_started_with("log.dirs=/a\n");
    file_says("log.dirs=/a\nsluice.log.level=debug\n");
    sighup_comes();
    assert_string_equal(said, "INFO config SIGHUP: changed: sluice.log.level");
    assert_int_equal(trace_level(), TRACE_DEBUG);

    file_says("log.dirs=/b\nnode.id=7\nsluice.log.level=warn\n");
    sighup_comes();
    assert_string_equal(said, "WARN config SIGHUP: changed: sluice.log.level; to be changed by a "
                              "restart: log.dirs, node.id");
    assert_int_equal(trace_level(), TRACE_WARN);

    file_says("log.dirs=/a\n"); /* The default again. */
    sighup_comes();
    assert_string_equal(said, "INFO config SIGHUP: changed: sluice.log.level");
    sighup_comes();
    assert_string_equal(said, "INFO config SIGHUP: changed: nothing");
    broker_ends();
}

TEST(a_mistake_changes_nothing)
{
    broker_started_with("log.dirs=/a\nsluice.log.level=debug\n");
    sighup_comes();
    file_says("log.dirs=/a\nsluice.log.level=loud\n");
    sighup_comes();
    assert_non_null(strstr(said, "ERROR config SIGHUP: the settings stay as they are: "));
    assert_non_null(strstr(said, "sluice.log.level"));
    assert_int_equal(trace_level(), TRACE_DEBUG);
    broker_ends();
}

TEST(json_begins_with_the_line_that_says_so)
{
    broker_started_with("log.dirs=/a\n");
    file_says("log.dirs=/a\nsluice.log.format=json\n");
    sighup_comes();
    assert_non_null(strstr(said, "\"message\":\"SIGHUP: changed: sluice.log.format\"}"));
    broker_ends();
}

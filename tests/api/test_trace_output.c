// SPDX-License-Identifier: Apache-2.0
/* What the broker says about itself, as those read it who collect it. */

#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api_calls.h"

/* How many lines of the file hold `text`; each must be a JSON object with the four fields. */
static unsigned count_lines(const char *path, const char *text)
{
    static char line[8192];
    unsigned count = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL) return 0;
    while (fgets(line, sizeof line, file) != NULL) {
        const char *time, *level, *area, *message;
        json_t *object = json_loads(line, 0, NULL);
        assert_non_null(object);
        assert_int_equal(json_unpack(object, "{s:s,s:s,s:s,s:s}", "time", &time, "level", &level,
                                     "area", &area, "message", &message),
                         0);
        if (strstr(message, text) != NULL) count++;
        json_decref(object);
    }
    fclose(file);
    return count;
}

static void await_line(const char *path, const char *text)
{
    for (int waited_ms = 0; count_lines(path, text) == 0; waited_ms++) {
        if (waited_ms > 30000) fail_msg("%s does not say \"%s\"", path, text);
        poll(NULL, 0, 1);
    }
}

/* Setting: sluice.log.file, sluice.log.format */
TEST(lines_go_to_a_file_in_json_and_to_a_new_one_after_sighup)
{
    struct test_broker broker;
    char setting[300], path[256], moved[300];
    snprintf(path, sizeof path, "%s/broker.log", test_folder());
    snprintf(moved, sizeof moved, "%s.1", path);
    snprintf(setting, sizeof setting, "sluice.log.file=%s", path);
    test_broker_open(&broker, (const char *const[]){ setting, "sluice.log.format=json", NULL });
    await_line(path, "ready: node 1");

    assert_int_equal(rename(path, moved), 0);
    kill(broker.pid, SIGHUP);
    await_line(path, "SIGHUP: changed: nothing");
    test_broker_stop(&broker);
    assert_int_equal(count_lines(path, "stopping: signal 15"), 1);
    assert_int_equal(count_lines(moved, "stopping"), 0);
    assert_int_equal(count_lines(moved, "SIGHUP"), 0);
}

TEST(a_log_file_that_cannot_be_opened_is_a_reason_not_to_start)
{
    struct test_broker broker;
    test_broker_prepare(&broker,
                        (const char *const[]){ "sluice.log.file=/nowhere/broker.log", NULL });
    assert_int_equal(test_broker_ends_by_itself(&broker), 1);
}

/* Setting: sluice.log.slow.request.ms */
TEST(a_request_as_slow_as_was_said_gets_a_line)
{
    struct test_broker broker;
    char file[300], path[256];
    snprintf(path, sizeof path, "%s/broker.log", test_folder());
    snprintf(file, sizeof file, "sluice.log.file=%s", path);
    test_broker_open(&broker, (const char *const[]){ file, "sluice.log.format=json",
                                                     "sluice.log.slow.request.ms=0", NULL });
    struct test_client *client = client_open(broker.port);
    topic_new(client, 1);
    await_line(path, "slow: requests that came together: Metadata 1: ");
    await_line(path, "api=19 v7 corr="); /* The quorum is asked, so this one ends later. */
    client_close(client);
    test_broker_stop(&broker);
    unlink(path);

    test_broker_open(&broker, (const char *const[]){ file, "sluice.log.format=json",
                                                     "sluice.log.slow.request.ms=-1", NULL });
    client = client_open(broker.port);
    topic_new(client, 1);
    client_close(client);
    test_broker_stop(&broker);
    assert_int_equal(count_lines(path, "stopping: signal 15"), 1);
    assert_int_equal(count_lines(path, "slow: "), 0);
}

// SPDX-License-Identifier: Apache-2.0
/* What the admin port tells of a broker, and that nobody can hold it up there. */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "api_calls.h"

#define ANY_PORT   "sluice.admin.listener=127.0.0.1:0"
#define PATIENCE_S 30

static struct test_broker broker;
static uint16_t admin_port;
static struct test_client *client;
static char answer[1 << 20]; /* Of the last request, with its headers. */

/* ---- HTTP ---- */

/* The broker's line says which port it is. */
static uint16_t find_port(void)
{
    static char text[1 << 16];
    static const char mark[] = "admin port on 127.0.0.1 port ";
    char path[256];
    snprintf(path, sizeof path, "%s/output", broker.folder);
    FILE *output = fopen(path, "r");
    assert_non_null(output);
    text[fread(text, 1, sizeof text - 1, output)] = '\0';
    fclose(output);
    const char *at = strstr(text, mark);
    assert_non_null(at);
    return (uint16_t)atoi(at + sizeof mark - 1);
}

static void broker_begins(const char *setting)
{
    test_broker_open(&broker, (const char *const[]){ ANY_PORT, setting, NULL });
    admin_port = find_port();
    client = client_open(broker.port);
}

static void broker_ends(void)
{
    client_close(client);
    test_broker_stop(&broker);
}

static int dial(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(admin_port) };
    struct timeval patience = { .tv_sec = PATIENCE_S };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

/* All until the other side closes; the status. */
static int read_answer(int fd)
{
    size_t length = 0;
    ssize_t got;
    while ((got = recv(fd, answer + length, sizeof answer - 1 - length, 0)) > 0)
        length += (size_t)got;
    answer[length] = '\0';
    close(fd);
    return strncmp(answer, "HTTP/1.1 ", 9) == 0 ? atoi(answer + 9) : -1;
}

static int ask(const char *method, const char *path)
{
    char request[256];
    int fd = dial();
    int length = snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
                          method, path);
    assert_int_equal(send(fd, request, (size_t)length, MSG_NOSIGNAL), length);
    return read_answer(fd);
}

/* ---- metrics ---- */

static void read_metrics(void)
{
    assert_int_equal(ask("GET", "/metrics"), 200);
}

/* The value of a series as it is printed, of the last read_metrics(); -1: it is not there. */
static double series(const char *name)
{
    char line[512];
    snprintf(line, sizeof line, "\n%s ", name);
    const char *at = strstr(answer, line);
    return at == NULL ? -1 : strtod(at + strlen(line), NULL);
}

static double topic_series(const char *name, struct topic topic)
{
    char full[512];
    snprintf(full, sizeof full, "%s{topic=\"%.*s\"}", name, topic.name.length, topic.name.data);
    return series(full);
}

static double log_series(const char *name, struct topic topic, int partition)
{
    char full[512];
    snprintf(full, sizeof full, "%s{topic=\"%.*s\",partition=\"%d\"}", name, topic.name.length,
             topic.name.data, partition);
    return series(full);
}

/* ---- tests ---- */

TEST(a_broker_that_serves_is_alive_and_ready)
{
    broker_begins(NULL);
    assert_int_equal(ask("GET", "/health/live"), 200);
    assert_non_null(strstr(answer, "\r\n\r\nalive\n"));
    assert_int_equal(ask("GET", "/health/ready"), 200);
    assert_non_null(strstr(answer, "\r\n\r\nready\n"));
    assert_int_equal(ask("HEAD", "/health/ready"), 200);
    assert_null(strstr(answer, "ready\n"));
    read_metrics();
    assert_true(series("sluice_ready") == 1);
    assert_true(series("sluice_quorum_leader_id") == 1);
    broker_ends();
}

TEST(what_is_produced_and_fetched_is_counted)
{
    broker_begins(NULL);
    struct topic topic = topic_new(client, 2);
    read_metrics();
    assert_true(topic_series("sluice_topic_appended_records_total", topic) == 0);
    assert_true(log_series("sluice_log_end_offset", topic, 1) == 0);
    assert_true(series("sluice_request_seconds_count{api=\"Produce\"}") == 0);
    assert_true(series("sluice_request_seconds_count{api=\"Fetch\"}") == 0);

    produce(client, topic, 1, batch_build(&client->arena, (struct batch){ .record_count = 5 }));
    produce(client, topic, 1, batch_build(&client->arena, (struct batch){ .record_count = 2 }));
    struct fetch_response_partition fetched = fetch(client, topic, 1, 0);
    read_metrics();
    assert_true(topic_series("sluice_topic_appended_records_total", topic) == 7);
    assert_true(topic_series("sluice_topic_appended_batches_total", topic) == 2);
    assert_true(topic_series("sluice_topic_appended_bytes_total", topic) == fetched.records.length);
    assert_true(topic_series("sluice_topic_fetched_bytes_total", topic) == fetched.records.length);
    assert_true(topic_series("sluice_topic_size_bytes", topic) == fetched.records.length);
    assert_true(log_series("sluice_log_end_offset", topic, 1) == 7);
    assert_true(log_series("sluice_log_high_watermark", topic, 1) == 7);
    assert_true(log_series("sluice_log_end_offset", topic, 0) == 0);
    assert_true(series("sluice_request_seconds_count{api=\"Produce\"}") == 2);
    assert_true(series("sluice_request_seconds_bucket{api=\"Produce\",le=\"+Inf\"}") == 2);
    assert_true(series("sluice_request_seconds_count{api=\"Fetch\"}") == 1);
    assert_true(series("sluice_logs{state=\"serving\"}") == 2);
    broker_ends();
}

TEST(a_request_that_closes_its_connection_is_counted_as_refused)
{
    static const uint8_t no_api[] = { 0, 0, 0, 10, 0x27, 0x0f, 0, 0, 0, 0, 0, 1, 0xff, 0xff };
    broker_begins(NULL);
    struct test_client *other = client_open(broker.port);
    client_send_bytes(other, no_api, sizeof no_api);
    assert_broker_closes(other);
    client_close(other);
    read_metrics();
    assert_true(series("sluice_requests_refused_total{api=\"unknown\"}") == 1);
    assert_true(series("sluice_requests_refused_total{api=\"Produce\"}") == 0);
    broker_ends();
}

/* Setting: sluice.metrics.series.max */
TEST(topics_and_logs_beyond_the_limit_are_left_out_and_counted)
{
    broker_begins("sluice.metrics.series.max=3");
    struct topic topics[4];
    for (int i = 0; i < 4; i++)
        topics[i] = topic_new(client, 2);
    read_metrics();
    assert_true(series("sluice_topics_left_out") == 1);
    assert_true(series("sluice_logs_left_out") == 3);
    assert_true(series("sluice_topics") == 4);
    unsigned told = 0;
    for (int i = 0; i < 4; i++)
        if (topic_series("sluice_topic_size_bytes", topics[i]) >= 0) told++;
    assert_int_equal(told, 3);
    broker_ends();
}

/* Does the document have a row `| `name` | type |` for it? */
static void assert_is_documented(const char *document, const char *name, const char *type)
{
    char row[256];
    snprintf(row, sizeof row, "\n| `%s` | %s |", name, type);
    if (strstr(document, row) == NULL) fail_msg("docs/operations.md has no row:%s", row);
}

static void assert_is_printed(const char *name, size_t length)
{
    char line[256];
    snprintf(line, sizeof line, "\n# TYPE %.*s ", (int)length, name);
    if (strstr(answer, line) == NULL)
        fail_msg("docs/operations.md has %.*s, which is not printed", (int)length, name);
}

TEST(the_document_has_the_metrics_that_there_are_and_no_others)
{
    static char document[1 << 16];
    FILE *file = fopen(test_data("../docs/operations.md"), "r");
    assert_non_null(file);
    document[fread(document, 1, sizeof document - 1, file)] = '\0';
    fclose(file);
    broker_begins(NULL);
    topic_new(client, 1);
    read_metrics();
    unsigned families = 0;
    for (const char *at = answer; (at = strstr(at, "\n# TYPE ")) != NULL; at++, families++) {
        char name[128], type[16];
        assert_int_equal(sscanf(at, "\n# TYPE %127s %15s", name, type), 2);
        assert_is_documented(document, name, type);
    }
    assert_true(families > 30);
    for (const char *at = document; (at = strstr(at, "\n| `")) != NULL; at++) {
        const char *name = at + 4;
        if (strncmp(name, "sluice_", 7) == 0 || strncmp(name, "process_", 8) == 0)
            assert_is_printed(name, strcspn(name, "`"));
    }
    broker_ends();
}

TEST(only_what_is_there_can_be_had)
{
    broker_begins(NULL);
    assert_int_equal(ask("GET", "/"), 404);
    assert_int_equal(ask("GET", "/metrics/"), 404);
    assert_int_equal(ask("POST", "/metrics"), 405);
    assert_int_equal(ask("DELETE", "/health/live"), 405);
    broker_ends();
}

/* DESIGN 15.6 */
TEST(connections_that_send_half_a_request_shut_nobody_out)
{
    enum { MANY = 900 };
    static int fds[MANY];
    broker_begins(NULL);
    for (int i = 0; i < MANY; i++) {
        fds[i] = dial();
        if (i % 2 == 0) send(fds[i], "GET /met", 8, MSG_NOSIGNAL);
    }
    assert_int_equal(ask("GET", "/health/live"), 200);
    read_metrics();
    assert_true(series("process_open_fds") < 200);
    for (int i = 0; i < MANY; i++)
        close(fds[i]);
    assert_int_equal(ask("GET", "/health/live"), 200);
    struct topic topic = topic_new(client, 1); /* Clients have not noticed. */
    produce_some(client, topic, 0, 1);
    broker_ends();
}

TEST(headers_without_end_are_refused)
{
    static char header[4096];
    broker_begins(NULL);
    int fd = dial();
    send(fd, "GET /metrics HTTP/1.1\r\n", 23, MSG_NOSIGNAL);
    memset(header, 'a', sizeof header);
    memcpy(header, "X-Long: ", 8);
    memcpy(header + sizeof header - 2, "\r\n", 2);
    for (int i = 0; i < 1000; i++)
        if (send(fd, header, sizeof header, MSG_NOSIGNAL) < 0) break;
    /* The answer may be overtaken by the reset. */
    int status = read_answer(fd);
    assert_true(status == 431 || status == 413 || status == -1);
    read_metrics();
    assert_true(series("process_resident_memory_bytes") < 200e6);
    broker_ends();
}

/* Setting: sluice.admin.listener */
TEST(a_port_that_was_asked_for_and_is_taken_is_a_reason_not_to_start)
{
    struct test_broker second;
    char setting[64];
    broker_begins(NULL);
    snprintf(setting, sizeof setting, "sluice.admin.listener=127.0.0.1:%u", admin_port);
    test_broker_prepare(&second, (const char *const[]){ setting, NULL });
    assert_int_equal(test_broker_ends_by_itself(&second), 1);
    broker_ends();
}

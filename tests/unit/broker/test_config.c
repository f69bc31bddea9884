// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "config.h"
#include "controller.h"
#include "error.h"
#include "setting.h"
#include "trace.h"

/* ---- loading ---- */

#define MOST 24

static struct config config;
static enum config_action action;
static char why[512];
static char warnings[8192];

static void note_warning(void *context, const char *line)
{
    (void)context;
    size_t length = strlen(warnings);
    snprintf(warnings + length, sizeof warnings - length, "%s\n", line);
}

/* Loads with these arguments and variables (NULL-ended lists). */
static int load_from(const char *const *arguments, const char *const *variables)
{
    char *argv[MOST + 2] = { (char *)"sluiced" };
    char *environment[MOST + 1] = { NULL };
    int argc = 1;
    for (; arguments[argc - 1] != NULL; argc++)
        argv[argc] = (char *)arguments[argc - 1];
    for (int i = 0; variables[i] != NULL; i++)
        environment[i] = (char *)variables[i];

    config_close(&config);
    why[0] = warnings[0] = '\0';
    trace_set_sink(note_warning, NULL);
    int err = config_load(&config, argc, argv, environment, &action, why, sizeof why);
    config_tell_warnings(&config);
    trace_set_sink(NULL, NULL);
    return err;
}

#define LIST(...)           ((const char *const[]){ __VA_ARGS__, NULL })
#define NO_VARIABLES        ((const char *const[]){ NULL })
#define NO_ARGUMENTS        ((const char *const[]){ NULL })
#define LOAD(...)           load_from(LIST(__VA_ARGS__), NO_VARIABLES)
#define assert_loads(...)   assert_int_equal_or_why(LOAD(__VA_ARGS__))
#define assert_refuses(...) assert_int_equal(LOAD(__VA_ARGS__), ERR_USAGE)
#define SET(name, value)    "--set", name "=" value

static void assert_int_equal_or_why(int err)
{
    if (err != 0) fail_msg("%s: %s", error_name(err), why);
}

static void assert_says(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) fail_msg("\"%s\" does not say \"%s\"", text, part);
}

/* A properties file of this text. */
static const char *file_of(const char *text)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/server.properties", test_folder());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

/* Loads with stdout going to `printed`. */
static int load_and_capture(const char *const *arguments, char *printed, size_t size)
{
    char path[256];
    snprintf(path, sizeof path, "%s/stdout", test_folder());
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    assert_true(file >= 0 && saved >= 0);
    dup2(file, STDOUT_FILENO);
    int err = load_from(arguments, NO_VARIABLES);
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    ssize_t length = pread(file, printed, size - 1, 0);
    printed[length < 0 ? 0 : length] = '\0';
    close(file);
    return err;
}

/* The value that topics get; NULL: nothing is said. */
static const char *topic_default(const char *name)
{
    for (unsigned i = 0; i < config.topic_default_count; i++)
        if (strcmp(config.topic_defaults[2 * i], name) == 0)
            return config.topic_defaults[2 * i + 1];
    return NULL;
}

/* ---- dev mode and defaults ---- */

TEST(dev_mode_needs_nothing_and_is_open_to_this_machine_only)
{
    assert_loads("--dev");
    assert_int_equal(action, CONFIG_RUN);
    assert_true(config.dev);
    assert_int_equal(config.node_id, 1);
    assert_int_equal(config.log_dir_count, 1);
    assert_string_equal(config.log_dirs[0], "./sluice-data");
    assert_int_equal(config.listener_count, 1);
    assert_string_equal(config.listeners[0].host, "127.0.0.1");
    assert_int_equal(config.listeners[0].port, 9092);
    assert_string_equal(config.listeners[0].advertised_host, "localhost");
    assert_int_equal(config.listeners[0].advertised_port, 9092);
    assert_string_equal(warnings, "");
}

TEST(what_is_said_goes_before_dev_mode)
{
    assert_loads("--dev", SET("listeners", "PLAINTEXT://127.0.0.1:0"), SET("log.dir", "/srv/x"));
    assert_int_equal(config.listeners[0].port, 0);
    assert_int_equal(config.listeners[0].advertised_port, 0);
    assert_string_equal(config.log_dirs[0], "/srv/x");
}

TEST(without_dev_mode_somebody_must_say_where_the_data_is)
{
    assert_int_equal(load_from(NO_ARGUMENTS, NO_VARIABLES), ERR_USAGE);
    assert_says(why, "log.dirs is not set");
}

TEST(defaults_are_kafkas)
{
    assert_loads("--dev");
    assert_int_equal(config.num_partitions, 1);
    assert_int_equal(config.default_replication_factor, 1);
    assert_true(config.auto_create_topics);
    assert_true(config.delete_topics);
    assert_int_equal(config.socket_request_max_bytes, 104857600);
    assert_int_equal(config.connections_max_idle_ms, 600000);
    assert_int_equal(config.max_connections, INT32_MAX);
    assert_int_equal(config.fetch_max_bytes, 57671680);
    assert_int_equal(config.checkpoint_interval_ms, 60000);
    assert_int_equal(config.retention_check_interval_ms, 300000);
    assert_int_equal(config.election_timeout_ms, 1000);
    assert_int_equal(config.sendfile_from_bytes, 65536);
    assert_int_equal(config.flush_interval_ms, 1000);
    assert_int_equal(config.topic_default_count, 0);
    assert_null(config.rack);
}

TEST(every_default_is_a_legal_value)
{
    const struct setting *setting;
    for (unsigned i = 0; (setting = setting_at(i)) != NULL; i++) {
        int64_t number;
        if (setting->default_value == NULL) continue;
        if (setting_check(setting, setting->default_value, &number, why, sizeof why) != 0)
            fail_msg("%s", why);
        assert_true(setting_is_default(setting, setting->default_value));
    }
}

TEST(every_name_is_in_the_table_once)
{
    const struct setting *setting;
    for (unsigned i = 0; (setting = setting_at(i)) != NULL; i++)
        assert_ptr_equal(setting_find(setting->name, NULL), setting);
}

/* Setting: sluice.unsynced.max.bytes */
TEST(the_machine_decides_what_nobody_says)
{
    assert_loads("--dev");
    assert_true(config.network_threads >= 1);
    assert_in_range(config.io_threads, 2, 8);
    assert_in_range(config.queued_max_request_bytes, 16 << 20, 1 << 30);

    assert_loads("--dev", SET("num.network.threads", "5"), SET("num.io.threads", "1"),
                 SET("queued.max.request.bytes", "4194304"));
    assert_int_equal(config.network_threads, 5);
    assert_int_equal(config.io_threads, 1);
    assert_int_equal(config.queued_max_request_bytes, 4194304);
    assert_in_range(config.unsynced_max_bytes, INT64_C(64) << 20, INT64_C(8) << 30);
    assert_refuses("--dev", SET("queued.max.request.bytes", "0"));
    assert_loads("--dev", SET("sluice.unsynced.max.bytes", "1048576"));
    assert_int_equal(config.unsynced_max_bytes, 1 << 20);
    assert_refuses("--dev", SET("sluice.unsynced.max.bytes", "0"));
}

/* Setting: controller.quorum.election.timeout.ms, sluice.sendfile.min.bytes */
TEST(what_is_said_is_what_counts)
{
    assert_loads("--dev", SET("controller.quorum.election.timeout.ms", "5000"),
                 SET("sluice.sendfile.min.bytes", "77"));
    assert_int_equal(config.election_timeout_ms, 5000);
    assert_int_equal(config.sendfile_from_bytes, 77);
}

/* ---- the three sources ---- */

TEST(the_command_line_wins_over_the_environment_and_that_over_the_file)
{
    const char *path = file_of("num.partitions=2\nnode.id=7\nlog.dirs=/srv/a\n");
    assert_int_equal_or_why(load_from(LIST(path), NO_VARIABLES));
    assert_int_equal(config.num_partitions, 2);

    const char *const variables[] = { "PATH=/bin", "SLUICE_NUM_PARTITIONS=3", NULL };
    assert_int_equal_or_why(load_from(LIST(path), variables));
    assert_int_equal(config.num_partitions, 3);
    assert_int_equal(config.node_id, 7);

    assert_int_equal_or_why(load_from(LIST("--set=num.partitions=4", path), variables));
    assert_int_equal(config.num_partitions, 4);
    assert_string_equal(config.log_dirs[0], "/srv/a");
}

TEST(a_bad_value_that_another_source_replaces_does_no_harm)
{
    const char *path = file_of("num.partitions=many\nssl.keystore.location=/etc/key\n");
    assert_loads("--dev", path, SET("num.partitions", "4"), SET("ssl.keystore.location", ""));
}

TEST(variables_name_settings_in_capitals)
{
    const char *const variables[] = { "SLUICE_LOG_RETENTION_MS=5",
                                      "SLUICE_SLUICE_FLUSH_INTERVAL_MS=9", NULL };
    assert_int_equal_or_why(load_from(LIST("--dev"), variables));
    assert_string_equal(topic_default("retention.ms"), "5");
    assert_int_equal(config.flush_interval_ms, 9);
}

TEST(variables_of_other_programs_are_left_alone)
{
    const char *const variables[] = { "SLUICE_BOOTSTRAP=x:1", "SLUICE_DEV_DIR=/x", "SLUICE_SEED=1",
                                      "SLUICE_TESTS=/x",      "SLUICED_FOO=1",     NULL };
    assert_int_equal_or_why(load_from(LIST("--dev"), variables));
}

TEST(a_variable_that_stands_for_no_setting_is_refused)
{
    const char *const variables[] = { "SLUICE_NUM_PARTITION=3", NULL };
    assert_int_equal(load_from(LIST("--dev"), variables), ERR_USAGE);
    assert_says(why, "SLUICE_NUM_PARTITION: there is no setting \"num.partition\"");
    assert_says(why, "did you mean num.partitions?");
}

TEST(topics_have_no_more_partitions_by_default_than_they_may_have)
{
    assert_int_equal(CONTROLLER_MAX_PARTITIONS, 100000);
    assert_loads("--dev", SET("num.partitions", "100000"));
    assert_refuses("--dev", SET("num.partitions", "100001"));
    assert_says(why, "num.partitions");
    assert_says(why, "100000");
}

/* ---- the file ---- */

TEST(the_file_is_read_as_java_reads_it)
{
    const char *path = file_of("# comment\n! comment \\\n"
                               "  num.partitions : 3\r\n"
                               "node.id 5\n"
                               "\n"
                               "broker.rack=a\\tb\\\\c\\=d \n"
                               "log.dirs=/srv/a,\\\n"
                               "         /srv/b,\\\n"
                               "   /srv/c\\ d\n"
                               "max.connections=1\nmax.connections=2");
    assert_loads(path);
    assert_int_equal(config.num_partitions, 3);
    assert_int_equal(config.node_id, 5);
    assert_string_equal(config.rack, "a\tb\\c=d");
    assert_int_equal(config.log_dir_count, 3);
    assert_string_equal(config.log_dirs[1], "/srv/b");
    assert_string_equal(config.log_dirs[2], "/srv/c d");
    assert_int_equal(config.max_connections, 2);
}

TEST(a_mistake_in_the_file_is_told_with_its_line)
{
    assert_refuses("--dev", file_of("# one\n\nnum.partitions=0\n"));
    assert_says(why, "server.properties:3: num.partitions must be a whole number from 1 to ");
    assert_refuses("--dev", file_of("log.dirs=/a,\\\n/b\nno.such=1\n"));
    assert_says(why, "server.properties:3: there is no setting \"no.such\"");
    assert_refuses("--dev", file_of("broker.rack=\\u0041\n"));
    assert_says(why, "server.properties:1: \\u is not understood");
    assert_refuses("--dev", "/no/such/file");
    assert_says(why, "/no/such/file cannot be read");
}

TEST(any_truncation_of_a_file_is_harmless)
{
    static const char text[] =
        "node.id=5\r\n # x\\\nlog.dirs = a\\\n  b\\\\\\tc\nbroker.rack:\\\\\\";
    char cut[sizeof text];
    for (size_t length = 0; length < sizeof text; length++) {
        snprintf(cut, sizeof cut, "%.*s", (int)length, text);
        LOAD("--dev", file_of(cut));
    }
}

/* ---- refusals ---- */

TEST(unknown_names_are_refused_with_the_nearest_one)
{
    assert_refuses("--dev", SET("log.retention.mss", "1"));
    assert_string_equal(why, "--set: there is no setting \"log.retention.mss\"; did you mean "
                             "log.retention.ms?");
    assert_refuses("--dev", SET("zookeeper.connect", "x:2181"));
    assert_string_equal(why, "--set: there is no setting \"zookeeper.connect\"");
    assert_refuses("--dev", SET("a\x1b[2Jb", "1"));
    assert_says(why, "\"a\\x1b[2Jb\"");
}

TEST(every_refused_setting_has_a_sentence_and_accepts_its_default)
{
    const struct setting *setting;
    unsigned refused = 0;
    for (unsigned i = 0; (setting = setting_at(i)) != NULL; i++) {
        if (setting->kind != SETTING_REFUSED) continue;
        char argument[256];
        const char *other = setting->type == SETTING_BOOLEAN
                                ? (setting->default_value[0] == 't' ? "false" : "true")
                            : setting->type == SETTING_DOUBLE || setting->type == SETTING_SHORT ||
                                    setting->type == SETTING_INT || setting->type == SETTING_LONG
                                ? "17"
                                : "broker";
        if (strcmp(setting->name, "ssl.client.auth") == 0) other = "required";
        if (strcmp(setting->name, "security.inter.broker.protocol") == 0) other = "SSL";
        if (strcmp(setting->name, "sasl.oauthbearer.assertion.algorithm") == 0) other = "ES256";

        snprintf(argument, sizeof argument, "%s=%s", setting->name, other);
        assert_refuses("--dev", "--set", argument);
        assert_says(why, setting->name);
        assert_says(why, setting->text);
        refused++;
        if (setting->default_value == NULL && setting->type < SETTING_STRING) continue; /* None. */
        snprintf(argument, sizeof argument, "%s=%s", setting->name,
                 setting->default_value == NULL ? "" : setting->default_value);
        assert_loads("--dev", "--set", argument);
    }
    assert_true(refused > 80);
}

TEST(promises_that_cannot_be_kept_are_refused)
{
    assert_refuses("--dev", SET("default.replication.factor", "3"));
    assert_says(why, "default.replication.factor can only be 1: nothing is replicated in this");
    assert_refuses("--dev", SET("process.roles", "broker"));
    assert_refuses("--dev", SET("process.roles", "controller"));
    assert_loads("--dev", SET("process.roles", "controller,broker"));
}

TEST(a_setting_of_one_listener_is_judged_as_that_of_all)
{
    assert_refuses("--dev", SET("listener.name.internal.ssl.keystore.location", "/x"));
    assert_says(why, "listener.name.internal.ssl.keystore.location cannot be set: there is no TLS");
    assert_refuses("--dev", SET("listener.name.x.scram-sha-256.sasl.jaas.config", "y"));
    assert_refuses("--dev", SET("listener.name.x.no.such", "y"));
    assert_loads("--dev", SET("listener.name.x.max.connections", "5"));
    assert_int_equal(config.max_connections, INT32_MAX);
    assert_says(warnings, "listener.name.x.max.connections has no effect");
}

TEST(secrets_are_not_shown)
{
    assert_refuses("--dev", SET("sasl.jaas.config", "hunter2"), SET("ssl.key.password", "hunter2"));
    assert_null(strstr(why, "hunter2"));
    assert_null(strstr(warnings, "hunter2"));
}

TEST(settings_of_kafkas_without_effect_are_accepted_with_one_warning_each)
{
    assert_loads("--dev", file_of("replica.fetch.max.bytes=1\nreplica.fetch.max.bytes=2\n"),
                 SET("background.threads", "3"));
    assert_says(warnings, "--set: background.threads has no effect in this version");
    const char *first = strstr(warnings, "replica.fetch.max.bytes");
    assert_non_null(first);
    assert_null(strstr(first + 1, "replica.fetch.max.bytes"));
    assert_refuses("--dev", SET("background.threads", "none"));
}

TEST(values_must_be_of_the_type_and_in_the_range)
{
    static const char *const bad[] = {
        "num.partitions=",
        "num.partitions=1x",
        "num.partitions=2147483648",
        "num.partitions=0",
        "node.id=-1",
        "auto.create.topics.enable=yes",
        "fetch.max.bytes=1023",
        "log.cleaner.min.cleanable.ratio=1.5",
        "log.cleaner.io.buffer.load.factor=x",
        "log.cleaner.io.buffer.load.factor=0",
        "log.cleaner.io.buffer.load.factor=1.5",
        "log.cleaner.io.max.bytes.per.second=0",
        "log.cleaner.dedupe.buffer.size=1048576",
        "log.cleaner.threads=1025",
        "max.connections.per.ip.overrides=localhost:5",
        "num.network.threads=0",
        "log.message.timestamp.type=Never",
        "offsets.topic.replication.factor=40000",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_refuses("--dev", "--set", bad[i]);
        assert_says(why, "must be");
    }
    assert_loads("--dev", SET("auto.create.topics.enable", " FALSE "), SET("num.partitions", "+3"));
    assert_false(config.auto_create_topics);
    assert_int_equal(config.num_partitions, 3);
}

/* ---- who we are ---- */

TEST(broker_id_is_an_older_name_of_node_id)
{
    assert_loads("--dev", SET("broker.id", "4"));
    assert_int_equal(config.node_id, 4);
    assert_loads("--dev", SET("broker.id", "4"), SET("node.id", "4"));
    assert_refuses("--dev", SET("broker.id", "4"), SET("node.id", "5"));
}

/* Setting: controller.quorum.voters, controller.quorum.bootstrap.servers */
TEST(the_quorum_is_this_node)
{
    assert_loads("--dev", SET("node.id", "3"), SET("controller.quorum.voters", "3@localhost:9093"));
    assert_refuses("--dev", SET("node.id", "3"), SET("controller.quorum.voters", "1@a:9093"));
    assert_says(why, "must be this node itself, 3@host:port");
    assert_refuses("--dev", SET("controller.quorum.voters", "1@a:9093,2@b:9093"));
    assert_refuses("--dev", SET("controller.quorum.bootstrap.servers", "a:9093,b:9093"));
    assert_loads("--dev", SET("controller.quorum.bootstrap.servers", "localhost:9093"));
}

/* Setting: log.dirs, log.dir */
TEST(log_dirs_go_before_log_dir_and_are_different)
{
    assert_loads(SET("log.dirs", " /a , /b"), SET("log.dir", "/c"));
    assert_int_equal(config.log_dir_count, 2);
    assert_string_equal(config.log_dirs[0], "/a");
    assert_refuses(SET("log.dirs", "/a,/b,/a"));
    assert_refuses(SET("log.dirs", "/a,"));
    assert_refuses(SET("log.dirs", ""));
}

/* ---- what topics get ---- */

TEST(milliseconds_go_before_minutes_and_those_before_hours)
{
    assert_loads("--dev", SET("log.retention.hours", "2"));
    assert_string_equal(topic_default("retention.ms"), "7200000");
    assert_loads("--dev", SET("log.retention.minutes", "3"), SET("log.retention.hours", "2"));
    assert_string_equal(topic_default("retention.ms"), "180000");
    assert_loads("--dev", SET("log.retention.ms", "4"), SET("log.retention.minutes", "3"),
                 SET("log.retention.hours", "2"));
    assert_string_equal(topic_default("retention.ms"), "4");
    assert_int_equal(config.topic_default_count, 1);
    assert_loads("--dev", SET("log.roll.hours", "2"), SET("log.roll.ms", "1000"));
    assert_string_equal(topic_default("segment.ms"), "1000");
}

TEST(negative_retention_is_none_and_zero_is_a_mistake)
{
    assert_loads("--dev", SET("log.retention.hours", "-5"));
    assert_string_equal(topic_default("retention.ms"), "-1");
    assert_loads("--dev", SET("log.retention.ms", "-1"));
    assert_string_equal(topic_default("retention.ms"), "-1");
    assert_refuses("--dev", SET("log.retention.minutes", "0"));
    assert_says(why, "log.retention.minutes cannot be 0");
}

TEST(topics_get_what_is_said_for_them)
{
    assert_loads("--dev", SET("log.segment.bytes", "1048576"), SET("message.max.bytes", "2000"),
                 SET("log.retention.bytes", "77"), SET("log.cleanup.policy", "delete"));
    assert_string_equal(topic_default("segment.bytes"), "1048576");
    assert_string_equal(topic_default("max.message.bytes"), "2000");
    assert_string_equal(topic_default("retention.bytes"), "77");
    assert_loads("--dev", SET("log.cleanup.policy", "compact, delete"));
    assert_string_equal(topic_default("cleanup.policy"), "compact, delete");
    assert_loads("--dev", SET("compression.type", "zstd"), SET("compression.gzip.level", "5"),
                 SET("log.message.timestamp.type", "LogAppendTime"));
    assert_string_equal(topic_default("compression.type"), "zstd");
    assert_string_equal(topic_default("compression.gzip.level"), "5");
    assert_string_equal(topic_default("message.timestamp.type"), "LogAppendTime");
    assert_refuses("--dev", SET("compression.gzip.level", "0"));
    assert_loads("--dev", SET("log.local.retention.ms", "5"));
    assert_string_equal(topic_default("local.retention.ms"), "5");
    assert_refuses("--dev", SET("log.local.retention.ms", "-3"));
}

TEST(somebody_must_be_let_in)
{
    assert_refuses("--dev", SET("max.connections.per.ip", "0"));
    assert_says(why, "max.connections.per.ip can be 0 only if max.connections.per.ip.overrides");
    assert_loads("--dev", SET("max.connections.per.ip", "0"),
                 SET("max.connections.per.ip.overrides", "127.0.0.1:5"));
}

TEST(compaction_has_the_threads_and_the_memory_that_it_is_given)
{
    assert_loads("--dev");
    assert_true(config.cleaner_enable);
    assert_int_equal(config.cleaner_threads, 1);
    assert_int_equal(config.cleaner_map_bytes, 134217728);
    assert_int_equal(config.cleaner_buffer_bytes, 524288);
    assert_int_equal(config.cleaner_backoff_ms, 15000);
    assert_true(config.cleaner_map_load == 0.9);
    assert_true(config.cleaner_bytes_per_second > 1e300);
    assert_refuses("--dev", SET("log.cleaner.threads", "200"));
    assert_says(why, "for each of 200 threads");
    assert_loads("--dev", SET("log.cleaner.io.max.bytes.per.second", "1e6"),
                 SET("log.cleaner.enable", "false"), SET("log.cleaner.threads", "200"));
    assert_true(config.cleaner_bytes_per_second == 1e6);
    assert_false(config.cleaner_enable);
}

/* ---- listeners ---- */

static void assert_listener(const char *listeners, const char *host, int port)
{
    char argument[256];
    snprintf(argument, sizeof argument, "listeners=%s", listeners);
    assert_loads("--dev", "--set", argument);
    assert_int_equal(config.listener_count, 1);
    assert_string_equal(config.listeners[0].name, "PLAINTEXT");
    assert_string_equal(config.listeners[0].host, host);
    assert_int_equal(config.listeners[0].port, port);
}

TEST(listeners_are_name_host_and_port)
{
    assert_listener("PLAINTEXT://localhost:9092", "localhost", 9092);
    assert_listener("plaintext://10.0.0.1:1", "10.0.0.1", 1);
    assert_listener(" PLAINTEXT://:65535 ", "", 65535);
    assert_listener("PLAINTEXT://[::1]:9092", "::1", 9092);
    assert_listener("PLAINTEXT://[fe80::1%eth0]:9092", "fe80::1%eth0", 9092);
    assert_listener("PLAINTEXT://host-1.example_x.org:0", "host-1.example_x.org", 0);
}

TEST(listeners_of_another_form_are_refused)
{
    static const char *const bad[] = {
        "localhost:9092",        "PLAINTEXT:/localhost:9092", "PLAINTEXT://localhost",
        "://localhost:9092",     "PLAINTEXT://localhost:",    "PLAINTEXT://localhost:65536",
        "PLAINTEXT://h:-1",      "PLAINTEXT://::1:9092",      "PLAINTEXT://[::g]:9092",
        "PLAINTEXT://[]:9092",   "PLAINTEXT://a b:9092",      "PLAINTEXT://h:9092,",
        "PLAINTEXT://[::1:9092", "PLAIN TEXT://h:9092",       "",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char argument[256];
        snprintf(argument, sizeof argument, "listeners=%s", bad[i]);
        assert_refuses("--dev", "--set", argument);
        assert_says(why, "listeners: ");
    }
}

#define MAP_OF_AB SET("listener.security.protocol.map", "A:PLAINTEXT,b:PLAINTEXT,TLS:SSL")

TEST(listeners_have_names_of_their_own_and_ports_of_their_own)
{
    assert_loads("--dev", MAP_OF_AB, SET("listeners", "A://h:1,B://h:2"));
    assert_int_equal(config.listener_count, 2);
    assert_string_equal(config.listeners[1].name, "B");
    assert_loads("--dev", MAP_OF_AB, SET("listeners", "A://h:0,B://h:0"));
    assert_loads("--dev", MAP_OF_AB, SET("listeners", "A://127.0.0.1:1,B://[::1]:1"));
    assert_refuses("--dev", MAP_OF_AB, SET("listeners", "A://h:1,a://h:2"));
    assert_says(why, "two listeners named A");
    assert_refuses("--dev", MAP_OF_AB, SET("listeners", "A://h:1,B://g:1"));
    assert_says(why, "A and B have the same port 1");
}

TEST(a_listener_that_is_believed_to_be_safe_is_never_opened)
{
    assert_refuses("--dev", MAP_OF_AB, SET("listeners", "TLS://h:1"));
    assert_says(why, "TLS has the protocol SSL, and this version serves PLAINTEXT only");
    assert_refuses("--dev", SET("listeners", "SSL://h:1"));
    assert_refuses("--dev", SET("listeners", "SASL_PLAINTEXT://h:1"));
    assert_refuses("--dev", SET("listeners", "MINE://h:1"));
    assert_says(why, "listener.security.protocol.map does not say which protocol MINE has");
}

TEST(clients_are_told_what_is_advertised)
{
    assert_loads("--dev", SET("listeners", "PLAINTEXT://:9092"),
                 SET("advertised.listeners", "PLAINTEXT://broker.example:19092"));
    assert_string_equal(config.listeners[0].host, "");
    assert_string_equal(config.listeners[0].advertised_host, "broker.example");
    assert_int_equal(config.listeners[0].advertised_port, 19092);

    assert_refuses("--dev", SET("advertised.listeners", "OTHER://h:1"));
    assert_says(why, "OTHER is not one of the listeners");
    assert_refuses("--dev", SET("advertised.listeners", "PLAINTEXT://0.0.0.0:1"));
    assert_refuses("--dev", SET("advertised.listeners", "PLAINTEXT://[::]:1"));
}

TEST(a_host_that_stands_for_all_is_advertised_as_the_machines_name)
{
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    static const char *const wildcards[] = { "listeners=PLAINTEXT://:9092",
                                             "listeners=PLAINTEXT://0.0.0.0:9092",
                                             "listeners=PLAINTEXT://[::]:9092" };
    for (size_t i = 0; i < 3; i++) {
        assert_loads("--dev", "--set", wildcards[i]);
        assert_string_equal(config.listeners[0].advertised_host, name);
        assert_says(warnings, "listener PLAINTEXT is open on all addresses");
    }
}

TEST(the_file_that_kafka_comes_with_works_as_it_is)
{
    assert_loads(
        file_of("process.roles=broker,controller\nnode.id=1\n"
                "controller.quorum.bootstrap.servers=localhost:9093\n"
                "listeners=PLAINTEXT://:9092,CONTROLLER://:9093\n"
                "inter.broker.listener.name=PLAINTEXT\n"
                "advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093\n"
                "controller.listener.names=CONTROLLER\n"
                "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,"
                "SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL\n"
                "num.network.threads=3\nnum.io.threads=8\nlog.dirs=/tmp/kraft-logs\n"
                "num.partitions=1\nnum.recovery.threads.per.data.dir=1\n"
                "offsets.topic.replication.factor=1\nlog.retention.hours=168\n"
                "log.segment.bytes=1073741824\n"));
    assert_int_equal(config.listener_count, 1);
    assert_string_equal(config.listeners[0].name, "PLAINTEXT");
    assert_string_equal(config.listeners[0].advertised_host, "localhost");
    assert_says(warnings, "listener CONTROLLER is for controllers and is not opened");
}

/* ---- the command line ---- */

TEST(unknown_options_are_refused)
{
    assert_refuses("--devel");
    assert_says(why, "there is no option --devel");
    assert_refuses("--dev", "--set");
    assert_says(why, "--set needs name=value");
    assert_refuses("a.properties", "b.properties");
}

TEST(several_mistakes_are_counted)
{
    assert_refuses("--dev", SET("num.partitions", "0"), SET("no.such", "1"), SET("node.id", "x"));
    assert_says(why, "(and 2 more: --check-config tells all)");
}

TEST(check_config_tells_everything_that_is_wrong)
{
    char printed[4096];
    assert_int_equal(
        load_and_capture(LIST("--check-config", SET("num.partitions", "0"),
                              SET("ssl.protocol", "x"), SET("background.threads", "2"),
                              file_of("no.such=1\nbroker.rack=\\u0041\nfetch.max.bytes=1\n")),
                         printed, sizeof printed),
        0);
    assert_int_equal(action, CONFIG_EXIT_PROBLEMS);
    assert_null(config.listeners);
    assert_says(printed, "server.properties:1: there is no setting \"no.such\"");
    assert_says(printed, "server.properties:2: \\u is not understood");
    assert_says(printed, "server.properties:3: fetch.max.bytes must be");
    assert_says(printed, "problem: --set: num.partitions must be");
    assert_says(printed, "problem: --set: ssl.protocol can only be TLSv1.3");
    assert_says(printed, "problem: log.dirs is not set");
    assert_says(printed, "warning: --set: background.threads has no effect");
    assert_says(printed, "the configuration has 6 problems\n");
}

TEST(check_config_is_content_with_a_good_one)
{
    char printed[4096];
    assert_int_equal(load_and_capture(LIST("--dev", "--check-config"), printed, sizeof printed), 0);
    assert_string_equal(printed, "configuration is fine\n");
    assert_int_equal(action, CONFIG_EXIT_OK);
    assert_null(config.listeners);
    assert_refuses("--check-config", "--no-such-option"); /* That is no configuration. */
}

TEST(help_and_version_are_printed_whatever_else_is_said)
{
    char printed[4096];
    assert_int_equal(load_and_capture(LIST("--help", SET("no.such", "1")), printed, sizeof printed),
                     0);
    assert_int_equal(action, CONFIG_EXIT_OK);
    assert_says(printed, "Usage: sluiced");
    assert_says(printed, "sluiced --dev");
    assert_int_equal(load_and_capture(LIST("--version"), printed, sizeof printed), 0);
    assert_string_equal(printed, "sluiced " PACKAGE_VERSION "\n");
}

TEST(the_printed_configuration_names_every_setting)
{
    static char printed[128 * 1024];
    const struct setting *setting;
    assert_int_equal(load_and_capture(LIST("--print-configuration"), printed, sizeof printed), 0);
    for (unsigned i = 0; (setting = setting_at(i)) != NULL; i++) {
        char name[128];
        snprintf(name, sizeof name, "`%s`", setting->name);
        assert_says(printed, name);
    }
}

/* ---- memory ---- */

TEST(every_allocation_may_fail)
{
    const char *path = file_of(
        "node.id=3\nlog.retention.hours=4\nlog.retention.ms=5\nbroker.rack=r\n");
    const char *const variables[] = { "SLUICE_LOG_DIRS=/a,/b", "SLUICE_TESTS=x", NULL };
    const char *const arguments[] = { path, MAP_OF_AB, SET("listeners", "A://h:1,B://h:2"),
                                      SET("node.id", "4"), NULL };
    long nth = 1;
    for (;; nth++) {
        mem_fail_at(nth);
        int err = load_from(arguments, variables);
        mem_fail_at(0);
        if (err == 0) break;
        assert_int_equal(err, ERR_NO_MEMORY);
        assert_string_equal(why, error_text(ERR_NO_MEMORY));
        assert_null(config.listeners);
    }
    assert_true(nth > 40);
    assert_int_equal(config.node_id, 4);
    assert_int_equal(config.log_dir_count, 2);
    config_close(&config);
    config_close(&config);
}

/* DESIGN 12: there is no login that would keep others out. */
TEST(the_admin_port_is_on_loopback_only)
{
    static const char *const wrong[] = { "0.0.0.0:9644",  "10.0.0.1:9644", "[::]:9644",
                                         "example.org:1", "127.0.0.1",     "127.0.0.1:",
                                         ":9644",         "[::1]",         "::1:9644",
                                         "127.0.0.1:-1",  "[]:1",          "127.0.0.1:65536" };
    static const char *const right[] = { "127.0.0.1:9644", "127.9.9.9:0", "[::1]:65535",
                                         "localhost:1", "" };
    char set[128];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(set, sizeof set, "sluice.admin.listener=%s", wrong[i]);
        if (LOAD("--dev", "--set", set) == 0) fail_msg("%s is accepted", set);
        assert_says(why, "sluice.admin.listener must be ");
    }
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        snprintf(set, sizeof set, "sluice.admin.listener=%s", right[i]);
        assert_loads("--dev", "--set", set);
    }
    assert_null(config.admin_listener); /* The last: none. */
}

// SPDX-License-Identifier: Apache-2.0
#include "admin_client.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "api_versions.h"
#include "create_partitions.h"
#include "create_topics.h"
#include "delete_topics.h"
#include "describe_cluster.h"
#include "describe_configs.h"
#include "describe_log_dirs.h"
#include "error.h"
#include "header.h"
#include "incremental_alter_configs.h"
#include "list_config_resources.h"
#include "metadata.h"

/* Below Metadata 4 a broker cannot be told not to create the topic that it is asked about, below
 * CreateTopics 4 it does not know "as many partitions as is the default", and below ListConfigResources 1
 * it lists subscriptions to client metrics only. */
#define API(stem, name, key, least_version)                                                  \
    const struct admin_api admin_##stem = { name, key, least_version, &stem##_request_shape, \
                                            &stem##_response_shape }
API(metadata, "Metadata", 3, 4);
API(create_topics, "CreateTopics", 19, 4);
API(delete_topics, "DeleteTopics", 20, 1);
API(describe_configs, "DescribeConfigs", 32, 1);
API(describe_log_dirs, "DescribeLogDirs", 35, 1);
API(create_partitions, "CreatePartitions", 37, 0);
API(incremental_alter_configs, "IncrementalAlterConfigs", 44, 0);
API(describe_cluster, "DescribeCluster", 60, 0);
API(list_config_resources, "ListConfigResources", 74, 1);
#undef API

static const struct admin_api api_versions = { "ApiVersions", API_KEY_OF_API_VERSIONS, 0,
                                               &api_versions_request_shape,
                                               &api_versions_response_shape };

/* Version 5 adds the cluster id and the node that the caller expects; we expect none. */
#define API_VERSIONS_LAST 4

__attribute__((format(printf, 3, 4))) static int failed(struct admin_client *client, int err,
                                                        const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(client->failure, sizeof client->failure, format, args);
    va_end(args);
    client->hint[0] = '\0';
    return err;
}

__attribute__((format(printf, 2, 3))) static void hint(struct admin_client *client,
                                                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(client->hint, sizeof client->hint, format, args);
    va_end(args);
}

/* ---- waiting ----------------------------------------------------------------------------------- */

static int64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* Returns 0 when the socket can be read or written, ERR_REQUEST_TIMED_OUT at the deadline. */
static int wait_for(int fd, short events, int64_t deadline_ms)
{
    for (;;) {
        int64_t left = deadline_ms - monotonic_ms();
        if (left <= 0) return ERR_REQUEST_TIMED_OUT;
        struct pollfd entry = { fd, events, 0 };
        int ready = poll(&entry, 1, left > 60000 ? 60000 : (int)left);
        if (ready > 0) return 0;
        if (ready < 0 && errno != EINTR) return ERR_IO;
    }
}

static int send_all(struct admin_client *client, const uint8_t *data, size_t length,
                    int64_t deadline_ms)
{
    while (length > 0) {
        ssize_t sent = send(client->fd, data, length, MSG_NOSIGNAL);
        if (sent >= 0) {
            data += sent;
            length -= (size_t)sent;
        } else if (errno == EAGAIN) {
            int err = wait_for(client->fd, POLLOUT, deadline_ms);
            if (err != 0) return failed(client, err, "%s does not take the request", client->peer);
        } else if (errno != EINTR) {
            return failed(client, ERR_NETWORK, "lost the connection to %s: %s", client->peer,
                          strerror(errno));
        }
    }
    return 0;
}

static int receive_all(struct admin_client *client, uint8_t *data, size_t length,
                       int64_t deadline_ms)
{
    while (length > 0) {
        ssize_t got = recv(client->fd, data, length, 0);
        if (got > 0) {
            data += got;
            length -= (size_t)got;
        } else if (got == 0) {
            failed(client, ERR_NETWORK, "%s closed the connection", client->peer);
            hint(client, "is that the port of a Kafka-compatible broker, without TLS?");
            return ERR_NETWORK;
        } else if (errno == EAGAIN) {
            int err = wait_for(client->fd, POLLIN, deadline_ms);
            if (err != 0)
                return failed(client, err, "no answer from %s within %lld s", client->peer,
                              (long long)client->timeout_ms / 1000);
        } else if (errno != EINTR) {
            return failed(client, ERR_NETWORK, "lost the connection to %s: %s", client->peer,
                          strerror(errno));
        }
    }
    return 0;
}

/* ---- one request ------------------------------------------------------------------------------- */

static int send_request(struct admin_client *client, const struct admin_api *api, int16_t version,
                        const void *request, int64_t deadline_ms)
{
    struct request_header header = { api->key, version, ++client->correlation_id,
                                     STR_LITERAL("sluice") };
    int16_t header_version = request_header_version(version, api->request->flexible_from);
    struct encoder encoder;
    encoder_init(&encoder);
    buffer_i32(&encoder.bytes, 0); /* the length, known below */
    int err = request_header_encode(header_version, &header, &encoder.bytes);
    if (err == 0) err = message_encode(api->request, version, request, &encoder);
    if (err == 0 && encoder.bytes.failed) err = ERR_NO_MEMORY;
    if (err == 0) {
        store_i32(encoder.bytes.data, (int32_t)(encoder.bytes.length - 4));
        err = send_all(client, encoder.bytes.data, encoder.bytes.length, deadline_ms);
    } else {
        failed(client, err, "%s cannot be asked in version %d: %s", api->name, version,
               error_text(err));
    }
    encoder_close(&encoder);
    return err;
}

/* The next frame, in the arena. */
static int receive_frame(struct admin_client *client, int64_t deadline_ms, struct arena *arena,
                         struct cursor *frame)
{
    uint8_t prefix[4];
    int err = receive_all(client, prefix, sizeof prefix, deadline_ms);
    if (err != 0) return err;
    int32_t length = load_i32(prefix);
    if (length < 4 || length > REPLY_MAX_BYTES) {
        failed(client, ERR_MALFORMED, "%s answered with a frame of %d bytes", client->peer, length);
        hint(client, "is that the port of a Kafka-compatible broker, without TLS?");
        return ERR_MALFORMED;
    }
    uint8_t *bytes = arena_alloc(arena, (size_t)length);
    if (bytes == NULL) return failed(client, ERR_NO_MEMORY, "%s", error_text(ERR_NO_MEMORY));
    err = receive_all(client, bytes, (size_t)length, deadline_ms);
    if (err == 0) *frame = cursor_over(bytes, (size_t)length);
    return err;
}

/* Sends and waits; the cursor then stands at the response's body. */
static int exchange(struct admin_client *client, const struct admin_api *api, int16_t version,
                    const void *request, struct arena *arena, struct cursor *body)
{
    int64_t deadline_ms = monotonic_ms() + client->timeout_ms;
    int err = send_request(client, api, version, request, deadline_ms);
    if (err == 0) err = receive_frame(client, deadline_ms, arena, body);
    if (err != 0) return err;

    struct response_header header;
    err = response_header_decode(
        response_header_version(api->key, version, api->response->flexible_from), body, &header);
    if (err == 0 && header.correlation_id != client->correlation_id) err = ERR_MALFORMED;
    if (err != 0) failed(client, err, "%s answered %s out of order", client->peer, api->name);
    return err;
}

static int decode(struct admin_client *client, const struct admin_api *api, int16_t version,
                  struct cursor *body, struct arena *arena, void *response)
{
    int err = message_decode(api->response, version, body, arena, response);
    if (err != 0)
        failed(client, err, "the answer of %s to %s (version %d) could not be read: %s",
               client->peer, api->name, version, error_text(err));
    return err;
}

int admin_client_call(struct admin_client *client, const struct admin_api *api, int16_t version,
                      const void *request, struct arena *arena, void *response)
{
    struct cursor body;
    int err = exchange(client, api, version, request, arena, &body);
    if (err == 0) err = decode(client, api, version, &body, arena, response);
    return err;
}

/* ---- versions ---------------------------------------------------------------------------------- */

static int ask_versions(struct admin_client *client, int16_t version, struct arena *arena,
                        struct api_versions_response *response)
{
    struct api_versions_request request;
    message_defaults(&api_versions_request_shape, &request);
    request.client_software_name = STR_LITERAL("sluice");
    request.client_software_version = STR_LITERAL(PACKAGE_VERSION);
    struct cursor body;
    int err = exchange(client, &api_versions, version, &request, arena, &body);
    if (err != 0) return err;
    /* Whoever does not know the version answers in version 0, whatever was asked (KIP-511). */
    int16_t answered = version;
    if (cursor_left(&body) >= 2 && load_i16(body.at) == error_kafka_code(ERR_UNSUPPORTED_VERSION))
        answered = 0;
    return decode(client, &api_versions, answered, &body, arena, response);
}

static void keep_versions(struct admin_client *client, const struct api_versions_response *response)
{
    for (int key = 0; key < API_KEYS_MAX; key++)
        client->versions[key] = (struct admin_version_range){ 0, -1 };
    for (int32_t i = 0; i < response->api_keys.count; i++) {
        const struct api_versions_response_api_key *row = &response->api_keys.items[i];
        if (row->api_key >= 0 && row->api_key < API_KEYS_MAX)
            client->versions[row->api_key] = (struct admin_version_range){ row->min_version,
                                                                           row->max_version };
    }
}

static int negotiate(struct admin_client *client)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, 4 * REPLY_MAX_BYTES);
    struct api_versions_response response;
    int16_t version = API_VERSIONS_LAST;
    int err = ask_versions(client, version, &arena, &response);
    if (err == 0 && response.error_code == error_kafka_code(ERR_UNSUPPORTED_VERSION)) {
        /* Its one row says what it knows; an old one has no row. */
        keep_versions(client, &response);
        version = client->versions[API_KEY_OF_API_VERSIONS].last;
        if (version < 0 || version > API_VERSIONS_LAST) version = 0;
        err = ask_versions(client, version, &arena, &response);
    }
    if (err == 0 && response.error_code != 0) {
        err = error_from_kafka_code(response.error_code);
        failed(client, err, "%s refuses ApiVersions: %s", client->peer, error_text(err));
    }
    if (err == 0) keep_versions(client, &response);
    arena_close(&arena);
    return err;
}

int admin_client_version(struct admin_client *client, const struct admin_api *api, int16_t *version)
{
    struct admin_version_range offered = client->versions[api->key];
    int16_t ours = api->request->versions.last;
    int16_t highest = offered.last < ours ? offered.last : ours;
    if (highest >= offered.first && highest >= api->least_version) {
        *version = highest;
        return 0;
    }
    if (offered.last < offered.first)
        failed(client, ERR_UNSUPPORTED_VERSION, "%s does not offer %s", client->peer, api->name);
    else
        failed(client, ERR_UNSUPPORTED_VERSION,
               "%s offers %s %d to %d, this program knows %d to %d", client->peer, api->name,
               offered.first, offered.last, api->least_version, ours);
    hint(client, "use a sluice that fits the broker's version");
    return ERR_UNSUPPORTED_VERSION;
}

/* ---- connecting -------------------------------------------------------------------------------- */

int bootstrap_next(const char **list, char host[256], char port[6])
{
    const char *at = *list + strspn(*list, ", ");
    if (*at == '\0') return ERR_NOT_FOUND;
    const char *end = at + strcspn(at, ", ");
    const char *name = at, *name_end = memchr(at, ':', (size_t)(end - at));
    const char *colon = name_end;
    if (*at == '[') { /* an IPv6 address, whose colons do not count */
        name = at + 1;
        name_end = memchr(name, ']', (size_t)(end - name));
        if (name_end == NULL) return ERR_USAGE;
        colon = name_end + 1 < end ? name_end + 1 : NULL;
        if (colon != NULL && *colon != ':') return ERR_USAGE;
    } else if (name_end == NULL) {
        name_end = end;
    }
    const char *digits = colon == NULL ? "9092" : colon + 1;
    size_t digit_count = colon == NULL ? 4 : (size_t)(end - digits);
    size_t length = (size_t)(name_end - name);
    if (length == 0 || length > 255 || digit_count == 0 || digit_count > 5 ||
        strspn(digits, "0123456789") < digit_count)
        return ERR_USAGE;
    memcpy(host, name, length);
    host[length] = '\0';
    memcpy(port, digits, digit_count);
    port[digit_count] = '\0';
    *list = end;
    return 0;
}

/* Returns 0 and a connected, non-blocking socket, or the errno. */
static int connect_to(const struct addrinfo *address, int64_t deadline_ms, int *fd)
{
    int socket_fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket_fd < 0) return errno;
    int error = connect(socket_fd, address->ai_addr, address->ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
        socklen_t size = sizeof error;
        if (wait_for(socket_fd, POLLOUT, deadline_ms) != 0)
            error = ETIMEDOUT;
        else if (getsockopt(socket_fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
            error = errno;
    }
    if (error != 0) {
        close(socket_fd);
        return error;
    }
    *fd = socket_fd;
    return 0;
}

static int open_broker(struct admin_client *client, const char *host, const char *port)
{
    bool is_ipv6 = strchr(host, ':') != NULL;
    snprintf(client->peer, sizeof client->peer, is_ipv6 ? "[%s]:%s" : "%s:%s", host, port);
    struct addrinfo wanted = { .ai_socktype = SOCK_STREAM, .ai_family = AF_UNSPEC };
    struct addrinfo *addresses = NULL;
    int unresolved = getaddrinfo(host, port, &wanted, &addresses);
    if (unresolved != 0) {
        failed(client, ERR_NETWORK, "cannot find %s: %s", host, gai_strerror(unresolved));
        hint(client, "check the name given to --bootstrap-server or in SLUICE_BOOTSTRAP");
        return ERR_NETWORK;
    }
    int error = ECONNREFUSED, fd = -1;
    int64_t deadline_ms = monotonic_ms() + client->timeout_ms;
    for (const struct addrinfo *at = addresses; at != NULL && fd < 0; at = at->ai_next)
        error = connect_to(at, deadline_ms, &fd);
    freeaddrinfo(addresses);
    if (fd >= 0) {
        client->fd = fd;
        return negotiate(client);
    }
    failed(client, ERR_NETWORK, "cannot connect to %s: %s", client->peer, strerror(error));
    hint(client,
         "start a broker (sluiced --dev) or name another with --bootstrap-server HOST:PORT");
    return ERR_NETWORK;
}

static void client_init(struct admin_client *client, int64_t timeout_ms)
{
    *client = (struct admin_client){ .fd = -1, .timeout_ms = timeout_ms };
}

int admin_client_open(struct admin_client *client, const char *bootstrap_servers,
                      int64_t timeout_ms)
{
    client_init(client, timeout_ms);
    const char *list = bootstrap_servers;
    char host[256], port[6];
    int err = ERR_NOT_FOUND, parsed;
    while ((parsed = bootstrap_next(&list, host, port)) == 0) {
        admin_client_close(client);
        err = open_broker(client, host, port);
        if (err == 0) {
            client->failure[0] = client->hint[0] = '\0'; /* of brokers tried before */
            return 0;
        }
    }
    if (parsed == ERR_USAGE || err == ERR_NOT_FOUND) {
        failed(client, ERR_USAGE, "'%s' is no list of brokers", bootstrap_servers);
        hint(client, "--bootstrap-server takes HOST:PORT, or several with commas between");
        err = ERR_USAGE;
    }
    return err;
}

int admin_client_open_socket(struct admin_client *client, int fd, const char *peer,
                             int64_t timeout_ms)
{
    client_init(client, timeout_ms);
    client->fd = fd;
    snprintf(client->peer, sizeof client->peer, "%s", peer);
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
        return failed(client, ERR_IO, "%s", strerror(errno));
    return negotiate(client);
}

void admin_client_close(struct admin_client *client)
{
    if (client->fd >= 0) close(client->fd);
    client->fd = -1;
}

// SPDX-License-Identifier: Apache-2.0
#include "admin.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <microhttpd.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "alloc.h"
#include "error.h"
#include "health.h"
#include "listener.h"
#include "metrics_text.h"
#include "trace.h"

/* By (2). A request line with its headers must fit into half of a connection's memory. */
#define CONNECTIONS_MAX         64u
#define CONNECTION_MEMORY_BYTES ((size_t)16 * 1024)
#define CONNECTION_INCREMENT    ((size_t)1024)
#define CONNECTION_IDLE_S       10u
#define CONNECTION_MAX_MS       30000
#define METRICS_AT_A_TIME       4 /* Each answer is as long as there are topics. */
#define REASONS_BYTES           2048

struct admin {
    struct loop *loop;
    struct MHD_Daemon *daemon;
    uv_poll_t poll;   /* Of all that the daemon waits for. */
    struct timer due; /* When it has something to do by the clock. */
    bool is_polling, has_thread;
    struct admin_options options;
    struct health health;
    unsigned network_probes; /* In it. */
    struct list asking;      /* Requests that wait for the end of a round. */
    struct list connections; /* struct admin_connection, the oldest first. */
    unsigned connection_count;
    unsigned metrics_count; /* Answers under way. */
    atomic_bool is_ready;
    bool logs_were_open; /* What opens later is a new topic's. */
    struct message stop;
    sem_t stopped;
};

/* What a connection has beside libmicrohttpd's own: an end, by (2). */
struct admin_connection {
    struct list node; /* Until it is asked to end. */
    struct timer too_long;
    int fd;
};

struct admin_request {
    struct list node; /* In `asking`, while it is suspended. */
    struct MHD_Connection *connection;
    bool is_metrics; /* Counted in metrics_count. */
};

/* ---- answers ---- */

static enum MHD_Result send_answer(struct MHD_Connection *connection, unsigned status,
                                   const char *type, struct MHD_Response *response)
{
    if (response == NULL) return MHD_NO;
    /* One request for each connection, so that those who wait get their turn. */
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned status,
                                 const char *text)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
    return send_answer(connection, status, "text/plain; charset=utf-8", response);
}

static void add_reason(char *reasons, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reasons that do not fit are left out: one is enough. */
static void add_reason(char *reasons, const char *format, ...)
{
    size_t length = strlen(reasons);
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(reasons + length, REASONS_BYTES - length, format, arguments);
    va_end(arguments);
    if (more < 0 || (size_t)more >= REASONS_BYTES - length) reasons[length] = '\0';
}

static void look_at_folders(struct partition_set *partitions, char *reasons)
{
    for (unsigned i = 0; i < partition_set_folder_count(partitions); i++) {
        struct data_dir *dir = partition_set_folder(partitions, i);
        char path[256];
        trace_escape(path, sizeof path, str_from(data_dir_path(dir)));
        if (partition_set_folder_has_failed(partitions, i))
            add_reason(reasons, "%s: cannot be written to any more\n", path);
        else if (!data_dir_has_room(dir, 1))
            add_reason(reasons, "%s: there is no room\n", path);
    }
}

/* Why the broker is not ready; "": it is. */
static void find_reasons(struct admin *admin, char *reasons)
{
    const struct metrics_sources *sources = &admin->options.sources;
    struct meta_view *view = meta_quorum_view(sources->meta);
    unsigned opening = partition_set_opening(sources->partitions);
    bool is_ready = atomic_load(&admin->is_ready);
    reasons[0] = '\0';
    if (meta_view_controller(view) < 0) add_reason(reasons, "the quorum has no leader\n");
    if (!is_ready) add_reason(reasons, "clients are not accepted yet\n");
    if (is_ready && opening == 0) admin->logs_were_open = true;
    if (!admin->logs_were_open && opening > 0)
        add_reason(reasons, "%u logs are being opened\n", opening);
    look_at_folders(sources->partitions, reasons);
    meta_view_unref(view);
}

static enum MHD_Result answer_ready(struct admin *admin, struct MHD_Connection *connection)
{
    char reasons[REASONS_BYTES];
    find_reasons(admin, reasons);
    return reasons[0] == '\0' ? send_text(connection, MHD_HTTP_OK, "ready\n")
                              : send_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE, reasons);
}

static enum MHD_Result answer_metrics(struct admin *admin, struct admin_request *request)
{
    struct MHD_Connection *connection = request->connection;
    if (admin->metrics_count >= METRICS_AT_A_TIME)
        return send_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                         "others are being answered: ask again\n");
    char reasons[REASONS_BYTES];
    struct buffer text;
    find_reasons(admin, reasons);
    buffer_init(&text);
    metrics_print(&text, &admin->options.sources, reasons[0] == '\0');
    if (text.failed) {
        buffer_close(&text);
        return send_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "there is no memory for this\n");
    }
    request->is_metrics = true;
    admin->metrics_count++;
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback(
        text.length, text.data, mem_free);
    if (response == NULL) buffer_close(&text);
    return send_answer(connection, MHD_HTTP_OK, METRICS_CONTENT_TYPE, response);
}

/* Of loops that are new: there may be more later (num.network.threads). */
static int add_network_probes(struct admin *admin)
{
    struct net *net = admin->options.sources.net;
    unsigned count = net_loop_count(net);
    int err = 0;
    for (; err == 0 && admin->network_probes < count; admin->network_probes += err == 0) {
        struct loop *loop = net_loop_base(net_loop_at(net, admin->network_probes));
        err = health_add(&admin->health, loop, "network", (int)admin->network_probes);
    }
    return err;
}

/* Asked again when the round is over. */
static enum MHD_Result ask_loops(struct admin *admin, struct admin_request *request)
{
    if (add_network_probes(admin) != 0)
        return send_text(request->connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                         "there is no memory for this\n");
    list_push_back(&admin->asking, &request->node);
    MHD_suspend_connection(request->connection);
    health_ask(&admin->health);
    return MHD_YES;
}

static enum MHD_Result answer_live(struct admin *admin, struct admin_request *request)
{
    char text[64];
    const char *silent = health_silent_loop(&admin->health);
    if (silent == NULL) return send_text(request->connection, MHD_HTTP_OK, "alive\n");
    snprintf(text, sizeof text, "the loop \"%s\" does not answer\n", silent);
    return send_text(request->connection, MHD_HTTP_SERVICE_UNAVAILABLE, text);
}

/* ---- what libmicrohttpd calls ---- */

/* For the first time when the headers have come; again after a round of questions to the loops. */
static enum MHD_Result request_came(void *context, struct MHD_Connection *connection,
                                    const char *path, const char *method, const char *version,
                                    const char *upload, size_t *upload_size, void **kept)
{
    struct admin *admin = context;
    struct admin_request *request = *kept;
    (void)version;
    (void)upload;
    (void)upload_size; /* A body is not read: the answer comes first, and then the end. */
    if (request != NULL) return answer_live(admin, request);
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
    if (strcmp(path, "/health/ready") == 0) return answer_ready(admin, connection);
    bool is_metrics = strcmp(path, "/metrics") == 0;
    if (!is_metrics && strcmp(path, "/health/live") != 0)
        return send_text(connection, MHD_HTTP_NOT_FOUND,
                         "there are /metrics, /health/live and /health/ready\n");
    request = mem_zalloc(sizeof *request);
    if (request == NULL) return MHD_NO;
    *kept = request;
    list_init(&request->node);
    request->connection = connection;
    return is_metrics ? answer_metrics(admin, request) : ask_loops(admin, request);
}

static void request_ended(void *context, struct MHD_Connection *connection, void **kept,
                          enum MHD_RequestTerminationCode how)
{
    struct admin *admin = context;
    struct admin_request *request = *kept;
    (void)connection;
    (void)how;
    if (request == NULL) return;
    if (request->is_metrics) admin->metrics_count--;
    list_remove(&request->node);
    mem_free(request);
    *kept = NULL;
}

/* libmicrohttpd sees the end of the stream, and closes. */
static void connection_end(struct admin_connection *connection)
{
    list_remove(&connection->node);
    shutdown(connection->fd, SHUT_RDWR);
}

static void connection_takes_too_long(struct timer *timer)
{
    connection_end(LIST_OWNER(timer, struct admin_connection, too_long));
}

/* By (2): whoever knocks gets in, and the oldest goes. A request takes milliseconds; what is older either sends
 * or reads slowly, or is of nobody who is still there. */
static void make_room(struct admin *admin)
{
    if (admin->connection_count < CONNECTIONS_MAX || list_is_empty(&admin->connections)) return;
    connection_end(LIST_OWNER(admin->connections.next, struct admin_connection, node));
}

static void connection_changed(void *context, struct MHD_Connection *connection, void **kept,
                               enum MHD_ConnectionNotificationCode what)
{
    struct admin *admin = context;
    struct admin_connection *mine = *kept;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        admin->connection_count--;
        if (mine != NULL) {
            timer_cancel(admin->loop, &mine->too_long);
            list_remove(&mine->node);
        }
        mem_free(mine);
        *kept = NULL;
        return;
    }
    admin->connection_count++;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    mine = mem_zalloc(sizeof *mine);
    if (info == NULL || mine == NULL) { /* Without an end it may not begin. */
        if (info != NULL) shutdown(info->connect_fd, SHUT_RDWR);
        mem_free(mine);
        return;
    }
    mine->fd = info->connect_fd;
    list_init(&mine->node);
    timer_init(&mine->too_long, connection_takes_too_long);
    timer_set(admin->loop, &mine->too_long, CONNECTION_MAX_MS);
    list_push_back(&admin->connections, &mine->node);
    *kept = mine;
    make_room(admin);
}

/* ---- the loop ---- */

static void take_turn(struct admin *admin)
{
    MHD_UNSIGNED_LONG_LONG ms;
    unsigned before;
    /* A daemon that is full does not look who knocks until its next run, for which nothing would wake us. */
    do {
        before = admin->connection_count;
        MHD_run(admin->daemon);
    } while (before == CONNECTIONS_MAX && admin->connection_count < CONNECTIONS_MAX);
    if (MHD_get_timeout(admin->daemon, &ms) == MHD_YES)
        timer_set(admin->loop, &admin->due, ms > INT_MAX ? INT_MAX : (int64_t)ms);
    else
        timer_cancel(admin->loop, &admin->due); /* (3) */
}

static void poll_came(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    take_turn(poll->data);
}

static void due_came(struct timer *timer)
{
    take_turn(LIST_OWNER(timer, struct admin, due));
}

static void resume_all(struct admin *admin)
{
    struct list *node;
    while ((node = list_pop_front(&admin->asking)) != NULL)
        MHD_resume_connection(LIST_OWNER(node, struct admin_request, node)->connection);
}

static void loops_were_asked(struct health *health)
{
    struct admin *admin = LIST_OWNER(health, struct admin, health);
    resume_all(admin);
    take_turn(admin);
}

static void stop_serving(struct admin *admin)
{
    if (admin->is_polling) uv_close((uv_handle_t *)&admin->poll, NULL);
    admin->is_polling = false;
    timer_cancel(admin->loop, &admin->due);
    if (admin->health.probes != NULL) health_stop(&admin->health);
    resume_all(admin); /* It would not stop with suspended ones. */
    MHD_stop_daemon(admin->daemon);
    admin->daemon = NULL;
}

static void stop_came(struct message *message)
{
    struct admin *admin = LIST_OWNER(message, struct admin, stop);
    stop_serving(admin);
    sem_post(&admin->stopped);
}

/* ---- life ---- */

static int bind_port(const char *host, uint16_t port, int *fd, uint16_t *bound_port, char *why,
                     size_t why_size)
{
    struct listener_wish wish = {
        .host = host,
        .port = port,
        .receive_buffer_bytes = -1,
        .backlog_size = (int32_t)CONNECTIONS_MAX,
    };
    struct listener *listener = NULL;
    int err = listener_open(&listener, &wish, bound_port, why, why_size);
    if (err != 0) return err;
    /* One address, one socket, which is libmicrohttpd's from here on. */
    *fd = fcntl(listener->sockets[0].fd, F_DUPFD_CLOEXEC, 0);
    listener_stop(listener);
    mem_free(listener);
    return *fd < 0 ? ERR_IO : 0;
}

static struct MHD_Daemon *start_daemon(struct admin *admin, int fd)
{
    return MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, request_came,
                            admin, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
                            CONNECTIONS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                            CONNECTION_MEMORY_BYTES, MHD_OPTION_CONNECTION_MEMORY_INCREMENT,
                            CONNECTION_INCREMENT, MHD_OPTION_CONNECTION_TIMEOUT, CONNECTION_IDLE_S,
                            MHD_OPTION_NOTIFY_COMPLETED, request_ended, admin,
                            MHD_OPTION_NOTIFY_CONNECTION, connection_changed, admin,
                            MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
}

int admin_open(struct admin **admin, struct clock *clock, const char *host, uint16_t port,
               uint16_t *bound_port, char *why, size_t why_size)
{
    struct admin *opened = mem_zalloc(sizeof *opened);
    if (opened == NULL) return ERR_NO_MEMORY;
    list_init(&opened->asking);
    list_init(&opened->connections);
    timer_init(&opened->due, due_came);
    message_init(&opened->stop, stop_came);
    sem_init(&opened->stopped, 0, 0);
    int fd = -1;
    int err = bind_port(host, port, &fd, bound_port, why, why_size);
    if (err == 0) err = loop_open(&opened->loop, "admin", clock);
    if (err == 0) opened->daemon = start_daemon(opened, fd);
    if (err == 0 && opened->daemon == NULL) {
        snprintf(why, why_size, "libmicrohttpd cannot begin");
        err = ERR_IO;
    }
    if (err == 0) {
        *admin = opened;
        return 0;
    }
    if (fd >= 0) close(fd);
    admin_close(opened);
    return err;
}

int admin_start(struct admin *admin, const struct admin_options *options)
{
    admin->options = *options;
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(admin->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    health_open(&admin->health, admin->loop, loops_were_asked);
    int err = health_add(&admin->health, options->main_loop, "main", -1);
    if (err == 0) err = add_network_probes(admin);
    if (err != 0) return err;
    admin->poll.data = admin;
    if (info == NULL || uv_poll_init(loop_uv(admin->loop), &admin->poll, info->epoll_fd) != 0)
        return ERR_IO;
    admin->is_polling = true;
    if (uv_poll_start(&admin->poll, UV_READABLE, poll_came) != 0) return ERR_IO;
    err = loop_start(admin->loop);
    admin->has_thread = err == 0;
    return err;
}

void admin_set_ready(struct admin *admin)
{
    atomic_store(&admin->is_ready, true);
}

void admin_stop(struct admin *admin)
{
    if (admin == NULL || admin->daemon == NULL) return;
    if (!admin->has_thread) {
        stop_serving(admin);
        return;
    }
    loop_post(admin->loop, &admin->stop);
    while (sem_wait(&admin->stopped) != 0 && errno == EINTR)
        ;
}

void admin_close(struct admin *admin)
{
    if (admin == NULL) return;
    admin_stop(admin);
    if (admin->has_thread) loop_stop(admin->loop);
    if (admin->loop != NULL) loop_close(admin->loop);
    health_close(&admin->health);
    sem_destroy(&admin->stopped);
    mem_free(admin);
}

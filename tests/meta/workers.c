// SPDX-License-Identifier: Apache-2.0
#include "workers.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES_MAX  16
#define SECONDS_A_SEED 60 /* Real ones: it hangs. */

/* Seen by all processes. */
struct shared {
    atomic_uint_least64_t next; /* How many seeds were begun. */
    atomic_bool is_enough;
    atomic_uint_least64_t done, failed;
    struct slot {
        uint64_t seed; /* The one it is at. */
        bool is_running;
        struct world_counts counts;
    } slots[PROCESSES_MAX];
};

struct worker {
    pid_t process;
    int output; /* What it says before it dies: an assert's line. */
};

static void counts_add(struct world_counts *sum, const struct world_counts *counts)
{
    sum->commits += counts->commits;
    sum->elections += counts->elections;
    sum->crashes += counts->crashes;
    sum->power_cuts += counts->power_cuts;
    sum->messages += counts->messages;
    sum->told += counts->told;
    sum->restored += counts->restored;
    sum->changes += counts->changes;
    sum->full += counts->full;
    sum->failed_syncs += counts->failed_syncs;
}

static void failed(const struct workers_options *options, struct shared *shared, uint64_t seed,
                   const char *why)
{
    atomic_fetch_add(&shared->failed, 1);
    if (options->stops_at_first) atomic_store(&shared->is_enough, true);
    if (options->is_quiet) return;
    /* One write, so that lines of several processes do not mix. */
    char line[600];
    int length = snprintf(line, sizeof line, "seed %" PRIu64 ": %s\n", seed, why);
    if (length > (int)sizeof line) length = sizeof line;
    if (write(STDOUT_FILENO, line, (size_t)length) < 0) _exit(2);
}

/* In the child. */
static void work(const struct workers_options *options, struct shared *shared, struct slot *slot)
{
    for (;;) {
        uint64_t number = atomic_fetch_add(&shared->next, 1);
        if (number >= options->seed_count || atomic_load(&shared->is_enough)) break;
        struct world_counts counts;
        char why[400];
        slot->seed = options->first_seed + number;
        slot->is_running = true;
        alarm(SECONDS_A_SEED);
        if (!world_run(&options->world, slot->seed, &counts, why, sizeof why))
            failed(options, shared, slot->seed, why);
        alarm(0);
        counts_add(&slot->counts, &counts);
        slot->is_running = false;
        atomic_fetch_add(&shared->done, 1);
    }
}

static void worker_start(struct worker *worker, const struct workers_options *options,
                         struct shared *shared, struct slot *slot)
{
    char name[] = "/tmp/meta_sim.XXXXXX";
    worker->output = mkstemp(name);
    if (worker->output < 0) abort();
    unlink(name);
    fflush(stdout);
    worker->process = fork();
    if (worker->process < 0) abort();
    if (worker->process > 0) return;
    dup2(worker->output, STDERR_FILENO);
    work(options, shared, slot);
    exit(0); /* Not _exit(): a leak is found here. */
}

/* The line that tells most of what a process said before it died. */
static void last_words(int output, int status, char *why, size_t why_size)
{
    char text[65536];
    ssize_t length = pread(output, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    static const char *const telling[] = { "Assertion", "runtime error", "ERROR: ", "SUMMARY" };
    const char *line = text;
    for (unsigned i = 0; i < sizeof telling / sizeof telling[0]; i++) {
        const char *found = strstr(text, telling[i]);
        if (found == NULL) continue;
        for (line = found; line > text && line[-1] != '\n'; line--) {}
        break;
    }
    snprintf(why, why_size, "the process ended with %s %d: %.*s",
             WIFSIGNALED(status) ? "signal" : "status",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), (int)strcspn(line, "\n"),
             line);
}

/* True: it has to be started again, at the next seed. */
static bool worker_ended(struct worker *worker, int status, const struct workers_options *options,
                         struct shared *shared, struct slot *slot)
{
    char why[500];
    bool ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!ended_well) {
        last_words(worker->output, status, why, sizeof why);
        failed(options, shared, slot->seed, why);
        if (slot->is_running) atomic_fetch_add(&shared->done, 1);
        slot->is_running = false;
    }
    close(worker->output);
    return !ended_well;
}

void workers_run(const struct workers_options *options, struct workers_result *result)
{
    struct worker workers[PROCESSES_MAX];
    unsigned count = options->processes < PROCESSES_MAX ? options->processes : PROCESSES_MAX;
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) abort();
    memset(result, 0, sizeof *result);
    for (unsigned i = 0; i < count; i++)
        worker_start(&workers[i], options, shared, &shared->slots[i]);
    for (unsigned running = count; running > 0;) {
        int status = 0;
        pid_t process = wait(&status);
        for (unsigned i = 0; i < count; i++) {
            if (workers[i].process != process) continue;
            if (worker_ended(&workers[i], status, options, shared, &shared->slots[i]))
                worker_start(&workers[i], options, shared, &shared->slots[i]);
            else
                running--;
        }
    }
    for (unsigned i = 0; i < count; i++)
        counts_add(&result->counts, &shared->slots[i].counts);
    result->done = atomic_load(&shared->done);
    result->failed = atomic_load(&shared->failed);
    munmap(shared, sizeof *shared);
}

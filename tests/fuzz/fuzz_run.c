// SPDX-License-Identifier: Apache-2.0
/*     fuzz_TARGET [--seed N] [--inputs N | --seconds N] [--only NUMBER] [--part NAME]
 *
 * When an input breaks a promise or a sanitizer ends the program, seed and number are printed;
 * --only repeats that one. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fuzz.h"
#include "trace.h"

#define CHANGES_MAX 6
#define INPUT_MAX   ((size_t)1 << 20)

const char *fuzz_part;
static uint64_t seed = 1;
static uint64_t input_number;

/* ---- chance ---- */

static uint64_t chance_state;

/* splitmix64 */
uint64_t chance(void)
{
    uint64_t mixed = chance_state += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
}

size_t chance_below(size_t bound)
{
    return bound == 0 ? 0 : (size_t)(chance() % bound);
}

/* ---- telling ---- */

static void report(void)
{
    fprintf(stderr, "%s: to repeat it: --seed %llu --only %llu%s%s\n", fuzz_name,
            (unsigned long long)seed, (unsigned long long)input_number,
            fuzz_part == NULL ? "" : " --part ", fuzz_part == NULL ? "" : fuzz_part);
}

void fuzz_promise(bool kept, const char *what)
{
    if (kept) return;
    fprintf(stderr, "%s: broken promise: %s\n", fuzz_name, what);
    abort();
}

/* A sanitizer that ends the program does not abort: it calls this one, if there is a sanitizer. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

/* UBSan's report ends the program as a broken promise does, so that report() follows it. */
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
    return "abort_on_error=1";
}

static void on_signal(int signal_number)
{
    report(); /* Not safe in a handler, but we are on the way down. */
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void drop_line(void *context, const char *line)
{
    (void)context;
    (void)line;
}

/* ---- changes ---- */

/* What lengths, counts and offsets are attacked with. */
static void put_number(uint8_t *at, size_t width)
{
    static const int64_t numbers[] = {
        0, 1, -1, 2, 61, 127, 128, 255, 4096, 65535, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN
    };
    uint64_t number = (uint64_t)numbers[chance_below(sizeof numbers / sizeof numbers[0])] +
                      (chance_below(4) == 0 ? chance_below(3) - 1 : 0);
    for (size_t i = 0; i < width; i++)
        at[i] = (uint8_t)(number >> 8 * (width - 1 - i));
}

static void insert(struct buffer *input, size_t at, const uint8_t *data, size_t length)
{
    if (input->length + length > INPUT_MAX || buffer_extend(input, length) == NULL) return;
    memmove(input->data + at + length, input->data + at, input->length - length - at);
    memcpy(input->data + at, data, length);
}

static void cut_out(struct buffer *input, size_t at, size_t length)
{
    memmove(input->data + at, input->data + at + length, input->length - at - length);
    input->length -= length;
}

static void change(struct buffer *input)
{
    static const size_t widths[] = { 1, 2, 4, 8 };
    uint8_t run[128];
    if (input->length == 0) return;
    size_t at = chance_below(input->length), left = input->length - at;
    size_t length = 1 + chance_below(left < sizeof run ? left : sizeof run);
    size_t width = widths[chance_below(4)];
    switch (chance_below(9)) {
    case 0:
    case 1: input->data[at] ^= (uint8_t)(1u << chance_below(8)); break;
    case 2: input->data[at] = (uint8_t)chance(); break;
    case 3:
    case 4:
        if (width <= left) put_number(input->data + at, width);
        break;
    case 5: cut_out(input, at, length < left ? length : left); break;
    case 6:
        if (length > left) break;
        memcpy(run, input->data + at, length);
        insert(input, chance_below(input->length), run, length);
        break;
    case 7: {
        size_t to = chance_below(input->length);
        size_t room = input->length - to;
        size_t count = length < left ? length : left;
        memmove(input->data + to, input->data + at, count < room ? count : room);
        break;
    }
    default:
        if (chance_below(3) == 0) input->length = at;
        break;
    }
}

/* ---- running ---- */

static void run_one(uint64_t number)
{
    struct buffer input;
    input_number = number;
    chance_state = seed * 0x9e3779b97f4a7c15 ^ number * 0xd1342543de82ef95;
    buffer_init(&input);
    fuzz_make(&input);
    if (input.failed) abort();
    /* One in eight is left as it was made. */
    size_t changes = chance_below(8) == 0 ? 0 : 1 + chance_below(CHANGES_MAX);
    for (size_t i = 0; i < changes; i++)
        change(&input);
    if (changes > 0 && chance_below(2) == 0) fuzz_mend(input.data, input.length);

    /* In memory of exactly its size, where reading one byte too many is seen. */
    uint8_t *exact = malloc(input.length);
    if (exact == NULL && input.length > 0) abort();
    if (input.length > 0) memcpy(exact, input.data, input.length);
    LLVMFuzzerTestOneInput(exact, input.length);
    free(exact);
    buffer_close(&input);
}

int main(int argc, char **argv)
{
    uint64_t inputs = 10000, only = 0;
    double seconds = 0;
    bool is_one = false;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 0);
        if (strcmp(argv[i], "--inputs") == 0) inputs = strtoull(argv[i + 1], NULL, 0);
        if (strcmp(argv[i], "--seconds") == 0) seconds = strtod(argv[i + 1], NULL);
        if (strcmp(argv[i], "--part") == 0) fuzz_part = argv[i + 1];
        if (strcmp(argv[i], "--only") == 0) {
            only = strtoull(argv[i + 1], NULL, 0);
            is_one = true;
        }
    }
    signal(SIGABRT, on_signal);
    if (__sanitizer_set_death_callback != NULL)
        __sanitizer_set_death_callback(report);
    else
        signal(SIGSEGV, on_signal);
    /* What is said of damage would be all that is seen. */
    if (!is_one) trace_set_sink(drop_line, NULL);
    if (is_one) {
        run_one(only);
        return 0;
    }
    time_t start = time(NULL);
    uint64_t number = 0;
    while (seconds > 0 ? difftime(time(NULL), start) < seconds : number < inputs)
        run_one(number++);
    printf("%s%s%s: seed %llu, %llu inputs\n", fuzz_name, fuzz_part == NULL ? "" : " ",
           fuzz_part == NULL ? "" : fuzz_part, (unsigned long long)seed,
           (unsigned long long)number);
    return 0;
}

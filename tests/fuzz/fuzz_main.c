// SPDX-License-Identifier: Apache-2.0
/* Runs the target where there is no libFuzzer: the golden bytes, changed by chance from a seed.
 *
 *     fuzz_decode [--seed N] [--inputs N | --seconds N] [folder of the vectors]
 *
 * The same seed gives the same inputs. When one breaks a promise the target aborts, and the seed
 * and the number of the input are printed. */

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fuzz_decode.h"
#include "wire_shapes.h"

#ifndef SLUICE_TESTS_DIR
#define SLUICE_TESTS_DIR "tests"
#endif

#define INPUT_BYTES_MAX 4096

struct input {
    size_t length;
    uint8_t data[INPUT_BYTES_MAX];
};

static struct input *corpus;
static size_t corpus_count;

/* ---- chance ---- */

static uint64_t chance_state;

/* splitmix64 */
static uint64_t chance(void)
{
    uint64_t mixed = chance_state += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
}

static size_t chance_below(size_t bound)
{
    return bound == 0 ? 0 : (size_t)(chance() % bound);
}

/* ---- the corpus ---- */

static void corpus_add(unsigned api, const json_t *vector)
{
    const char *hex = json_string_value(json_object_get(vector, "hex"));
    const char *kind = json_string_value(json_object_get(vector, "kind"));
    int16_t version = (int16_t)json_integer_value(json_object_get(vector, "version"));
    size_t length = hex == NULL ? 0 : strlen(hex) / 2;
    if (hex == NULL || kind == NULL || length + 2 > INPUT_BYTES_MAX) return;

    corpus = realloc(corpus, (corpus_count + 1) * sizeof *corpus);
    if (corpus == NULL) abort();
    struct input *input = &corpus[corpus_count++];
    fuzz_choose(input->data, api, strcmp(kind, "request") == 0, version);
    for (size_t i = 0; i < length; i++) {
        char digits[] = { hex[2 * i], hex[2 * i + 1], '\0' };
        input->data[2 + i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    input->length = 2 + length;
}

static void corpus_read(const char *folder, unsigned api)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, wire_apis[api].file);
    FILE *lines = fopen(path, "r");
    if (lines == NULL) {
        perror(path);
        exit(1);
    }
    char *line = NULL;
    size_t capacity = 0;
    for (ssize_t length; (length = getline(&line, &capacity, lines)) > 0;) {
        json_t *vector = json_loadb(line, (size_t)length, JSON_ALLOW_NUL, NULL);
        corpus_add(api, vector);
        json_decref(vector);
    }
    free(line);
    fclose(lines);
}

/* As many as another message has, so that they are not lost among the others. */
#define RARE_COUNT 40

static void corpus_add_rare(void)
{
    corpus = realloc(corpus, (corpus_count + RARE_COUNT) * sizeof *corpus);
    if (corpus == NULL) abort();
    for (size_t i = 0; i < RARE_COUNT; i++) {
        struct input *input = &corpus[corpus_count++];
        input->length = fuzz_rare(input->data, i % 2 == 0);
    }
}

/* ---- changes ---- */

/* What lengths, counts and tags are attacked with. */
static const uint8_t interesting[] = { 0x00, 0x01, 0x02, 0x7f, 0x80, 0xfe, 0xff };

static void input_insert(struct input *input, size_t at, const uint8_t *data, size_t length)
{
    if (length > INPUT_BYTES_MAX - input->length) return;
    memmove(input->data + at + length, input->data + at, input->length - at);
    memcpy(input->data + at, data, length);
    input->length += length;
}

static void input_remove(struct input *input, size_t at, size_t length)
{
    memmove(input->data + at, input->data + at + length, input->length - at - length);
    input->length -= length;
}

static void input_change(struct input *input)
{
    uint8_t run[64];
    size_t at = chance_below(input->length);
    size_t left = input->length - at;
    size_t length = 1 + chance_below(left < sizeof run ? left : sizeof run);
    if (length > left) length = left;
    const struct input *other = &corpus[chance_below(corpus_count)];

    switch (chance_below(8)) {
    case 0: input->data[at] ^= (uint8_t)(1u << chance_below(8)); break;
    case 1: input->data[at] = (uint8_t)chance(); break;
    case 2: input->data[at] = interesting[chance_below(sizeof interesting)]; break;
    case 3:
        memset(input->data + at, chance_below(2) == 0 ? 0x00 : 0xff, length < 4 ? length : 4);
        break;
    case 4: input_remove(input, at, length); break;
    case 5:
        memcpy(run, input->data + at, length);
        input_insert(input, chance_below(input->length), run, length);
        break;
    case 6: {
        size_t from = chance_below(other->length);
        size_t count = other->length - from < sizeof run ? other->length - from : sizeof run;
        input_insert(input, at, other->data + from, count);
        break;
    }
    default: input->length = at; break;
    }
    if (input->length < 2) input->length = 2;
}

/* ---- running ---- */

static uint64_t seed = 1;
static uint64_t input_number;

/* A sanitizer that ends the program does not abort: it calls this one, if there is a sanitizer. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void report(void)
{
    fprintf(stderr, "fuzz_decode: seed %llu, input %llu\n", (unsigned long long)seed,
            (unsigned long long)input_number);
}

static void on_signal(int signal_number)
{
    report(); /* Not safe in a handler, but we are on the way down. */
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void run_one(uint64_t number)
{
    /* By its number alone, so that one input does not depend on those before it. */
    chance_state = seed * 0x9e3779b97f4a7c15 ^ number;
    struct input input = corpus[chance_below(corpus_count)];
    for (size_t changes = 1 + chance_below(6); changes > 0; changes--)
        input_change(&input);

    uint8_t *exact = malloc(input.length);
    if (exact == NULL) abort();
    memcpy(exact, input.data, input.length);
    LLVMFuzzerTestOneInput(exact, input.length);
    free(exact);
}

int main(int argc, char **argv)
{
    uint64_t inputs = 200000;
    double seconds = 0;
    const char *folder = SLUICE_TESTS_DIR;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            seed = strtoull(argv[++i], NULL, 0);
        else if (strcmp(argv[i], "--inputs") == 0 && i + 1 < argc)
            inputs = strtoull(argv[++i], NULL, 0);
        else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
            seconds = strtod(argv[++i], NULL);
        else
            folder = argv[i];
    }
    for (unsigned api = 0; api < wire_api_count; api++)
        corpus_read(folder, api);
    corpus_add_rare();
    signal(SIGABRT, on_signal);
    if (__sanitizer_set_death_callback != NULL)
        __sanitizer_set_death_callback(report);
    else
        signal(SIGSEGV, on_signal);

    time_t start = time(NULL);
    for (size_t i = 0; i < corpus_count; i++)
        LLVMFuzzerTestOneInput(corpus[i].data, corpus[i].length);
    while (seconds > 0 ? difftime(time(NULL), start) < seconds : input_number < inputs)
        run_one(input_number++);
    printf("fuzz_decode: seed %llu, %zu inputs of the corpus, %llu changed ones\n",
           (unsigned long long)seed, corpus_count, (unsigned long long)input_number);
    free(corpus);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
/* The codec on a message made up for it, which has one field of everything. */

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "field_macros.h"
#include "runner.h"

struct animal {
    struct str name;
    int32_t legs;
};

struct zoo {
    bool is_open;
    int8_t gates;
    int16_t keepers;
    uint16_t visitors;
    int32_t height;
    uint32_t founded;
    int64_t cash;
    double latitude;
    struct uuid id;
    struct str motto;
    struct bytes seal;
    struct records diary;
    ARRAY_OF(struct animal) animals;
    ARRAY_OF(struct str) prices;
    struct animal *mascot;
    int32_t late;      /* Not before version 1. */
    int32_t forgotten; /* Only in version 0. */
    int32_t rating;
    struct str nickname;
    struct animal *guest;
};

/* clang-format off */

#define OWNER struct animal
static const struct field animal_fields[] = {
    FIELD(name, "name", 0, 2, STRING, DEFAULT_NULL),
    FIELD(legs, "legs", 0, 2, INT32, DEFAULT(4)),
};
#undef OWNER
static const struct shape animal_shape = SHAPE(animal);

#define OWNER struct zoo
static const struct field zoo_fields[] = {
    FIELD(  is_open,   "isOpen",    0, 2, BOOL, DEFAULT(true)),
    FIELD(  gates,     "gates",     0, 2, INT8),
    FIELD(  keepers,   "keepers",   0, 2, INT16),
    FIELD(  visitors,  "visitors",  0, 2, UINT16),
    FIELD(  height,    "height",    0, 2, INT32),
    FIELD(  founded,   "founded",   0, 2, UINT32),
    FIELD(  cash,      "cash",      0, 2, INT64, DEFAULT(INT64_MAX)),
    FIELD(  latitude,  "latitude",  0, 2, FLOAT64),
    FIELD(  id,        "id",        0, 2, UUID),
    FIELD(  motto,     "motto",     0, 2, STRING, NULLABLE(1, 2)),
    FIELD(  seal,      "seal",      0, 2, BYTES, NULLABLE(1, 2)),
    FIELD(  diary,     "diary",     0, 2, RECORDS, NULLABLE(0, 2)),
    STRUCTS(animals,   "animals",   0, 2, animal),
    ARRAY(  prices,    "prices",    0, 2, STRING, NULLABLE(1, 2)),
    STRUCT( mascot,    "mascot",    0, 2, animal, NULLABLE(0, 2), .is_optional_struct = true),
    FIELD(  late,      "late",      1, 2, INT32, DEFAULT(-1), IGNORABLE),
    FIELD(  forgotten, "forgotten", 0, 0, INT32),
    FIELD(  rating,    "rating",    2, 2, INT32, TAGGED(0, 2, 2), DEFAULT(5)),
    FIELD(  nickname,  "nickname",  2, 2, STRING, TAGGED(3, 2, 2), NULLABLE(2, 2), DEFAULT_NULL),
    STRUCT( guest,     "guest",     2, 2, animal, TAGGED(7, 2, 2), NULLABLE(2, 2),
            .is_optional_struct = true),
};
#undef OWNER
static const struct message_shape zoo_shape = MESSAGE(zoo, "Zoo", 0, 2, 2);

/* A message that is one tagged section, one that is one array, and one that is one text. */
struct tagged { int32_t rating; struct str nickname; struct records album; };
#define OWNER struct tagged
static const struct field tagged_fields[] = {
    FIELD(rating,   "rating",   0, 0, INT32, TAGGED(0, 0, 0)),
    FIELD(nickname, "nickname", 0, 0, STRING, TAGGED(3, 0, 0), NULLABLE(0, 0), DEFAULT_NULL),
    FIELD(album,    "album",    0, 0, RECORDS, TAGGED(4, 0, 0), NULLABLE(0, 0)),
};
#undef OWNER
static const struct message_shape tagged_shape = MESSAGE(tagged, "Tagged", 0, 0, 0);

struct herd { ARRAY_OF(struct animal) animals; };
#define OWNER struct herd
static const struct field herd_fields[] = {
    STRUCTS(animals, "animals", 0, 2, animal, NULLABLE(1, 2)),
};
#undef OWNER
static const struct message_shape herd_shape = MESSAGE(herd, "Herd", 0, 2, 2);

struct note { struct str text; };
#define OWNER struct note
static const struct field note_fields[] = {
    FIELD(text, "text", 0, 2, STRING, NULLABLE(1, 2)),
};
#undef OWNER
static const struct message_shape note_shape = MESSAGE(note, "Note", 0, 2, 2);

/* clang-format on */

/* Hex digits, blanks between them for the reader, into a heap block of exactly that size: so a
 * sanitizer sees each byte that is read too many. */
static uint8_t *from_hex(const char *hex, size_t *length)
{
    uint8_t *data = malloc(strlen(hex) / 2 + 1);
    assert_non_null(data);
    *length = 0;
    for (; *hex != '\0'; hex++) {
        if (*hex == ' ') continue;
        char digits[] = { hex[0], hex[1], '\0' };
        data[(*length)++] = (uint8_t)strtoul(digits, NULL, 16);
        hex++;
    }
    uint8_t *exact = malloc(*length);
    assert_true(exact != NULL || *length == 0);
    if (*length > 0) memcpy(exact, data, *length);
    free(data);
    return exact;
}

#define ARENA_LIMIT (16 * 1024)

/* What is decoded borrows both: they live until the next call. */
static uint8_t *input;
static struct arena arena;

static void forget(void)
{
    arena_close(&arena);
    free(input);
    input = NULL;
}

/* Returns what message_decode() does, and how much it left unread. */
static int decode(const struct message_shape *shape, int16_t version, const char *hex,
                  void *message, size_t *left)
{
    size_t length;
    forget();
    input = from_hex(hex, &length);
    arena_init(&arena, NULL, 0, ARENA_LIMIT);
    struct cursor in = cursor_over(input, length);
    int err = message_decode(shape, version, &in, &arena, message);
    *left = cursor_left(&in);
    return err;
}

static void assert_decodes(const struct message_shape *shape, int16_t version, const char *hex,
                           void *message)
{
    size_t left;
    assert_int_equal(decode(shape, version, hex, message, &left), 0);
    assert_int_equal(left, 0);
}

static void assert_refused(const struct message_shape *shape, int16_t version, const char *hex)
{
    struct zoo any; /* The largest of them. */
    size_t left;
    assert_int_equal(decode(shape, version, hex, &any, &left), ERR_MALFORMED);
    forget();
}

static void assert_encodes(const struct message_shape *shape, int16_t version, const void *message,
                           const char *hex)
{
    size_t length;
    uint8_t *expected = from_hex(hex, &length);
    struct encoder encoder;
    encoder_init(&encoder);
    assert_int_equal(message_encode(shape, version, message, &encoder), 0);
    assert_int_equal(encoder.bytes.length, length);
    assert_memory_equal(encoder.bytes.data, expected, length);
    encoder_close(&encoder);
    free(expected);
}

static int encode_only(const struct message_shape *shape, int16_t version, const void *message)
{
    struct encoder encoder;
    encoder_init(&encoder);
    int err = message_encode(shape, version, message, &encoder);
    encoder_close(&encoder);
    return err;
}

/* ---- every type ---- */

static const uint8_t cafe[] = { 0xca, 0xfe };
static struct animal cat = { { "cat", 3 }, 4 };
static struct animal emu = { { "emu", 3 }, 2 };
static struct str prices[] = { { "1", 1 }, { "", 0 } };

static struct zoo full_zoo(void)
{
    struct zoo zoo;
    message_defaults(&zoo_shape, &zoo);
    zoo.gates = -2;
    zoo.keepers = -3;
    zoo.visitors = 0xfffd;
    zoo.height = INT32_MIN;
    zoo.founded = 0xfffffffe;
    zoo.cash = INT64_MIN + 1;
    zoo.latitude = 1.5;
    memset(&zoo.id, 0x11, sizeof zoo.id);
    zoo.motto = STR_LITERAL("hi");
    zoo.seal = (struct bytes){ cafe, 2 };
    zoo.diary = (struct records){ cafe, 1, NULL };
    zoo.animals.items = &cat;
    zoo.animals.count = 1;
    zoo.prices.items = prices;
    zoo.prices.count = 2;
    zoo.mascot = &emu;
    zoo.late = 9;
    return zoo;
}

/* isOpen, gates, keepers, visitors, height, founded, cash, latitude, id */
#define ZOO_NUMBERS                                                       \
    "01 fe fffd fffd 80000000 fffffffe 8000000000000001 3ff8000000000000" \
    "11111111111111111111111111111111 "

#define ZOO_IN_VERSION_1                                                       \
    ZOO_NUMBERS "0002 6869 00000002 cafe 00000001 ca" /* motto, seal, diary */ \
                "00000001 0003 636174 00000004"       /* animals */            \
                "00000002 0001 31 0000"               /* prices */             \
                "01 0003 656d75 00000002"             /* mascot */             \
                "00000009"                            /* late */

#define ZOO_IN_VERSION_2                                                  \
    ZOO_NUMBERS "03 6869 03 cafe 02 ca"          /* motto, seal, diary */ \
                "02 04 636174 00000004 00"       /* animals */            \
                "03 02 31 01"                    /* prices */             \
                "01 04 656d75 00000002 00"       /* mascot */             \
                "00000009"                       /* late */               \
                "03"                             /* three tags: */        \
                "00 04 00000006"                 /* rating */             \
                "03 01 01"                       /* nickname */           \
                "07 0a 01 04 636174 00000004 00" /* guest */

static void assert_full_zoo(const struct zoo *zoo)
{
    assert_true(zoo->is_open);
    assert_int_equal(zoo->gates, -2);
    assert_int_equal(zoo->keepers, -3);
    assert_int_equal(zoo->visitors, 0xfffd);
    assert_int_equal(zoo->height, INT32_MIN);
    assert_int_equal(zoo->founded, 0xfffffffe);
    assert_true(zoo->cash == INT64_MIN + 1);
    assert_true(zoo->latitude == 1.5);
    assert_int_equal(zoo->id.bytes[15], 0x11);
    assert_true(str_equals_text(zoo->motto, "hi"));
    assert_int_equal(zoo->seal.length, 2);
    assert_memory_equal(zoo->seal.data, cafe, 2);
    assert_int_equal(zoo->diary.length, 1);
    assert_null(zoo->diary.slice);
    assert_int_equal(zoo->animals.count, 1);
    assert_true(str_equals_text(zoo->animals.items[0].name, "cat"));
    assert_int_equal(zoo->animals.items[0].legs, 4);
    assert_int_equal(zoo->prices.count, 2);
    assert_true(str_equals_text(zoo->prices.items[0], "1"));
    assert_true(str_equals_text(zoo->prices.items[1], ""));
    assert_true(str_equals_text(zoo->mascot->name, "emu"));
    assert_int_equal(zoo->late, 9);
}

TEST(every_type_has_its_bytes_in_an_old_version)
{
    struct zoo zoo = full_zoo(), decoded;
    assert_encodes(&zoo_shape, 1, &zoo, ZOO_IN_VERSION_1);
    assert_decodes(&zoo_shape, 1, ZOO_IN_VERSION_1, &decoded);
    assert_full_zoo(&decoded);
    assert_int_equal(decoded.rating, 5);
    assert_true(str_is_null(decoded.nickname));
    assert_null(decoded.guest);
    forget();
}

TEST(every_type_has_its_bytes_in_a_flexible_version)
{
    struct zoo zoo = full_zoo(), decoded;
    zoo.rating = 6;
    zoo.nickname = STR_LITERAL("");
    zoo.guest = &cat;
    assert_encodes(&zoo_shape, 2, &zoo, ZOO_IN_VERSION_2);
    assert_decodes(&zoo_shape, 2, ZOO_IN_VERSION_2, &decoded);
    assert_full_zoo(&decoded);
    assert_int_equal(decoded.rating, 6);
    assert_int_equal(decoded.nickname.length, 0);
    assert_true(str_equals_text(decoded.guest->name, "cat"));
    forget();
}

TEST(decoding_sets_what_the_version_has_not_to_its_default)
{
    struct zoo decoded;
    memset(&decoded, 0xee, sizeof decoded);
    assert_decodes(&zoo_shape, 0,
                   ZOO_NUMBERS "0000 00000000 ffffffff 00000000 00000000 ff 00000007", &decoded);
    assert_int_equal(decoded.late, -1);
    assert_int_equal(decoded.forgotten, 7);
    assert_int_equal(decoded.rating, 5);
    assert_true(str_is_null(decoded.nickname));
    assert_int_equal(decoded.diary.length, -1);
    assert_null(decoded.mascot);
    forget();
}

TEST(made_structs_start_at_their_defaults)
{
    struct herd herd;
    arena_init(&arena, NULL, 0, ARENA_LIMIT);
    assert_int_equal(array_make(&animal_shape, 2, &arena, &herd.animals), 0);
    assert_int_equal(herd.animals.count, 2);
    assert_int_equal(herd.animals.items[1].legs, 4);
    assert_true(str_is_null(herd.animals.items[1].name));
    assert_int_equal(array_make(&animal_shape, ARENA_LIMIT, &arena, &herd.animals), ERR_NO_MEMORY);
    assert_int_equal(herd.animals.count, 2);
    forget();
}

/* ---- null ---- */

TEST(null_is_refused_where_it_is_not_allowed)
{
    assert_refused(&note_shape, 0, "ffff");
    assert_refused(&note_shape, 0, "fffe");
    assert_refused(&herd_shape, 0, "ffffffff");
    struct note note = { STR_NULL };
    struct herd herd = { { NULL, -1 } };
    assert_int_equal(encode_only(&note_shape, 0, &note), ERR_MALFORMED);
    assert_int_equal(encode_only(&herd_shape, 0, &herd), ERR_MALFORMED);
}

TEST(null_elements_are_refused_even_if_the_array_may_be_null)
{
    assert_refused(&zoo_shape, 1,
                   ZOO_NUMBERS "ffff ffffffff ffffffff 00000000 00000001 ffff ff 00000000");
}

TEST(all_negative_lengths_are_null_where_null_is_allowed)
{
    static const char *const old[] = { "ffff", "fffe", "8000" };
    static const char *const flexible[] = { "00 00", "8000 00", "ffffffff0f 00", "8180808008 00" };
    struct note note;
    struct herd herd;
    for (unsigned i = 0; i < sizeof old / sizeof old[0]; i++) {
        assert_decodes(&note_shape, 1, old[i], &note);
        assert_int_equal(note.text.length, -1);
    }
    for (unsigned i = 0; i < sizeof flexible / sizeof flexible[0]; i++) {
        assert_decodes(&herd_shape, 2, flexible[i], &herd);
        assert_int_equal(herd.animals.count, -1);
    }
    forget();
}

TEST(what_has_no_length_points_somewhere_and_only_null_does_not)
{
    struct note note;
    struct zoo zoo;
    assert_decodes(&note_shape, 1, "0000", &note);
    assert_non_null(note.text.data);
    assert_decodes(&note_shape, 1, "ffff", &note);
    assert_null(note.text.data);
    assert_decodes(&zoo_shape, 1,
                   ZOO_NUMBERS "0000 00000000 00000000 00000000 00000001 0000 ff 00000000", &zoo);
    assert_non_null(zoo.motto.data);
    assert_non_null(zoo.seal.data);
    assert_non_null(zoo.diary.data);
    assert_non_null(zoo.prices.items[0].data);
    message_defaults(&zoo_shape, &zoo);
    assert_non_null(zoo.motto.data);
    assert_non_null(zoo.seal.data);
    assert_null(zoo.nickname.data);
    forget();
}

TEST(any_marker_below_zero_is_a_null_struct_and_any_other_is_not)
{
    struct zoo zoo;
#define ZOO_UNTIL_MASCOT ZOO_NUMBERS "ffff ffffffff ffffffff 00000000 ffffffff"
    assert_decodes(&zoo_shape, 1, ZOO_UNTIL_MASCOT "80 00000000", &zoo);
    assert_null(zoo.mascot);
    assert_decodes(&zoo_shape, 1, ZOO_UNTIL_MASCOT "00 0000 00000002 00000000", &zoo);
    assert_int_equal(zoo.mascot->legs, 2);
    forget();
}

/* ---- lengths ---- */

TEST(compact_lengths_may_take_more_bytes_than_needed_up_to_five)
{
    static const char *const same[] = { "02 61 00", "8200 61 00", "828000 61 00", "82808000 61 00",
                                        "8280808000 61 00" };
    struct note note;
    for (unsigned i = 0; i < sizeof same / sizeof same[0]; i++) {
        assert_decodes(&note_shape, 2, same[i], &note);
        assert_true(str_equals_text(note.text, "a"));
    }
    assert_refused(&note_shape, 2, "828080808000 61 00");
    forget();
}

TEST(lengths_beyond_the_bytes_that_are_there_are_refused)
{
    assert_refused(&note_shape, 0, "0002 61");
    assert_refused(&note_shape, 2, "03 61");
    assert_refused(&note_shape, 2, "ffffffff07 61 00"); /* 2^31 - 2 */
    assert_refused(&note_shape, 2, "");
    assert_refused(&note_shape, 2, "80");
}

TEST(the_elements_of_all_arrays_count_together_where_a_message_may_have_so_many)
{
    struct herd herd;
    size_t length;
    input = from_hex("00000002 0000 00000000 0000 00000000", &length);
    for (uint32_t most = 0; most <= 3; most++) {
        struct cursor in = cursor_over(input, length);
        arena_init(&arena, NULL, 0, ARENA_LIMIT);
        assert_int_equal(message_decode_limited(&herd_shape, 0, &in, &arena, most, &herd),
                         most < 2 ? ERR_MALFORMED : 0);
        arena_close(&arena);
    }
    forget();
}

/* Refused, and not because of a limit: nothing was allocated. */
static void assert_refused_for_free(int16_t version, const char *hex)
{
    struct herd herd;
    size_t length;
    forget();
    input = from_hex(hex, &length);
    struct cursor in = cursor_over(input, length);
    arena_init(&arena, NULL, 0, SIZE_MAX);
    assert_int_equal(message_decode(&herd_shape, version, &in, &arena, &herd), ERR_MALFORMED);
    assert_int_equal(arena.used, 0);
    forget();
}

TEST(counts_beyond_what_the_bytes_could_hold_are_refused_before_memory_is_taken)
{
    /* An animal is at least a short or compact length and 4 bytes, and the tags in version 2. */
    assert_refused_for_free(0, "00000002 0000 00000000 0000 000000");
    assert_refused_for_free(2, "03 01 00000000 00 01 00000000");
    assert_refused_for_free(0, "7fffffff 0000 00000000");
    assert_refused_for_free(2, "ffffffff07 01 00000000 00 00");
}

TEST(text_that_no_int16_can_measure_goes_into_flexible_versions_only)
{
    struct note note = { { calloc(1, INT16_MAX + 1), INT16_MAX + 1 } };
    assert_non_null(note.text.data);
    assert_int_equal(encode_only(&note_shape, 1, &note), ERR_MALFORMED);
    assert_int_equal(encode_only(&note_shape, 2, &note), 0);
    free((void *)note.text.data);
}

/* As by Kafka: whoever keeps text may count on it. */
TEST(text_that_no_int16_can_measure_is_refused_in_flexible_versions_too)
{
    static uint8_t message[3 + INT16_MAX + 2] = { 0x80, 0x80, 0x02 };
    struct note note;
    arena_init(&arena, NULL, 0, ARENA_LIMIT);
    struct cursor in = cursor_over(message, sizeof message - 1);
    assert_int_equal(message_decode(&note_shape, 2, &in, &arena, &note), 0);
    assert_int_equal(note.text.length, INT16_MAX);
    message[0]++;
    in = cursor_over(message, sizeof message);
    assert_int_equal(message_decode(&note_shape, 2, &in, &arena, &note), ERR_MALFORMED);
    forget();
}

TEST(text_that_is_not_utf8_is_taken_as_it_is)
{
    struct note note;
    assert_decodes(&note_shape, 0, "0002 ff80", &note);
    assert_int_equal(note.text.length, 2);
    assert_memory_equal(note.text.data, "\xff\x80", 2);
    forget();
}

TEST(any_byte_but_zero_is_true)
{
    struct zoo zoo;
    assert_decodes(&zoo_shape, 1,
                   "80"
                   "00 0000 0000 00000000 00000000 0000000000000000 0000000000000000"
                   "00000000000000000000000000000000 0000 00000000 00000000 00000000 00000000 ff"
                   "00000000",
                   &zoo);
    assert_true(zoo.is_open);
    forget();
}

TEST(bytes_behind_the_message_stay_in_the_cursor)
{
    struct note note;
    size_t left;
    assert_int_equal(decode(&note_shape, 0, "0001 61 6263", &note, &left), 0);
    assert_int_equal(left, 2);
    forget();
}

/* ---- tags ---- */

TEST(unknown_tags_are_skipped_and_known_ones_read_in_any_order)
{
    struct tagged tagged;
    assert_decodes(&tagged_shape, 0, "04 4d 02 0102 03 02 02 61 ffff03 00 00 04 00000007", &tagged);
    assert_int_equal(tagged.rating, 7);
    assert_true(str_equals_text(tagged.nickname, "a"));
    forget();
}

TEST(of_a_repeated_tag_the_last_counts)
{
    struct tagged tagged;
    assert_decodes(&tagged_shape, 0, "02 00 04 00000007 00 04 00000008", &tagged);
    assert_int_equal(tagged.rating, 8);
    forget();
}

TEST(a_known_tag_whose_size_is_not_what_its_value_takes_is_refused)
{
    assert_refused(&tagged_shape, 0, "01 00 03 000000 07");
    assert_refused(&tagged_shape, 0, "01 00 05 00000007 00");
    assert_refused(&tagged_shape, 0, "01 03 01 02 61");
    assert_refused(&tagged_shape, 0, "01 03 00");
}

TEST(hostile_tag_sections_are_refused)
{
    assert_refused(&tagged_shape, 0, "ffffffff0f");
    assert_refused(&tagged_shape, 0, "ffffffff0f 4d 00");
    assert_refused(&tagged_shape, 0, "02 4d 00");
    assert_refused(&tagged_shape, 0, "01 4d ffffffff0f");
    assert_refused(&tagged_shape, 0, "01 4d 01");
}

TEST(tagged_fields_at_their_default_are_not_written)
{
    struct tagged tagged = { 0, STR_NULL, { NULL, -1, NULL } };
    assert_encodes(&tagged_shape, 0, &tagged, "00");
    tagged.nickname = STR_LITERAL("a");
    assert_encodes(&tagged_shape, 0, &tagged, "01 03 02 02 61");
}

TEST(a_tagged_value_may_need_a_size_of_two_bytes)
{
    char text[200];
    memset(text, 'x', sizeof text);
    struct tagged tagged = { 0, { text, sizeof text }, { NULL, -1, NULL } }, decoded;
    struct encoder encoder;
    encoder_init(&encoder);
    assert_int_equal(message_encode(&tagged_shape, 0, &tagged, &encoder), 0);
    assert_int_equal(encoder.bytes.length, 1 + 1 + 2 + 2 + 200);
    assert_memory_equal(encoder.bytes.data, "\x01\x03\xca\x01\xc9\x01x", 7);
    struct cursor in = cursor_over(encoder.bytes.data, encoder.bytes.length);
    assert_int_equal(message_decode(&tagged_shape, 0, &in, &arena, &decoded), 0);
    assert_true(str_equal(decoded.nickname, tagged.nickname));
    encoder_close(&encoder);
}

/* ---- versions ---- */

TEST(a_value_that_the_version_cannot_carry_is_refused_unless_it_may_be_ignored)
{
    struct zoo zoo = full_zoo();
    zoo.mascot = NULL;
    zoo.late = 9; /* Ignorable. */
    assert_int_equal(encode_only(&zoo_shape, 0, &zoo), 0);
    zoo.forgotten = 1; /* Not ignorable, and gone since version 1. */
    assert_int_equal(encode_only(&zoo_shape, 0, &zoo), 0);
    assert_int_equal(encode_only(&zoo_shape, 1, &zoo), ERR_UNSUPPORTED_VERSION);
    zoo.forgotten = 0;
    zoo.guest = &cat;
    assert_int_equal(encode_only(&zoo_shape, 1, &zoo), ERR_UNSUPPORTED_VERSION);
    assert_int_equal(encode_only(&zoo_shape, 2, &zoo), 0);
}

/* ---- records ---- */

TEST(a_file_slice_is_counted_but_not_copied)
{
    struct zoo zoo = full_zoo();
    struct file_slice slice = { .fd = -1, .length = 1000 };
    zoo.diary = (struct records){ NULL, 1000, &slice };
    struct encoder encoder;
    encoder_init(&encoder);
    assert_int_equal(message_encode(&zoo_shape, 1, &zoo, &encoder), 0);
    assert_int_equal(encoder.splice_count, 1);
    assert_ptr_equal(encoder.splices[0].slice, &slice);
    assert_int_equal(encoder.splice_bytes, 1000);
    size_t at = encoder.splices[0].at;
    assert_int_equal(load_i32(encoder.bytes.data + at - 4), 1000);
    assert_memory_equal(encoder.bytes.data + at,
                        "\0\0\0\x01\0\x03"
                        "cat",
                        9);
    encoder_close(&encoder);
}

TEST(a_tagged_file_slice_counts_in_the_tags_size)
{
    struct file_slice slice = { .fd = -1, .length = 300 };
    struct tagged tagged = { 0, STR_NULL, { NULL, 300, &slice } };
    struct encoder encoder;
    encoder_init(&encoder);
    assert_int_equal(message_encode(&tagged_shape, 0, &tagged, &encoder), 0);
    /* One tag, number 4, 302 bytes, of which two say that 300 follow. */
    assert_int_equal(encoder.bytes.length, 6);
    assert_memory_equal(encoder.bytes.data, "\x01\x04\xae\x02\xad\x02", 6);
    assert_int_equal(encoder.splices[0].at, 6);
    encoder_close(&encoder);
}

/* ---- memory ---- */

TEST(a_message_above_the_arenas_limit_is_malformed)
{
    enum { COUNT = 3000, ANIMAL_BYTES = 6 };
    static uint8_t data[4 + COUNT * ANIMAL_BYTES];
    store_i32(data, COUNT);
    struct cursor in = cursor_over(data, sizeof data);
    struct herd herd;
    arena_init(&arena, NULL, 0, ARENA_LIMIT);
    assert_int_equal(message_decode(&herd_shape, 0, &in, &arena, &herd), ERR_MALFORMED);
    forget();
}

TEST(decoding_survives_each_failed_allocation)
{
    size_t length;
    forget();
    input = from_hex(ZOO_IN_VERSION_2, &length);
    for (long nth = 1;; nth++) {
        struct zoo zoo;
        struct cursor in = cursor_over(input, length);
        arena_init(&arena, NULL, 0, ARENA_LIMIT);
        mem_fail_at(nth);
        int err = message_decode(&zoo_shape, 2, &in, &arena, &zoo);
        mem_fail_at(0);
        arena_close(&arena);
        if (err == 0) {
            assert_true(nth > 1);
            break;
        }
        assert_int_equal(err, ERR_NO_MEMORY);
    }
    forget();
}

TEST(encoding_survives_each_failed_allocation)
{
    struct zoo zoo = full_zoo();
    struct file_slice slice = { .fd = -1, .length = 10 };
    char text[500];
    memset(text, 'x', sizeof text);
    zoo.diary = (struct records){ NULL, 10, &slice };
    zoo.nickname = (struct str){ text, sizeof text };
    for (long nth = 1;; nth++) {
        mem_fail_at(nth);
        int err = encode_only(&zoo_shape, 2, &zoo);
        mem_fail_at(0);
        if (err == 0) {
            assert_true(nth > 2);
            break;
        }
        assert_int_equal(err, ERR_NO_MEMORY);
    }
}

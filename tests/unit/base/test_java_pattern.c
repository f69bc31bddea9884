// SPDX-License-Identifier: Apache-2.0
/* Each of these was given to java.util.regex of Java 17. */

#include <string.h>

#include "alloc.h"
#include "java_pattern.h"
#include "runner.h"

/* In a piece of memory of its own length, so that a sanitizer sees more. */
static bool is_legal(const char *text, size_t length)
{
    char *copy = mem_dup(text, length);
    bool is_legal = java_pattern_is_legal((struct str){ copy, (int32_t)length });
    mem_free(copy);
    return is_legal;
}

TEST(patterns_that_java_takes_are_taken)
{
    static const char *const legal[] = {
        "",
        "a",
        ".*",
        "a|b",
        "|",
        "a||",
        "]",
        "}",
        "a]b}",
        "a-b",
        "^*",
        "$?",
        "a*?b++c??",
        "a{2}",
        "a{2,}",
        "a{2,3}?",
        "a{2}{3}",
        "{2}",
        "(a)",
        "(?:a)*",
        "(?=a)",
        "(?!a)b",
        "(?<=a)b",
        "(?<!a{1,3})b",
        "(?>a)",
        "()",
        "(a|b)+",
        "(?<name>a)\\k<name>",
        "(?i)a",
        "(?i-s:a)",
        "(?x) a # what follows ) does not count",
        "(?-)",
        "[a]",
        "[^a]",
        "[]]",
        "[^]]",
        "[a-z]",
        "[a-]",
        "[-a]",
        "[a&b]",
        "[a&&b]",
        "[a-z&&[^b]]",
        "[a[b[c]]]",
        "[^^]",
        "[\\d-z]",
        "[\\]\\[]",
        "[\\v-z]",
        "[a-\\x{1F600}]",
        "\xc3\xa9[\xc3\xa0-\xc3\xa9]",
        "\\d\\D\\h\\H\\s\\S\\v\\V\\w\\W",
        "\\A\\b\\B\\G\\z\\Z\\R\\X",
        "\\b{g}",
        "\\1",
        "\\9",
        "\\\\",
        "\\a\\e\\f\\n\\r\\t",
        "\\cA",
        "\\07\\0377",
        "\\x41",
        "\\x{10FFFF}",
        "\\u0041",
        "\\.\\-\\_",
        "\\pL\\p{Lu}\\P{ASCII}\\p{Alpha}\\p{javaLowerCase}\\p{IsLatin}\\p{InGreek}\\p{gc=Lu}",
        "\\p{script=Latin}",
        "\\N{DIGIT ONE}",
        "\\Qa[(\\E",
        "\\Qa*",
        "\\Q*\\E*",
        "[\\Q]\\E]",
        "\\\\Q",
        "\\Q\\\\E",
        "(?<=a*)b",
        "(?<=\\X)",
    };
    for (size_t i = 0; i < sizeof legal / sizeof legal[0]; i++)
        if (!is_legal(legal[i], strlen(legal[i]))) fail_msg("\"%s\" is refused", legal[i]);
}

TEST(patterns_that_java_refuses_are_refused)
{
    static const char *const illegal[] = {
        "*",
        "+a",
        "?",
        "a**",
        "a|*",
        "(*)",
        "a{",
        "a{,2}",
        "a{b}",
        "a{3,1}",
        "a{2",
        "a{2,3",
        "a{99999999999}",
        "{",
        "{a}",
        "(",
        ")",
        "a)",
        "(a",
        "(?",
        "(?a)",
        "(?<",
        "(?<1>a)",
        "(?<n",
        "(?<n>a)(?<n>b)",
        "(?$a)",
        "(?i",
        "(?i)*",
        "(?:a",
        "\\k<n>",
        "\\k",
        "(?x)a#)\n)",
        "[",
        "[a",
        "[]",
        "[^]",
        "[z-a]",
        "[a-\\d]",
        "[a[b]",
        "[&&]",
        "[a-",
        "[\\b]",
        "[\\1]",
        "[\\R]",
        "[\xc3\xa9-\xc3\xa0]",
        "\\",
        "\\c",
        "\\0",
        "\\08",
        "\\x4",
        "\\x{110000}",
        "\\x{}",
        "\\x{41",
        "\\u004",
        "\\y",
        "\\E",
        "\\p",
        "\\p{",
        "\\p{}",
        "\\p{Foo}",
        "\\px",
        "\\p{gc=Foo}",
        "\\N",
        "\\N{2}",
        "\\b{g",
        "(?<=\\1)b",
        "(?<=(ab)*)b",
        "(?<=(a|b){2})b",
        "(?<=ab{2,}?)",
        "\\Q\\E*",
        "\\\\Q\\E",
    };
    for (size_t i = 0; i < sizeof illegal / sizeof illegal[0]; i++)
        if (is_legal(illegal[i], strlen(illegal[i]))) fail_msg("\"%s\" is taken", illegal[i]);
    assert_false(is_legal("\\p\0", 3));
}

TEST(a_pattern_cannot_nest_without_end)
{
    enum { LENGTH = 16384 };
    static const char *const openers[] = { "(", "[", "[a&&", "(?=", "(?:a|" };
    char *text = mem_alloc(LENGTH);
    for (size_t i = 0; i < sizeof openers / sizeof openers[0]; i++) {
        size_t size = strlen(openers[i]);
        for (size_t at = 0; at + size <= LENGTH; at += size)
            memcpy(text + at, openers[i], size);
        assert_false(is_legal(text, LENGTH - LENGTH % size));
    }
    memset(text, '(', 100);
    memset(text + 100, ')', 100);
    assert_true(is_legal(text, 200));
    mem_free(text);
}

TEST(no_bytes_of_a_pattern_do_harm)
{
    static const char parts[] = "[]()?<>=!:|*+{}-^$.&\\\\\\QEdwbkpxucNPgn09,#\xc3\xa9";
    uint64_t seed = test_seed();
    unsigned legal = 0;
    char text[24];
    for (int round = 0; round < 50000; round++) {
        size_t length = 0;
        for (seed = seed * 6364136223846793005u + 1442695040888963407u; length < (seed >> 59);) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            text[length++] = parts[(seed >> 33) % (sizeof parts - 1)];
            if (length == sizeof text) break;
        }
        legal += is_legal(text, length);
    }
    assert_true(legal > 500);
}

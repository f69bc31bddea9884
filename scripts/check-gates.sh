#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A gate counts only once it has been seen to fail: plants what each gate is there to stop, in a scratch
# copy of the tree, and expects a refusal. Needs build/ and build/variants/werror to be configured.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/tree
mkdir "$tree"
cp -r "$top"/src "$top"/storage "$top"/raft-meta "$top"/tests "$top"/docs "$top"/scripts "$top"/docker "$top"/debian \
    "$top"/Makefile.am "$top"/.clang-format "$top"/*.md "$top"/LICENSE "$tree"
status=0 gates=0

# refuses WHAT COMMAND...: the command must fail.
refuses()
{
    local what=$1
    shift
    gates=$((gates + 1))
    if "$@" >"$scratch/output" 2>&1; then
        echo "the gate does not stop $what: $*"
        status=1
    fi
}

# accepts WHAT COMMAND...: the same without the bad input must pass, or the refusal above proves nothing.
accepts()
{
    local what=$1
    shift
    if ! "$@" >"$scratch/output" 2>&1; then
        cat "$scratch/output"
        echo "the gate stops $what, which is good: $*"
        status=1
    fi
}

# planted FILE TEXT COMMAND...: runs the command in the scratch tree while FILE holds TEXT.
planted()
{
    local file=$tree/$1 text=$2 result=0
    shift 2
    printf "$text" >"$file"
    (cd "$tree" && "$@") || result=$?
    rm "$file"
    return "$result"
}

# ---- the checks that read the sources
layers=("$tree/scripts/check-layers.sh" "$tree")
map=("$tree/scripts/check-map.sh" "$tree")
accepts "the tree" "${layers[@]}"
refuses "an include of ../" \
    planted storage/zz_bad.c '#include "../src/base/error.h"\n' "${layers[@]}"
refuses "an include upwards" planted storage/zz_bad.c '#include "net.h"\n' "${layers[@]}"
refuses "raft.h outside meta_raft.c" planted raft-meta/zz_bad.c '#include <raft.h>\n' "${layers[@]}"
refuses "two headers of one name" planted storage/error.h 'int x;\n' "${layers[@]}"

accepts "the tree" "${map[@]}"
refuses "a source that Makefile.am does not list" planted storage/zz_bad.c 'int x;\n' "${map[@]}"
cp "$tree/docs/architecture.md" "$scratch/architecture.md"
echo 'See `storage/no_such_file.c`.' >>"$tree/docs/architecture.md"
refuses "a path that does not exist" "${map[@]}"
cp "$scratch/architecture.md" "$tree/docs/architecture.md"

links=("$tree/scripts/check-docs-links.sh" "$tree")
accepts "the tree" "${links[@]}"
refuses "a link that leads nowhere" planted docs/zz_bad.md 'See [it](no-such.md).\n' "${links[@]}"
refuses "a path that a document invents" planted docs/zz_bad.md 'See `src/no_such.c`.\n' "${links[@]}"
refuses "a function that is gone" planted docs/zz_bad.md 'Calls `zz_no_such_call()`.\n' "${links[@]}"
refuses "an option that is gone" planted docs/zz_bad.md 'Try `sluiced --zz-no-such`.\n' "${links[@]}"

compatibility=("$tree/scripts/check-compatibility.sh" "$tree")
accepts "the tree" "${compatibility[@]}"
cp "$tree/tests/differential/allowed.txt" "$scratch/allowed.txt"
echo '== a difference that nobody wrote down' >>"$tree/tests/differential/allowed.txt"
refuses "a difference that is allowed in silence" "${compatibility[@]}"
cp "$scratch/allowed.txt" "$tree/tests/differential/allowed.txt"

settings=("$tree/scripts/check-settings.sh" "$tree")
accepts "the tree" "${settings[@]}"
refuses "a test of a setting that nobody honours" \
    planted tests/test_zz_bad.c '/* Setting: no.such */\nTEST(x)\n' "${settings[@]}"
cp "$tree/storage/topic_settings.c" "$scratch/topic_settings.c"
echo '    { "zz.new", KIND_INT, "1", 1, 2, NULL, FIELD(zz_new), true, NULL },' \
    >>"$tree/storage/topic_settings.c"
refuses "a setting without a test" "${settings[@]}"
cp "$scratch/topic_settings.c" "$tree/storage/topic_settings.c"

promises=("$tree/scripts/check-promises.sh" "$tree")
accepts "the tree" "${promises[@]}"
cp "$tree/docs/promises.md" "$scratch/promises.md"
echo '| What nobody tests. | by hand |' >>"$tree/docs/promises.md"
refuses "a promise without a test" "${promises[@]}"
cp "$scratch/promises.md" "$tree/docs/promises.md"
sed -i 's/^TEST(no_batch_is_cut_at_the_end)$/TEST(renamed)/' "$tree/tests/api/test_fetch_limits.c"
refuses "a promise whose test is gone" "${promises[@]}"

if [[ $("$tree/scripts/format.sh" --check 2>&1) != *skipped* ]]; then
    refuses "badly formatted code" \
        planted storage/zz_bad.c 'int  x ;\n' scripts/format.sh --check storage/zz_bad.c
    accepts "well formatted code" \
        planted storage/zz_good.c 'int x;\n' scripts/format.sh --check storage/zz_good.c
fi

# ---- the build
# flags DIR VARIABLES: what DIR's Makefile makes of them.
flags()
{
    make -s --no-print-directory -C "$1" --eval="gate: ; @echo '$2'" gate
}

# compiles TEXT FLAGS...: with the compiler that the build uses.
compiles()
{
    local text=$1
    shift
    printf "$text" >"$scratch/gate.c"
    (cd "$build" && gcc "$@" -c "$scratch/gate.c" -o "$scratch/gate.o")
}

werror=$build/variants/werror
read -ra storage_flags <<<"$(flags "$build" '$(libstorage_a_CPPFLAGS) -std=c11')"
accepts "storage including base" compiles '#include "error.h"\n' "${storage_flags[@]}"
refuses "storage including net" compiles '#include "net.h"\n' "${storage_flags[@]}"
read -ra werror_flags <<<"$(flags "$werror" '$(AM_CFLAGS) $(CFLAGS)')"
accepts "plain code" compiles 'static int f(void) { return 0; }\nint x;\nint (*p)(void) = f;\n' \
    "${werror_flags[@]}"
refuses "a warning" compiles 'int f(int x) { { int x = 1; (void)x; } return x; }\n' "${werror_flags[@]}"

# configure with a libraft that says it is of version $1; it must stop at the version.
configures_with_raft()
(
    mkdir -p "$scratch/raft-$1"
    printf 'Name: raft\nDescription: -\nVersion: %s\n' "$1" >"$scratch/raft-$1/raft.pc"
    cd "$scratch/raft-$1"
    PKG_CONFIG_PATH=$scratch/raft-$1 "$top/configure" --quiet && return
    ! grep -q 'needs libraft' "$scratch/output"
)
refuses "libraft 0.15" configures_with_raft 0.15.0
refuses "libraft 0.23" configures_with_raft 0.23.0

# ---- the tests
# runs TEXT: compiles the tests in TEXT with the runner of all tests and runs them.
runs()
{
    printf "$1" >"$scratch/test_gate.c"
    read -ra test_flags <<<"$(flags "$build" \
        '$(tests_unit_base_test_CPPFLAGS) -std=c11 -pthread $(CFLAGS)')"
    read -ra test_links <<<"$(flags "$build" '$(tests_unit_base_test_LDADD)')"
    # The folder of the tests has lost its quotes on the way here; nothing asks for it.
    test_flags+=(-USLUICE_TESTS_DIR '-DSLUICE_TESTS_DIR=""')
    (cd "$build" && gcc "${test_flags[@]}" "$scratch/test_gate.c" "$top/tests/lib/runner.c" \
        "${test_links[@]}" -o "$scratch/test_gate") || return 0
    "$scratch/test_gate"
}
accepts "a test that passes" runs '#include "runner.h"\nTEST(passes) { assert_true(1); }\n'
refuses "a test that fails" runs '#include "runner.h"\nTEST(fails) { assert_true(0); }\n'
refuses "a program without tests" runs 'int nothing;\n'

[ "$status" = 0 ] || die "a gate does not do its work (see above)"
echo "$me: $gates gates were seen to fail"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the documents name is there: every relative link, every path in back-ticks, every `function()`
# and every `--option`. Names of things to come are written in italics.
#
#   scripts/check-docs-links.sh [TREE]
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "${1:-$top}"

status=0
complain() { echo "$1 names $2: $3"; status=1; }

# All words of sources and scripts (but this one, and the one that plants names that are not there).
words=$(find src storage raft-meta tests scripts -type f ! -name "*.jsonl" ! -name "$me" ! -name check-gates.sh -print0 |
    xargs -0 grep -ohIE -e '--[a-z][a-z-]*|[A-Za-z_][A-Za-z0-9_]*' | LC_ALL=C sort -u)
# sluice's options have no dashes in its tables.
options=$(printf '%s\n' "$words" | sed -n 's/^--//p'
    grep -ohE '\{ "[a-z-]+", *(0|'"'.'"'), OPTION' src/cli/*.c | grep -oE '[a-z-]+"' | tr -d '"')
files=$(find . -name .git -prune -o -path ./build -prune -o -type f -printf '%f\n' | LC_ALL=C sort -u)

has() { grep -qxF -e "$2" <<<"$1"; }

check_link() # DOCUMENT TARGET
{
    case $2 in
        *://* | mailto:* | '#'*) return ;;
    esac
    [ -e "$(dirname "$1")/${2%%#*}" ] || complain "$1" "($2)" "no such file"
}

check_name() # DOCUMENT NAME
{
    case $2 in
        *'<'* | *'*'* | *' '* | build/*) ;; # A pattern, a command, or what a build makes.
        src/* | storage/* | raft-meta/* | tests/* | docs/* | scripts/* | .ci/*)
            [ -e "$2" ] || complain "$1" "\`$2\`" "no such file" ;;
        *'()') has "$words" "${2%'()'}" || complain "$1" "\`$2\`" "no such function" ;;
        --[a-z]*) has "$options" "$(sed 's/^--//; s/=.*//' <<<"$2")" || complain "$1" "\`$2\`" "no such option" ;;
        *.c | *.h | *.sh) has "$files" "${2##*/}" || complain "$1" "\`$2\`" "no such file" ;;
    esac
}

# without_blocks DOCUMENT: its text without ``` blocks, which hold drawings and commands.
without_blocks() { awk '/^ *```/ { inside = !inside; next } !inside' "$1"; }

for document in README.md docs/*.md docs/*/*.md; do
    while read -r target; do
        check_link "$document" "$target"
    done < <(without_blocks "$document" | { grep -oE '\]\([^) ]+\)' || true; } | sed 's/^](//; s/)$//' | sort -u)
    while IFS= read -r name; do
        check_name "$document" "$name"
        # Options inside commands too: `scripts/build --variant asan`.
        if [[ $name == *' --'* ]]; then
            for word in $name; do [[ $word != --* ]] || check_name "$document" "$word"; done
        fi
        [[ $name != *' '* ]] || check_name "$document" "${name%% *}"
    done < <(without_blocks "$document" | { grep -oE '`[^`]+`' || true; } | tr -d '`' | sort -u)
done

[ "$status" = 0 ] || die "the documents name what is not there (see above)"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Formats C as .clang-format says. clang-format 14 decides, since other versions differ in details.
#
#   scripts/format.sh [--check] [FILE...]
#
# Without files: every .c and .h of the tree. --check changes nothing and fails if something would change.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

check=0
if [ "${1:-}" = --check ]; then
    check=1
    shift
fi

formatter=
for candidate in clang-format-14 clang-format; do
    if [[ $("$candidate" --version 2>/dev/null) == *'version 14.'* ]]; then
        formatter=$candidate
        break
    fi
done
if [ -z "$formatter" ]; then
    echo "$me: skipped, for there is no clang-format 14 here"
    exit 0
fi

if [ $# -gt 0 ]; then
    files=("$@")
else
    cd "$top"
    mapfile -t files < <(find src storage raft-meta tests -name '*.[ch]' | sort)
fi
[ ${#files[@]} -gt 0 ] || exit 0
if [ "$check" = 1 ]; then
    "$formatter" --style=file --dry-run --Werror "${files[@]}" ||
        die "run scripts/format.sh on what is named above"
else
    "$formatter" --style=file -i "${files[@]}"
fi

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each promise of docs/promises.md has tests, and each test that it names is there: a TEST, or a function of
# a client script. Each check of stumbles.py is a promise's.
#
#   scripts/check-promises.sh [TOP]
set -euo pipefail
. "$(dirname "$0")/lib.sh"

[ $# = 0 ] || top=$1
promises=$top/docs/promises.md

there=$(
    find "$top/tests" -name 'test_*.c' -exec sed -nE 's/^TEST\(([a-z0-9_]+)\)$/\1/p' {} +
    sed -nE 's/^def ([a-z0-9_]+)\(.*/\1/p' "$top"/tests/clients/*.py
)
# In back-ticks, letters and _ only: anything else is a path or an option.
named=$(grep -oE '`[a-z0-9]+(_[a-z0-9]+)+`' "$promises" | tr -d '`' | sort -u)
lists=$(sed -n '/^ANYWHERE = /,/^def /p' "$top/tests/clients/stumbles.py" | grep -oE '[a-z]+(_[a-z]+)+' | sort -u)
[ -n "$named" ] && [ -n "$lists" ] || die "docs/promises.md or stumbles.py is not read as it stands"

status=0
complain() { echo "$1"; status=1; }
while read -r name; do
    grep -qxF "$name" <<<"$there" || complain "docs/promises.md names a test that is not there: $name"
done <<<"$named"
while read -r name; do
    grep -qxF "$name" <<<"$named" || complain "no promise names the check $name of stumbles.py"
done <<<"$lists"
while IFS='|' read -r _ promise tests _; do
    grep -q '`[a-z0-9]*_[a-z0-9_]*`' <<<"$tests" || complain "no test keeps the promise:$promise"
done < <(grep '^| ' "$promises" | grep -v '^| promise | tests |$')
[ "$status" = 0 ] || die "promises and tests do not fit (see above)"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/configuration.md is what the program prints about its settings. Needs build/sluiced.
#
#   scripts/check-docs.sh           fails if they differ
#   scripts/check-docs.sh --write   prints it again
set -euo pipefail
. "$(dirname "$0")/lib.sh"

sluiced=${SLUICED:-$build/sluiced}
file=$top/docs/configuration.md
[ -x "$sluiced" ] || die "$sluiced is missing; run scripts/build"
printed=$(mktemp)
trap 'rm -f "$printed"' EXIT
"$sluiced" --print-configuration >"$printed"

case ${1:-} in
--write) cp "$printed" "$file" ;;
"") diff -u "$file" "$printed" ||
    die "docs/configuration.md is not what sluiced prints; run scripts/check-docs.sh --write" ;;
*) die "what is $1? (--write, or nothing)" ;;
esac

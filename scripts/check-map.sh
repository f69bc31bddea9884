#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The map is true: every path that docs/architecture.md names exists, every folder of sources is on it,
# and every source file is in Makefile.am (a test that is not listed would never run).
#
#   scripts/check-map.sh [TREE]
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "${1:-$top}"

status=0
map=docs/architecture.md

while read -r path; do
    [ -e "$path" ] || { echo "$map names $path: no such file"; status=1; }
done < <(grep -oE '`[A-Za-z.][A-Za-z0-9_.-]*/[A-Za-z0-9_./-]*`' "$map" | tr -d '`' | sort -u)

while read -r folder; do
    grep -qF "\`$folder/\`" "$map" || { echo "$map does not name the folder $folder/"; status=1; }
done < <(find src storage raft-meta -name '*.[ch]' -printf '%h\n' | sort -u | grep -vx src)

while read -r path; do
    grep -qE "(^|[[:space:]])${path//./\\.}([[:space:]]|\$)" Makefile.am ||
        { echo "Makefile.am does not list $path"; status=1; }
done < <(find src storage raft-meta tests/lib tests/unit tests/wire -name '*.[ch]' | sort)

[ "$status" = 0 ] || die "the map is not true (see above)"

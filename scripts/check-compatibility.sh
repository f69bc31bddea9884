#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What docs/compatibility.md says and what tests/differential allows agree: each group of allowed
# differences is named after the first cell of a row of the document.
#
#   scripts/check-compatibility.sh [TREE]
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "${1:-$top}"

status=0
document=docs/compatibility.md table=tests/differential/allowed.txt

cells=$(sed -n 's/^| *\([^|]*[^| ]\) *|.*/\1/p' "$document")
while IFS= read -r row; do
    grep -qxF -e "$row" <<<"$cells" || { echo "$table allows \"$row\": $document has no such row"; status=1; }
done < <(sed -n 's/^== *//p' "$table")

[ "$status" = 0 ] || die "what is allowed and what is documented differ (see above)"

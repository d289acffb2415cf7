#!/usr/bin/env bash
# Runs the upgrade gate where the pinned SGLang version changes.
#
# usage: upgrade-gate.sh PIN_FILE FLEET [BASE_REF]
#
# PIN_FILE holds the pin (requirements file, pyproject.toml, Dockerfile: `sglang==X`, `sglang[all]==X`, `sglang:vX`).
# The old version is the one in PIN_FILE at BASE_REF (default HEAD), the new one that of the file as it is now.
# OLD and NEW in the environment name the trees instead: versions, folders or wheels.
# SUMMARY in the environment is a file to which the result is added as Markdown. GATE_FLAGS are further options.
#
# Exit status as `mtp-trace gate`: 0 nothing gets worse (or no change), 1 a regression, 2 unusable input, 3 not judged.
set -euo pipefail

if [ "$#" -lt 2 ]; then
  sed -n '4s/^# //p' "$0" >&2
  exit 2
fi
pin_file=$1 fleet=$2 base_ref=${3:-HEAD}

pinned() { # the first pinned version in standard input
  sed -nE 's/.*sglang(\[[^]]*\])?(==|:v?)([0-9][0-9A-Za-z.]*).*/\3/p' | head -n 1
}

old=${OLD:-$(git show "$base_ref:./$pin_file" 2>/dev/null | pinned || true)}
new=${NEW:-$(pinned < "$pin_file")}

if [ -z "$new" ]; then
  echo "no pinned SGLang version in $pin_file" >&2
  exit 2
fi
if [ -z "$old" ] || [ "$old" = "$new" ]; then
  echo "SGLang stays at $new: nothing to judge."
  exit 0
fi

report=$(mktemp)
trap 'rm -f "$report"' EXIT
status=0
# shellcheck disable=SC2086 # the flags are words
mtp-trace gate --old "$old" --new "$new" --fleet "$fleet" --format markdown --output "$report" ${GATE_FLAGS:-} || status=$?
cat "$report"
if [ -n "${SUMMARY:-}" ]; then
  cat "$report" >> "$SUMMARY"
fi
exit "$status"

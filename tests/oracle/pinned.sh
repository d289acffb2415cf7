#!/bin/bash
# pinned.sh TREE: the version of transformers that a release pins
set -euo pipefail
grep -hE '^Requires-Dist: transformers *==' "$1"/sglang-*.dist-info/METADATA | head -1 | sed -E 's/.*== *([0-9.]+).*/\1/'

#!/bin/bash
# record_all.sh "RELEASE..." "GPU..." [CASES [OUTDIR]]: record every case on every release and GPU that has no outcomes yet
set -euo pipefail
LAB=${LAB:-$HOME/mtp-trace-lab}
here=$(cd "$(dirname "$0")" && pwd)
cases=${3:-$here/cases.jsonl}
out=${4:-$here/outcomes}
mkdir -p "$out"
for release in $1; do
  wanted=$("$here/pinned.sh" "$LAB/trees/$release")
  case $wanted in 4.*) environment=env4 ;; *) environment=env5 ;; esac
  for gpu in $2; do
    file=$out/$release.$gpu.jsonl
    [ -s "$file" ] && continue
    PYTHONPATH=$LAB/transformers/$wanted "$LAB/$environment/bin/python" "$here/record.py" --tree "$LAB/trees/$release" \
      --gpu "$here/platforms/$gpu.json" --configs "$here/../../fixtures/configs" --cases "$cases" > "$file.part" 2> "$LAB/$release.$gpu.log"
    mv "$file.part" "$file"
    echo "$release $gpu: $(wc -l < "$file") outcomes"
  done
done

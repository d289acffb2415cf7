#!/bin/bash
# prepare.sh RELEASE...: fetch SGLang releases and what is needed to run their argument resolution, under $LAB.
#
#   $LAB/trees/RELEASE       the release's wheel, unpacked, not installed
#   $LAB/transformers/X.Y.Z  the transformers that a release pins, alone, to stand in front on PYTHONPATH
#   $LAB/env4, $LAB/env5     environments for releases that pin transformers 4 and 5 (about 2.5 GB each)
set -euo pipefail
LAB=${LAB:-$HOME/mtp-trace-lab}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$LAB/wheels" "$LAB/trees" "$LAB/transformers"

for release in "$@"; do
  [ -d "$LAB/trees/$release" ] && continue
  pip download --quiet --no-deps --dest "$LAB/wheels" "sglang==$release"
  unpacked=$(mktemp -d -p "$LAB/trees")
  python3 -m zipfile -e "$LAB"/wheels/sglang-"$release"-*.whl "$unpacked"
  mv "$unpacked" "$LAB/trees/$release"
done

# Imported by some release while it resolves its arguments. Anything else that is missing gets a stand-in (standins.py).
needed=(torch==2.13.0 triton numpy scipy einops pydantic fastapi uvicorn uvloop orjson msgspec pyzmq psutil requests aiohttp
  packaging pillow pybase64 python-multipart IPython setproctitle tqdm dill ninja nvidia-ml-py gguf compressed-tensors
  sentencepiece tiktoken interegular partial_json_parser outlines==0.1.11 openai openai-harmony prometheus-client soundfile)
environment() {  # NAME PACKAGE...
  [ -x "$LAB/$1/bin/python" ] && return
  python3 -m venv "$LAB/$1"
  "$LAB/$1/bin/pip" install --quiet "${needed[@]}" "${@:2}"
}

for release in "$@"; do
  wanted=$("$here/pinned.sh" "$LAB/trees/$release")
  case $wanted in
    4.*) environment env4 transformers==4.57.1 huggingface_hub xgrammar==0.1.27 llguidance; continue ;;
    *) environment env5 transformers==5.12.1 mistral_common anthropic xgrammar==0.2.1 ;;
  esac
  target=$LAB/transformers/$wanted
  [ -d "$target" ] && continue
  "$LAB/env5/bin/pip" install --quiet --no-deps --target "$target" "transformers==$wanted"
  # A tokenizers of its own where this transformers refuses the environment's.
  tokenizers=$(grep -ohE '^Requires-Dist: tokenizers ?[^;]*' "$target"/transformers-*.dist-info/METADATA | head -1 | sed 's/^Requires-Dist: //; s/[() ]//g')
  "$LAB/env5/bin/python" - "$tokenizers" <<'PY' || "$LAB/env5/bin/pip" install --quiet --no-deps --target "$target" "$tokenizers"
import sys
from importlib.metadata import version
from packaging.requirements import Requirement
sys.exit(version("tokenizers") not in Requirement(sys.argv[1]).specifier)
PY
done

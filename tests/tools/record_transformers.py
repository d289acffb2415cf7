"""Record what real ``AutoConfig`` objects hold for configs of our own, for the tests of the transformers table.

    PYTHONPATH=... python record_transformers.py CONFIG_FOLDER > RECORDS/4.57.1.json

One JSON object: config name -> {"class", "values"} or {"error", "text"}. ``{path}`` stands for the folder.
``join_records.py`` puts the records of all releases into one file.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import warnings
from pathlib import Path

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TRANSFORMERS_VERBOSITY="critical")
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

from probe_transformers import flat  # noqa: E402
from transformers import AutoConfig  # noqa: E402


def record(folder: Path) -> dict:
    """One config's outcome, without its repository's code."""
    try:
        made = AutoConfig.from_pretrained(str(folder), trust_remote_code=False)
    except Exception as error:
        return {"error": type(error).__name__, "text": str(error).replace(str(folder), "{path}")}
    return {"class": type(made).__name__, "values": flat(made)}


def main() -> None:
    """Record every config of the folder."""
    folders = sorted(path.parent for path in Path(sys.argv[1]).glob("*/config.json"))
    json.dump({folder.name: record(folder) for folder in folders}, sys.stdout, sort_keys=True)


if __name__ == "__main__":
    main()

"""Put what ``record_transformers.py`` wrote for each release into one file, each release as changes from the last.

python tests/tools/join_records.py RECORDS_FOLDER > tests/data/transformers_objects.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from packaging.version import Version


def main() -> None:
    """Config name -> [[release, {"class" or "error" or "text", "set", "drop"}], ...]."""
    paths = sorted(Path(sys.argv[1]).glob("*.json"), key=lambda path: Version(path.stem))
    last: dict[str, dict] = {}
    out: dict[str, list] = {}
    for path in paths:
        for name, outcome in json.loads(path.read_text()).items():
            before = last.get(name, {})
            if outcome == before:
                continue
            old, new = before.get("values", {}), outcome.get("values", {})
            change = {key: value for key, value in outcome.items() if key != "values"}
            change["set"] = {key: value for key, value in new.items() if key not in old or old[key] != value}
            change["drop"] = sorted(key for key in old if key not in new)
            out.setdefault(name, []).append([path.stem, change])
            last[name] = outcome
    lines = ",\n".join(
        f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(stage, sort_keys=True) for stage in stages) + "\n]"
        for name, stages in sorted(out.items())
    )
    print(f"{{\n{lines}\n}}")


if __name__ == "__main__":
    main()

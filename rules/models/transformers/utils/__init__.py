"""transformers.utils: files of a model folder."""

import os

CONFIG_NAME = "config.json"


def cached_file(path_or_repo_id, filename, _raise_exceptions_for_missing_entries=True, **kwargs):
    path = os.path.join(str(path_or_repo_id), filename)
    if os.path.isfile(path):
        return path
    if _raise_exceptions_for_missing_entries:
        raise OSError(str(path_or_repo_id) + " does not appear to have a file named " + filename + ".")
    return None

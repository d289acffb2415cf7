"""transformers.models.auto.configuration_auto: the mapping behind AutoConfig."""

from transformers import AutoConfig, class_for


class _Mapping:
    def __contains__(self, model_type):
        return class_for(model_type) is not None

    def __getitem__(self, model_type):
        found = class_for(model_type)
        if found is None:
            raise KeyError(model_type)
        return found

    def get(self, model_type, default=None):
        found = class_for(model_type)
        return default if found is None else found

    def register(self, model_type, value, exist_ok=False):
        AutoConfig.register(model_type, value, exist_ok=exist_ok)


CONFIG_MAPPING = _Mapping()

"""transformers, as far as configurations go: what AutoConfig makes of a config.json.

What each release knows stands in the data files beside this one; here is how a configuration object behaves.
"""

import copy
import os

import torch
from mtp_trace_host import load_code, note_read, read_json, symbol, table, unknown
from mtp_trace_host import version as _version

__version__ = _version("transformers")
_classes = {}
_registered = {}
_dtypes = ("torch_dtype", "dtype")


class AmbiguousGlobalPerLayerAttributeError(RuntimeError):
    pass


class _Layered:
    """What a configuration is where the release lets its layers differ.

    The attributes that differ are kept apart from the others, so that reading one of them finds nothing and fails.
    """

    @property
    def is_heterogeneous(self):
        own = self.__dict__
        if "_opaque" in own and "per_layer_config" in own["_opaque"]:
            return unknown("is_heterogeneous of " + type(self).__name__, own["_opaque"]["per_layer_config"])
        return "_heterogeneity_spec" in own

    @property
    def per_layer_config(self):
        own = self.__dict__
        if "_opaque" in own and "per_layer_config" in own["_opaque"]:
            return unknown("per_layer_config of " + type(self).__name__, own["_opaque"]["per_layer_config"])
        return _LayerView(self)

    @per_layer_config.setter
    def per_layer_config(self, layers):
        own = self.__dict__
        _join_layers(own)
        if "_opaque" in own:
            own["_opaque"].pop("per_layer_config", None)
        if layers is not None:
            plain = {k: v for k, v in own.items() if v is None or isinstance(v, (bool, int, float, str, list))}
            settled = table("transformers.settle", layers, plain, dict(type(self).attribute_map))
            if settled is None:
                own["_opaque"]["per_layer_config"] = "set to what is no description of its layers"
            else:
                _split_layers(own, settled)

    @property
    def per_layer_attributes(self):
        return self._heterogeneity_spec.per_layer_attributes if self.is_heterogeneous else None

    @property
    def allow_global_per_layer_attribute_access(self):
        return self.__dict__.get("allow_global_per_layer_attribute_access", False)

    @allow_global_per_layer_attribute_access.setter
    def allow_global_per_layer_attribute_access(self, value):
        self.__dict__["allow_global_per_layer_attribute_access"] = value


class _LayerSettings:
    def __init__(self, settled):
        self.per_layer_overrides = settled["overrides"]
        self.per_layer_attributes = set(settled["varying"])
        self.explicit_per_layer_attributes = set(settled["explicit"])


def _split_layers(own, settled):
    own["_heterogeneity_spec"] = _LayerSettings(settled)
    whole = {}
    for name, value in settled["whole"].items():
        whole[name] = _value(value)
        own.pop(name, None)
        own.get("_opaque", {}).pop(name, None)
    own["_whole"] = whole


def _join_layers(own):
    if own.pop("_heterogeneity_spec", None) is not None:
        own.update(own.pop("_whole"))


class _LayerView:
    def __init__(self, config):
        self._config = config

    def __len__(self):
        return self._config.num_hidden_layers

    def __iter__(self):
        return iter([self[index] for index in range(len(self))])

    def __getitem__(self, index):
        config = self._config
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if isinstance(index, str):
            kinds = getattr(config, "layer_types", None)
            if kinds is None or index not in kinds:
                raise ValueError("Layer type '" + index + "' not found in config.layer_types")
            if not config.is_heterogeneous:
                return config
            given = config._heterogeneity_spec.per_layer_overrides
            found = [given.get(i, {}) for i, kind in enumerate(kinds) if kind == index]
            if any(other != found[0] for other in found):
                raise ValueError("Layer type '" + index + "' is not homogeneous across layers")
            return _layer(config, found[0])
        if index < 0:
            index += len(self)
        if index < 0 or index >= len(self):
            raise IndexError("list index out of range")
        if not config.is_heterogeneous:
            return config
        return _layer(config, config._heterogeneity_spec.per_layer_overrides.get(index, {}))


def _layer(config, overrides):
    made = copy.copy(config)
    _join_layers(made.__dict__)
    made.skip = overrides.get("skip", [])
    for key, value in overrides.items():
        if key != "skip":
            setattr(made, key, value)
    return made


class _Uniform:
    pass


class PretrainedConfig(_Layered if table("transformers.base_property", "is_heterogeneous") else _Uniform):
    model_type = ""
    base_config_key = ""
    attribute_map = {}
    sub_configs = {}
    is_composition = False
    _auto_class = None
    _table_name = ""
    __class_validators__ = []

    def __init__(self, **kwargs):
        made = table("transformers.make", self._table_name, kwargs)
        _fill(self, made)
        # A config inside whose class is not described: what config.json gives it is known, and nothing else is there.
        for key, value in kwargs.items():
            if key in made["opaque"] and isinstance(value, dict) and key.endswith("_config") and "model_type" in value:
                self.__dict__[key] = PretrainedConfig(**value)

    def __setattr__(self, key, value):
        mapped = type(self).attribute_map
        key = mapped[key] if key in mapped else key
        own = self.__dict__
        if "_whole" in own and key in own["_whole"]:
            own["_whole"][key] = value
        else:
            object.__setattr__(self, key, value)

    def __getattr__(self, key):
        mapped = type(self).attribute_map
        if key in mapped:
            return getattr(self, mapped[key])
        own = self.__dict__
        if "_whole" in own and key in own["_whole"]:
            if own.get("allow_global_per_layer_attribute_access", False):
                return own["_whole"][key]
            raise AmbiguousGlobalPerLayerAttributeError("'" + key + "' is a per-layer attribute and may vary across layers.")
        if "_opaque" in own and key in own["_opaque"]:
            return unknown(type(self).__name__ + "." + key, own["_opaque"][key])
        if "_delegate" in own and own["_delegate"] is not None and not key.startswith("__"):
            inner = own.get(own["_delegate"])
            if inner is not None:
                return getattr(inner, key)
        raise AttributeError("'" + type(self).__name__ + "' object has no attribute '" + key + "'")

    def __iter__(self):
        return iter([k for k in self.__dict__ if not k.startswith("_")])

    @classmethod
    def get_config_dict(cls, pretrained_model_name_or_path, **kwargs):
        path = str(pretrained_model_name_or_path)
        name = kwargs.get("_configuration_file") or "config.json"
        file = path if os.path.isfile(path) else os.path.join(path, kwargs.get("subfolder") or "", name)
        data = read_json(file)
        if data is None:
            raise OSError(path + " does not appear to have a file named " + name + ".")
        return data, kwargs

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path, **kwargs):
        data, rest = cls.get_config_dict(pretrained_model_name_or_path, **kwargs)
        key = cls.base_config_key
        if key and key in data:
            data = data[key]
        if "model_type" in data and cls.model_type and data["model_type"] != cls.model_type:
            for value in data.values():
                if isinstance(value, dict) and value.get("model_type") == cls.model_type:
                    data = value
        return cls.from_dict(data, **rest)

    @classmethod
    def from_dict(cls, config_dict, **kwargs):
        for word in ("_from_auto", "_from_pipeline", "_commit_hash", "cache_dir", "force_download", "local_files_only",
                     "token", "revision", "subfolder", "code_revision", "trust_remote_code", "gguf_file", "_configuration_file"):
            kwargs.pop(word, None)
        give_rest = kwargs.pop("return_unused_kwargs", False)
        config = cls(**dict(config_dict))
        left = {}
        for key, value in kwargs.items():
            if hasattr(config, key):
                setattr(config, key, value)
            else:
                left[key] = value
        return (config, left) if give_rest else config

    def to_dict(self):
        out = {}
        for key, value in self.__dict__.items():
            if key in ("_opaque", "_delegate", "_whole", "_heterogeneity_spec"):
                continue
            out[key] = value.to_dict() if isinstance(value, PretrainedConfig) else value
        if "_whole" in self.__dict__:
            out.update(self.__dict__["_whole"])
            layers = self.__dict__["_heterogeneity_spec"].per_layer_overrides
            out["per_layer_config"] = {str(index): dict(given) for index, given in layers.items()}
        out["model_type"] = type(self).model_type or out.get("model_type", "")
        return out

    def to_diff_dict(self):
        return self.to_dict()

    def update(self, config_dict):
        for key, value in config_dict.items():
            setattr(self, key, value)

    def get_text_config(self, decoder=None, encoder=None):
        for key in ("text_config", "decoder", "generator", "text_encoder", "language_config"):
            inner = self.__dict__.get(key)
            if inner is not None and not isinstance(inner, dict):
                return inner
        return self

    @property
    def name_or_path(self):
        return self.__dict__.get("_name_or_path", "")

    @property
    def use_return_dict(self):
        return True

    @property
    def num_labels(self):
        return len(self.id2label)

    @property
    def rope_scaling(self):
        own = self.__dict__
        if "rope_scaling" in own:
            return own["rope_scaling"]
        if "rope_parameters" in own:
            return own["rope_parameters"]
        raise AttributeError("rope_scaling")

    @rope_scaling.setter
    def rope_scaling(self, value):
        own = self.__dict__
        own["rope_parameters" if "rope_parameters" in own and "rope_scaling" not in own else "rope_scaling"] = value


PreTrainedConfig = PretrainedConfig


def _fill(config, made):
    own = config.__dict__
    for key, value in made["values"].items():
        value = _value(value)
        if key in _dtypes and isinstance(value, str):
            value = getattr(torch, value.replace("torch.", ""))
        own[key] = value
    own["_opaque"] = made["opaque"]
    own["_delegate"] = made["delegate"]
    if made["layers"] is not None:
        _split_layers(own, made["layers"])


def _value(value):
    if isinstance(value, dict):
        if "__config__" in value:
            cls = config_class(value["__config__"])
            inner = cls.__new__(cls)
            _fill(inner, value)
            return inner
        return {key: _value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_value(item) for item in value]
    return value


def config_class(name):
    """The class of that name as the release has it, or None."""
    if name in ("PretrainedConfig", "PreTrainedConfig"):
        return PretrainedConfig
    if name not in _classes:
        info = table("transformers.class", name)
        if info is None:
            return None
        parent = config_class(info["bases"][0]) if info["bases"] else PretrainedConfig
        _classes[name] = type(name, (parent or PretrainedConfig,), {
            "_table_name": name,
            "model_type": info["model_type"],
            "attribute_map": info["attribute_map"],
            "base_config_key": info["base_config_key"],
            "sub_configs": {},
        })
    return _classes[name]


def class_for(model_type):
    """What AutoConfig makes for a model type: registered by the tree, or known to the release; else None."""
    if model_type in _registered:
        return _registered[model_type]
    name = table("transformers.model_type", model_type)
    return None if name is None else config_class(name)


class AutoConfig:
    @staticmethod
    def register(model_type, config, exist_ok=False):
        if not exist_ok and table("transformers.model_type", model_type) is not None:
            raise ValueError("'" + model_type + "' is already used by a Transformers config, pick another name.")
        _registered[model_type] = config

    @classmethod
    def for_model(cls, model_type, *args, **kwargs):
        found = class_for(model_type)
        if found is None:
            raise ValueError("Unrecognized model identifier: " + str(model_type) + ".")
        return found(*args, **kwargs)

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path, **kwargs):
        trust = kwargs.pop("trust_remote_code", None)
        kwargs["name_or_path"] = pretrained_model_name_or_path
        kwargs.pop("code_revision", None)
        data, rest = PretrainedConfig.get_config_dict(pretrained_model_name_or_path, **kwargs)
        rest.pop("name_or_path", None)
        folder = str(pretrained_model_name_or_path)
        choice = table("transformers.choose", data, folder, bool(trust), list(_registered), os.listdir(folder))
        if choice["source"] == "refused":
            raise (OSError if choice["name"] == "OSError" else KeyError if choice["name"] == "KeyError" else ValueError)(choice["text"])
        if choice["source"] == "remote":
            return _remote(folder, data, rest)
        known = _registered[choice["name"]] if choice["source"] == "registered" else config_class(choice["name"])
        made = known.from_dict(data, **rest)
        note_read("model_type", data.get("model_type"))
        if type(made) is not tuple:
            made.__dict__["_name_or_path"] = folder
        return made


def _remote(path, data, rest):
    reference = data["auto_map"]["AutoConfig"].split("--")[-1].split(".")
    file = os.path.join(str(path), reference[0] + ".py")
    module = load_code(file)
    if module is None:
        raise OSError(str(path) + " does not appear to have a file named " + reference[0] + ".py.")
    made = getattr(module, reference[1]).from_dict(data, **rest)
    if type(made) is not tuple:
        made.__dict__["_name_or_path"] = str(path)
    return made


class GenerationConfig:
    @classmethod
    def from_pretrained(cls, path, **kwargs):
        data = read_json(os.path.join(str(path), "generation_config.json"))
        if data is None:
            raise OSError(str(path) + " does not appear to have a file named generation_config.json.")
        made = cls()
        made.__dict__.update(data)
        return made

    def to_diff_dict(self):
        return self.__dict__


def __getattr__(name):
    if name.endswith("Config"):
        found = config_class(name)
        if found is not None:
            return found
    return symbol("transformers." + name)

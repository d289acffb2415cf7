"""A head in BF16 beneath a quantized checkpoint: what each release builds for it, and whether it takes the tensors.

``KINDS`` against releases; a table has a row for every family and a column for every release: ``a`` active, ``d``
degraded, ``s`` start-up error, ``-`` where the release does not know the family's configuration.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mtp_trace.report.model import Report

from .kinds import FP8, KINDS, H, Spec, fp8, int4, modules, nvfp4, quark
from .launches import RELEASES, Release, check, folder, weights_rules

pytestmark = pytest.mark.releases
WORDS = {"a": "active", "d": "degraded", "s": "startup-error"}


def cells(table: str) -> list[tuple[str, str, str]]:
    """Family, release and verdict of every cell."""
    rows = [row.split() for row in table.split("\n")]
    return [(name, v, WORDS[c]) for name, *letters in rows for v, c in zip(RELEASES, letters) if c in WORDS]


def _agrees(report: Report, verdict: str, *rules: str) -> None:
    wanted = [] if verdict == "active" else list(rules)
    found = [rule for rule in weights_rules(report) if rule in wanted or verdict == "active"]
    assert (report.verdict.value, found) == (verdict, wanted), report.error


NVFP4 = """qwen3.5-dense a a a a
qwen3.5-moe a a a a
qwen3-next s s s s
deepseek-v3 a a a a
glm-4.x a a a a
glm-5 - a a a
mimo s s s s
nemotron-h s a a a"""


@pytest.mark.parametrize(("name", "version", "verdict"), cells(NVFP4))
def test_nvfp4(release: Release, tmp_path: Path, name: str, version: str, verdict: str) -> None:
    """``qwen3_5_mtp.py``, ``deepseek_nextn.py`` and ``glm4_moe_nextn.py`` drop ``modelopt_fp4`` (``quant_config =
    None``). ``qwen3_next_mtp.py`` and ``mimo_mtp.py`` hand it on, and ask for their layers as
    ``model.layers.0`` and ``model.mtp_block``, which the list's ``mtp.*`` and ``model.mtp_layers.*`` do not
    leave alone. A packed matrix has half the columns of its tensor: ``parameter.py`` (``load_qkv_weight``,
    ``copy_with_check``) asserts equal shapes, and in ``FusedMoE._load_w13``
    ``expert_data.copy_(loaded_weight)`` cannot broadcast. ``nemotron_h_mtp.py`` asks for ``mtp.layers.0`` from
    0.5.12 on, and is left alone.
    """
    kind = KINDS[name]
    place = folder(tmp_path, kind, kind.head(), quantization_config=nvfp4(f"{kind.front}*"))
    report = check(release, version, kind, place, "--quantization", "modelopt_fp4", gpu="b200")
    _agrees(report, verdict, "weights/built-quantized")


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("version", ["0.5.12", "0.5.18", "0.5.23"])
def test_nvfp4_without_the_head(release: Release, tmp_path: Path, version: str, listed: bool) -> None:
    """GLM-5 as it is often quantized: no tensor of ``model.layers.{num_hidden_layers}``. ``deepseek_nextn.py`` drops
    ``modelopt_fp4`` (0.5.12: lines 87 to 91) and builds the layer in BF16 whatever the list says;
    ``deepseek_weight_loader.py`` passes over every other layer's names (0.5.12: lines 183 and 184) and compares nothing
    with what was built.
    """
    kind = KINDS["glm-5"]
    place = folder(tmp_path, kind, {}, quantization_config=nvfp4(*([f"{kind.front}*"] if listed else [])))
    report = check(release, version, kind, place, "--quantization", "modelopt_fp4", gpu="b200")
    _agrees(report, "degraded", "weights/head-missing")
    assert report.weights is not None and report.weights["present"] == 0


def test_nvfp4_that_the_release_does_not_detect(release: Release, tmp_path: Path) -> None:
    """0.5.9 reads the algorithm from ``hf_quant_config.json`` alone: without that file ``modelopt`` is taken for FP8,
    and ``ModelOptFp8Config.from_config`` raises. From 0.5.12 on it is told from config.json, but not below SM
    100 there.
    """
    kind = KINDS["qwen3.5-moe"]
    place = folder(tmp_path, kind, kind.head(), quantization_config=nvfp4("mtp.*"))
    report = check(release, "0.5.9", kind, place, gpu="b200")
    assert report.verdict.value == "startup-error" and report.error is not None and report.stage == "weights"
    assert report.error.file == "sglang/srt/layers/quantization/modelopt_quant.py"
    report = check(release, "0.5.12", kind, place, gpu="h200")
    assert report.verdict.value == "startup-error" and report.error is not None
    assert "Minimum capability: 100" in report.error.message


INT4 = """qwen3.5-dense d d d a
qwen3.5-moe d d d a
qwen3-next s s s s
deepseek-v3 s s s s
glm-4.x d d d d
glm-5 - s s s
mimo s s s s
nemotron-h s s s s"""


@pytest.mark.parametrize(("name", "version", "verdict"), cells(INT4))
def test_packed_int4_that_ignores_the_head(
    release: Release, tmp_path: Path, name: str, version: str, verdict: str
) -> None:
    """compressed-tensors lists the head's modules as ``ignore``, by the checkpoint's names. Only 0.5.23's
    ``qwen3_5_mtp.py`` tells it that ``qkv_proj`` stands for three of them. What is built packed has no ``weight``:
    ``qwen3_5_mtp.py`` and ``glm4_moe.py`` pass over a name that ``params_dict`` has not (``degraded``),
    ``qwen3_next.py``, ``mimo_mtp.py`` and ``deepseek_weight_loader.py`` look it up (KeyError); before 0.5.23
    ``deepseek_v2.py`` asks a packed projection for its ``weight`` as it is built (AttributeError). Nemotron-H: an
    expert layer whose projections are not all on the list is refused by ``compressed_tensors.py`` (ValueError)."""
    kind = KINDS[name]
    place = folder(tmp_path, kind, kind.head(), quantization_config=int4(*modules(kind.head())))
    report = check(release, version, kind, place)
    _agrees(report, verdict, *(["weights/built-quantized"] if verdict == "degraded" else []))


QUARK = """qwen3.5-dense s a a a
qwen3.5-moe s a a a
qwen3-next s s s s
deepseek-v3 s s s s
glm-4.x s s s s
glm-5 - s a a
mimo s s s s
nemotron-h s s s a"""


@pytest.mark.parametrize(("name", "version", "verdict"), cells(QUARK))
def test_mxfp4_by_quark_that_excludes_the_head(
    release: Release, tmp_path: Path, name: str, version: str, verdict: str
) -> None:
    """The list names every module of the head. ``qwen3_5_mtp.py`` looks for ``mtp.`` in it from 0.5.12 on, and its
    comment says why: so that the loaders meet BF16 shapes. ``deepseek_nextn.py`` asks for the layer as a whole
    (``should_ignore_layer("model.layers.N")``), which a list of its modules does not name; the GLM-5 class in
    ``glm4_moe.py`` looks below it from 0.5.18 on. Elsewhere layers are asked for under names that the list does
    not have. A packed matrix then refuses its tensor by shape.
    """
    kind = KINDS[name]
    place = folder(tmp_path, kind, kind.head(), quantization_config=quark(*modules(kind.head())))
    report = check(release, version, kind, place, gpu="mi355x")
    _agrees(report, verdict, "weights/built-quantized")


PLAIN_FP8 = """qwen3.5-dense d d d d
qwen3.5-moe d d d d
qwen3-next d d d d
deepseek-v3 s s s s
glm-4.x d d d d
glm-5 - s s s
mimo d d d d
nemotron-h s s s s"""


@pytest.mark.parametrize(("name", "version", "verdict"), cells(PLAIN_FP8))
def test_plain_head_under_fp8(release: Release, tmp_path: Path, name: str, version: str, verdict: str) -> None:
    """``LinearBase`` asks ``Fp8Config.get_quant_method``, which leaves nothing alone that no list names: FP8 matrices
    of the same shape with scales of their own, which nothing fills. Merged projections and experts copy BF16
    numbers in. A projection of its own goes through ``copy_with_check`` (``parameter.py``), which forbids to
    copy BF16 into FP8: ``q_b_proj`` of latent attention, Nemotron-H's ``eh_proj``.
    """
    kind = KINDS[name]
    place = folder(tmp_path, kind, kind.head(), quantization_config=FP8)
    _agrees(check(release, version, kind, place), verdict, "weights/built-quantized")


OWN_FP8 = """qwen3.5-dense a a a a
qwen3.5-moe a a a a
qwen3-next a a a a
deepseek-v3 a a a a
glm-4.x a a a a
glm-5 - a a a
mimo a a a a"""


@pytest.mark.parametrize(("name", "version", "verdict"), cells(OWN_FP8))
def test_fp8_head_under_fp8(release: Release, tmp_path: Path, name: str, version: str, verdict: str) -> None:
    """The head is built with the checkpoint's own quantization, and has its scales."""
    kind = KINDS[name]
    place = folder(tmp_path, kind, fp8(kind.head()), quantization_config=FP8)
    _agrees(check(release, version, kind, place), verdict)


_EH_PROJ: dict[str, Spec] = {
    "mtp.layers.0.eh_proj.weight": ("F8_E4M3", (H, 2 * H)),
    "mtp.layers.0.eh_proj.weight_scale_inv": ("F32", (H // 128, 2 * H // 128)),
}


@pytest.mark.parametrize("version", RELEASES)
def test_fp8_head_of_nemotron(release: Release, tmp_path: Path, version: str) -> None:
    """``nemotron_h_mtp.py`` hands ``quant_config`` on to ``eh_proj`` and to every layer (0.5.12: lines 64 to 74 and 232
    to 239); ``load_weights`` of ``nemotron_h.py`` keeps a scale whose name is none of the cache's, and maps it with its
    matrix. Where ``eh_proj`` is in FP8 as well, everything is filled.
    """
    kind = KINDS["nemotron-h"]
    place = folder(tmp_path, kind, fp8(kind.head()) | _EH_PROJ, quantization_config=FP8)
    report = check(release, version, kind, place)
    _agrees(report, "active")
    assert report.weights is not None and report.weights["missing"] == []


@pytest.mark.parametrize(
    ("version", "listed", "verdict"),
    [(version, False, "startup-error") for version in RELEASES]
    + [(version, True, "startup-error" if version == "0.5.9" else "active") for version in RELEASES],
)
def test_fp8_head_of_nemotron_around_a_plain_projection(
    release: Release, tmp_path: Path, version: str, listed: bool, verdict: str
) -> None:
    """``eh_proj`` in BF16 is a ``ColumnParallelLinear`` with the checkpoint's quantization: ``copy_with_check`` in
    ``parameter.py`` forbids the copy. ``modules_to_not_convert`` helps where the class asks under the list's name:
    ``add_prefix("mtp", prefix)`` in 0.5.12 (line 300) and later, ``add_prefix("model", prefix)`` in 0.5.9.
    """
    kind = KINDS["nemotron-h"]
    plain = {"modules_to_not_convert": ["lm_head", "mtp.layers.0.eh_proj"]} if listed else {}
    place = folder(tmp_path, kind, fp8(kind.head()), quantization_config={**FP8, **plain})
    report = check(release, version, kind, place)
    _agrees(report, verdict, "weights/built-quantized")
    if verdict != "active":
        assert report.error is not None and "mtp.layers.0.eh_proj.weight" in report.error.message


DETECTED = [
    ("0.5.9", (), "active"),
    ("0.5.10.post1", (), "degraded"),
    ("0.5.10.post1", ("--quantization", "fp8"), "active"),
    ("0.5.10.post1", ("--speculative-draft-model-quantization", "fp8"), "active"),
    ("0.5.10.post1", ("--quantization", "fp8", "--speculative-draft-model-quantization", "unquant"), "degraded"),
    ("0.5.12", (), "active"),
    ("0.5.12", ("--quantization", "fp8", "--speculative-draft-model-quantization", "unquant"), "active"),
    ("0.5.18", (), "active"),
    ("0.5.23", (), "active"),
]


@pytest.mark.parametrize(("version", "more", "verdict"), DETECTED)
def test_quantization_that_only_the_checkpoint_tells(
    release: Release, tmp_path: Path, version: str, more: tuple[str, ...], verdict: str
) -> None:
    """0.5.10.post1: the draft's flag takes the value of ``--quantization`` as it was given (``server_args.py``, lines
    972 to 975), not as it is later read from config.json, and ``glm4_moe_nextn.py`` (lines 131 to 134) drops the
    ``quant_config`` that the loader found where the flag is unset. The head is built in BF16, and ``load_weights``
    of ``glm4_moe.py`` passes over its scales. 0.5.9 does not ask, 0.5.12 also asks whether a ``quant_config`` came
    (lines 131 to 134), 0.5.18 asks on an NPU only (line 128).
    """
    kind = KINDS["glm-4.x"]
    place = folder(tmp_path, kind, fp8(kind.head()), quantization_config=FP8)
    report = check(release, version, kind, place, *more)
    _agrees(report, verdict, "weights/built-unquantized")


def test_a_finding_stands_where_the_quantization_is_handed_over(release: Release, tmp_path: Path) -> None:
    """0.5.18: ``qwen3_next_mtp.py`` hands ``quant_config`` to ``Qwen3NextModel`` in lines 72 to 77; line 55 drops it
    on an NPU only.
    """
    kind = KINDS["qwen3-next"]
    place = folder(tmp_path, kind, kind.head(), quantization_config=nvfp4())
    report = check(release, "0.5.18", kind, place, gpu="b200")
    finding = next(f for f in report.findings if f.rule == "weights/built-quantized")
    assert (finding.file, finding.line) == ("sglang/srt/models/qwen3_next_mtp.py", 72)
    assert [(p.line, p.file == finding.file) for p in finding.related][-1] == (55, True)


def test_an_index_alone_proves_as_much(release: Release, tmp_path: Path) -> None:
    """No header tells a shape; the class built unquantized does: what fills ``w13`` unpacked has its own columns."""
    kind = KINDS["qwen3-next"]
    place = folder(tmp_path, kind, kind.head(), quantization_config=nvfp4())
    for file in place.glob("*.safetensors"):
        file.unlink()
    report = check(release, "0.5.18", kind, place, gpu="b200")
    _agrees(report, "startup-error", "weights/built-quantized")

"""Six reports made by hand, one for each verdict, and the lists and comparisons built of them."""

from __future__ import annotations

from mtp_trace.report.compare_model import (
    Cell,
    Deployment,
    Diff,
    Effect,
    FactChange,
    FactMove,
    FactSide,
    Gate,
    Matrix,
    Reason,
)
from mtp_trace.report.listing_model import Audit, AuditEntry, Fact, Scan
from mtp_trace.report.model import (
    Assumption,
    Change,
    DraftInfo,
    Failure,
    Finding,
    Fix,
    LaunchInfo,
    LogLine,
    ModelInfo,
    Option,
    Place,
    Question,
    Report,
    Severity,
    SglangInfo,
    Step,
    Suggestion,
    Verdict,
)

TREE = SglangInfo("/trees/demo", "1.2.3", "v1.2.3")
NEWER = SglangInfo("/trees/newer", "1.3.0")
MODEL = ModelInfo("models/hybrid", ("HybridForCausalLM",), "hybrid")
ARGS = ("--model-path", "models/hybrid", "--tp", "8", "--speculative-algorithm", "NEXTN")
LAUNCH = LaunchInfo(ARGS, {"SGLANG_DEMO": "1"}, "h200")
SOURCE = [f"line {number} of the demo" for number in range(1, 200)]
SOURCE[40] = "        if self.strategy == 'no_buffer' and not self.disable_radix_cache:"
SOURCE[41] = "            raise ValueError('radix cache needs the extra buffer')"

DRAFT = DraftInfo("HybridForCausalLMMTP", "HybridForCausalLMMTP", "sglang/models/hybrid_mtp.py", 30, 1, "models/hybrid")
PATH = (
    Step("cli", "flag", "sglang/args.py", 12, "ServerArgs.add_cli_args", "--speculative-algorithm NEXTN"),
    Step("args", "write", "sglang/args.py", 31, "ServerArgs._resolve", "speculative_algorithm = EAGLE", "an alias"),
    Step("args", "branch", "sglang/args.py", 41, "ServerArgs._check", "self.strategy == 'no_buffer'", "true"),
    Step("registry", "class", "sglang/models/hybrid_mtp.py", 30, "", "HybridForCausalLMMTP"),
)
SWITCH = Change("flag", "--strategy", "no_buffer", "extra_buffer", "the radix cache needs it")

ACTIVE = Report(
    Verdict.ACTIVE,
    TREE,
    MODEL,
    LAUNCH,
    resolved={
        "speculative_num_steps": 3,
        "speculative_eagle_topk": 1,
        "speculative_num_draft_tokens": 4,
        "disable_overlap": False,
        "mem_fraction": {"unknown": "the GPU's memory"},
    },
    draft=DRAFT,
    worker="DraftWorker",
    path=PATH,
    findings=(
        Finding(
            "spec-defaults",
            Severity.NOTE,
            "Parameters chosen by default",
            "No steps were given, so the tree's defaults hold.",
            "sglang/args.py",
            35,
            36,
            "self.steps, self.topk = 3, 1",
        ),
    ),
    logs=(LogLine("warning", "Overlap schedule is on", "sglang/args.py", 50),),
    assumptions=(Assumption("one node", "no --nnodes was given"),),
    weights={"mtp_tensors": 12, "missing": []},
)

STARTUP_ERROR = Report(
    Verdict.STARTUP_ERROR,
    TREE,
    MODEL,
    LAUNCH,
    stage="args",
    resolved={"speculative_algorithm": "EAGLE", "strategy": "no_buffer"},
    error=Failure("ValueError", "radix cache needs the extra buffer", "sglang/args.py", 42, 42),
    path=PATH[:3],
    findings=(
        Finding(
            "hint-note",
            Severity.NOTE,
            "A newer tree decides by itself",
            "Later trees choose the strategy.",
        ),
        Finding(
            "radix-no-buffer",
            Severity.ERROR,
            "Radix cache with no_buffer",
            "The radix cache and speculation need the extra buffer.",
            "sglang/args.py",
            42,
            42,
            "raise ValueError('radix cache needs the extra buffer')",
            Fix("Choose the extra buffer, or switch the radix cache off.", (SWITCH,)),
            (Place("sglang/args.py", 20, 20, "the default", "strategy: str = 'no_buffer'"),),
        ),
    ),
    suggestion=Suggestion((*ARGS, "--strategy", "extra_buffer"), {"SGLANG_DEMO": "1"}, (SWITCH,), Verdict.ACTIVE),
)

DEGRADED = Report(
    Verdict.DEGRADED,
    TREE,
    MODEL,
    LAUNCH,
    stage="registry",
    draft=DraftInfo("HybridForCausalLM", "HybridForCausalLM", "sglang/models/hybrid.py", 300),
    worker="DraftWorker",
    path=(PATH[0], PATH[1]),
    findings=(
        Finding(
            "draft-is-target",
            Severity.ERROR,
            "The draft is the whole target",
            "No remap to an MTP class was found for this architecture.",
            "sglang/models/hybrid.py",
            300,
            None,
            "class HybridForCausalLM:",
        ),
        Finding("slow-draft", Severity.WARNING, "Twice the memory", "Both models are held in full."),
    ),
)

INACTIVE = Report(
    Verdict.INACTIVE,
    TREE,
    MODEL,
    LaunchInfo(("--model-path", "models/hybrid"), {}, None),
    findings=(
        Finding(
            "no-algorithm",
            Severity.WARNING,
            "No speculative algorithm",
            "Nothing asks for speculation.",
            "sglang/args.py",
            31,
            31,
            "if self.speculative_algorithm is None: return",
            Fix("Ask for it.", (Change("flag", "--speculative-algorithm", None, "NEXTN"),)),
        ),
    ),
    path=(PATH[0],),
)

DEPENDS = Report(
    Verdict.DEPENDS,
    TREE,
    MODEL,
    LaunchInfo(ARGS, {}, None),
    stage="attention",
    depends_on=(
        Question(
            "Is the GPU of the newest generation?",
            (Option("yes", Verdict.STARTUP_ERROR), Option("no", Verdict.ACTIVE)),
        ),
    ),
    path=PATH,
    assumptions=(Assumption("CUDA is present", "no platform was given"), Assumption("one node", "no --nnodes")),
)

UNDETERMINED = Report(
    Verdict.UNDETERMINED,
    TREE,
    MODEL,
    LAUNCH,
    stage="draft-config",
    error=Failure("Budget", "more than 100000 steps", "sglang/config.py", 77, 80),
    path=PATH[:2],
)

REPORTS = {
    "active": ACTIVE,
    "startup-error": STARTUP_ERROR,
    "degraded": DEGRADED,
    "inactive": INACTIVE,
    "depends": DEPENDS,
    "undetermined": UNDETERMINED,
}

AUDIT = Audit(
    TREE,
    tuple(
        AuditEntry(
            f"deploy/{name}.sh",
            3 + index,
            "shell",
            f"serve-{name}",
            report,
            report.launch.argv,
            report.launch.env,
            ("$PORT",) if index == 1 else (),
        )
        for index, (name, report) in enumerate(REPORTS.items())
    ),
)

SCAN = Scan(
    TREE,
    (
        Fact(
            "architecture-remap",
            "remap-hybrid",
            "sglang/config.py",
            60,
            62,
            "if is_draft and arch == 'HybridForCausalLM':\n    arch = 'HybridForCausalLMMTP'",
            {
                "from": ["HybridForCausalLM"],
                "to": "HybridForCausalLMMTP",
                "sets": {"num_nextn_predict_layers": 1},
                "guard": "is_draft_model",
            },
        ),
        Fact(
            "guard",
            "radix-no-buffer",
            "sglang/args.py",
            41,
            42,
            SOURCE[41].strip(),
            {
                "fields": ["strategy"],
                "condition": "strategy == 'no_buffer'",
                "error": {"type": "ValueError", "message": "radix cache needs the extra buffer"},
            },
        ),
        Fact("env-switch", "env", "sglang/environ.py", 9, 9, "", {"name": "SGLANG_DEMO", "default": None}),
    ),
)

DIFF = Diff(
    TREE,
    NEWER,
    (
        FactChange(
            "draft-parameters",
            FactMove.CHANGED,
            "HybridForCausalLM",
            FactSide("sglang/args.py", 35, [5, 4, 8]),
            FactSide("sglang/hooks/args.py", 12, [3, 1, 4]),
        ),
        FactChange("guard", FactMove.ADDED, "strategy", None, FactSide("sglang/args.py", 42, "no_buffer")),
        FactChange("env-switch", FactMove.REMOVED, "SGLANG_OLD", FactSide("sglang/environ.py", 9, None)),
    ),
)

GATE = Gate(
    TREE,
    NEWER,
    (
        Deployment("prod-a", ACTIVE, ACTIVE, Effect.NONE),
        Deployment(
            "prod-b",
            ACTIVE,
            STARTUP_ERROR,
            Effect.REGRESSION,
            Reason("the guard is new", "sglang/args.py", 42),
            "0123abcd0123abcd",
            STARTUP_ERROR.suggestion,
        ),
        Deployment("prod-c", INACTIVE, ACTIVE, Effect.IMPROVEMENT, Reason("the remap is new")),
        Deployment("prod-d", ACTIVE, DEPENDS, Effect.CHANGED),
    ),
)

MATRIX = Matrix(
    tuple(
        Cell(model, release, verdict, stage, draft, note)
        for model, release, verdict, stage, draft, note in (
            ("hybrid", "1.2.2", Verdict.DEGRADED, "registry", "HybridForCausalLM", "the draft is the target"),
            ("hybrid", "1.2.3", Verdict.ACTIVE, None, "HybridForCausalLMMTP", "3 steps"),
            ("hybrid", "1.3.0", Verdict.STARTUP_ERROR, "args", None, "radix cache"),
            ("dense", "1.2.2", Verdict.INACTIVE, None, None, ""),
            ("dense", "1.2.3", Verdict.DEPENDS, "attention", None, "which GPU?"),
        )
    )
)

EVIL = (
    "[bold red]x[/] \x1b[31mred\x1b[0m \x1b]0;title\x07 ]]> <script>alert(1)</script> | `tick` ``two`` "
    "@someone #1 :boom: \u202eevil\u202c \x9b2J \x00\x08\r\n::error::hi\n- list\n[a](1) \ud800 \ufffe {0} % \U0001f600"
)


def hostile_report() -> Report:
    """A report whose every text tries to break out of its place."""
    change = Change("flag", f"--{EVIL}", EVIL, EVIL, EVIL)
    return Report(
        Verdict.STARTUP_ERROR,
        SglangInfo(EVIL, EVIL, EVIL),
        ModelInfo(EVIL, (EVIL,), EVIL),
        LaunchInfo((f"--{EVIL}", EVIL), {EVIL: EVIL}, EVIL),
        stage=EVIL,
        resolved={EVIL: EVIL, "set": {3, 1, 2}, "huge": 2**80, "inf": float("inf")},
        draft=DraftInfo(EVIL, EVIL, EVIL, 3, 1, EVIL),
        worker=EVIL,
        error=Failure(EVIL, EVIL, EVIL, 5, 5),
        depends_on=(Question(EVIL, (Option(EVIL, Verdict.ACTIVE),)),),
        findings=(
            Finding(
                EVIL,
                Severity.ERROR,
                EVIL,
                EVIL,
                EVIL,
                9,
                9,
                EVIL,
                Fix(EVIL, (change,)),
                (Place(EVIL, 1, 1, EVIL, EVIL),),
            ),
        ),
        path=(Step(EVIL, EVIL, EVIL, 4, EVIL, EVIL, EVIL),),
        logs=(LogLine(EVIL, EVIL, EVIL, 6),),
        assumptions=(Assumption(EVIL, EVIL),),
        suggestion=Suggestion((EVIL, f"--{EVIL}", EVIL), {EVIL: EVIL}, (change,), Verdict.ACTIVE),
        weights={EVIL: [EVIL]},
        accepted=EVIL,
    )


def sample_lines(file: str, first: int, last: int) -> list[str] | None:
    """The demo's source, as a ``SourceLines`` callback."""
    return SOURCE[first - 1 : last] if file == "sglang/args.py" else None

"""What `--json` prints, by the words of a command: the types that the commands build."""

from __future__ import annotations

import json

import msgspec

from flashtwin.catalogue import summary
from flashtwin.cli import (
    batteries,
    cache_run,
    conclude,
    doctor,
    drives,
    export_run,
    icf,
    identify,
    infer_run,
    load_run,
    play_run,
    rank_run,
    report,
    runs,
    serve_run,
    smart,
    submit,
    sweep_run,
    test_run,
)
from flashtwin.drives import served_log
from flashtwin.load import words
from flashtwin.runner import timeline
from flashtwin.runs import schema
from flashtwin.runs.compare import compare
from flashtwin.runs.submission import check as submission
from flashtwin.study.fit import fit, settled_twin
from flashtwin.study.infer import infer
from flashtwin.study.same import judge as judge_same
from flashtwin_lab.blind import judge
from flashtwin_lab.theory import run as theory
from flashtwin_lab.validation import knockouts, validate

# A command that can be asked for two things has two, the second with one of these endings.
KINDS = ("-one", "-theory", "-knock-out", "-catalogue", "-labelled")
DOCUMENTS: dict[str, type[msgspec.Struct]] = {
    "drives": drives.Drives,
    "smart": smart.SmartData,
    "identify": identify.Identified,
    "doctor": doctor.Machine,
    "show": summary.Described,
    "check": drives.Check,
    "check-catalogue": submission.CheckedFolder,
    "submit": submit.Submitted,
    "diff": drives.Diff,
    "batteries": batteries.Batteries,
    "batteries-one": batteries.OneBattery,
    "conclude": conclude.Concluded,
    "explain": batteries.Explain,
    "explain-one": batteries.Explained,
    "test": test_run.Tested,
    "review": test_run.Reviewed,
    "icf": icf.Icf,
    "serve": serve_run.Served,
    "ctl": serve_run.ServedState,
    "replay": served_log.Replayed,
    "play": play_run.Play,
    "report": report.Report,
    "sweep": sweep_run.Swept,
    "runs": runs.Runs,
    "runs-show": runs.ShownRuns,
    "runs-prune": runs.Pruned,
    "runs-adopt": runs.Adopted,
    "compare": compare.Compared,
    "same": judge_same.Same,
    "export": export_run.Exported,
    "rank": rank_run.Ranking,
    "infer": infer.InferredDocument,
    "infer-labelled": infer_run.LabelledDocument,
    "fit": fit.FitDocument,
    "record": words.Recorded,
    "fit-published": settled_twin.SettledDocument,
    "trace": load_run.Trace,
    "cost": load_run.Costs,
    "ask": load_run.Asked,
    "timeline": timeline.Recorded,
    "cache": cache_run.Cache,
    "cache-clear": cache_run.Cleared,
    "validate": validate.ValidationDocument,
    "validate-theory": theory.TheoryDocument,
    "validate-knock-out": knockouts.KnockOuts,
    "blind": judge.CampaignDocument,
}


def check(text: str, *names: str) -> None:
    """Raise `msgspec.ValidationError` where a document is of none of these names."""
    for name in names:
        try:
            msgspec.json.decode(text, type=DOCUMENTS[name])
            return
        except msgspec.ValidationError as error:
            last = error
    raise last


def json_schema(name: str) -> str:
    """The JSON Schema of a document, as docs/reference/schemas/commands has it."""
    page = {"$schema": schema.DIALECT, **msgspec.json.schema(DOCUMENTS[name])}
    return json.dumps(page, indent=1, ensure_ascii=False) + "\n"

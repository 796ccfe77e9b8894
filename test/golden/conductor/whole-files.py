"""Fills in what Conductor itself makes of the rows of whole-files.json, with its sources on PYTHONPATH: python whole-files.py whole-files.json"""
import asyncio, json, os, sys, tempfile, logging
from pathlib import Path

from conductor.cli.run import coerce_value
from conductor.config.loader import load_config
from conductor.config.validator import validate_workflow_config
from conductor.engine.workflow import WorkflowEngine
from conductor.providers.base import AgentOutput, AgentProvider

logging.disable(logging.CRITICAL)


class Scripted(AgentProvider, abstract=True):
    def __init__(self, answers):
        self.answers, self.count = answers, {}

    async def execute(self, agent, context, rendered_prompt, tools=None, **_more):
        name = agent.name.split("[")[0]
        said = self.answers.get(name, ["ok"])
        at = self.count.get(name, 0)
        self.count[name] = at + 1
        content = said[min(at, len(said) - 1)]
        if not isinstance(content, dict):
            content = {"result": content}
        return AgentOutput(content=json.loads(json.dumps(content)), raw_response="", tokens_used=3, input_tokens=2, output_tokens=1, model=agent.model or "m")

    async def execute_dialog_turn(self, *a, **k):
        return ""

    async def validate_connection(self):
        return True

    async def close(self):
        pass


def run(kind, row):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in kind["files"].items():
            for at, part in enumerate(row.get("with", []), 1):
                text = text.replace(f"@{at}@", part)
            Path(folder, name).write_text(text, encoding="utf-8")
        os.chdir(folder)
        try:
            config = load_config(Path(folder, "flow.yaml"))
            validate_workflow_config(config, Path(folder, "flow.yaml"))
        except Exception as error:
            return {"refused": short(error)}
        engine = WorkflowEngine(config, provider=Scripted({**kind.get("say", {}), **row.get("say", {})}), skip_gates=True, workflow_path=Path(folder, "flow.yaml"))
        given = {name: coerce_value(text) for name, text in row.get("input", {}).items()}
        try:
            output = asyncio.run(asyncio.wait_for(engine.run(given), 30))
        except Exception as error:
            return {"error": short(error)}
        return {"output": output, "path": list(engine.context.execution_history)}


def short(error):
    return f"{type(error).__name__}: {error}".replace(os.getcwd(), ".").splitlines()[0][:100]


table = json.load(open(sys.argv[1], encoding="utf-8"))
here = os.getcwd()
for row in table["rows"]:
    row["expected"] = run(table["kinds"][row["kind"]], row)
    os.chdir(here)
with open(sys.argv[1], "w", encoding="utf-8") as out:
    head = {k: v for k, v in table.items() if k != "rows"}
    body = json.dumps(head, ensure_ascii=False, indent=2)[:-2]
    rows = ",\n".join("    " + json.dumps(row, ensure_ascii=False) for row in table["rows"])
    out.write(f'{body},\n  "rows": [\n{rows}\n  ]\n}}\n')

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createContext } from "../../../src/cli/connection.ts";
import { describeReplay } from "../../../src/cli/flow/replay.ts";
import { describeReset } from "../../../src/cli/flow/reset.ts";
import { runCli } from "../../../src/cli/perennial.ts";
import { registry } from "../../../src/cli/registry.ts";
import { fakeTerminal } from "./fake-terminal.ts";

const migrate = { type: "migrate", events: 120 };

it("the verb replay says that history and code agree", () => {
  expect(describeReplay(migrate)).toBe(
    "migrate, 120 events: this version's code agrees with the history to its end.\n",
  );
});

it("the verb replay says at which step history and code part ways, and what each of them wants there", () => {
  const reason = "[TMPRL1100] Nondeterminism error: Activity id of scheduled event 'a/apply' does not match";
  const divergence = { step: "b", task: 17, history: ["a/apply"], code: "b/apply", reason };
  expect(describeReplay({ ...migrate, divergence })).toBe(
    [
      "migrate, 120 events: history and this version's code part ways at step b.",
      "  After workflow task 17 the history asks for a/apply, the code for b/apply.",
      `  The replayer says: ${reason}`,
      "",
    ].join("\n"),
  );
});

it("the verb replay says that code fails where it does not merely want something else", () => {
  const divergence = {
    step: undefined,
    task: 32,
    history: ["timer started"],
    code: undefined,
    reason: "x is not iterable",
  };
  const text = describeReplay({ ...migrate, divergence });
  expect(text).toContain("part ways.\n  After workflow task 32 the history asks for timer started, the code fails.");
});

it.each(["null", "[]", "{}", '{"events": []}', '{"events": [{"eventId": "1"}]}', "no JSON"])(
  "the verb replay takes a file with %s for a wrong command line, not for a history that code parts from",
  async (text) => {
    const folder = await mkdtemp(join(tmpdir(), "perennial-replay-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "history.json");
    await writeFile(file, text);
    const terminal = fakeTerminal();
    const { context } = createContext({ terminal, variables: {}, signal: new AbortController().signal });
    expect(await runCli(["flow", "replay", file], registry, context)).toBe(2);
    expect(terminal.err.text()).toContain(`${file} is no history in JSON: write one with --save`);
  },
);

it("the verb reset says what it does again before it is confirmed", () => {
  const text = describeReset({
    workflowId: "shoot/garden-dev/local/5f0c/migrate",
    runId: "r",
    type: "migrate",
    step: "handover",
    task: 40,
    again: ["handover", "migrateWorker"],
    carryOut: () => Promise.reject(new Error("a description resets nothing")),
  });
  expect(text).toContain("Sets shoot/garden-dev/local/5f0c/migrate back to the beginning of step handover.");
  expect(text).toContain("Done again, although some of it is done: handover, migrateWorker.");
});

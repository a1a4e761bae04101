import { readdir, readFile } from "node:fs/promises";
import { Worker } from "@temporalio/worker";
import { historyFromJSON } from "@temporalio/common/lib/proto-utils.js";
import { beforeAll, describe, expect, it } from "vitest";
import { buildWorkflows, type WorkflowBuild } from "../../src/worker/build.ts";

const directory = new URL("./histories/", import.meta.url);
const histories = (await readdir(directory)).filter((name) => name.endsWith(".json"));

let workflowBundle: WorkflowBuild["bundle"];
beforeAll(async () => void (workflowBundle = (await buildWorkflows()).bundle));

describe("recorded histories", () => {
  it("exist for every workflow type", () => {
    expect(histories.map((name) => name.replace(/[-.].*/, ""))).toEqual(
      expect.arrayContaining(["reconcile", "deleteShoot", "forceDelete", "migrate", "restore", "cleanUp", "shoot"]),
    );
  });

  it.each(histories)("replay with today's code: %s", async (name) => {
    const history = historyFromJSON(JSON.parse(await readFile(new URL(name, directory), "utf8")));
    await Worker.runReplayHistory({ workflowBundle }, history, "replay");
  });

  it("would not replay if a step had another name", async () => {
    const recorded = await readFile(new URL("reconcile-create.json", directory), "utf8");
    const history = historyFromJSON(JSON.parse(recorded.replaceAll('"kubeApiServer/apply"', '"kubeAPIServer/apply"')));
    await expect(Worker.runReplayHistory({ workflowBundle }, history, "replay")).rejects.toThrow(
      /[Nn]ondeterminism|activity id/,
    );
  });
});

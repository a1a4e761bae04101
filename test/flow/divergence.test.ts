import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import type { History } from "../../src/client/history.ts";
import { createReplayer, type Replay } from "../../src/worker/replay.ts";

let replayer: Awaited<ReturnType<typeof createReplayer>>;
beforeAll(async () => void (replayer = await createReplayer()));

describe("a downloaded history", () => {
  it("is said to agree when today's code does the same", async () => {
    const { events } = JSON.parse(await readFile(file, "utf8")) as History;
    expect(await replayed()).toEqual({ type: "deleteShoot", events: events.length });
  });

  it("parts from today's code at the step that got another name", async () => {
    const { divergence } = await replayed((text) => text.replaceAll('"removeWorker/apply"', '"removeMachines/apply"'));
    expect(divergence).toMatchObject({
      step: "removeWorker",
      history: ["removeMachines/apply"],
      code: "removeWorker/apply",
      reason: expect.stringContaining("TMPRL1100"),
    });
  });

  it("parts from today's code where it did one step before another", async () => {
    const { divergence } = await replayed((text) =>
      text
        .replaceAll('"removeInfrastructure/apply"', '"-"')
        .replaceAll('"removeControlPlane/apply"', '"removeInfrastructure/apply"')
        .replaceAll('"-"', '"removeControlPlane/apply"'),
    );
    expect(divergence).toMatchObject({ history: ["removeInfrastructure/apply"], code: "removeControlPlane/apply" });
  });

  it("parts from today's code where it named its activities by numbers", async () => {
    const { divergence } = await replayed((text) =>
      text.replace(/"activityId":"removeWorker\/apply"/, '"activityId":"7"'),
    );
    expect(divergence).toMatchObject({ step: "removeWorker", history: ["7"] });
  });

  it("is refused when the file holds none", async () => {
    await expect(replayer.replay({ events: [] })).rejects.toThrow("this is no history of a workflow");
  });
});

const file = new URL("./histories/deleteShoot-after-create.json", import.meta.url);

async function replayed(change: (text: string) => string = (text) => text): Promise<Replay> {
  return replayer.replay(JSON.parse(change(await readFile(file, "utf8"))) as History);
}

import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Client, WorkflowFailedError } from "@temporalio/client";
import type { DataConverter } from "@temporalio/common";
import { NativeConnection, Worker } from "@temporalio/worker";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { SeedActivities } from "../../src/activities/index.ts";
import { fetchHistory } from "../../src/client/history.ts";
import { connectTemporal } from "../../src/client/connect.ts";
import { readConverter } from "../../src/client/payloads/converter.ts";
import { createReplayer } from "../../src/worker/replay.ts";
import { buildWorkflows, type WorkflowBuild } from "../../src/worker/build.ts";
import { createSeedWorker } from "../../src/worker/seed.ts";
import { gardenQueue, seedQueue } from "../../src/workflows/contract.ts";
import type { Activities } from "../support/gateway-workflow.ts";
import { startTemporal, type TemporalServer } from "../support/temporal.ts";

const path = fileURLToPath(new URL("../support/gateway-workflow.ts", import.meta.url));

let folder: string;
let temporal: TemporalServer;
/** The client of a process that has the keys; Temporal's own has none. */
let client: Client;
let dataConverter: DataConverter;
let build: WorkflowBuild;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "perennial-payloads-"));
  const payloadKeysFile = join(folder, "keys.json");
  const key = { id: "first", secret: randomBytes(32).toString("base64") };
  await writeFile(payloadKeysFile, JSON.stringify({ keys: [key] }));
  temporal = await startTemporal();
  client = await connectTemporal({ address: temporal.address, namespace: "default", payloadKeysFile });
  dataConverter = await readConverter(payloadKeysFile);
  build = await buildWorkflows({ path, dataConverter });
});
afterAll(async () => {
  await client.connection.close();
  await temporal.stop();
  await rm(folder, { recursive: true, force: true });
});

async function withWorkers<T>(activities: Partial<Activities>, work: () => Promise<T>): Promise<T> {
  const connection = await NativeConnection.connect({ address: temporal.address });
  const shared = { connection, namespace: "default", dataConverter };
  const garden = await Worker.create({ ...shared, taskQueue: gardenQueue, workflowBundle: build.bundle });
  const seed = await createSeedWorker({
    ...shared,
    seedName: "seed-1",
    activities: activities as unknown as SeedActivities,
  });
  try {
    return await garden.runUntil(seed.runUntil(work));
  } finally {
    await connection.close();
  }
}

const options = { taskQueue: gardenQueue, args: [seedQueue("seed-1")], workflowExecutionTimeout: "30s" } as const;

it("Temporal keeps no argument, result, summary or error message in the clear, and workers work with all of them", async () => {
  const activities: Activities = {
    work: async () => "hidden result",
    fail: async () => {
      throw new Error("hidden message");
    },
    wait: async () => "",
  };
  const workflow = { ...options, workflowId: "hidden", staticSummary: "hidden summary" };
  const result = await withWorkers(activities, () => client.workflow.execute("useSeed", workflow));
  expect(result).toBe("hidden result, ApplicationFailure: hidden message");

  const stored = await temporal.client.workflow.getHandle("hidden").fetchHistory();
  const text = JSON.stringify(stored, (_, value: unknown) =>
    typeof value === "string" ? `${value} ${Buffer.from(value, "base64").toString("latin1")}` : value,
  );
  expect(text).toContain("binary/encrypted");
  expect(text).not.toMatch(/hidden (result|message|summary)/);
  expect(text).not.toContain("gateway-workflow.ts"); // of a stack trace
});

it("a failed workflow says why to who has the keys, and to Temporal only that it failed", async () => {
  const activities = { wait: () => Promise.reject(new Error("hidden message")) };
  const o = { ...options, workflowId: "failing", workflowExecutionTimeout: "5s" } as const;
  const failing = withWorkers(activities, () => client.workflow.execute("waitOnce", o));
  const error: unknown = await failing.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(WorkflowFailedError);
  expect(String((error as WorkflowFailedError).cause?.cause)).toContain("hidden message");
  const seen: unknown = await temporal.client.workflow
    .getHandle("failing")
    .result()
    .catch((thrown: unknown) => thrown);
  expect(JSON.stringify(seen, Object.getOwnPropertyNames(seen))).not.toContain("hidden message");
});

it("a history replays where the keys are at hand, and cannot be read where they are not", async () => {
  const history = await fetchHistory(client, "hidden");
  const replayer = await createReplayer(build.bundle);
  expect(history && (await replayer.replay(history))).not.toHaveProperty("divergence");
  await expect(fetchHistory(temporal.client, "hidden")).rejects.toMatchObject({
    cause: { message: expect.stringContaining("PERENNIAL_PAYLOAD_KEYS_FILE") as string },
  });
});

it("the workflow sandbox grows by one small module: encryption stays outside of it", async () => {
  const plain = await buildWorkflows();
  const encrypting = await buildWorkflows({ dataConverter });
  expect(encrypting.bundle.code).not.toContain("aes-256-gcm");
  expect(codeLength(encrypting) - codeLength(plain)).toBeLessThan(2_000);
});

/** Without the source map, which holds the sources. */
const codeLength = ({ bundle }: WorkflowBuild): number =>
  bundle.code.replace(/^\/\/# sourceMappingURL=.*$/gm, "").length;

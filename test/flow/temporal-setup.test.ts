import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { searchAttributes } from "../../src/workflows/contract.ts";
import { findBinary } from "../support/binary.ts";
import { startTemporal, type TemporalServer } from "../support/temporal.ts";

const script = join(import.meta.dirname, "../../deploy/temporal/setup-namespace.sh");
const month = 30 * 24 * 3600;
let temporal: TemporalServer;

beforeAll(async () => {
  temporal = await startTemporal();
});

afterAll(async () => await temporal.stop());

test("the set-up of a production server makes the namespace and every search attribute that the flows write", async () => {
  await setUp("garden");
  const { config } = await temporal.client.workflowService.describeNamespace({ namespace: "garden" });
  expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(month);
  const known = await temporal.client.connection.operatorService.listSearchAttributes({ namespace: "garden" });
  expect(Object.keys(known.customAttributes ?? {})).toEqual(
    expect.arrayContaining(Object.values(searchAttributes).map(({ name }) => name)),
  );
});

test("the set-up can be repeated", async () => {
  await setUp("again");
  await setUp("again");
});

async function setUp(namespace: string): Promise<void> {
  const PATH = `${dirname(await findBinary("temporal"))}:${process.env["PATH"] ?? ""}`;
  const env = { ...process.env, PATH, TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: namespace };
  await promisify(execFile)("sh", [script], { env });
}

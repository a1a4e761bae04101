import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLogger } from "../../src/log.ts";
import { makeShoot } from "../conformance/hosted.ts";
import { buildSuiteImages } from "../conformance/images.ts";
import { sample } from "../conformance/sample.ts";
import { exactly, listSuiteImages, runSuite } from "../conformance/suite.ts";
import type { TestShoot } from "../support/e2e-shoots.ts";
import { localEnvironment, type LocalEnvironment } from "../support/local-environment.ts";
import { seconds } from "../support/patience.ts";

let local: LocalEnvironment;
let shoot: TestShoot | undefined;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "perennial-conformance-"));
  local = await localEnvironment();
});
afterAll(async () => {
  await shoot?.remove();
  await shoot?.gone();
  await local?.close();
  await rm(folder, { recursive: true, force: true });
});

test("a Shoot passes Kubernetes' own tests of webhooks, aggregated APIs, proxies, Services, DNS, commands and logs", async () => {
  const log = createLogger({ name: "conformance", level: "warn" });
  const { archive, missing } = await buildSuiteImages(await listSuiteImages(log, console.log), {
    log,
    tell: console.log,
  });
  const made = await makeShoot(local, "conformant", { archive, folder });
  shoot = made.shoot;
  const { passed, failed, unrunnable } = await runSuite({
    ...{ kubeconfig: made.kubeconfig, labels: "Conformance", focus: sample.map(exactly), processes: 4 },
    ...{ folder, name: "sample", missing, timeout: seconds(600), verbose: false, log },
  });
  expect(failed).toEqual([]);
  expect([...unrunnable]).toEqual([]);
  expect([...passed].sort()).toEqual([...sample].sort());
});

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createKubeClient, Secret } from "../../src/kube/index.ts";
import { createMachines } from "../../src/local/machine/machines.ts";
import { createLogger } from "../../src/log.ts";
import { makeShoot } from "../conformance/hosted.ts";
import { buildSuiteImages } from "../conformance/images.ts";
import { sample } from "../conformance/sample.ts";
import { exactly, listSuiteImages, runSuite } from "../conformance/suite.ts";
import type { TestShoot } from "../support/e2e-shoots.ts";
import { findBinary } from "../support/binary.ts";
import { eventually } from "../support/eventually.ts";
import { buildMetricsServerImage, metricsServerObjects } from "../support/metrics-server.ts";
import { localEnvironment, type LocalEnvironment } from "../support/local-environment.ts";
import { seconds } from "../support/patience.ts";

let local: LocalEnvironment;
let shoot: TestShoot | undefined;
let folder: string;
let kubeconfig = "";

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
  ({ shoot, kubeconfig } = made);
  const { passed, failed, unrunnable } = await runSuite({
    ...{ kubeconfig, labels: "Conformance", focus: sample.map(exactly), processes: 4 },
    ...{ folder, name: "sample", missing, timeout: seconds(600), verbose: false, log },
  });
  expect(failed).toEqual([]);
  expect([...unrunnable]).toEqual([]);
  expect([...passed].sort()).toEqual([...sample].sort());
});

test("metrics-server is an API of the Shoot, and asks its kubelets, whose certificates it checks", async () => {
  const namespace = shoot?.technicalID ?? "";
  const authority = await local.seedClient.read(Secret, { namespace, name: "ca-kubelet" });
  const image = await buildMetricsServerImage(folder);
  const names = (await local.machines.list()).map(({ name }) => name).filter((name) => name.startsWith(namespace));
  expect(names).toHaveLength(2);
  for (const name of names) await createMachines(local.environment, local.log).loadImage(name, image);
  const client = createKubeClient({ file: kubeconfig }, { log: local.log });
  for (const object of metricsServerObjects(Buffer.from(authority?.data?.["ca.crt"] ?? "", "base64").toString()))
    await client.apply(object);
  await client.close();
  const kubectl = await findBinary("kubectl");
  const top = async (...words: readonly string[]) =>
    (await execa(kubectl, ["--kubeconfig", kubeconfig, "top", ...words, "--no-headers"])).stdout;
  const nodes = await eventually(() => top("nodes"), 60_000); // it has figures after two rounds of 15 s
  expect(nodes.split("\n").map((line) => line.split(/ +/)[0])).toEqual([...names].sort());
  expect(await top("pods", "--namespace", "kube-system")).toMatch(/^coredns-\S+ +\d+m +\d+Mi/m);
});

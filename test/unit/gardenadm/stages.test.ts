import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { atStage } from "../../../src/gardenadm/join/stages.ts";
import { controlPlaneMachines } from "../../../src/self-hosted/machine-config.ts";
import { controlPlaneObjects } from "../../support/self-hosted-control-plane.ts";
import { twoPoolContext } from "../../support/node-access.ts";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "stages-"));
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

const context = twoPoolContext();
const { config } = controlPlaneMachines(context, controlPlaneObjects(context));
const unitsOf = async (stage: "files" | "etcd" | "all") =>
  (await atStage(config, stage, root)).spec.units?.map(({ name }) => name) ?? [];

test("the name of the API servers leads to this machine's own when it has one, and not before", async () => {
  expect(await unitsOf("all")).toEqual(expect.arrayContaining(["name-api-servers.service", "kubelet.service"]));
  expect(await unitsOf("etcd")).toContain("kubelet.service");
  expect(await unitsOf("etcd")).not.toContain("name-api-servers.service");
});

test("what was begun on a machine is not taken back", async () => {
  await mkdir(join(root, "/etc/systemd/system"), { recursive: true });
  await writeFile(join(root, "/etc/systemd/system/gardener-node-agent.service"), "");
  expect(await unitsOf("etcd")).toEqual(await unitsOf("all"));
});

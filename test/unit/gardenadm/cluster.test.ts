import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CloudProfile, Shoot } from "../../../src/api/index.ts";
import { clusterObject, components } from "../../../src/components/index.ts";
import { controlPlaneObjects, readControlPlane, readMade } from "../../../src/gardenadm/cluster/control-plane.ts";
import { createDirectoryClient } from "../../../src/kube/directory/directory-client.ts";
import { exampleConfiguration } from "../../support/configuration.ts";

const MACHINE = { hostName: "a", addresses: ["172.31.0.1"] } as const;

test("a machine that joins makes of the Shoot that the cluster knows what init makes of its configuration", async () => {
  const directory = await mkdtemp(join(tmpdir(), "cluster-"));
  onTestFinished(async () => await rm(directory, { recursive: true }));
  const client = createDirectoryClient({ directory });
  onTestFinished(async () => await client.close());
  const [shoot, , cloudProfile] = exampleConfiguration();
  const configured = { shoot: Shoot.parse(shoot), cloudProfile: CloudProfile.parse(cloudProfile) };
  const atInit = await readControlPlane(client, configured, MACHINE, "uid");
  await client.apply(clusterObject(atInit));
  const atJoin = await readControlPlane(client, await readMade(client), MACHINE, "uid");
  expect(controlPlaneObjects(atJoin)).toEqual(controlPlaneObjects(atInit));
  expect(components["kube-proxy"].objects(atJoin)).toEqual(components["kube-proxy"].objects(atInit));
});

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { createBastionSeedActivities } from "../../../src/activities/bastion/seed.ts";
import type { BastionRun } from "../../../src/api/shoot/bastion-run.ts";
import { SHOOT_UID_ANNOTATION } from "../../../src/api/annotations.ts";
import { Bastion, type ShootBastion } from "../../../src/api/index.ts";
import { newPlace } from "../../../src/conformance/objects.ts";
import { shootObjects } from "../../../src/conformance/shoot-in-seed.ts";
import { Namespace, Pod, refOf, refTo, Secret, Service, type KubeClient } from "../../../src/kube/index.ts";
import { applyCrds } from "../../../src/local/cluster/manifests.ts";
import type { Child } from "../../support/child.ts";
import { ownClusterTest } from "../../support/cluster-test.ts";
import { eventually } from "../../support/eventually.ts";
import { applyFencing } from "../../support/fencing.ts";
import { applyGardenersCrds } from "../../support/gardener-definitions.ts";
import { startProviderLocal } from "../../support/upstream-controllers.ts";

/** A seed with upstream's own definitions, and upstream's provider-local with nothing but its Bastion controller. */
const test = ownClusterTest({ flags: ["--allow-privileged=true"] }); // as bastions are, on local ground
const place = newPlace();
const namespace = `infra-${place.namespace}`;
const pod = { namespace, name: "bastion-mine" };
let client: KubeClient;
let directory: string;
let provider: Child;

test.beforeAll(async ({ cluster }) => {
  ({ client } = cluster);
  await applyGardenersCrds(client);
  await applyCrds(client, "garden");
  await applyFencing(client, "seed");
  const subject = { kind: "Bastion", type: "local", cluster: { cloudProfile: { spec: profile } } } as const;
  const credentials = { apiVersion: "v1", kind: "Secret", metadata: { name: "cloudprovider" } };
  const objects = [{ ...credentials, stringData: { kubeconfig: cluster.kubeconfig } }];
  for (const object of shootObjects({ ...subject, objects }, place)) await client.apply(object);
  const annotations = { [SHOOT_UID_ANNOTATION]: place.uid };
  await client.patch(refTo(Namespace, { name: place.namespace }), { metadata: { annotations } });
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "garden-verify" } });
  directory = await mkdtemp(join(tmpdir(), "perennial-bastion-"));
  provider = await startProviderLocal(directory, cluster.kubeconfigFile, ["bastion"]);
});
test.afterAll(async () => {
  await provider.kill();
  await rm(directory, { recursive: true });
});

/** What upstream's provider makes a bastion of. */
const profile = {
  machineImages: [
    { name: "local", versions: [{ version: "1.0.0", architectures: ["amd64"], classification: "supported" }] },
  ],
  bastion: { machineType: { name: "local" }, machineImage: { name: "local", version: "1.0.0" } },
  providerConfig: {
    apiVersion: "local.provider.extensions.gardener.cloud/v1alpha1",
    kind: "CloudProfileConfig",
    machineImages: [{ name: "local", versions: [{ version: "1.0.0", image: "example.com/bastion:1" }] }],
  },
};

/** Answers as kubelet and load balancer do, which no API server has. */
async function answer(): Promise<void> {
  const ingress = [{ ip: "203.0.113.9" }];
  await client.patch(refTo(Service, pod), { status: { loadBalancer: { ingress } } }, { subresource: "status" });
  const conditions = [{ type: "Ready", status: "True" }];
  await client.patch(refTo(Pod, pod), { status: { phase: "Running", conditions } }, { subresource: "status" });
}

test("upstream's provider makes a machine of the extension Bastion that a seed applies, and takes it away", async () => {
  const bastion = await client.create<ShootBastion>({
    ...{ apiVersion: "operations.gardener.cloud/v1alpha1", kind: "Bastion" },
    metadata: { name: "mine", namespace: "garden-verify" },
    spec: {
      ...{ shootRef: { name: place.shoot }, seedName: "verify", providerType: "local" },
      ...{ sshPublicKey: "ssh-ed25519 AAAA me", ingress: [{ ipBlock: { cidr: "192.0.2.7/32" } }] },
    },
  });
  const { uid = "" } = bastion.metadata;
  const shoot = {
    ...{ namespace: "garden-verify", name: place.shoot, uid: place.uid, technicalID: place.namespace },
    ...{ seedName: "verify", epoch: 1, leaseSeconds: 60, leadershipRecord: "leader.example.com" },
  };
  const run: BastionRun = {
    ...{ namespace: "garden-verify", name: "mine", uid, generation: 1 },
    ...{ shoot, seedName: "verify", seedDeadline: 60_000, lookDeadline: 60_000 },
  };
  const seed = createBastionSeedActivities({ gardenClient: client, seedClient: client });

  const timestamp = await seed.applyBastion(run);
  const waiting = await eventually(() => seed.lookAtBastion(run, timestamp));
  expect(waiting).toMatchObject({ ready: false, message: expect.stringContaining("waiting for Bastion") as string });
  const { data = {} } = (await client.read(Secret, pod)) ?? {};
  expect(Buffer.from(data["userdata"] ?? "", "base64").toString()).toContain("ssh-ed25519 AAAA me");

  await answer();
  const sight = await eventually(async () => {
    const found = await seed.lookAtBastion(run, timestamp);
    expect(found.ready, JSON.stringify(found)).toBe(true);
    return found;
  });
  expect(sight).toEqual({ ready: true, ingress: { ip: "203.0.113.9", ipMode: "VIP" } });
  expect(await seed.applyBastion(run)).toBe(timestamp);

  await seed.removeBastion(run);
  await eventually(() => seed.confirmBastionRemoved(run).then(() => true), 40_000);
  expect(await client.read(Pod, pod)).toBeUndefined();
  const left = refOf({
    ...bastion,
    apiVersion: Bastion.apiVersion,
    metadata: { name: "mine", namespace: place.namespace },
  });
  expect(await client.read(left)).toBeUndefined();
});

import { expect } from "vitest";
import { createLeadership } from "../../src/activities/leadership/leadership.ts";
import type { DNSRecord } from "../../src/api/index.ts";
import { createLeaderLookup, createZoneServers } from "../../src/dns/index.ts";
import { refOf, type KubeClient } from "../../src/kube/index.ts";
import { test } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";

test("the removal of a Shoot's leadership leaves the record of a later Shoot that has taken the name meanwhile", async ({
  cluster: { client },
}) => {
  await applyGarden(client);
  const run = await createShoot(client, "replaced", { seedName: "seed-1" });
  const create = (uid: string) =>
    client.create<DNSRecord>({
      apiVersion: "extensions.gardener.cloud/v1alpha1",
      kind: "DNSRecord",
      metadata: {
        ...{ namespace: run.namespace, name: `${run.name}-leadership` },
        annotations: { "perennial.dev/epoch": "1" },
        ownerReferences: [{ apiVersion: "core.gardener.cloud/v1beta1", kind: "Shoot", name: run.name, uid }],
      },
      spec: {
        ...{ type: "none", class: "garden", secretRef: { name: "dns", namespace: "garden" } },
        ...{ name: "replaced.perennial.test", recordType: "TXT", values: ["Seed=seed-1", "Epoch=1"] },
      },
    });
  const own = await create(run.uid);
  let later: DNSRecord | undefined;
  const patch: KubeClient["patch"] = async (ref, change, o) => {
    const patched = await client.patch(ref, change, o);
    await client.remove(refOf(own));
    later = await create("later");
    return patched;
  };
  const lookup = createLeaderLookup(createZoneServers({ servers: [] }));
  const leadership = createLeadership({ gardenClient: { ...client, patch }, lookup });
  await expect(leadership.removeLeadership(run)).rejects.toMatchObject({ status: 409 });
  expect((await client.read(refOf(own)))?.metadata.uid).toBe(later?.metadata.uid);
});

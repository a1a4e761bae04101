import { beforeEach, describe, expect } from "vitest";
import { ensureSecrets } from "../../src/activities/secrets/secrets.ts";
import { createShootStates } from "../../src/activities/state/shoot-state.ts";
import type { StateItem } from "../../src/activities/state/entry.ts";
import { createStateActivities, type StateActivities } from "../../src/activities/state/activities.ts";
import { Superseded } from "../../src/activities/superseded.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { refTo, Secret, type KubeClient } from "../../src/kube/index.ts";
import { exampleContext } from "../support/control-plane-context.ts";
import { test as it } from "../support/cluster-test.ts";
import { shootRun } from "../support/shoot-run.ts";
import { newKeyring, newStateKey } from "../support/state-keys.ts";

const garden = "garden-dev";
const own = newStateKey("seed-1");
const keys = newKeyring({ own: [own] });
let kube: KubeClient;
let run: ShootRun;
let activities: StateActivities;
let count = 0;

it.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: garden } });
});
beforeEach(async () => {
  const name = `keys-${(count += 1)}`;
  run = shootRun({ name, technicalID: `shoot--dev--${name}`, uid: `uid-of-${name}` });
  await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: run.technicalID } });
  activities = createStateActivities({ gardenClient: kube, seedClient: kube, keys });
});

const secret = (name: string) => refTo(Secret, { namespace: run.technicalID, name });
const secrets = async () => {
  const listed = await kube.list(Secret, { namespace: run.technicalID });
  return new Map(listed.map((one) => [one.metadata.name, one]));
};
/** Makes sure of all Secrets, as the flows do. */
const deploy = (deployed: ShootRun = run, by = activities) =>
  ensureSecrets(kube, exampleContext({ namespace: deployed.technicalID }), {
    kept: (names) => by.keptSecrets(deployed, names),
  });
const lose = async (...names: string[]) => {
  for (const name of names) await kube.remove(secret(name));
};

describe("the keys that a Shoot has for good", () => {
  it("are brought back when they were deleted, and only made where none are kept", async () => {
    await deploy(); // the Shoot is being created: nothing is kept yet
    await lose("ca-client");
    await deploy(); // nor is it now
    await activities.persistState(run);
    const before = await secrets();
    await lose("ca", "service-account-key", "ca-kubelet");
    await deploy();
    const after = await secrets();
    for (const [name, { data, metadata }] of before) {
      expect({ name, data: after.get(name)?.data }).toEqual({ name, data });
      expect(after.get(name)?.metadata.labels).toEqual(metadata.labels);
    }
    await lose(...before.keys()); // as with the namespace
    await deploy();
    expect((await secrets()).get("ca")?.data).toEqual(before.get("ca")?.data);
  });

  it("are not made anew while what is kept of them does not open, even if something else does not either", async () => {
    await deploy();
    await activities.persistState(run);
    await lose("ca");
    const without = createStateActivities({ gardenClient: kube, seedClient: kube, keys: newKeyring() });
    await expect(deploy(run, without)).rejects.toThrow(
      `cannot use ShootState ${garden}/${run.name}: cannot open gardener/secret/ca of Shoot ${run.uid}`,
    );
    expect(await kube.read(secret("ca"))).toBeUndefined();
    const stranger = newKeyring({ seed: "seed-2" });
    const machines: StateItem = {
      section: "extensions",
      fields: { kind: "Worker", name: "w" },
      content: { machines: 1 },
    };
    await createShootStates({ gardenClient: kube, keys: stranger }).keep(run, [machines]);
    await deploy(); // of the machines' state, nothing is asked here
    expect(await kube.read(secret("ca"))).toBeDefined();
  });

  it("are taken from no other Shoot's state, and from none that is led elsewhere by now", async () => {
    await deploy();
    await activities.persistState(run);
    const { data } = (await secrets()).get("ca") ?? {};
    await lose("ca");
    await deploy({ ...run, uid: "another" });
    expect((await secrets()).get("ca")?.data).not.toEqual(data);
    await lose("ca");
    await createShootStates({ gardenClient: kube, keys }).claim({ ...run, epoch: 2 });
    await expect(deploy()).rejects.toThrow(Superseded);
    expect(await kube.read(secret("ca"))).toBeUndefined();
  });
});

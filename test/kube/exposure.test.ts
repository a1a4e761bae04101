import { expect } from "vitest";
import { createSeedActivities } from "../../src/activities/seed.ts";
import { createShootClients } from "../../src/activities/shoot/clients.ts";
import { refTo, Service, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { notedWaits } from "../support/noted-waits.ts";
import { newKeyring } from "../support/state-keys.ts";

const log = createLogger({ name: "test", level: "silent" });

/** What the worker of a seed does that knows handler `dmz` by these annotations. */
const workerWith = (kube: KubeClient, dmz: Record<string, string>) => {
  const completer = { complete: async () => true, fail: async () => true };
  return createSeedActivities({
    ...{ gardenClient: kube, seedClient: kube, shootClients: createShootClients(kube, log), completer, log },
    waits: notedWaits,
    keys: newKeyring(),
    exposureHandlers: { dmz },
  });
};

test("a seed's worker gives the API server's Service what its handler says now, and refuses a handler that it does not know", async ({
  cluster: { client: kube },
}) => {
  await applyGarden(kube);
  for (const handler of ["dmz", "unknown"])
    await kube.apply({
      ...{ apiVersion: "core.gardener.cloud/v1beta1", kind: "ExposureClass", metadata: { name: `to-${handler}` } },
      handler,
    });
  const run = await createShoot(kube, "exposed", { seedName: "seed-1", exposureClassName: "to-dmz" });
  const deploy = (dmz: Record<string, string>, of = run) =>
    workerWith(kube, dmz).deployComponent(of, "kube-apiserver-service", "apiServerService");
  const annotations = async () =>
    (await kube.read(refTo(Service, { namespace: run.technicalID, name: "kube-apiserver" })))?.metadata.annotations;
  await deploy({ "example.com/scheme": "internal" });
  expect(await annotations()).toMatchObject({ "example.com/scheme": "internal" });
  await deploy({ "example.com/network": "inner" });
  expect(await annotations()).toMatchObject({ "example.com/network": "inner" });
  expect(await annotations()).not.toHaveProperty(["example.com/scheme"]);

  const other = await createShoot(kube, "astray", { seedName: "seed-1", exposureClassName: "to-unknown" });
  await expect(deploy({}, other)).rejects.toMatchObject({
    details: [{ message: expect.stringContaining("handler unknown"), codes: ["ERR_CONFIGURATION_PROBLEM"] }],
  });
  expect(await kube.read(refTo(Service, { namespace: other.technicalID, name: "kube-apiserver" }))).toBeUndefined();
});

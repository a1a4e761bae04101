import { expect } from "vitest";
import { createSeedActivities } from "../../src/activities/seed.ts";
import { createShootClients } from "../../src/activities/shoot/clients.ts";
import { createSigner } from "../../src/activities/waits/signature.ts";
import { createWaits } from "../../src/activities/waits/waits.ts";
import { createKubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test } from "../support/cluster-test.ts";
import { startFaultyProxy } from "../support/faulty-proxy.ts";
import { shootRun } from "../support/shoot-run.ts";
import { newKeyring, newStateKey } from "../support/state-keys.ts";

const log = createLogger({ name: "test", level: "silent" });

test("a seed's worker answers, and says of its API server whether that can be worked with", async ({ cluster }) => {
  const proxy = await startFaultyProxy(cluster.tokenKubeconfig);
  const seedClient = createKubeClient({ file: proxy.kubeconfigFile }, { log });
  const completer = { complete: async () => true, fail: async () => true };
  const activities = createSeedActivities({
    ...{ gardenClient: cluster.client, seedClient, shootClients: createShootClients(seedClient, log), completer, log },
    waits: createWaits({ client: seedClient, completer, signer: createSigner([newStateKey("seed-1")]), log }),
    keys: newKeyring(),
  });
  const run = shootRun();
  await activities.answer();

  proxy.cut();
  const away = { details: [{ retryable: true, unavailable: true }] };
  await expect(activities.answer()).rejects.toMatchObject(away);
  await expect(activities.raiseFence(run)).rejects.toMatchObject(away);
  proxy.mend();
  proxy.fail(/\/readyz/, { status: 500, body: { kind: "Status", message: "etcd failed" } });
  await expect(activities.answer()).rejects.toMatchObject(away);
  await activities.answer();

  proxy.fail(/namespaces/, { status: 403, body: { kind: "Status", message: "no" } });
  const refused: unknown = await activities.raiseFence(run).catch((error: unknown) => error);
  expect(refused).toMatchObject({ details: [{ retryable: false }] });
  expect(refused).not.toMatchObject(away);
  await seedClient.close();
  await proxy.close();
});

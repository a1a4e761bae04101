import { expect } from "vitest";
import { Quota, SecretBinding } from "../../src/api/index.ts";
import { createProtections } from "../../src/controllers/protections.ts";
import { refTo, Secret, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { applyGarden } from "../support/garden-objects.ts";

const namespace = "garden-dev";
const COUNT = 20;
const log = createLogger({ name: "test", level: "silent" });
const secret = refTo(Secret, { namespace, name: "many" });
const quota = refTo(Quota, { namespace, name: "many" });

test("what needs a Secret or a Quota is found without a list of all bindings for each that goes", async ({
  cluster,
}) => {
  const { client } = cluster;
  await applyGarden(client);
  await client.apply({ ...typeMeta(Secret), metadata: { namespace, name: "many" } });
  await client.apply<Quota>({
    ...{ ...typeMeta(Quota), metadata: { namespace, name: "many" } },
    spec: { scope: { apiVersion: "core.gardener.cloud/v1beta1", kind: "Project" }, metrics: { cpu: "1" } },
  });
  const names = Array.from({ length: COUNT }, (_, at) => `many-${at}`);
  for (const name of names)
    await client.apply<SecretBinding>({
      ...{ ...typeMeta(SecretBinding), metadata: { namespace, name }, provider: { type: "local" } },
      ...{ secretRef: { namespace, name: "many" }, quotas: [{ namespace, name: "many" }] },
    });
  const { counted, lists } = countBindingLists(client);
  const protections = createProtections({
    gardenClient: counted,
    events: { record: () => undefined },
    log,
    period: 50,
  });
  protections.start();
  const isHeld = async (ref: typeof secret | typeof quota) =>
    (await client.read(ref))?.metadata.finalizers?.length === 1;
  await eventually(async () => (await isHeld(secret)) && (await isHeld(quota)));
  await client.remove(quota);
  for (const name of names.slice(1)) await client.remove(refTo(SecretBinding, { namespace, name }));
  await eventually(async () => expect(await client.list(SecretBinding, { namespace })).toHaveLength(1));
  expect([await isHeld(secret), await isHeld(quota)]).toEqual([true, true]);
  await client.remove(refTo(SecretBinding, { namespace, name: "many-0" }));
  await eventually(async () => expect((await client.read(secret))?.metadata.finalizers ?? []).toEqual([]));
  await eventually(async () => expect(await client.read(quota)).toBeUndefined());
  await protections.stop();
  expect(lists).toEqual([]);
});

test("a Secret is let go with the last of two bindings, also while the watch does not show that the first has gone", async ({
  cluster: { client },
}) => {
  await applyGarden(client);
  const finalizers = ["gardener.cloud/secretbinding"];
  await client.apply({ ...typeMeta(Secret), metadata: { namespace, name: "late", finalizers } });
  for (const name of ["late-0", "late-1"]) {
    await client.apply<SecretBinding>({
      ...{ ...typeMeta(SecretBinding), metadata: { namespace, name, finalizers: ["gardener"] } },
      ...{ provider: { type: "local" }, secretRef: { namespace, name: "late" } },
    });
    await client.remove(refTo(SecretBinding, { namespace, name }));
  }
  const watch: KubeClient["watch"] = (...o) =>
    o[0].kind === SecretBinding.kind ? silence(o[1].signal) : client.watch(...o);
  const gardenClient = { ...client, watch };
  const protections = createProtections({ gardenClient, events: { record: () => undefined }, log, period: 50 });
  protections.start();
  await eventually(async () => expect(await client.list(SecretBinding, { namespace })).toEqual([]));
  const found = await client.read(Secret, { namespace, name: "late" });
  expect(found?.metadata.finalizers ?? []).toEqual([]);
  await protections.stop();
});

async function* silence(signal: AbortSignal): AsyncGenerator<never> {
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  yield* [];
}

/** The client, with the lists of bindings that it is asked for. */
function countBindingLists(client: KubeClient) {
  const lists: string[] = [];
  const list: KubeClient["list"] = (type, ...selection) => {
    if (type.kind.endsWith("Binding")) lists.push(type.kind);
    return client.list(type, ...selection);
  };
  return { counted: { ...client, list }, lists };
}

import { SHOOT_UID_ANNOTATION } from "../../src/api/annotations.ts";
import { ROLE_LABEL } from "../../src/api/labels.ts";
import type { Shoot } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { exampleObjects } from "./examples.ts";
import { shootRun } from "./shoot-run.ts";

/** Applies the example garden without its Shoot, and the Secret of its DNS provider. */
export async function applyGarden(client: KubeClient): Promise<void> {
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "garden" } });
  for (const object of await exampleObjects()) if (object.kind !== "Shoot") await client.apply(object);
  await client.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "dns", namespace: "garden" } });
}

/** Creates the example Shoot under another name, and its namespace in the seed; returns the facts for an operation. */
export async function createShoot(
  client: KubeClient,
  name: string,
  change: Partial<Shoot["spec"]> = {},
): Promise<ShootRun> {
  const example = (await exampleObjects()).find((object): object is Shoot & typeof object => object.kind === "Shoot");
  if (example === undefined) throw new Error("deploy/examples has no Shoot");
  const metadata = { ...example.metadata, name };
  const dns = { domain: `${name}.dev.perennial.test` };
  const shoot = await client.create<Shoot>({ ...example, metadata, spec: { ...example.spec, dns, ...change } });
  const technicalID = `shoot--dev--${name}`;
  const { uid = "" } = shoot.metadata;
  const labels = { [ROLE_LABEL]: "shoot" };
  const annotations = { [SHOOT_UID_ANNOTATION]: uid };
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: technicalID, labels, annotations } });
  return shootRun({ name, technicalID, uid, namespace: shoot.metadata.namespace });
}

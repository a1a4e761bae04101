import { Seed, Shoot } from "../../src/api/index.ts";
import { refTo, type KubeClient } from "../../src/kube/index.ts";
import { exampleObjects } from "./examples.ts";
import { movableStatus, seedKey, seedReady } from "./migration-objects.ts";

/** Creates the example Shoot under another name, with the status of one that has been created on seed-1. */
export async function createMovableShoot(client: KubeClient, name: string, status: object = {}): Promise<void> {
  const example = (await exampleObjects()).find(({ kind }) => kind === "Shoot") as Shoot;
  const spec = { ...example.spec, dns: { domain: `${name}.example.com` } };
  const shoot = await client.create<Shoot>({ ...example, metadata: { name, namespace: "garden-dev" }, spec });
  const own = { uid: shoot.metadata.uid, technicalID: `shoot--dev--${name}` };
  const ref = refTo(Shoot, { name, namespace: "garden-dev" });
  await client.patch(ref, { status: { ...movableStatus(), ...own, ...status } }, { subresource: "status" });
}

/** Registers the example Seed under a name, with backups and a worker that was just heard of. */
export async function registerReadySeed(client: KubeClient, name: string): Promise<void> {
  const example = (await exampleObjects()).find(({ kind }) => kind === "Seed");
  if (!example) throw new Error("there is no example of a Seed");
  const spec = { ...(example["spec"] as object), backup: { provider: "local", region: "local" } };
  await client.apply({ ...example, metadata: { name }, spec });
  await hearOfSeed(client, name);
}

/** Says when a Seed's worker was heard of, as it would every half minute itself: after two minutes a Seed is not ready any more. */
export async function hearOfSeed(client: KubeClient, name: string, heard: Date = new Date()): Promise<void> {
  const ref = refTo(Seed, { name });
  await client.patch(
    ref,
    { status: { conditions: [seedReady(heard)], stateKey: seedKey(name) } },
    { subresource: "status" },
  );
}

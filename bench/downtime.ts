import { parseArgs } from "node:util";
import type { KubeObject } from "../src/api/schema/meta.ts";
import { createKubeClient, Secret, type KubeClient } from "../src/kube/index.ts";
import { startDowntimeProbe } from "../test/support/downtime-probe.ts";
import { createShoot, type TestShoot } from "../test/support/e2e-shoots.ts";
import { eventually } from "../test/support/eventually.ts";
import { localEnvironment, type LocalEnvironment } from "../test/support/local-environment.ts";

/**
 * How long a Shoot's API server is away while its control plane moves, by how much its etcd holds: `npm run bench:downtime`
 * (`--megabytes=0,500`). Needs root, like the local environment that it runs in; the Shoots have no workers.
 */
const { values } = parseArgs({ options: { megabytes: { type: "string", default: "0,500" } } });
const local = await localEnvironment();
try {
  for (const size of values.megabytes.split(",").map(Number)) await measure(local, size);
} finally {
  await local.close();
}

async function measure(local: LocalEnvironment, megabytes: number): Promise<void> {
  const shoot = await createShoot(local, { name: `size-${megabytes}`, workerless: true });
  await shoot.settles("Succeeded", "Create", 300_000);
  const cluster = await connect(shoot);
  for (let index = 0; index < megabytes; index += 1) await cluster.apply(block(index), { fieldManager: "bench" });
  const kubeconfig = await published(shoot);
  const probe = startDowntimeProbe(kubeconfig, "/api/v1/namespaces/default", local.environment.gateway);
  const begin = performance.now();
  await local.perennial("shoot", "migrate", `garden-dev/${shoot.name}`, "--to", "seed-2", "-y");
  await eventually(async () => (await shoot.read())?.status?.lastOperation?.type === "Restore", 600_000);
  await shoot.settles("Succeeded", "Restore", 1_200_000);
  const { longestGap, probes, failed } = await probe.stop();
  const total = Math.round((performance.now() - begin) / 1_000);
  console.log(
    `${megabytes} MB: API server away for ${longestGap} ms (${failed} of ${probes} probes), ${total} s in all`,
  );
  await cluster.close();
  await shoot.remove();
  await shoot.gone(600_000);
}

/** A megabyte that does not compress, as etcd would keep it. */
function block(index: number): KubeObject {
  const bytes = crypto.getRandomValues(new Uint8Array(48_000));
  const text = Buffer.from(bytes).toString("base64");
  const data = Object.fromEntries(Array.from({ length: 15 }, (_, part) => [`part-${part}`, text]));
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: `block-${index}`, namespace: "default" },
    data,
  };
}

async function connect({ name }: TestShoot): Promise<KubeClient> {
  const kubeconfig = await local.perennial("shoot", "kubeconfig", `garden-dev/${name}`);
  return createKubeClient({ kubeconfig }, { log: local.log });
}

async function published({ name }: TestShoot): Promise<string> {
  const secret = await local.gardenClient.read(Secret, { namespace: "garden-dev", name: `${name}.kubeconfig` });
  return Buffer.from(secret?.data?.kubeconfig ?? "", "base64").toString();
}

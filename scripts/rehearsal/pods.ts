import { mkdir, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { stringify } from "yaml";
import { applyObjects } from "../../src/local/cluster/objects.ts";
import { webhookClientAuthority } from "../../src/local/cluster/webhook-client.ts";
import { createMachines } from "../../src/local/machine/machines.ts";
import { ensureImage } from "../image/perennial.ts";
import { loadImage, onGrounds, seedName, startProvider, type Ground, type Grounds } from "./grounds.ts";
import { makeSecrets, seedKubeconfig, type Secrets } from "./secrets.ts";
import { tell, tryShoot } from "./shoot.ts";
import { frontend, temporalImage } from "./temporal.ts";

const root = join(import.meta.dirname, "../..");

/** docs/deploying.md, "Inside clusters", step by step: our processes run as pods of a garden and a seed. */
export async function rehearsePods(): Promise<void> {
  const image = await ensureImage();
  await onGrounds(async (grounds) => {
    const { garden, seed } = grounds;
    for (const cluster of [garden, seed]) {
      await loadImage(grounds, cluster, image);
      await cluster.kubectl(["apply", "--server-side", "--filename", join(root, "deploy/crds")]);
      await cluster.kubectl(["apply", "--filename", join(root, "deploy/process/namespace.yaml")]);
    }
    await seed.kubectl(["apply", "--server-side", "--filename", join(root, "deploy/seed/crds")]);
    await garden.kubectl(["apply", "--filename", join(root, "deploy/garden/namespace.yaml")]);
    const gateway = await gatewayAddress(grounds);
    const files = await makeSecrets(grounds, gateway.host);
    await loadImage(grounds, garden, await temporalImage(grounds));
    await garden.kubectl(["apply", "--filename", "-"], frontend());
    await giveGardenSecrets(grounds, files);
    await roll(
      garden,
      await overlay(grounds, "garden", { options: ["webhook-callers", "zone-key"] }, gatewayPort(gateway.port)),
    );
    await applyObjects(garden.client, grounds.environment, [seedName], grounds);
    await giveSeedSecrets(grounds, files);
    const settings = { PERENNIAL_TEMPORAL_ADDRESS: `${gateway.host}:${gateway.port}` };
    await roll(seed, await overlay(grounds, "seed", { options: ["zone-key"], settings }));
    await startProvider(grounds);
    await tryShoot(grounds);
  });
}

/** Seeds reach the gateway at a port of the garden's node, where production has a load balancer. */
async function gatewayAddress({ environment, log }: Grounds): Promise<{ host: string; port: number }> {
  const node = (await createMachines(environment, log).list()).find(({ name }) => name === "garden");
  if (node === undefined) throw new Error("cannot find the garden's node");
  return { host: node.address, port: 30_725 };
}

const gatewayPort = (nodePort: number) => [
  {
    target: { kind: "Service", name: "temporal-gateway" },
    patch: stringify([
      { op: "add", path: "/spec/type", value: "NodePort" },
      { op: "add", path: "/spec/ports/0/nodePort", value: nodePort },
    ]),
  },
];

async function giveGardenSecrets({ environment, garden, dns }: Grounds, file: Secrets): Promise<void> {
  await giveSecret(garden, "temporal-gateway", {
    "tls.crt": file("gateway.crt"),
    "tls.key": file("gateway.key"),
    "client-ca.crt": file("ca.crt"),
    "keys.json": file("gateway-keys.json"),
  });
  await giveClientSecrets(garden, "garden", file);
  await giveSecret(garden, "webhook-client-ca", { "ca.crt": webhookClientAuthority(environment) });
  await giveSecret(garden, "zone-key", { "tsig.key": dns.askKeyFile });
}

async function giveSeedSecrets(grounds: Grounds, file: Secrets): Promise<void> {
  const { seed, dns } = grounds;
  await giveClientSecrets(seed, seedName, file);
  await giveSecret(seed, "zone-key", { "tsig.key": dns.askKeyFile });
  const kubeconfig = file("garden-kubeconfig");
  await writeFile(kubeconfig, await seedKubeconfig(grounds), { mode: 0o600 });
  await giveSecret(seed, "garden-kubeconfig", { kubeconfig });
}

async function giveClientSecrets(cluster: Ground, holder: string, file: Secrets): Promise<void> {
  await giveSecret(cluster, "temporal-client", {
    "ca.crt": file("ca.crt"),
    "tls.crt": file(`${holder}.crt`),
    "tls.key": file(`${holder}.key`),
    "payload-keys.json": file("payload-keys.json"),
  });
  await giveSecret(cluster, "state-keys", { "keys.json": file(`state-keys-${holder}.json`) });
}

async function giveSecret({ kubectl }: Ground, name: string, files: Readonly<Record<string, string>>): Promise<void> {
  const from = Object.entries(files).map(([key, file]) => `--from-file=${key}=${file}`);
  await kubectl(["--namespace", "perennial", "create", "secret", "generic", name, ...from]);
}

/** The folder of an overlay of deploy/<base>, as an operator would write it. */
async function overlay(
  { environment }: Grounds,
  base: "garden" | "seed",
  o: { readonly options: readonly string[]; readonly settings?: Readonly<Record<string, string>> },
  patches: readonly object[] = [],
): Promise<string> {
  const folder = join(environment.stateDir, "overlays", base);
  await mkdir(folder, { recursive: true });
  const of = (path: string) => relative(folder, join(root, "deploy", path));
  const literals = Object.entries(o.settings ?? {}).map(([name, value]) => `${name}=${value}`);
  await writeFile(
    join(folder, "kustomization.yaml"),
    stringify({
      apiVersion: "kustomize.config.k8s.io/v1beta1",
      kind: "Kustomization",
      resources: [of(base)],
      components: o.options.map((option) => of(`options/${option}`)),
      ...(literals.length > 0 && {
        configMapGenerator: [{ name: "settings", namespace: "perennial", behavior: "merge", literals }],
      }),
      patches,
    }),
  );
  return folder;
}

/** Applies the overlay, and returns when all of its pods are ready. */
async function roll({ name, kubectl }: Ground, folder: string): Promise<void> {
  await kubectl(["apply", "--kustomize", folder]);
  const namespace = ["--namespace", "perennial"];
  try {
    await kubectl([...namespace, "rollout", "status", "deployment", "--timeout", "180s"]);
  } catch (error) {
    tell(await kubectl([...namespace, "get", "pods", "--output", "wide"]));
    tell(await kubectl([...namespace, "get", "events"]));
    tell(await kubectl([...namespace, "logs", "--selector", "app.kubernetes.io/part-of=perennial", "--tail", "20"]));
    throw new Error(`the pods of ${name} do not become ready`, { cause: error });
  }
  tell(await kubectl([...namespace, "get", "pods", "--output", "wide"]));
}

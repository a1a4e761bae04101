import { expect } from "vitest";
import type { KubeObject } from "../../src/api/index.ts";
import {
  components,
  nodeObjectName,
  poolsOf,
  type ControlPlaneContext,
  type WorkerPool,
} from "../../src/components/index.ts";
import { exampleContext, exampleShoot } from "./control-plane-context.ts";

/** The control plane of a self-hosted Shoot with these nodes, of which the first begins the etcds. */
export function selfHostedContext(names: readonly string[] = ["a", "b"]): ControlPlaneContext {
  const nodes = names.map((name, index) => ({
    name,
    addresses: [`172.31.0.${index + 1}`] as const,
    ...(index === 0 && { founds: true as const }),
  }));
  const { seed: _, ...context } = exampleContext({ namespace: "kube-system", nodes });
  return context;
}

/** The same Shoot with backups of its etcd; without `backup`, it has none. */
export function backedUpOnNodes(backup?: Backup): ControlPlaneContext {
  const context = selfHostedContext();
  const { provider } = context.shoot.spec;
  const pool = {
    ...exampleWorker(context),
    name: "control-plane",
    minimum: 1,
    maximum: 1,
    controlPlane: backup === undefined ? {} : { backup },
  };
  return {
    ...context,
    shoot: exampleShoot({ provider: { ...provider, workers: [pool, ...(provider.workers ?? [])] } }),
  };
}

type Backup = NonNullable<NonNullable<WorkerPool["controlPlane"]>["backup"]>;

const exampleWorker = (context: ControlPlaneContext): WorkerPool =>
  poolsOf(context)[0] ?? expect.fail("the example has no pool");

/** The workloads that become static pods, in the order in which they start. */
export const controlPlaneWorkloads = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const;

/** What the components make of them, and a Secret of each name that they mount. */
export function controlPlaneObjects(context: ControlPlaneContext): { workloads: KubeObject[]; objects: KubeObject[] } {
  const objects = controlPlaneWorkloads.flatMap((name) => components[name].objects(context));
  const workloads = objects.filter(({ kind }) => ["Deployment", "StatefulSet"].includes(kind));
  return { workloads, objects: [...objects, ...secretsOf(workloads, context)] };
}

interface Volume {
  readonly secret?: { readonly secretName: string; readonly items?: readonly { readonly key: string }[] };
}

/** etcd's servers have certificates by node; every other Secret is for all. */
function secretsOf(workloads: readonly KubeObject[], { nodes = [] }: ControlPlaneContext): KubeObject[] {
  const keys = new Map<string, Set<string>>();
  for (const { secret } of workloads.flatMap((workload) => volumesOf(workload))) {
    if (secret === undefined) continue;
    const known = keys.get(secret.secretName) ?? new Set(["tls.crt", "tls.key"]);
    for (const { key } of secret.items ?? []) known.add(key);
    keys.set(secret.secretName, known);
  }
  return [...keys].flatMap(([name, named]) => {
    const names = name.startsWith("etcd-") ? nodes.map((node) => nodeObjectName(name, node.name)) : [name];
    return names.map((one) => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "kube-system", name: one },
      data: Object.fromEntries([...named].map((key) => [key, secretValue(one, key)])),
    }));
  });
}

/** The value of a key of a Secret, which nothing else has. */
export const secretValue = (name: string, key: string): string => Buffer.from(`only ${name}/${key}`).toString("base64");

function volumesOf({ spec }: KubeObject): readonly Volume[] {
  const { template } = spec as { readonly template: { readonly spec: { readonly volumes?: readonly Volume[] } } };
  return template.spec.volumes ?? [];
}

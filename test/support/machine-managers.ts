import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { components, type ControlPlaneContext } from "../../src/components/index.ts";
import { Deployment, Pod, refOf, refTo, type KubeClient } from "../../src/kube/index.ts";
import { readManifest } from "../../src/manifests.ts";
import { spawnChild, type Child } from "./child.ts";
import type { ControlPlane } from "./control-plane.ts";
import { freePorts } from "./free-ports.ts";

const name = "machine-controller-manager";
const user = "machine-controller-manager";

/** What stands in for a seed's own controllers and kubelet: it has one Deployment's pod, and nothing else. */
export interface MachineManagers {
  /** What the processes have written, the provider's included. */
  output(): string;
  stop(): Promise<void>;
}

/** Gives the manager what a flow gives it: its role in the seed, and in the Shoot what the component says. */
export async function permitManagers(seed: KubeClient, shoot: KubeClient, namespace: string): Promise<void> {
  const roles = await readManifest("seed/worker-rbac.yaml");
  for (const role of roles.filter(({ metadata }) => metadata.name === `perennial:${name}`)) await seed.apply(role);
  await seed.apply({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name, namespace },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: `perennial:${name}` },
    subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: user }],
  });
  for (const object of components["machine-access"].objects({} as ControlPlaneContext)) await shoot.apply(object);
}

/**
 * Runs upstream's manager, with the command that the Deployment says, and its provider's container, for as long as the
 * Deployment of the namespace asks for a pod; there is a Pod object meanwhile.
 */
export function followDeployment(o: {
  readonly directory: string;
  readonly seed: ControlPlane;
  readonly shoot: ControlPlane;
  readonly namespace: string;
}): MachineManagers {
  const { client } = o.seed;
  const stopping = new AbortController();
  const pod = refTo(Pod, { namespace: o.namespace, name: `${name}-0` });
  let children: readonly Child[] = [];
  let said = "";

  const take = async () => {
    const deployment = await client.read(Deployment, { namespace: o.namespace, name });
    const { replicas = 0 } = deployment?.spec ?? {};
    if (deployment !== undefined && replicas > 0 && children.length === 0) {
      const { template } = deployment.spec as unknown as { template: Template };
      const containers = template.spec.containers.map(({ image }) => ({ name, image }));
      const metadata = { ...template.metadata, name: pod.name, namespace: o.namespace };
      await client.apply({ apiVersion: "v1", kind: "Pod", metadata, spec: { containers } });
      children = await startManagers(o, template);
    }
    if (replicas === 0 && children.length > 0) {
      await Promise.all(children.map((child) => child.kill()));
      said += output();
      children = [];
      await client.remove(pod, { gracePeriodSeconds: 0 });
    }
    if (deployment === undefined) return;
    const status = { observedGeneration: deployment.metadata.generation, replicas };
    await client.patch(refOf(deployment), { status }, { subresource: "status" });
  };
  const output = () => children.map((child) => child.output()).join("");
  const run = async () => {
    while (!stopping.signal.aborted) {
      await take().catch((error: unknown) => void (said += String(error)));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const running = run();

  return {
    output: () => said + output(),
    async stop() {
      stopping.abort();
      await running;
      await Promise.all(children.map((child) => child.kill()));
    },
  };
}

interface Template {
  readonly metadata: object;
  readonly spec: { readonly containers: readonly { readonly image: string; readonly command: readonly string[] }[] };
}

/** The same flags, with this machine's addresses; the provider's are upstream's, with rounds of seconds. */
async function startManagers(
  o: {
    readonly directory: string;
    readonly seed: ControlPlane;
    readonly shoot: ControlPlane;
    readonly namespace: string;
  },
  { spec: { containers } }: Template,
): Promise<readonly Child[]> {
  const [control, target] = await Promise.all(
    [o.seed, o.shoot].map(async (cluster, index) => {
      const file = join(o.directory, `${index}-${process.hrtime.bigint()}.yaml`);
      await writeFile(file, cluster.kubeconfigOf(user));
      return file;
    }),
  );
  const ports = await freePorts(2);
  const here = (flags: readonly string[], port: number | undefined) => [
    ...flags.filter((flag) => !/^--(control-kubeconfig|target-kubeconfig|port)=/.test(flag)),
    ...[`--control-kubeconfig=${control}`, `--target-kubeconfig=${target}`, `--port=${port}`],
  ];
  const provider = [
    ...[`--namespace=${o.namespace}`, "--machine-safety-orphan-vms-period=2s", "--machine-creation-timeout=20m"],
    ...["--machine-drain-timeout=5s", "--machine-health-timeout=10m", "--kube-api-qps=100", "--v=3"],
  ];
  return await Promise.all([
    spawnChild(o.directory, name, here(containers[0]?.command.slice(1) ?? [], ports[0])),
    spawnChild(o.directory, "machine-controller-manager-provider-local", here(provider, ports[1])),
  ]);
}

import { join } from "node:path";
import { parse, stringify } from "yaml";
import { Worker, type KubeObject } from "../../src/api/index.ts";
import { NO_TOKEN_LABEL } from "../../src/api/labels.ts";
import { components } from "../../src/components/index.ts";
import { Secret } from "../../src/kube/index.ts";
import { exampleContext } from "./control-plane-context.ts";
import { startControlPlane, type ControlPlane } from "./control-plane.ts";
import { startGarbageCollector } from "./garbage-collector.ts";
import { followDeployment, permitManagers, type MachineManagers } from "./machine-managers.ts";
import { startResourceManager } from "./resource-manager.ts";

/** What stands for the Shoots of a trial. */
export interface TrialShoot {
  stop(): Promise<void>;
}

/**
 * One cluster for all Shoots of a trial, with what flows put beside them in the seed: upstream's resource manager, which
 * looks here after all namespaces, and upstream's machine-controller-manager for each namespace that has a Worker.
 */
export async function startTrialShoot(seed: ControlPlane, directory: string): Promise<TrialShoot> {
  const shoot = await startControlPlane();
  await seed.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const server = await seed.client.read(Secret, { namespace: "garden", name: "gardener-resource-manager-server" });
  const manager = await startResourceManager(join(directory, "shoot-resource-manager"), configuration(), {
    source: seed.kubeconfigFile,
    target: shoot.kubeconfigFile,
    server: server?.data ?? {},
  });
  const collectors = [await startGarbageCollector(seed, directory), await startGarbageCollector(shoot, directory)];
  const machines = followWorkers(seed, shoot, directory);
  return {
    async stop() {
      await machines.stop();
      await Promise.all([manager, ...collectors].map((child) => child.kill()));
      await shoot.stop();
    },
  };
}

/** A Deployment, as far as it is changed here. */
interface WithPods extends KubeObject {
  readonly spec: { readonly template: { readonly metadata: { readonly labels: Readonly<Record<string, string>> } } };
}

/** The webhook that mounts tokens cannot be asked: there is no network of Services. */
function withoutToken(deployment: WithPods): KubeObject {
  const { template, ...spec } = deployment.spec;
  const labels = { ...template.metadata.labels, [NO_TOKEN_LABEL]: "true" };
  return { ...deployment, spec: { ...spec, template: { ...template, metadata: { ...template.metadata, labels } } } };
}

/** Where the resource manager has its lease. */
const namespace = "shoots";

/** The one of a Shoot's resource manager, for all namespaces. */
function configuration(): KubeObject {
  const objects = components["resource-manager"].objects(exampleContext({ namespace }));
  const found = objects.find(({ kind }) => kind === "ConfigMap") as KubeObject & { data: { "config.yaml": string } };
  const { sourceClientConnection: _, ...config } = parse(found.data["config.yaml"]) as Record<string, unknown>;
  return { ...found, data: { "config.yaml": stringify(config) } };
}

/** Deploys the manager of machines as a flow does before it asks for the Worker, and runs what the Deployment says. */
function followWorkers(seed: ControlPlane, shoot: ControlPlane, directory: string): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const managers = new Map<string, MachineManagers>();
  const deploy = async (namespace: string) => {
    await permitManagers(seed.client, shoot.client, namespace);
    const context = exampleContext({ namespace, machines: { managerReplicas: 1, deployments: [] } });
    const objects = components["machine-controller-manager"].objects(context);
    for (const object of objects.filter(({ kind }) => kind === "Deployment"))
      await seed.client.apply(withoutToken(object as WithPods));
    return followDeployment({ directory, seed, shoot, namespace });
  };
  const run = async () => {
    while (!stopping.signal.aborted) {
      for (const { metadata } of await seed.client.list(Worker))
        if (!managers.has(metadata.namespace)) managers.set(metadata.namespace, await deploy(metadata.namespace));
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };
  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
      await Promise.all([...managers.values()].map((one) => one.stop()));
    },
  };
}

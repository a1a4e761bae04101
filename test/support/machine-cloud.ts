import { gunzipSync } from "node:zlib";
import type { KubeObject } from "../../src/api/index.ts";
import { Machine, MachineDeployment } from "../../src/activities/machines/kinds.ts";
import { Node, Pod, refOf, refTo, type KubeClient } from "../../src/kube/index.ts";
import { eventually } from "./eventually.ts";

const api = "machine.sapcloud.io/v1alpha1";
const className = "pool-z1";

/**
 * Where machines are pods, as upstream's local provider makes them: an API server, whose kubelet this is. A machine joins
 * the Shoot once the manager in one of the seeds has written down its Node: it takes one that was there before for another's.
 */
export function startCloud(
  cloud: KubeClient,
  namespace: string,
  o: { readonly shoot: KubeClient; readonly seeds: readonly KubeClient[]; readonly seedNamespace: string },
) {
  const stopping = new AbortController();
  const isMade = async (node: string): Promise<boolean> => {
    const labelSelector = `node=${node}`;
    const found = o.seeds.map((seed) => seed.list(Machine, { namespace: o.seedNamespace, labelSelector }));
    return (await Promise.all(found)).flat().length > 0;
  };
  const boot = async () => {
    for (const pod of await cloud.list(Pod, { namespace, labelSelector: "machine-provider=local" })) {
      const { name } = pod.metadata;
      if (pod.status?.phase !== "Running")
        await cloud.patch(refOf(pod), { status: { phase: "Running" } }, { subresource: "status" });
      if ((await o.shoot.read(Node, { name })) !== undefined || !(await isMade(name))) continue;
      await o.shoot.apply({ apiVersion: "v1", kind: "Node", metadata: { name } });
      const conditions = [{ type: "Ready", status: "True", reason: "Test", message: "" }];
      await o.shoot.patch(refTo(Node, { name }), { status: { conditions } }, { subresource: "status" });
    }
  };
  const run = async () => {
    while (!stopping.signal.aborted) {
      await boot().catch(() => undefined); // pods go while they are looked at
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const running = run();
  return {
    /** Names and uids of the machines that there are. */
    async machines(): Promise<Readonly<Record<string, string>>> {
      const pods = await cloud.list(Pod, { namespace, labelSelector: "machine-provider=local" });
      return Object.fromEntries(pods.map(({ metadata }) => [metadata.name, metadata.uid ?? ""]));
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** What a provider's Worker controller does in a seed, as upstream's generic actuator does it. */
export function workerController(
  seed: KubeClient,
  o: { readonly namespace: string; readonly cloudKubeconfig: string },
) {
  const { namespace } = o;
  const metadata = { name: className, namespace };
  const secret = (name: string, data: Record<string, string>) =>
    seed.apply({
      ...{ apiVersion: "v1", kind: "Secret", metadata: { name, namespace } },
      data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")])),
    });

  /** Its class and the MachineDeployment, of so many machines. */
  const deploy = async (replicas: number) => {
    await secret("cloudprovider", { kubeconfig: o.cloudKubeconfig });
    await secret(className, { userData: "#!" });
    await seed.apply({
      ...{ apiVersion: api, kind: "MachineClass", metadata },
      provider: "local",
      providerSpec: { image: "example.com/node:1", namespace: "machines" },
      secretRef: { name: className, namespace },
      credentialsSecretRef: { name: "cloudprovider", namespace },
    });
    await seed.apply({
      ...{ apiVersion: api, kind: "MachineDeployment", metadata },
      spec: {
        replicas,
        selector: { matchLabels: { name: className } },
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        template: {
          metadata: { labels: { name: className } },
          spec: { class: { kind: "MachineClass", name: className }, nodeTemplate: {} },
        },
      },
    });
  };

  return {
    deploy,
    /** Makes the objects of `Worker.status.state` anew, before the manager runs. */
    async restore({ state }: { readonly state: string }): Promise<void> {
      const { machineDeployments } = JSON.parse(gunzipSync(Buffer.from(state, "base64")).toString()) as Restored;
      for (const { machineSets, machines } of Object.values(machineDeployments)) {
        for (const set of machineSets) await seed.create({ ...set, apiVersion: api, kind: "MachineSet" });
        for (const machine of machines) await seed.create({ ...machine, apiVersion: api, kind: "Machine" });
      }
      await deploy(machineDeployments[className]?.replicas ?? 0);
    },
    scale: (replicas: number) =>
      seed.patch(refTo(MachineDeployment, { namespace, name: className }), { spec: { replicas } }),
    /** Waits until there are so many machines, each with a Node that is ready; their names. */
    running: (count: number): Promise<string[]> =>
      eventually(async () => {
        const machines = await seed.list(Machine, { namespace });
        const running = machines.filter(({ status }) => (status as Phase)?.currentStatus?.phase === "Running");
        if (machines.length !== count || running.length !== count)
          throw new Error(
            `not ${count} machines run: ${JSON.stringify(machines.map((one) => [one.metadata.name, one.status]))}`,
          );
        return machines.map((one) => one.metadata.name).sort();
      }, 60_000),
  };
}

type Phase = { readonly currentStatus?: { readonly phase?: string } } | undefined;

interface Restored {
  readonly machineDeployments: Readonly<
    Record<string, { replicas: number; machineSets: readonly KubeObject[]; machines: readonly KubeObject[] }>
  >;
}

import { announceKubeconfig } from "../../activities/control-plane/cluster.ts";
import { deployDnsCredentials } from "../../activities/control-plane/dns.ts";
import { applyExtensionObject } from "../../activities/extensions/apply-object.ts";
import { needsPeriodicTrigger } from "../../activities/extensions/trigger.ts";
import { deploySeedResourceManager } from "../../activities/managed-resources/seed-resource-manager.ts";
import { ensureSecrets } from "../../activities/secrets/secrets.ts";
import { NODE_ROUTES, routeReadiness } from "../../activities/waits/pod-reach.ts";
import { isReady } from "../../activities/waits/readiness.ts";
import type { WaitTarget } from "../../activities/index.ts";
import type { Cluster } from "../../api/index.ts";
import { CONTROL_PLANE_LABEL } from "../../api/labels.ts";
import { GARDEN_NAMESPACE } from "../../api/names.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import {
  clusterInfo,
  clusterObject,
  components,
  controlPlaneObject,
  isInDns,
  networkObject,
  operatingSystemConfigs,
  poolsOf,
  RESOURCE_MANAGER,
  resourceManagerOnNodes,
  type ComponentName,
  type ControlPlaneContext,
  type PodPlace,
} from "../../components/index.ts";
import type { StepScope } from "../../in-process/run.ts";
import { define, Namespace, Node, typeMeta, type KubeClient } from "../../kube/index.ts";
import { readManifest, readManifests } from "../../manifests.ts";
import type {
  SelfHostedAction,
  SelfHostedCall,
  SelfHostedKind,
  SelfHostedRun,
} from "../../workflows/reconcile-self-hosted.ts";
import type { Configuration } from "../configuration/configuration.ts";
import { gardenOf } from "../configuration/garden.ts";
import { NAMESPACE } from "../cluster/control-plane.ts";
import type { ThisMachine } from "../machine/this-machine.ts";
import { refuseNewKeys } from "../cluster/refuse-new-keys.ts";
import { until } from "../steps/until.ts";
import { isAgentAtWork } from "../cluster/agent-at-work.ts";
import { applyAll } from "../cluster/apply-all.ts";
import { deployBackupEntry } from "./backup-entry.ts";
import { deployEtcdBackup } from "./backup.ts";
import { deployExtensions } from "./extensions.ts";
import { confirmMembers } from "../cluster/members.ts";
import { exposeControlPlane } from "../cluster/exposure.ts";
import { untilReached } from "../cluster/reached.ts";
import { orderMachines, rolledOut } from "../cluster/roll-out.ts";
import { withoutSilentNodes } from "../cluster/silent-nodes.ts";

/** What the steps work with. */
export interface ReconcileDeps {
  readonly client: KubeClient;
  readonly configuration: Configuration;
  readonly machine: Pick<ThisMachine, "root" | "hostName">;
  readonly run: SelfHostedRun;
  /** What the control plane is made from, as it stands now. */
  readContext(): Promise<ControlPlaneContext>;
  /** The binary of Helm. */
  readonly helm: string;
  readonly uid: string;
}

/** Carries out what a step of `reconcileSelfHosted` says, in this process. */
export function createReconcileActions(
  deps: ReconcileDeps,
): (action: SelfHostedAction, scope: StepScope) => Promise<void> {
  const { client, run } = deps;
  const calls = createCalls(deps);
  const place: PodPlace = run.podNetworkMissing ? "host" : "pods";
  return async (action, scope) => {
    if (action.verb === "call") return await calls[action.activity](place, scope);
    const targets =
      action.verb === "deploy"
        ? await deployComponent(client, action.component, await deps.readContext())
        : await applyKind(client, action.kind, await deps.readContext());
    await untilReached(withoutSilentNodes(client), targets, scope);
  };
}

type Call = (place: PodPlace, scope: StepScope) => Promise<void>;

function createCalls(deps: ReconcileDeps): Readonly<Record<SelfHostedCall, Call>> {
  const { client, configuration, machine, helm, uid, run } = deps;
  const installed = { client, configuration, helm, clusterIdentity: uid };
  const resourceManagers: Call = async (place, scope) => {
    await deploySeedResourceManager(client, { place });
    await applyAll(client, resourceManagerOnNodes(await deps.readContext(), place));
    await untilReached(client, [GARDEN_NAMESPACE, NAMESPACE].map(resourceManagerTarget), scope);
  };
  const extensions: Call = async (place, scope) =>
    await untilReached(client, await deployExtensions(installed, place), scope);
  return {
    async defineKinds() {
      const ours = (await readManifests("crds")).filter(({ metadata }) => metadata.name.endsWith(EXTENSION_KINDS));
      await define(client, [...ours, ...(await readManifests("seed/crds"))]);
    },
    async prepareNamespaces() {
      await ensureNamespace(client, GARDEN_NAMESPACE);
      for (const object of await readManifest("seed/priority-classes.yaml")) await client.apply(object);
      const context = await deps.readContext();
      await deployComponent(client, "gardener-access", context);
      await applyAll(client, clusterInfo(context));
      await applyAll(client, (await readManifest("options/resource-manager/rbac.yaml")).filter(isOfResourceManager));
    },
    async syncCluster() {
      await client.apply(withoutStatus(clusterObject(await deps.readContext())));
      await announceKubeconfig(client, { technicalID: NAMESPACE, managesResources: true });
    },
    async deploySecrets() {
      await ensureSecrets(client, await deps.readContext(), { kept: refuseNewKeys });
      await announceKubeconfig(client, { technicalID: NAMESPACE, managesResources: true });
    },
    startNodeAgent: async (_, scope) => await agentAtWork(client, machine.hostName, scope),
    deployResourceManagers: resourceManagers,
    deployExtensions: extensions,
    moveResourceManagers: async (_, scope) => await resourceManagers("pods", scope),
    moveExtensions: async (_, scope) => await extensions("pods", scope),
    async exposeControlPlane(_, scope) {
      const context = await deps.readContext();
      if (isInDns(context)) await deployDnsCredentials(gardenOf(configuration), client, context, "external");
      await exposeControlPlane(client, context, scope);
      await ensureSecrets(client, await deps.readContext(), { kept: refuseNewKeys });
    },
    async deployBackupEntry(_, scope) {
      await deployBackupEntry({ client, configuration }, await deps.readContext(), scope);
    },
    async confirmMembers(_, scope) {
      const { nodes = [] } = await deps.readContext();
      await confirmMembers(nodes, { ...scope, root: machine.root });
    },
    async deployEtcdBackup() {
      const isProvided = run.offered.includes("BackupEntry");
      await deployEtcdBackup({ client, configuration, root: machine.root, isProvided }, await deps.readContext());
    },
    async rollOutNodes(_, scope) {
      await rolledOut(client, await orderMachines(client, await deps.readContext()), scope);
    },
    awaitNodes: async (_, scope) => await nodesReady(client, scope),
    checkRoutes: async (_, scope) => await podsReached(client, scope),
  };
}

/** Its status is not the configuration's to say, which may have one of its time in a garden. */
function withoutStatus({ spec, ...cluster }: Cluster): Cluster {
  const { status: _, ...shoot } = spec.shoot;
  return { ...cluster, spec: { ...spec, shoot } };
}

const EXTENSION_KINDS = ".extensions.gardener.cloud";

/** The rest of the file is for workers of seeds, of which there is none. */
const isOfResourceManager = ({ kind, metadata }: KubeObject): boolean =>
  kind.startsWith("ClusterRole") && metadata.name === `${RESOURCE_MANAGER}-seed`;

const resourceManagerTarget = (namespace: string): WaitTarget => ({
  ...{ apiVersion: "apps/v1", kind: "Deployment", name: RESOURCE_MANAGER, namespace },
  ...{ until: "rolledOut", severeAfter: 300_000, deadline: 300_000 },
});

/** Applies a component's objects; answers with the workloads that have to roll out. */
async function deployComponent(
  client: KubeClient,
  component: ComponentName,
  context: ControlPlaneContext,
): Promise<WaitTarget[]> {
  const { objects, rollout } = components[component];
  await applyAll(client, objects(context));
  return rollout.map(({ namespace = context.namespace, ...ref }) => ({
    ...{ ...ref, namespace },
    ...{ until: "rolledOut", severeAfter: 300_000, deadline: 300_000 },
  }));
}

/** An apply that says nothing of an object would change what is noted of its fields, once. */
async function ensureNamespace(client: KubeClient, name: string): Promise<void> {
  if ((await client.read(Namespace, { name })) === undefined)
    await client.create({ ...typeMeta(Namespace), metadata: { name } });
}

async function applyKind(
  client: KubeClient,
  kind: SelfHostedKind,
  context: ControlPlaneContext,
): Promise<WaitTarget[]> {
  const objects = builders[kind](context);
  return await Promise.all(
    objects.map(async (object) => await applyExtensionObject(client, object, { kind, asks: needsPeriodicTrigger })),
  );
}

const builders: Readonly<Record<SelfHostedKind, (context: ControlPlaneContext) => readonly KubeObject[]>> = {
  Network: (context) => [networkObject(context)],
  ControlPlane: (context) => [controlPlaneObject(context)],
  // Machines boot by themselves: no controller is told what they boot with.
  OperatingSystemConfig: (context) =>
    poolsOf(context).flatMap((pool) => operatingSystemConfigs(context, pool).slice(1)),
};

async function nodesReady(client: KubeClient, scope: StepScope): Promise<void> {
  await until("not all nodes of the control plane are ready", scope, async () => {
    const nodes = await client.list(Node, { labelSelector: CONTROL_PLANE_LABEL });
    const unready = nodes.filter((node) => !isReady(node)).map(({ metadata }) => metadata.name);
    return unready.length === 0 || unready.join(", ");
  });
}

async function podsReached(client: KubeClient, scope: StepScope): Promise<void> {
  await until("pods are out of reach", scope, async () => {
    const readiness = await routeReadiness(client, { remedy: NODE_ROUTES, patience: 5_000 });
    return readiness.reached || readiness.message;
  });
}

async function agentAtWork(client: KubeClient, node: string, scope: StepScope): Promise<void> {
  const advice = "see 'journalctl --unit gardener-node-agent.service'";
  await until(`the agent of node ${node} is not at work`, scope, async () => await isAgentAtWork(client, node), {
    advice,
  });
}

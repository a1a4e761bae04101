import { ADMIN_KUBECONFIG, NODE_AGENT_UNIT } from "../../api/names.ts";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { STATIC_POD_HASH_ANNOTATION } from "../../api/annotations.ts";
import { holdToData, letFirstStart } from "../../etcd-data/let-start.ts";
import { dataPlaceOf } from "../../etcd-data/place.ts";
import { ensureSecrets } from "../../activities/secrets/secrets.ts";
import { ETCDS, STATIC_POD_MANIFESTS, type ControlPlaneContext } from "../../components/index.ts";
import type { StepScope } from "../../in-process/run.ts";
import { isAlreadyExists, Lease, Secret, type KubeClient } from "../../kube/index.ts";
import { applyingChanges } from "../../kube/applying-changes.ts";
import { tellingWrites } from "../../kube/telling-writes.ts";
import { createDirectoryClient, type DirectoryClient } from "../../kube/directory/directory-client.ts";
import { applyMachine } from "../../node-agent/apply-machine.ts";
import { containerdPods } from "../../node-agent/containerd-pods.ts";
import { staticPodsRunning, type ExpectedPod } from "../../node-agent/static-pods.ts";
import type { MachineConfig } from "../../node-agent/wanted.ts";
import { writeWhole } from "../../node-agent/whole-file.ts";
import type { ControlPlaneMachines } from "../../self-hosted/machine-config.ts";
import type { StaticPod } from "../../self-hosted/static-pods.ts";
import type { Configuration } from "../configuration/configuration.ts";
import {
  controlPlaneObjects,
  describeMachine,
  ensureUid,
  NAMESPACE,
  findMade,
  readControlPlane,
} from "../cluster/control-plane.ts";
import { preflight } from "../preflight/preflight.ts";
import { waitForLock } from "../machine/lock.ts";
import { agentPlacesIn } from "../machine/agent-places.ts";
import { kubeletAnswers, etcdAnswers } from "../machine/kubelet-answers.ts";
import { refuseOtherShoot } from "../cluster/own-shoot.ts";
import { takeTurn, type ClusterTurn } from "../cluster/turn.ts";
import { createKnown } from "../steps/known.ts";
import { until } from "../steps/until.ts";
import { candidateFor } from "./candidate.ts";
import { chooseZone, zoneFaults } from "./zone.ts";
import { noteZone } from "../cluster/place.ts";
import { OperatorError } from "../steps/fault.ts";
import { noteAddress } from "../machine/own-address.ts";
import { notePodNetwork } from "../machine/pod-network.ts";
import type { ThisMachine } from "../machine/this-machine.ts";
import { markNode } from "../cluster/mark-node.ts";
import { placesIn } from "../machine/places.ts";
import type { StartAction } from "./start-control-plane.ts";
import { isThere } from "../machine/is-there.ts";
import { createClusterClient } from "../cluster/client.ts";

/** What the steps of `init` work with. */
export interface StartDeps {
  readonly machine: ThisMachine;
  readonly configuration: Configuration;
  /** The machine's, where the pool of the control plane has several, until it was noted. */
  readonly zone?: string | undefined;
}

/** How long a program of the control plane may take to begin, in ms; its image may have to come from afar. */
const LONGEST_START = 300_000;

type Act = (scope: StepScope) => Promise<void>;

/** What each step does. Each looks at the machine and the cluster first; what is there already is left alone. */
export function createStartActions({ machine, configuration, zone }: StartDeps): {
  readonly actions: Readonly<Record<StartAction, Act>>;
  /** The API server, as its administrator. */
  server(): KubeClient;
  /** What the control plane is made from, as the API server has it now. */
  readContext(): Promise<ControlPlaneContext>;
  /** The scope of a step that comes after them: aborted, too, when another command has taken the turn over. */
  within(scope: StepScope): StepScope;
  /** The control plane is this command's to change. */
  holdsTurn(): boolean;
  /** Something was written into the API server, Leases aside. */
  hasWritten(): boolean;
  close(): Promise<void>;
} {
  const places = placesIn(machine.root);
  const clients = createClients(machine.root);
  const { known, get } = createKnown<{ turn: ClusterTurn; machines: ControlPlaneMachines }>();
  const context = async (client: KubeClient) =>
    await readControlPlane(client, configuration, machine, await ensureUid(places.shootUid, configuration.shoot));
  /** Later, the machine's agent knows with which manifests they are to run. */
  const running = async (names: readonly string[], scope: StepScope) => {
    const expected = (known.machines?.pods ?? []).filter(({ pod }) => names.includes(pod.metadata.name));
    await podsRunning(expected.map(expectedPod), machine, scope);
  };

  const apply = async (config: MachineConfig, { signal, tell }: StepScope) => {
    const readSecret = async (name: string, key: string) => await secretValue(clients.directory(), name, key);
    await waitForLock(agentPlacesIn(machine.root).lock, signal, async () => {
      await applyMachine({ ...machine, readSecret }, config, { signal, tell });
    });
  };

  const actions: Readonly<Record<StartAction, Act>> = {
    async preflight({ tell }) {
      const { faults: found, warnings } = await preflight(await candidateFor(machine, configuration), "control-plane");
      const faults = [...found, ...(await zoneFaults({ machine, configuration, zone }))];
      for (const warning of warnings) tell(`warning: ${warning}`);
      if (faults.length > 0) throw new OperatorError(faults.join("; "));
    },
    async config() {
      await ensureUid(places.shootUid, configuration.shoot);
      await notePodNetwork(machine.root);
      await noteAddress(machine.root, machine.addresses[0]);
      await noteZone(machine.root, await chooseZone({ machine, configuration, zone }));
      await writeWhole(places.configDirectory, Buffer.from(`${resolve(configuration.folder)}\n`), 0o600);
    },
    async secrets() {
      await ensureSecrets(clients.directory(), await context(clients.directory()));
    },
    async machineConfig() {
      const client = clients.directory();
      const found = await context(client);
      const objects = controlPlaneObjects(found);
      for (const object of objects) await client.apply(object);
      known.machines = await describeMachine(client, found, objects);
    },
    async machine(scope) {
      const { config } = get("machines");
      for (const role of ETCDS) await letFirstStart(dataPlaceOf(role, machine.root));
      const isBegun = await isThere(join(machine.root, `${STATIC_POD_MANIFESTS}/${LAST[0]}.yaml`));
      await apply(isBegun ? config : withoutLast(config), scope);
    },
    async controllers(scope) {
      await apply(get("machines").config, scope);
    },
    kubelet: kubeletAnswers,
    async etcd(scope) {
      await running(["etcd-main", "etcd-events"], scope);
      for (const role of ETCDS) await etcdAnswers(role, scope);
      for (const role of ETCDS) await holdToData(dataPlaceOf(role, machine.root));
    },
    async kubeApiServer(scope) {
      await running(["kube-apiserver"], scope);
      await until("the API server is not ready", scope, async () => (await clients.server().get("/readyz")) === "ok");
    },
    async kubeControllerManager(scope) {
      await running(["kube-controller-manager"], scope);
      await leads(clients.server(), "kube-controller-manager", scope);
    },
    async kubeScheduler(scope) {
      await running(["kube-scheduler"], scope);
      await leads(clients.server(), "kube-scheduler", scope);
    },
    async node(scope) {
      await markNode(clients.server(), machine.hostName, scope);
    },
    async imported() {
      await clients.import();
    },
    async turn(scope) {
      known.turn ??= await takeTurn(clients.server(), machine, scope);
      const made = await findMade(clients.server());
      if (made !== undefined) refuseOtherShoot(made.shoot, configuration.shoot);
    },
  };
  const { server, hasWritten } = clients;
  return {
    ...{ actions, server, hasWritten, readContext: async () => await context(server()) },
    within: (scope) => known.turn?.within(scope) ?? scope,
    holdsTurn: () => known.turn?.isHeld() ?? true,
    async close() {
      await known.turn?.end();
      await clients.close();
    },
  };
}

/** What ends, and is begun again later each time, while no API server answers. */
const LAST = ["kube-controller-manager", "kube-scheduler"] as const;

/** Without the agent, too: where data were restored, what the cluster says of its machines is of those that are gone, until that was cleared away. */
function withoutLast(config: MachineConfig): MachineConfig {
  const manifests = LAST.map((name) => `${STATIC_POD_MANIFESTS}/${name}.yaml`);
  const files = config.spec.files?.filter(({ path }) => !manifests.includes(path));
  const units = config.spec.units?.filter(({ name }) => name !== NODE_AGENT_UNIT);
  return { ...config, spec: { ...config.spec, ...(files && { files }), ...(units && { units }) } };
}

const expectedPod = ({ pod, hash }: StaticPod): ExpectedPod => ({
  namespace: NAMESPACE,
  name: pod.metadata.name,
  hash,
  containers: (pod["spec"] as { readonly containers: readonly { readonly name: string }[] }).containers.map(
    ({ name }) => name,
  ),
});

async function podsRunning(
  expected: readonly ExpectedPod[],
  { hostName, ctr }: ThisMachine,
  { signal, tell }: StepScope,
): Promise<void> {
  // The API server knows of them by mirrors, which kubelets make late: it has to have priority classes and the Node before.
  const read = async () => await containerdPods(ctr, STATIC_POD_HASH_ANNOTATION, signal);
  const limited = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_START)]);
  await staticPodsRunning({ nodeName: hostName, expected, read }, { signal: limited, tell });
}

async function secretValue(client: KubeClient, name: string, key: string): Promise<Buffer> {
  const value = (await client.read(Secret, { namespace: NAMESPACE, name }))?.data?.[key];
  if (value === undefined) throw new Error("there is no such key: it goes missing only when people take it away");
  return Buffer.from(value, "base64");
}

/** Waits until a program that leads by a Lease has one, which it gets when it is at work. */
async function leads(client: KubeClient, name: string, scope: StepScope): Promise<void> {
  await until(`${name} does not lead yet`, scope, async () => {
    const lease = await client.read(Lease, { namespace: NAMESPACE, name });
    return (lease?.spec?.holderIdentity ?? "") !== "";
  });
}

/** The cluster: a directory until the API server has all that was in it, then that server. */
function createClients(root: string) {
  const places = placesIn(root);
  let directory: DirectoryClient | undefined;
  let server: KubeClient | undefined;
  let hasWritten = false;
  const clients = {
    server(): KubeClient {
      const open = () => createClusterClient({ file: join(root, ADMIN_KUBECONFIG) }, { userAgent: "gardenadm" });
      server ??= applyingChanges(tellingWrites(open(), () => (hasWritten = true)));
      return server;
    },
    hasWritten: () => hasWritten,
    directory(): DirectoryClient {
      directory ??= createDirectoryClient({ directory: places.cluster });
      return directory;
    },
    /** What is there already stays as it is: it was imported before, or is in use. */
    async import(): Promise<void> {
      if (!(await isThere(places.imported))) {
        for (const object of await clients.directory().all()) await createOnce(clients.server(), object);
        await writeWhole(places.imported, Buffer.from(`${new Date().toISOString()}\n`), 0o600);
      }
      await rm(places.cluster, { recursive: true, force: true });
    },
    async close(): Promise<void> {
      await Promise.allSettled([directory?.close(), server?.close()]);
    },
  };
  return clients;
}

type Stored = Awaited<ReturnType<DirectoryClient["all"]>>[number];

async function createOnce(client: KubeClient, object: Stored): Promise<void> {
  const { name, namespace, labels, annotations, finalizers } = object.metadata;
  const metadata = {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(labels && { labels }),
    ...(annotations && { annotations }),
    ...(finalizers && { finalizers }),
  };
  const { status: _, ...content } = object;
  await client.create({ ...content, metadata }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

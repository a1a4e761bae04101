import { setTimeout as sleep } from "node:timers/promises";
import {
  createExtensionController,
  type Actuator,
  type ActuatorContext,
  type ActuatorResult,
  type ClusterFor,
  type ExtensionController,
  type ExtensionKind,
  type ExtensionKinds,
  type ExtensionObject,
  type Guard,
} from "../../src/extension/index.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import type { Logger } from "../../src/log.ts";
import { createBackupBucketActuator } from "../../src/provider-local/backup/bucket.ts";
import { createBackupEntryActuator } from "../../src/provider-local/backup/entry.ts";
import type { Buckets } from "../../src/provider-local/backup/buckets.ts";
import { createDnsRecordActuator, type DefaultNameServer } from "../../src/provider-local/dns/record.ts";
import { adaptKubelet } from "../../src/provider-local/machine-image/kubelet.ts";
import { createOperatingSystemConfigActuator } from "../../src/provider-local/machine-image/operating-system-config.ts";
import type { Cloud } from "./cloud.ts";
import type { Ledger } from "./ledger.ts";

/** What the extensions of a seed work with. */
export interface ExtensionDeps {
  readonly seed: string;
  readonly client: KubeClient;
  readonly guard: Guard;
  readonly nameServer: DefaultNameServer;
  readonly cloud: Cloud;
  readonly buckets: Buckets;
  readonly ledger: Ledger;
  readonly log: Logger;
}

/** Controllers of every extension kind of a seed, by the real framework. What they make is in the cloud, what they do in the ledger. */
export function createExtensions(deps: ExtensionDeps): ExtensionController[] {
  const extend = <K extends ExtensionKind>(
    kind: K,
    type: string,
    actuator: Actuator<ExtensionKinds[K], ClusterFor<K>>,
  ) =>
    createExtensionController<K>({
      ...{ client: deps.client, guard: deps.guard, log: deps.log, kind, type },
      actuator: recorded(deps, actuator),
    });
  const build = (kind: "Infrastructure" | "ControlPlane" | "Network") => extend(kind, "local", builder(deps, kind));
  return [
    build("Infrastructure"),
    build("ControlPlane"),
    build("Network"),
    extend("Worker", "local", builder(deps, "Worker")),
    extend("OperatingSystemConfig", "local", createOperatingSystemConfigActuator(adaptKubelet)),
    extend("DNSRecord", "rfc2136", createDnsRecordActuator(deps.nameServer)),
    extend("BackupBucket", "local", createBackupBucketActuator(deps.buckets)),
    extend("BackupEntry", "local", createBackupEntryActuator(deps.buckets)),
  ];
}

/** The controller of the garden's own DNSRecords, which say who leads; it asks nobody whether it may. */
export function createGardenExtension(deps: Pick<ExtensionDeps, "client" | "nameServer" | "log">): ExtensionController {
  const actuator = createDnsRecordActuator(deps.nameServer);
  return createExtensionController({ ...deps, kind: "DNSRecord", type: "rfc2136", class: "garden", actuator });
}

/** The namespace that an object is about: its own, or the one that its name begins with. */
export function shootOf({ metadata: { name, namespace } }: ExtensionObject): string {
  return namespace ?? name.replace(/--[0-9a-f-]{36}$/, "");
}

/** In ms: what an operation takes, so that there is a time in which it can be interrupted. */
const DURATION = 50;

const epochOf = ({ spec }: ExtensionObject): number => spec.leadership?.epoch ?? 1;

/** Notes every operation in the ledger while it runs. */
function recorded<T extends ExtensionObject, C extends ClusterFor<ExtensionKind>>(
  { seed, ledger }: ExtensionDeps,
  actuator: Actuator<T, C>,
): Actuator<T, C> {
  const record =
    <R>(operation: string, run: (object: T, cluster: C, context: ActuatorContext) => Promise<R>) =>
    (object: T, cluster: C, context: ActuatorContext): Promise<R> => {
      const what = `${operation} ${object.kind} ${object.metadata.name}`;
      const act = { shoot: shootOf(object), seed, epoch: epochOf(object), what };
      return ledger.acting(act, async () => {
        await sleep(DURATION, undefined, { signal: context.signal });
        return await run(object, cluster, context);
      });
    };
  return {
    reconcile: record("reconcile", actuator.reconcile),
    restore: record("restore", actuator.restore),
    migrate: record("migrate", actuator.migrate),
    delete: record("delete", actuator.delete),
  };
}

type Builder = ExtensionKinds["Infrastructure" | "ControlPlane" | "Network" | "Worker"];

interface State {
  readonly ids: readonly string[];
  /** The epoch that it was written in. */
  readonly epoch: number;
  /** Written at the very end of migrate: what is lost when the state is kept too early. */
  readonly left: boolean;
}

/** A worker that dies asks again for what it has asked for: the state may be the one that restoring has just written. */
function judgeState({ epoch, left }: Partial<State>, now: number): string | undefined {
  if (epoch === undefined) return "without state";
  if (left ? epoch === now - 1 : epoch === now) return undefined;
  return left ? `from what was left in epoch ${epoch}` : "from a state of before migrate";
}

/** Builds one thing for each object, or a machine for each pool, and insists on finding it again by its state. */
function builder<T extends Builder>({ seed, cloud, ledger }: ExtensionDeps, kind: string): Actuator<T> {
  const build = async (object: T): Promise<State> => {
    const shoot = shootOf(object);
    const pools = poolsOf(object);
    const written = { epoch: epochOf(object), left: false };
    if (pools === undefined) return { ids: [cloud.ensure(shoot, kind)], ...written };
    const ids = pools.map(({ name, labels }) => cloud.ensureMachine(shoot, name, labels ?? {}));
    return { ids: await Promise.all(ids), ...written };
  };
  const reconcile = async (object: T): Promise<ActuatorResult> => ({
    state: await build(object),
    providerStatus: { kind },
  });
  return {
    reconcile,
    async migrate(object, _cluster, { saveStatus }) {
      const { ids = [] } = (object.status?.state ?? {}) as Partial<State>;
      await saveStatus({ state: { ids, epoch: epochOf(object), left: true } satisfies State });
    },
    async restore(object) {
      const shoot = shootOf(object);
      const state = (object.status?.state ?? {}) as Partial<State>;
      const wrong = judgeState(state, epochOf(object));
      if (wrong !== undefined) ledger.fault(shoot, `${kind} is restored in ${seed} ${wrong}`);
      const before = new Set(Object.values(cloud.list(shoot)));
      for (const id of state.ids ?? []) if (!before.has(id)) ledger.fault(shoot, `${kind} of state ${id} is lost`);
      return await reconcile(object);
    },
    async delete(object) {
      const things = poolsOf(object)?.map(({ name }) => `machine/${name}`) ?? [kind];
      for (const thing of things) await cloud.remove(shootOf(object), thing);
    },
  };
}

const poolsOf = (object: Builder) => (object.kind === "Worker" ? object.spec.pools : undefined);

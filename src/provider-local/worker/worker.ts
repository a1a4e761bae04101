import { MACHINE_NAMESPACE_LABEL, MACHINE_POOL_HASH_LABEL, MACHINE_POOL_LABEL } from "../../api/labels.ts";
import type { Cluster, Worker } from "../../api/index.ts";
import { ExtensionError, readSecret, type Actuator, type ActuatorContext } from "../../extension/index.ts";
import type { MachineStatus } from "../../local/machine/machine.ts";
import type { Machines } from "../../local/machine/machines.ts";
import type { UserData } from "../../local/machine/user-data.ts";
import { ensureBootstrapToken } from "./bootstrap-token.ts";
import { removeLeftNodes, retireNode, waitForNode, type NodeAccess } from "./nodes.ts";
import type { ShootAccess } from "../shoot-access.ts";
import type { KeyedMutex } from "../keyed-mutex.ts";
import { planPool, poolHash, type Pool } from "./machines.ts";
import { parseJson } from "../../parsing.ts";

/** The host's machines, the Shoots' API servers, and the mutex that both are used under. */
export interface WorkerDeps {
  readonly machines: Machines;
  readonly shoots: ShootAccess;
  /** One at a time for each namespace, shared with all that touches its machines. */
  readonly mutex: KeyedMutex;
}

/** The machines of a Shoot: `minimum` of each pool, none while it hibernates; rolled when a pool needs other machines. */
export function createWorkerActuator({ machines, shoots, mutex }: WorkerDeps): Actuator<Worker> {
  const reconcile: Actuator<Worker>["reconcile"] = async (object, cluster, context) => {
    const { namespace } = object.metadata;
    await context.saveStatus({ status: machineDeployments(object) });
    const pools = object.spec.pools.map((pool) => settlePool(object, pool, countOf(pool, cluster), context));
    await allOf([...pools, removeForeign(object, context)]);
    if (!isAsleep(cluster)) await removeLeftNodes(accessTo(namespace, context), () => machineNames(namespace));
    return { state: stateOf(await machines.list({ [MACHINE_NAMESPACE_LABEL]: namespace })) };
  };

  /** Goes on until the pool needs nothing more. Machines are made without waiting for them; only an update waits. */
  async function settlePool(object: Worker, pool: Pool, count: number, context: ActuatorContext): Promise<void> {
    const { namespace } = object.metadata;
    const text = await readUserData(object, pool, context);
    const make = async (name: string, hash: string) => {
      context.check();
      const isAskedFor = text.includes(TOKEN);
      const token = isAskedFor ? await ensureBootstrapToken(await shoots.open(namespace), name) : "";
      context.check();
      await machines.ensure({
        name,
        userData: userDataFor(text, { [TOKEN]: token, [MACHINE_NAME]: name }, pool),
        labels: { ...labelsOf(namespace, pool.name), [MACHINE_POOL_HASH_LABEL]: hash },
      });
    };
    for (;;) {
      context.check();
      const present = await machines.list(labelsOf(namespace, pool.name));
      for (const { name, labels } of present.filter(({ running }) => !running))
        await make(name, labels[MACHINE_POOL_HASH_LABEL] ?? "");
      const action = planPool(namespace, pool, count, present);
      if ("done" in action) return;
      if ("create" in action) {
        await allOf(action.create.map((name) => make(name, poolHash(pool))));
        await context.saveStatus({ state: stateOf(await machines.list({ [MACHINE_NAMESPACE_LABEL]: namespace })) });
        continue;
      }
      for (const name of action.whenReady) await waitForNode(await shoots.open(namespace), name, context.signal);
      await allOf(action.remove.map((name) => retire(namespace, name, context)));
    }
  }

  /** Machines of pools that the Worker no longer has. */
  async function removeForeign({ metadata: { namespace }, spec }: Worker, context: ActuatorContext): Promise<void> {
    const names = new Set(spec.pools.map(({ name }) => name));
    const present = await machines.list({ [MACHINE_NAMESPACE_LABEL]: namespace });
    const foreign = present.filter(({ labels }) => !names.has(labels[MACHINE_POOL_LABEL] ?? ""));
    await allOf(foreign.map(({ name }) => retire(namespace, name, context)));
  }

  async function retire(namespace: string, name: string, context: ActuatorContext): Promise<void> {
    await retireNode(accessTo(namespace, context), name, () => remove(name, context));
  }

  const accessTo = (namespace: string, { signal, log }: ActuatorContext): NodeAccess => ({
    open: () => shoots.open(namespace),
    signal,
    log,
  });

  const machineNames = async (namespace: string): Promise<string[]> =>
    (await machines.list({ [MACHINE_NAMESPACE_LABEL]: namespace })).map(({ name }) => name);

  async function remove(name: string, context: ActuatorContext): Promise<void> {
    context.check();
    await machines.remove(name);
  }

  const inTurn =
    <R>(work: (object: Worker, cluster: Cluster, context: ActuatorContext) => Promise<R>) =>
    (object: Worker, cluster: Cluster, context: ActuatorContext): Promise<R> =>
      mutex.runExclusive(object.metadata.namespace, () => work(object, cluster, context));

  return {
    reconcile: inTurn(reconcile),
    /** Names don't depend on the seed: the machines in `status.state` are found again and only what is missing is made. */
    restore: inTurn(reconcile),
    migrate: inTurn(async ({ metadata: { namespace } }, _cluster, { saveStatus }) => {
      await saveStatus({ state: stateOf(await machines.list({ [MACHINE_NAMESPACE_LABEL]: namespace })) });
      await shoots.forget(namespace);
    }),
    delete: inTurn(async ({ metadata: { namespace } }, _cluster, context) => {
      const present = await machines.list({ [MACHINE_NAMESPACE_LABEL]: namespace });
      await allOf(present.map(({ name }) => remove(name, context)));
      // Their pods would stay for ever, as being deleted, and with them what a resource manager takes away after this
      await removeLeftNodes(accessTo(namespace, context), () => machineNames(namespace));
      await shoots.forget(namespace);
      const left = await machines.list({ [MACHINE_NAMESPACE_LABEL]: namespace });
      if (left.length > 0)
        throw new Error(
          `cannot delete the machines of ${namespace}: ${left.map(({ name }) => name).join(", ")} came back`,
        );
    }),
  };
}

/** What user data has for what each machine has for itself, by machine-controller-manager's convention. */
const [TOKEN, MACHINE_NAME] = ["<<BOOTSTRAP_TOKEN>>", "<<MACHINE_NAME>>"] as const;

/** What the machines of the pool boot with, with placeholders for what each has for itself. */
async function readUserData(
  { metadata: { namespace } }: Worker,
  pool: Pool,
  { client }: ActuatorContext,
): Promise<string> {
  const { name, key } = pool.userDataSecretRef;
  if (name === undefined) throw noMachines(pool, "userDataSecretRef has no name");
  const text = (await readSecret(client, { name, namespace }))[key];
  if (text === undefined) throw noMachines(pool, `Secret ${name} has no key ${key}`);
  return text;
}

/** What one machine boots with. As machine-controller-manager, this knows nothing of user data but its placeholders. */
function userDataFor(text: string, values: Readonly<Record<string, string>>, pool: Pool): UserData {
  const filled = Object.entries(values).reduce((all, [name, value]) => all.replaceAll(name, () => value), text);
  try {
    return parseJson(filled, "user data") as UserData;
  } catch (error) {
    throw noMachines(pool, "its user data is no JSON", error);
  }
}

const noMachines = ({ name }: Pool, why: string, cause?: unknown): ExtensionError =>
  new ExtensionError(`cannot make machines of pool ${name}: ${why}`, ["ERR_CONFIGURATION_PROBLEM"], { cause });

const countOf = ({ minimum }: Pool, cluster: Cluster): number => (isAsleep(cluster) ? 0 : minimum);

const isAsleep = ({ spec: { shoot } }: Cluster): boolean => shoot.spec.hibernation?.enabled === true;

function labelsOf(namespace: string, pool: string): Record<string, string> {
  return { [MACHINE_NAMESPACE_LABEL]: namespace, [MACHINE_POOL_LABEL]: pool };
}

function machineDeployments({ metadata: { namespace }, spec }: Worker) {
  return {
    machineDeployments: spec.pools.map(({ name, minimum, maximum, priority }) => ({
      name: `${namespace}-${name}`,
      minimum,
      maximum,
      ...(priority === undefined ? {} : { priority }),
    })),
    machineDeploymentsLastUpdateTime: new Date().toISOString(),
  };
}

function stateOf(present: readonly MachineStatus[]) {
  return {
    machines: present.map(({ name, providerID, labels }) => ({ name, pool: labels[MACHINE_POOL_LABEL], providerID })),
  };
}

/** Waits for all, also when one fails, and then throws every failure. */
async function allOf(work: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).filter((result) => result.status === "rejected");
  if (failed.length === 1) throw failed[0]?.reason;
  if (failed.length > 1)
    throw new AggregateError(
      failed.map(({ reason }) => reason as unknown),
      "several machines failed",
    );
}

import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import type { KubeClient, Secret } from "../../kube/index.ts";
import { configurationProblem, StepError } from "../step-error.ts";
import { lastingSecrets } from "../secrets/plan.ts";
import { decodeData, type SecretData } from "../secrets/store.ts";
import { createShootStates, type ExtensionState, type StateReader, type StateSize } from "./shoot-state.ts";
import { idOfItem, type StateItem } from "./entry.ts";
import type { StateKeyring } from "./keyring.ts";
import { machineStateFields, machineStateItem, machineStateOf, readMachineObjects } from "../machines/state.ts";
import type { SnapshotRecord } from "./snapshot-record.ts";
import { createStateRestore } from "./restore.ts";
import { itemsOf, readReferenced, readStateObjects } from "./source.ts";
import type { StateOwner } from "./store.ts";

/** `seedClient` is the run's fenced client; `keys` seal and open what is kept. */
export interface StateDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly keys: StateKeyring;
}

/** What flows do with a Shoot's state. Every part is safe to repeat. */
export interface StateActivities {
  /**
   * Keeps all that the Shoot's namespace in this seed has, reads it back and opens it. It is the epoch's last word: what
   * watches there have seen, and are late to write, is not taken any more.
   */
  persistState(run: ShootRun): Promise<void>;
  /** Throws what stands in the way of keeping it, and writes nothing: too large, a key or token that is not there. */
  checkState(run: ShootRun): Promise<void>;
  stateSize(run: ShootRun): Promise<StateSize>;
  /**
   * Brings the kept Secrets into the Shoot's namespace in this seed. A Restore makes its epoch the lowest one that may
   * write the state, before it reads it.
   */
  restoreSecrets(run: ShootRun): Promise<void>;
  /**
   * What is kept of an extension object, by its kind, name and purpose. Brings the objects to which it refers first; throws
   * for one that no state may bring.
   */
  restoreExtensionState(run: ShootRun, object: KubeObject): Promise<ExtensionState | undefined>;
  /** Content of those of these Secrets that are kept, by name. Throws when a kept one cannot be opened. */
  keptSecrets(run: ShootRun, names: readonly string[]): Promise<ReadonlyMap<string, SecretData>>;
  /** The machines that machine-controller-manager had, as the seed that saw them last wrote them: not judged yet. */
  readMachineState(run: StateReader): Promise<unknown>;
  recordSnapshot(owner: StateOwner, snapshot: SnapshotRecord): Promise<void>;
  latestSnapshot(owner: StateReader): Promise<SnapshotRecord | undefined>;
  /** Forgets a Shoot that is gone. */
  removeState(owner: StateOwner): Promise<void>;
}

/** What flows do with the ShootStates of a garden, seen from one seed. */
export function createStateActivities({ gardenClient, seedClient, keys }: StateDeps): StateActivities {
  const states = createShootStates({ gardenClient, keys });
  const restore = createStateRestore(seedClient);

  /** Straight from the API server: a watch may be behind. */
  const collect = async (run: ShootRun): Promise<StateItem[]> => {
    const objects = await readStateObjects(seedClient, run);
    const machines = machineStateOf(await readMachineObjects(seedClient, run.technicalID));
    const [own, referenced] = [itemsOf(objects), await readReferenced(seedClient, run.technicalID, objects)];
    const [refused] = [...own.refused, ...referenced.refused];
    if (refused !== undefined) throw configurationProblem(refused);
    return [
      ...own.items,
      ...referenced.items,
      // That there are none is worth knowing only where there could be some.
      ...(run.machineControllerManager === true || machines.state !== "" ? [machineStateItem(machines)] : []),
    ];
  };

  const stateSize = async (run: ShootRun) => {
    const items = await collect(run);
    const kept = (await states.read(run)) ?? [];
    requireKeys(run, [...kept, ...items]);
    return states.measure(run, items);
  };

  return {
    async persistState(run) {
      const items = await states.keepLast(run, () => collect(run));
      const kept = new Map((await states.read(run))?.map((item) => [idOfItem(item), item]));
      const lost = items.filter((item) => !isKept(item, kept.get(idOfItem(item)))).map(idOfItem);
      if (lost.length > 0)
        throw new StepError(
          `ShootState ${run.namespace}/${run.name} does not say what was written: ${lost.join(", ")}`,
        );
      requireKeys(run, [...kept.values()]);
    },

    stateSize,
    checkState: async (run) => void (await stateSize(run)),

    async restoreSecrets(run) {
      const arriving = run.operation === "Restore";
      if (arriving) await states.claim(run);
      const items = await states.read(run);
      if (items === undefined)
        throw new StepError(`there is no ShootState ${run.namespace}/${run.name} to restore the Shoot from`);
      requireKeys(run, items);
      await restore.secrets(run, items, { arriving });
    },

    async restoreExtensionState(run, object) {
      const state = await states.readExtension(run, object);
      const refs = (state?.resources ?? []).map(({ resourceRef }) => resourceRef);
      if (refs.length > 0) await restore.referenced(run, await states.readReferenced(run, refs));
      return state;
    },

    async keptSecrets(run, names) {
      const items = await states.readSecrets(run, names);
      return new Map(items.map(({ fields, content }) => [String(fields["name"]), contentOf(content)]));
    },

    readMachineState: async (run) =>
      (await states.readItem(run, { section: "gardener", fields: machineStateFields }))?.content,
    recordSnapshot: (owner, snapshot) => states.recordSnapshot(owner, snapshot),
    latestSnapshot: (owner) => states.latestSnapshot(owner),
    removeState: (owner) => states.remove(owner),
  };
}

/** Whether this is what the garden has; an object that has lost its content keeps the one that it had. */
function isKept(item: StateItem, kept: StateItem | undefined): boolean {
  const expected = item.content === undefined && kept !== undefined ? { ...kept, ...item } : item;
  return isDeepStrictEqual(kept, expected);
}

const contentOf = (content: unknown): SecretData => decodeData((content as Pick<Secret, "data">).data ?? {});

function requireKeys({ namespace, name }: ShootRun, items: readonly StateItem[]): void {
  const secrets = items.filter(({ section, fields }) => section === "gardener" && fields["type"] === "secret");
  const missing = lastingSecrets.filter((key) => !secrets.some(({ fields }) => fields["name"] === key));
  if (missing.length === 0) return;
  throw new StepError(
    `ShootState ${namespace}/${name} lacks Secret ${missing.join(", ")}: the Shoot cannot move without`,
  );
}

import { isDeepStrictEqual } from "node:util";
import { ROLE_LABEL } from "../../api/labels.ts";
import { createShootStates } from "../../activities/state/shoot-state.ts";
import type { StateKeyring } from "../../activities/state/keyring.ts";
import { StateTooLarge } from "../../activities/state/layout.ts";
import {
  itemsOf,
  PERSISTED,
  readReferenced,
  statefulTypes,
  stateOnly,
  type StateObjects,
} from "../../activities/state/source.ts";
import type { StateOwner } from "../../activities/state/store.ts";
import { Superseded } from "../../activities/superseded.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { backupEntryName, technicalIdOf } from "../../api/extensions/backup-entry.ts";
import {
  createController,
  createReflector,
  Namespace,
  Secret,
  type Key,
  type KubeClient,
  type Reflector,
} from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { createMachineWatch } from "./machines.ts";
import { createOwners } from "./owner.ts";

/** The seed that is watched, the garden that is written to, and the keys that seal what is written. */
export interface MirrorDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly seedName: string;
  readonly keys: StateKeyring;
  readonly log: Logger;
}

/** Keeps the garden's ShootStates in step with what is in a seed. */
export interface Mirror {
  start(): void;
  /** Resolves when every watch has seen what there is. */
  synced(): Promise<void>;
  /** Resolves when nothing is being written any more. */
  stop(): Promise<void>;
}

/** In ms. */
const times = {
  /** How long after a change others are waited for. */
  debounce: 100,
  /** When a Shoot is looked at again, so that changes by others in the garden are put right. */
  resync: 600_000,
  /** The same where states refer to other objects, which are not watched. */
  resyncReferenced: 60_000,
  /** The same where a namespace is there and its Cluster is not yet. */
  awaitCluster: 2_000,
  /** The longest pause between two tries to write. */
  retry: 5_000,
};

/**
 * Watches the Secrets that persist, the extension objects and the machines of all Shoots, and writes each Shoot's state into the garden
 * at once, one writer per Shoot; it begins by comparing everything, and tries again every few seconds what it could not
 * write. A seed writes for the Shoots that it leads, under their epoch.
 */
export function createMirror({ gardenClient, seedClient, seedName, keys, log }: MirrorDeps): Mirror {
  const states = createShootStates({ gardenClient, keys });
  const findOwner = createOwners({ gardenClient, seedClient, seedName });
  const timers = new Map<string, NodeJS.Timeout>();

  const changed = (namespace: string) => {
    if (timers.has(namespace)) return;
    const enqueue = () => {
      timers.delete(namespace);
      controller.enqueue({ name: namespace });
    };
    timers.set(namespace, setTimeout(enqueue, times.debounce));
  };

  const namespaces = createReflector(seedClient, Namespace, {
    labelSelector: `${ROLE_LABEL}=shoot`,
    log,
    onEvent: ({ object }) => changed(object.metadata.name),
  });
  const secrets = createReflector(seedClient, Secret, {
    labelSelector: PERSISTED,
    log,
    onEvent: ({ object }) => changed(namespaceOf(object)),
  });
  const extensions = statefulTypes.map((type) =>
    createReflector(seedClient, type, {
      log,
      keep: stateOnly,
      // Controllers report their progress again and again.
      onEvent: ({ object, old }) => {
        const before = old && { ...stateOnly(old), metadata: {} };
        if (!isDeepStrictEqual(before, { ...stateOnly(object), metadata: {} })) changed(namespaceOf(object));
      },
    }),
  );
  const machines = createMachineWatch(seedClient, { changed, log });
  const reflectors: readonly Pick<Reflector<KubeObject>, "start" | "synced" | "stop">[] = [
    namespaces,
    secrets,
    ...extensions,
    ...machines.reflectors,
  ];

  const objectsOf = (namespace: string, uid: string): StateObjects => {
    const entry = backupEntryName(namespace, uid);
    const found = extensions.flatMap((kind) => [...kind.list(namespace), kind.get(entry)]);
    return { secrets: secrets.list(namespace), extensions: found.filter((object) => object !== undefined) };
  };

  const mirror = async (namespace: string, owner: StateOwner) => {
    const objects = objectsOf(namespace, owner.uid);
    const workers = objects.extensions.filter(({ kind }) => kind === "Worker");
    const own = itemsOf(objects);
    const items = [...own.items, ...workers.flatMap((worker) => machines.itemsOf(worker, owner.epoch))];
    const referenced = await readReferenced(seedClient, namespace, objects).catch(async (error: unknown) => {
      await states.keep(owner, items, problemOf(own.refused)); // at least
      throw error;
    });
    const problem = problemOf([...own.refused, ...referenced.refused]);
    if (problem !== undefined) log.warn({ namespace, problem }, "state not mirrored as a whole");
    await states.keep(owner, [...items, ...referenced.items], problem);
    return { requeueAfter: referenced.items.length > 0 ? times.resyncReferenced : times.resync };
  };

  const reconcile = async ({ name: namespace }: Key) => {
    const { is, owner } = await findOwner(namespace);
    if (is === "gone") return undefined;
    if (owner === undefined) return { requeueAfter: is === "unknown" ? times.awaitCluster : times.resync };
    try {
      return await mirror(namespace, owner);
    } catch (error) {
      if (!(error instanceof Superseded || error instanceof StateTooLarge)) throw error;
      log.warn({ namespace, err: error }, "state not mirrored"); // and no other try would help
      return { requeueAfter: times.resync };
    }
  };

  const controller = createController({ name: "mirror", reconcile, longestDelay: times.retry, log });

  return {
    start() {
      for (const reflector of reflectors) reflector.start();
      controller.start();
    },
    synced: async () => void (await Promise.all(reflectors.map((reflector) => reflector.synced()))),
    async stop() {
      await Promise.all([...reflectors.map((reflector) => reflector.stop()), controller.stop()]);
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}

/** The first is enough to act on: an extension may bring any number. */
const problemOf = ([first]: readonly string[]): string | undefined => first?.slice(0, 1_000);

/** A BackupEntry is in no namespace. */
const namespaceOf = ({ metadata: { name, namespace } }: KubeObject): string => namespace ?? technicalIdOf(name);

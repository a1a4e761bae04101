import { setTimeout as sleep } from "node:timers/promises";
import { Cluster, Infrastructure, type KubeObject } from "../../src/api/index.ts";
import { createController, createReflector, refOf, refTo, Secret, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";

/** What the small controller gets wrong, one thing each, and the clauses that this breaks. */
export const faults = {
  "never succeeds": [
    "create.ready",
    "create.answered",
    "create.succeeded",
    "create.generation-seen",
    "crash.resumed",
    "error.operation",
    "error.described",
    "error.generation-seen",
    "error.recovers",
    "error.unfinished",
  ],
  "keeps the annotation reconcile": ["create.ready", "create.answered", "error.recovers", "crash.resumed"],
  "drops the timestamp": ["create.ready", "create.request-kept", "error.recovers", "crash.resumed"],
  "changes the spec": [
    "create.ready",
    "create.request-kept",
    "create.generation-seen",
    "error.generation-seen",
    "error.recovers",
    "crash.resumed",
  ],
  "does not say that it works": ["create.processing"],
  "has seen the generation before it is done": ["create.generation-unseen"],
  "reports half of the work as all": ["create.succeeded"],
  "does not report the generation": ["create.ready", "create.generation-seen", "crash.resumed"],
  "adds its finalizer at the end": ["create.finalizer"],
  "answers the first request only": [
    "retrigger.ready",
    "retrigger.type",
    "failed-shoot.resumed",
    "error.recovers",
    "error.unfinished",
  ],
  "creates what it has created": ["retrigger.type"],
  "forgets the state": ["retrigger.kept"],
  "acts on a new generation": ["untriggered.left-alone"],
  "has seen no generation but the first": ["update.ready"],
  "acts for a failed Shoot": ["failed-shoot.left-alone"],
  "never comes back to a failed Shoot": ["failed-shoot.resumed"],
  "acts on every type": ["foreign-type.left-alone"],
  "says nothing of an error": ["error.operation", "error.described", "error.generation-seen"],
  "has an error without words": ["error.described"],
  "has codes of its own": ["error.codes"],
  "does not report the generation of an error": ["error.generation-seen"],
  "stays in error": ["error.recovers", "error.unfinished"],
  "reconciles what it has not created": ["error.unfinished"],
  "keeps the finalizer for ever": [
    "restore.deletable",
    "delete.gone",
    "delete.reported",
    "force-deletion.gone",
    "crash.deleted",
  ],
  "does not say that it deletes": ["delete.reported"],
  "cannot delete by force": ["force-deletion.gone"],
  "does not migrate": ["migrate.ready", "migrate.answered", "migrate.answered-last", "migrate.let-go"],
  "answers migrate before it is done": ["migrate.answered-last"],
  "keeps the finalizer of what has migrated": ["migrate.answered-last", "migrate.let-go"],
  "forgets the state when it migrates": ["migrate.state"],
  "acts on what has migrated": ["migrated.left-alone"],
  "does not wait for the state": ["wait-for-state.left-alone"],
  "acts when the state is written": ["wait-for-state.written"],
  "does not restore": ["restore.ready", "restore.type", "restore.answered-late", "restore.finalizer"],
  "reconciles instead of restoring": ["restore.type", "restore.answered-late"],
  "answers restore before it begins": ["restore.answered-late", "restore.finalizer"],
  "restores without a finalizer": ["restore.finalizer"],
  "forgets the state when it restores": ["restore.state"],
  "forgets what it was at": ["crash.resumed"],
  "forgets what it was deleting": ["crash.deleted"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** What the small controller gets wrong. */
export type Fault = keyof typeof faults;

/** What the small controller does in another way than usual, and may. */
export const manners = ["fails at first", "does what it is asked a second time"] as const;

/** What the small controller may do. */
export type Manner = (typeof manners)[number];

/** A process of that controller. */
export interface SmallController {
  /** Ends it in the middle of what it does. */
  kill(): Promise<void>;
}

/**
 * A controller of Infrastructures that keeps the contract in its manner, but for its fault. It is written without the framework, so that
 * what judges it is not what it was made with. What it has started before, it knows by the objects only.
 */
export function startSmallController(client: KubeClient, type: string, fault?: Fault | Manner): SmallController {
  const log = createLogger({ name: "small", level: "silent" });
  const finalizer = "extensions.gardener.cloud/small";
  const has = (one: Fault | Manner) => one === fault;
  const killing = new AbortController();
  const givenUp = new Set<string | undefined>();

  const queue = createController({
    name: "small",
    concurrency: 10,
    log,
    reconcile: async (key: { name: string; namespace?: string }) => {
      const object = await client.read(refTo(Infrastructure, { namespace: "", ...key }));
      if (object !== undefined) await handle(object);
    },
  });
  const reflector = createReflector(client, Infrastructure, {
    // eslint-disable-next-line complexity -- a branch for each fault
    onEvent({ type: change, object, old }) {
      const { name, namespace, deletionTimestamp } = object.metadata;
      if (object.spec.type !== type && !(has("acts on every type") && object.spec.type.startsWith(`${type}-`))) return;
      const begin = change === "added" && asked(object) === undefined;
      if (begin && deletionTimestamp && has("forgets what it was deleting")) return;
      if (begin && !deletionTimestamp && has("forgets what it was at")) return;
      const changed = has("acts on a new generation") && old?.metadata.generation !== object.metadata.generation;
      if (begin || asked(object) !== undefined || deletionTimestamp !== undefined || changed)
        queue.enqueue({ name, namespace });
    },
  });
  queue.start();
  reflector.start();

  const status = (object: KubeObject, change: object) => {
    killing.signal.throwIfAborted();
    return client.patch(refOf(object), { status: change }, { subresource: "status" });
  };
  const annotate = (object: KubeObject, change: object) => {
    killing.signal.throwIfAborted();
    return client.patch(refOf(object), { metadata: change });
  };
  const operation = (kind: string, state: string, progress: number) => ({
    lastOperation: { type: kind, state, progress, description: `${kind} ${state}`, lastUpdateTime: now() },
  });
  const answer = (object: KubeObject) => annotate(object, { annotations: { "gardener.cloud/operation": null } });
  const asked = ({ metadata }: KubeObject) => metadata.annotations?.["gardener.cloud/operation"];
  const work = () => sleep(100, undefined, { signal: killing.signal });

  // eslint-disable-next-line complexity -- a branch for each fault
  async function handle(object: Infrastructure): Promise<void> {
    const request = asked(object);
    if (request === "wait-for-state" && !ignoresWait(object)) return;
    if (await isShootFailed(object)) return;
    if (request === "migrate") return has("does not migrate") ? undefined : await migrate(object);
    const last = object.status?.lastOperation;
    const left = last?.type === "Migrate" && last.state === "Succeeded";
    if (left && request !== "restore" && !has("acts on what has migrated")) {
      if (has("does what it is asked a second time") && request === "reconcile") await answer(object);
      return;
    }
    if (object.metadata.deletionTimestamp) return await remove(object);
    if (request === "restore") return has("does not restore") ? undefined : await restore(object);
    const isNew = object.status?.observedGeneration !== object.metadata.generation;
    if (request === undefined && last?.state === "Succeeded" && !(has("acts on a new generation") && isNew)) return;
    const unfinished = last === undefined || (last.type === "Create" && last.state !== "Succeeded");
    await reconcile(object, unfinished ? "Create" : "Reconcile");
  }

  const ignoresWait = ({ status: written }: Infrastructure) =>
    has("does not wait for the state") || (has("acts when the state is written") && written?.state !== undefined);

  async function isShootFailed({ metadata: { namespace, uid } }: Infrastructure): Promise<boolean> {
    const cluster = await client.read(Cluster, { name: namespace });
    const failed = cluster?.spec.shoot.status?.lastOperation?.state === "Failed";
    if (failed && has("never comes back to a failed Shoot")) givenUp.add(uid);
    return givenUp.has(uid) || (failed && !has("acts for a failed Shoot"));
  }

  // eslint-disable-next-line complexity -- a branch for each fault
  async function reconcile(object: Infrastructure, due: string): Promise<void> {
    if (has("answers the first request only") && object.status?.observedGeneration === object.metadata.generation) {
      return void (await answer(object));
    }
    const { status: before } = object;
    if (has("keeps the annotation reconcile") && before?.lastOperation?.state === "Succeeded") return;
    const wasInError = before?.lastError !== undefined;
    const kind = kindOf(due, wasInError);
    const { generation } = object.metadata;
    if (!has("adds its finalizer at the end")) await annotate(object, { finalizers: [finalizer] });
    const early = has("has seen the generation before it is done") ? { observedGeneration: generation } : {};
    if (!has("does not say that it works")) await status(object, { ...operation(kind, "Processing", 1), ...early });
    if (has("never succeeds")) return;
    await work();
    if (!has("keeps the annotation reconcile")) await answer(object);
    if (has("drops the timestamp")) await annotate(object, { annotations: { "gardener.cloud/timestamp": null } });
    if (has("changes the spec"))
      await client.patch(refOf(object), { spec: { sshPublicKey: Buffer.from(`${Date.now()}`).toString("base64") } });
    const secret = await client.read(Secret, { namespace: object.metadata.namespace, name: "cloudprovider" });
    if (has("fails at first") && due === "Create" && !wasInError) {
      await fail(object, kind);
      await status(object, operation(kind, "Processing", 1));
    }
    if (secret === undefined || (has("stays in error") && wasInError)) return await fail(object, kind);
    await status(object, {
      ...operation(kind, "Succeeded", has("reports half of the work as all") ? 50 : 100),
      ...seen(object),
      lastError: null,
      state: has("forgets the state") && due === "Reconcile" ? null : { made: true },
    });
    if (has("adds its finalizer at the end")) await annotate(object, { finalizers: [finalizer] });
    if (has("does what it is asked a second time") && due === "Reconcile") {
      await work();
      await status(object, operation(kind, "Processing", 1));
      await status(object, { ...operation(kind, "Succeeded", 100), ...seen(object) });
    }
  }

  function kindOf(due: string, wasInError: boolean): string {
    if (has("creates what it has created")) return "Create";
    if (has("reconciles what it has not created") && wasInError) return "Reconcile";
    return due;
  }

  function seen({ metadata: { generation } }: KubeObject): object {
    if (has("does not report the generation")) return {};
    return { observedGeneration: has("has seen no generation but the first") ? 1 : generation };
  }

  async function fail(object: Infrastructure, kind: string): Promise<void> {
    if (has("says nothing of an error")) return;
    const description = has("has an error without words") ? "" : "there are no credentials";
    const codes = has("has codes of its own") ? ["ERR_OF_MY_OWN"] : ["ERR_CONFIGURATION_PROBLEM"];
    await status(object, {
      ...operation(kind, "Error", 50),
      ...(has("does not report the generation of an error") ? {} : { observedGeneration: object.metadata.generation }),
      lastError: { description, codes, lastUpdateTime: now() },
    });
  }

  async function remove(object: Infrastructure): Promise<void> {
    if (!object.metadata.finalizers?.includes(finalizer)) return;
    if (has("keeps the finalizer for ever")) return;
    const cluster = await client.read(Cluster, { name: object.metadata.namespace });
    const byForce = cluster?.spec.shoot.metadata.deletionTimestamp !== undefined;
    if (!has("does not say that it deletes")) await status(object, operation("Delete", "Processing", 1));
    if (has("cannot delete by force") && byForce) return;
    await work();
    await annotate(object, { finalizers: null });
  }

  async function migrate(object: Infrastructure): Promise<void> {
    await status(object, operation("Migrate", "Processing", 1));
    if (has("answers migrate before it is done")) {
      await answer(object);
      await annotate(object, { finalizers: null });
    }
    const state = has("forgets the state when it migrates") ? { state: null } : {};
    const { generation } = object.metadata;
    await status(object, { ...operation("Migrate", "Succeeded", 100), ...state, observedGeneration: generation });
    if (!has("keeps the finalizer of what has migrated")) await annotate(object, { finalizers: null });
    if (!has("answers migrate before it is done")) await answer(object);
  }

  async function restore(object: Infrastructure): Promise<void> {
    const kind = has("reconciles instead of restoring") ? "Reconcile" : "Restore";
    if (has("answers restore before it begins")) await answer(object);
    if (!has("restores without a finalizer")) await annotate(object, { finalizers: [finalizer] });
    await status(object, operation(kind, "Processing", 1));
    await work();
    await answer(object);
    const state = has("forgets the state when it restores") ? { state: null } : {};
    const { generation } = object.metadata;
    await status(object, { ...operation(kind, "Succeeded", 100), ...state, observedGeneration: generation });
  }
  return {
    async kill() {
      killing.abort();
      await Promise.all([queue.stop(), reflector.stop()]);
    },
  };
}

const now = (): string => `${new Date().toISOString().slice(0, 19)}Z`;

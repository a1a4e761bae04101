import type { KubeObject } from "../../api/schema/meta.ts";
import type { Selection, KubeClient } from "../../kube/index.ts";
import type { TypeRef } from "../../api/schema/kind.ts";
import type { Logger } from "../../log.ts";
import { judge, type Cause, type Webhook } from "../review.ts";
import {
  KnownCredentialsBinding,
  KnownRegistration,
  KnownSecretBinding,
  KnownSeed,
  KnownShoot,
  toKnownBinding,
  toKnownRegistration,
  toKnownSeed,
  toKnownShoot,
} from "./known.ts";
import { createWatchedKind, type WatchedKind } from "./watched-kind.ts";

/** The garden, as rules read it. */
export interface WatchedGarden {
  /** Lists the known kinds from memory, an object in each version that may be stored; asks the API server for all else. */
  readonly client: KubeClient;
  /** Resolves when all known kinds have been listed. */
  start(): Promise<void>;
  /** A webhook whose admitted objects count from now on, before the watch tells of them. */
  noting(webhook: Webhook): Webhook;
  stop(): Promise<void>;
}

/**
 * Watches the kinds that rules look through, so that a request costs no list of them. What this process has admitted counts at once,
 * besides what is stored: who writes one object after the other is judged as by a list, and a write that fails frees nothing.
 * Another replica's objects count when the watch tells of them.
 */
export function createWatchedGarden(client: KubeClient, log: Logger): WatchedGarden {
  const watch = <T extends KubeObject>(type: TypeRef<T>, keep: (object: T) => T) =>
    [type as TypeRef, createWatchedKind({ client, type, keep, log }) as unknown as WatchedKind] as const;
  const watched = new Map<TypeRef, WatchedKind>([
    watch(KnownShoot, toKnownShoot),
    watch(KnownSeed, toKnownSeed),
    watch(KnownSecretBinding, toKnownBinding),
    watch(KnownCredentialsBinding, toKnownBinding),
    watch(KnownRegistration, toKnownRegistration),
  ]);
  const list = async (type: TypeRef, selection: Selection = {}) => {
    const known = watched.get(type);
    return known === undefined ? client.list(type, selection) : known.list(selection.namespace);
  };
  return {
    client: { ...client, list: list as KubeClient["list"] }, // a known kind's objects are of its own type
    async start() {
      for (const one of watched.values()) one.start();
      await Promise.all([...watched.values()].map((one) => one.synced()));
    },
    noting: (webhook) => async (request) => {
      const answer = await webhook(request);
      const { object, oldObject, operation, dryRun } = request;
      const isWrite = (operation === "CREATE" || operation === "UPDATE") && dryRun !== true;
      if (!answer.allowed || object === undefined || !isWrite) return answer;
      for (const [{ apiVersion, kind }, one] of watched)
        if (apiVersion === object.apiVersion && kind === object.kind && !one.note(object, oldObject))
          return judge([tooManyNotes(object)]);
      return answer;
    },
    stop: async () => void (await Promise.all([...watched.values()].map((one) => one.stop()))),
  };
}

function tooManyNotes({ kind, metadata: { namespace } }: KubeObject): Cause {
  const message = `too many ${kind}s${namespace ? ` of namespace ${namespace}` : ""} were admitted of late that the API server did not write: see which webhook or ResourceQuota refuses them, and try again in two minutes`;
  return { field: namespace ? "metadata.namespace" : "metadata.name", message, forbidden: true };
}

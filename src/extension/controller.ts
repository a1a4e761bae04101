import { readMemories } from "../binding/memory.ts";
import { createController, createReflector, type Key } from "../kube/index.ts";
import { createBindingGuard } from "./binding-guard.ts";
import type { ExtensionControllerOptions } from "./controller-options.ts";
import { definitionOf, type ExtensionKind } from "../api/extensions/kinds.ts";
import { isHandled, type ExtensionObject } from "./extension-object.ts";
import { combineGuards, openGuard } from "./guard.ts";
import { reconcileObject } from "./reconcile-object.ts";
import { createRevisits } from "./revisits.ts";
import { createTokenBucket } from "./token-bucket.ts";
import { isTrigger } from "./trigger.ts";

/** A controller of one kind and type; it does nothing before `start`. */
export interface ExtensionController {
  start(): void;
  /** Resolves when every object that exists has been seen once. */
  synced(): Promise<void>;
  /** Aborts what runs and resolves when it has ended. */
  stop(): Promise<void>;
}

/**
 * Runs an actuator by Gardener's extension contract: triggers, operation types, skips, finalizer, annotation and status,
 * one operation per object at a time, failed ones again with exponential backoff.
 */
export function createExtensionController<K extends ExtensionKind>(
  options: ExtensionControllerOptions<K>,
): ExtensionController {
  const { client, kind, type, concurrency = 5 } = options;
  const log = options.log.child({ kind, type });
  const binding = createBindingGuard({ read: () => readMemories(client), log });
  const guard = combineGuards(binding, options.guard ?? openGuard);

  const revisits = createRevisits();
  const bucket = options.rateLimit && createTokenBucket(options.rateLimit);

  const queue = createController({
    name: `${kind.toLowerCase()}-${type}`,
    concurrency,
    log,
    reconcile: (key, { signal }) =>
      reconcileObject({ ...options, guard, log, revisits, signal, ...(bucket && { bucket }) }, key),
  });

  options.metrics?.queued({ kind, type }, () => queue.depth());

  const reflector = createReflector(client, definitionOf(kind), {
    log,
    onEvent: (event) => {
      if (isHandled(event.object, options) && isTrigger(event)) queue.enqueue(keyOf(event.object));
    },
  });

  return {
    start() {
      queue.start();
      reflector.start();
    },
    synced: () => reflector.synced(),
    async stop() {
      await Promise.all([queue.stop(), reflector.stop()]);
    },
  };
}

function keyOf({ metadata: { name, namespace } }: ExtensionObject): Key {
  return namespace === undefined ? { name } : { name, namespace };
}

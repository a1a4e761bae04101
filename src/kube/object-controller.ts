import type { Kind } from "../api/schema/kind.ts";
import type { KubeObject } from "../api/schema/meta.ts";
import type { KubeClient } from "./client.ts";
import { createController, type ControllerOptions } from "./controller.ts";
import { createReflector } from "./watch.ts";

/** The kind, where its objects are watched, and what is done with one as the watch knows it; the rest as for any controller. */
export interface ObjectControllerOptions<T extends KubeObject> extends Omit<ControllerOptions, "reconcile"> {
  readonly client: KubeClient;
  readonly kind: Kind<T>;
  /** What is remembered of an object; all of it unless told otherwise. */
  readonly keep?: (object: T) => T;
  reconcile(object: T): ReturnType<ControllerOptions["reconcile"]>;
}

/** Reconciles every object of a kind when it appears and when it changes, until it has gone. */
export function createObjectController<T extends KubeObject>(o: ObjectControllerOptions<T>) {
  const { client, kind, log } = o;
  const controller = createController({
    ...o,
    async reconcile({ name, namespace }) {
      const object = reflector.get(name, namespace);
      return object === undefined ? undefined : await o.reconcile(object);
    },
  });
  const reflector = createReflector(client, kind, {
    log,
    ...(o.keep === undefined ? {} : { keep: o.keep }),
    onEvent: ({ type, object: { metadata } }) => {
      const { name, namespace } = metadata;
      if (type !== "deleted") controller.enqueue(namespace === undefined ? { name } : { name, namespace });
    },
  });

  return {
    start() {
      reflector.start();
      controller.start();
    },
    async stop(): Promise<void> {
      await reflector.stop();
      await controller.stop();
    },
  };
}

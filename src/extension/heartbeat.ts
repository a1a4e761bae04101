import type { KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";

/** Keeps saying that an extension is alive; what it reports counts only as long as it does. */
export interface Heartbeat {
  start(): void;
  stop(): Promise<void>;
}

/** Renews the Lease `gardener-extension-heartbeat` in the extension's namespace at once and then every 30 seconds. */
export function createHeartbeat(o: {
  readonly client: KubeClient;
  readonly namespace: string;
  /** The extension's name, such as that of its ControllerRegistration. */
  readonly name: string;
  readonly log: Logger;
  /** Milliseconds; only tests want another value. */
  readonly interval?: number;
}): Heartbeat {
  const { client, namespace, name, log, interval = 30_000 } = o;
  let timer: NodeJS.Timeout | undefined;
  let beating: Promise<void> = Promise.resolve();

  const beat = async () => {
    try {
      await client.apply(lease(namespace, name, interval), { fieldManager: name });
    } catch (error) {
      // The next beat is the retry; a Lease that isn't renewed is how others learn of it.
      log.warn({ err: error }, "heartbeat missed");
    }
  };

  return {
    start() {
      beating = beat();
      timer = setInterval(() => {
        beating = beating.then(beat);
      }, interval);
    },
    async stop() {
      clearInterval(timer);
      await beating;
    },
  };
}

function lease(namespace: string, name: string, interval: number) {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "gardener-extension-heartbeat", namespace },
    spec: {
      holderIdentity: name,
      leaseDurationSeconds: Math.ceil(interval / 1000),
      renewTime: new Date().toISOString().replace("Z", "000Z"),
    },
  };
}

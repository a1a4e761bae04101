import type { KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";

/** Keeps saying that an extension is alive; what it reports counts only as long as it does. */
export interface Heartbeat {
  start(): void;
  stop(): Promise<void>;
}

/** Renews the Lease `gardener-extension-heartbeat` in the extension's namespace at once and then every 30 seconds; a miss is made up for in 3. */
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
  let stopped = false;
  let withHeartbeat: Promise<void> = Promise.resolve();

  const beat = async () => {
    const heard = await renew();
    if (!stopped) timer = setTimeout(begin, heard ? interval : interval / 10);
  };
  const begin = () => void (withHeartbeat = beat());

  /** A Lease that is not renewed in time is how others learn of trouble, so a miss is made up for soon. */
  const renew = async (): Promise<boolean> => {
    try {
      await client.apply(lease(namespace, name, interval), { fieldManager: name });
      return true;
    } catch (error) {
      log.warn({ err: error }, "heartbeat missed");
      return false;
    }
  };

  return {
    start: begin,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await withHeartbeat;
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

import { createHash } from "node:crypto";
import { readSecret } from "../extension/index.ts";
import { createKubeClient, untrusted, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";

/** The way to a Shoot's own API server. */
export interface ShootAccess {
  /** The client of a Shoot; a new one when its kubeconfig has changed. Throws while there is no kubeconfig. */
  open(namespace: string): Promise<KubeClient>;
  /** Closes the connections to a Shoot. */
  forget(namespace: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens Shoots with the kubeconfig of the Secret `gardener-internal`, read each time, so that a renewed one counts at once. */
export function createShootAccess(seedClient: KubeClient, log: Logger): ShootAccess {
  const opened = new Map<string, { readonly hash: string; readonly client: KubeClient }>();

  async function forget(namespace: string): Promise<void> {
    const known = opened.get(namespace);
    opened.delete(namespace);
    await known?.client.close();
  }

  return {
    async open(namespace) {
      const { kubeconfig } = await readSecret(seedClient, { name: "gardener-internal", namespace });
      if (kubeconfig === undefined)
        throw new Error(`cannot reach the Shoot of ${namespace}: its Secret has no kubeconfig`);
      const hash = createHash("sha256").update(kubeconfig).digest("hex");
      const known = opened.get(namespace);
      if (known?.hash === hash) return known.client;
      await forget(namespace);
      const client = createKubeClient({ kubeconfig }, { log, userAgent: "provider-local", bounds: untrusted });
      opened.set(namespace, { hash, client });
      return client;
    },
    forget,
    close: async () => void (await Promise.all([...opened.keys()].map(forget))),
  };
}

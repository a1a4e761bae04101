import { createHash } from "node:crypto";
import { createKubeClient, Secret, untrusted, type KubeClient } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { StepError } from "../step-error.ts";

/** Our clients for the Shoots' own API servers, by the Shoot's namespace in the seed; connections are kept. */
export interface ShootClients {
  /** The client for a Shoot. Throws when its kubeconfig is not there yet. */
  get(namespace: string): Promise<KubeClient>;
  /** Forgets a Shoot that is gone. */
  forget(namespace: string): Promise<void>;
  close(): Promise<void>;
}

/** Reads kubeconfigs from the Secret `gardener-internal` each time, so that a renewed certificate is used at once. */
export function createShootClients(seedClient: KubeClient, log: Logger): ShootClients {
  const clients = new Map<string, { hash: string; client: KubeClient }>();

  const forget = async (namespace: string) => {
    const known = clients.get(namespace);
    clients.delete(namespace);
    await known?.client.close();
  };

  return {
    forget,
    async get(namespace) {
      const kubeconfig = await readKubeconfig(seedClient, namespace);
      const hash = createHash("sha256").update(kubeconfig).digest("hex");
      const known = clients.get(namespace);
      if (known?.hash === hash) return known.client;
      await forget(namespace);
      const client = createKubeClient({ kubeconfig }, { log, bounds: untrusted });
      clients.set(namespace, { hash, client });
      return client;
    },
    close: async () => void (await Promise.all([...clients.keys()].map(forget))),
  };
}

async function readKubeconfig(seedClient: KubeClient, namespace: string): Promise<string> {
  const secret = await seedClient.read(Secret, { namespace, name: "gardener-internal" });
  const { kubeconfig } = (secret?.["data"] ?? {}) as { kubeconfig?: string };
  if (kubeconfig === undefined)
    throw new StepError(`Secret ${namespace}/gardener-internal has no kubeconfig for the Shoot`);
  return Buffer.from(kubeconfig, "base64").toString();
}

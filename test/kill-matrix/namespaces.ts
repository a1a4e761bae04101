import { request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createController,
  createReflector,
  Namespace,
  parseKubeconfig,
  refOf,
  type KubeClient,
} from "../../src/kube/index.ts";
import type { Logger } from "../../src/log.ts";

/**
 * Empties namespaces that are being deleted and lets them go, as Kubernetes' own controller does. That one first waits
 * for five seconds, and for ten more when it finds anything with a finalizer.
 */
export function startNamespaces(client: KubeClient, kubeconfig: string, log: Logger): { stop(): Promise<void> } {
  const controller = createController({
    name: "namespaces",
    log,
    async reconcile({ name }) {
      const namespace = await client.read(Namespace, { name });
      if (namespace?.metadata.deletionTimestamp === undefined) return;
      while ((await empty(client, name)) > 0) await sleep(100);
      await finalize(kubeconfig, namespace);
    },
  });
  const reflector = createReflector(client, Namespace, {
    log,
    onEvent: ({ object }) => {
      if (object.metadata.deletionTimestamp !== undefined) controller.enqueue({ name: object.metadata.name });
    },
  });
  controller.start();
  reflector.start();
  return { stop: async () => void (await Promise.all([reflector.stop(), controller.stop()])) };
}

const type = { apiVersion: "v1", kind: "Namespace" } as const;

/** Deletes what is in the namespace; returns how much was still there. */
async function empty(client: KubeClient, namespace: string): Promise<number> {
  const types = (await client.types()).filter(
    ({ namespaced, verbs }) => namespaced && verbs.includes("list") && verbs.includes("delete"),
  );
  const objects = (await Promise.all(types.map((one) => client.list(one, { namespace })))).flat();
  const present = objects.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  await Promise.all(present.map((object) => client.remove(refOf(object), { propagationPolicy: "Background" })));
  return objects.length;
}

/** No other call can take a namespace's own finalizer away. Its metadata stay: the fence refuses a write without the epoch. */
async function finalize(kubeconfig: string, namespace: Namespace): Promise<void> {
  const { server, cluster, user } = parseKubeconfig(kubeconfig);
  const ca = Buffer.from(String(cluster["certificate-authority-data"]), "base64");
  const headers = { authorization: `Bearer ${String(user["token"])}`, "content-type": "application/json" };
  const url = new URL(`/api/v1/namespaces/${namespace.metadata.name}/finalize`, server);
  await new Promise<void>((resolve, reject) => {
    request(url, { method: "PUT", ca, headers }, (answer) => {
      answer.resume();
      const { statusCode = 0 } = answer;
      answer.once("end", () =>
        statusCode < 300 || statusCode === 404
          ? resolve()
          : reject(new Error(`cannot finalize Namespace ${namespace.metadata.name}: status ${statusCode}`)),
      );
    })
      .once("error", reject)
      .end(JSON.stringify({ ...type, ...namespace, spec: { finalizers: [] } }));
  });
}

import type { KubeObject } from "../../src/api/schema/meta.ts";
import { Pod, type KubeClient } from "../../src/kube/index.ts";

const labels = { app: "hello" };

/** What a user of the cluster would apply: a Deployment of one pod, and a Service with a NodePort that leads to it. */
export const hello: readonly KubeObject[] = [
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "hello", namespace: "default" },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: "hello",
              image: "perennial.dev/hello:1",
              imagePullPolicy: "IfNotPresent",
              ports: [{ name: "http", containerPort: 8080 }],
              readinessProbe: { httpGet: { path: "/", port: "http" }, periodSeconds: 1 },
            },
          ],
        },
      },
    },
  },
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "hello", namespace: "default" },
    spec: { type: "NodePort", selector: labels, ports: [{ name: "http", port: 80, targetPort: "http" }] },
  },
];

/** The name of a pod of the Deployment that is ready, or undefined. */
export async function findReadyPod(client: KubeClient): Promise<string | undefined> {
  const pods = await client.list(Pod, { namespace: "default", labelSelector: "app=hello" });
  const ready = pods.find(({ status }) =>
    status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
  );
  return ready?.metadata.name;
}

/** What the pod answers there, or undefined while it does not. */
export async function ask(url: string): Promise<string | undefined> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
  return answer?.ok ? (await answer.text()).trim() : undefined;
}

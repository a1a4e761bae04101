import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Context } from "../../src/cli/context.ts";
import type { Exit } from "../../src/cli/exit.ts";
import { runCli } from "../../src/cli/perennial.ts";
import { registry } from "../../src/cli/registry.ts";
import type { KubeObject } from "../../src/api/schema/meta.ts";
import { createKubeClient, Node, Pod, Service, type KubeClient } from "../../src/kube/index.ts";
import { ensureBinaries } from "../../src/local/binary/binaries.ts";
import { createLogger } from "../../src/log.ts";
import type { UpResult } from "../../src/local/environment/up.ts";

/** Two minutes, in ms. */
const timeout = 120_000;

/** Looks into the Shoot with kubectl, runs a user's Deployment in it, and asks its pod through a NodePort. */
export async function runPod(context: Context, { stateDir }: UpResult): Promise<Exit> {
  const file = join(stateDir, "shoot-local.yaml");
  const published = await runCli(["shoot", "kubeconfig", "garden-dev/local", "--file", file], registry, context);
  if (published !== 0) return "failed";
  const log = createLogger({ name: "demo", level: "silent" });
  const { kubectl } = await ensureBinaries(["kubectl"], { log });
  await show(context, kubectl, ["--kubeconfig", file, "get", "nodes"]);
  const client = createKubeClient({ file });
  try {
    for (const object of workload) await client.apply(object);
    await until(context, "the pod of Deployment hello is ready", () => findReadyPod(client));
    await show(context, kubectl, ["--kubeconfig", file, "get", "pods", "-o", podColumns]);
    const url = await nodePortUrl(client);
    const answer = await until(context, `${url} answers`, () => ask(url));
    context.terminal.out.write(`\n$ curl ${url}\n${answer}\n`);
    return "done";
  } finally {
    await client.close();
  }
}

const podColumns = "custom-columns=NAME:.metadata.name,STATUS:.status.phase,IP:.status.podIP,NODE:.spec.nodeName";

const labels = { app: "hello" };

/** What a user of the Shoot would apply. */
const workload: readonly KubeObject[] = [
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

async function findReadyPod(client: KubeClient): Promise<string | undefined> {
  const pods = await client.list(Pod, { namespace: "default", labelSelector: "app=hello" });
  const ready = pods.find(({ status }) =>
    status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
  );
  return ready?.metadata.name;
}

async function nodePortUrl(client: KubeClient): Promise<string> {
  const [node] = await client.list(Node);
  const service = await client.read(Service, { namespace: "default", name: "hello" });
  const address = node?.status?.addresses?.find(({ type }) => type === "InternalIP")?.address;
  const port = service?.spec?.ports?.[0]?.nodePort;
  if (!address || !port) throw new Error("cannot ask the pod: its node has no address, or its Service no NodePort");
  return `http://${address}:${port}/`;
}

async function ask(url: string): Promise<string | undefined> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
  return answer?.ok ? (await answer.text()).trim() : undefined;
}

async function until(context: Context, what: string, look: () => Promise<string | undefined>): Promise<string> {
  for (const end = context.now() + timeout; context.now() < end;) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(500, undefined, { signal: context.signal });
  }
  throw new Error(`gave up waiting until ${what}: it has not come true in ${timeout / 1000} s`);
}

/** Runs a command for everybody to see. */
async function show({ terminal }: Context, command: string, args: readonly string[]): Promise<void> {
  terminal.out.write(`\n$ kubectl ${args.join(" ")}\n`);
  const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit"] });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")} failed`);
}

import { join } from "node:path";
import type { Context } from "../../src/cli/context.ts";
import type { Exit } from "../../src/cli/exit.ts";
import { runCli } from "../../src/cli/perennial.ts";
import { registry } from "../../src/cli/registry.ts";
import { createKubeClient, Node, Service, type KubeClient } from "../../src/kube/index.ts";
import { ensureBinaries } from "../../src/local/binary/binaries.ts";
import { createLogger } from "../../src/log.ts";
import type { UpResult } from "../../src/local/environment/up.ts";
import { ask, findReadyPod, hello } from "./hello.ts";
import { showKubectl } from "./show.ts";
import { until } from "./until.ts";

/** Looks into the Shoot with kubectl, runs a user's Deployment in it, and asks its pod through a NodePort. */
export async function runPod(context: Context, { stateDir }: UpResult): Promise<Exit> {
  const file = join(stateDir, "shoot-local.yaml");
  const published = await runCli(["shoot", "kubeconfig", "garden-dev/local", "--file", file], registry, context);
  if (published !== 0) return "failed";
  const log = createLogger({ name: "demo", level: "silent" });
  const { kubectl } = await ensureBinaries(["kubectl"], { log });
  const { out } = context.terminal;
  await showKubectl(out, kubectl, ["--kubeconfig", file, "get", "nodes"]);
  const client = createKubeClient({ file });
  try {
    for (const object of hello) await client.apply(object);
    await until(context, "the pod of Deployment hello is ready", () => findReadyPod(client));
    await showKubectl(out, kubectl, ["--kubeconfig", file, "get", "pods", "-o", podColumns]);
    const url = await nodePortUrl(client);
    const answer = await until(context, `${url} answers`, () => ask(url));
    out.write(`\n$ curl ${url}\n${answer}\n`);
    return "done";
  } finally {
    await client.close();
  }
}

const podColumns = "custom-columns=NAME:.metadata.name,STATUS:.status.phase,IP:.status.podIP,NODE:.spec.nodeName";

async function nodePortUrl(client: KubeClient): Promise<string> {
  const [node] = await client.list(Node);
  const service = await client.read(Service, { namespace: "default", name: "hello" });
  const address = node?.status?.addresses?.find(({ type }) => type === "InternalIP")?.address;
  const port = service?.spec?.ports?.[0]?.nodePort;
  if (!address || !port) throw new Error("cannot ask the pod: its node has no address, or its Service no NodePort");
  return `http://${address}:${port}/`;
}

import type { BaseContext } from "../../src/cli/base-context.ts";
import { Service, type KubeClient } from "../../src/kube/index.ts";
import { cacheDirectory, ensureBinaries } from "../../src/local/binary/binaries.ts";
import { buildImages, helloImage } from "../../src/local/image/images.ts";
import type { BareMachines } from "../../src/local/bare/machines.ts";
import { createLogger } from "../../src/log.ts";
import { ask, findReadyPod, hello } from "../demo/hello.ts";
import { showKubectl } from "../demo/show.ts";
import { until } from "../demo/until.ts";
import type { Access } from "./access.ts";
import { askInMachine } from "./run-in-machine.ts";

/** The machine that the pod runs on: the others belong to the control plane. */
const WORKER = "w";

/** Shows the nodes, runs a user's Deployment on the worker, and answers where its pod is asked through a NodePort. */
export async function runPod(context: BaseContext, machines: BareMachines, access: Access): Promise<string> {
  const { out } = context.terminal;
  const log = createLogger({ name: "demo", level: "silent" });
  const { kubectl } = await ensureBinaries(["kubectl"], { log });
  const { client, file } = access;
  await loadHello(machines);
  for (const object of hello) await client.apply(object);
  await until(context, "the pod of Deployment hello is ready", () => findReadyPod(client));
  const url = await nodePortUrl(machines, client);
  const answer = await until(context, `${url} answers`, () => ask(url));
  await showKubectl(out, kubectl, ["--kubeconfig", file, "get", "nodes", "-o", "wide"]);
  await showKubectl(out, kubectl, ["--kubeconfig", file, "get", "pods", "-o", "wide"]);
  out.write(`\n$ curl ${url}\n${answer}\n`);
  return url;
}

async function loadHello(machines: BareMachines): Promise<void> {
  const present = await askInMachine(machines, WORKER, ["ctr", "--namespace", "k8s.io", "images", "list", "--quiet"]);
  if (present.split("\n").includes(helloImage)) return;
  const log = createLogger({ name: "demo", level: "silent" });
  const cache = cacheDirectory();
  const images = await buildImages(cache, log);
  await machines.loadImages(
    WORKER,
    images.filter(({ name }) => name === helloImage),
  );
}

async function nodePortUrl(machines: BareMachines, client: KubeClient): Promise<string> {
  const worker = (await machines.list()).find(({ name }) => name === WORKER);
  const service = await client.read(Service, { namespace: "default", name: "hello" });
  const port = service?.spec?.ports?.[0]?.nodePort;
  if (!worker?.address || !port)
    throw new Error("cannot ask the pod: its machine has no address, or its Service no NodePort");
  return `http://${worker.address}:${port}/`;
}

import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../src/api/index.ts";
import { CustomResourceDefinition, type KubeClient } from "../../src/kube/index.ts";

const directory = new URL("../../deploy/crds/", import.meta.url);
const watched = [
  "resources.gardener.cloud_managedresources",
  "machine.sapcloud.io_machinedeployments",
  "machine.sapcloud.io_machinesets",
  "machine.sapcloud.io_machines",
].map((name) => new URL(`../../deploy/seed/crds/${name}.yaml`, import.meta.url));

/** Applies the CustomResourceDefinitions of deploy/crds, and what else a seed's worker watches; resolves when all are served. */
export async function applyCrds(client: KubeClient): Promise<void> {
  const files = (await readdir(directory)).filter((name) => name.endsWith(".yaml"));
  const urls = [...files.map((name) => new URL(name, directory)), ...watched];
  const texts = await Promise.all(urls.map((url) => readFile(url, "utf8")));
  const crds = texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as KubeObject));
  await Promise.all(crds.map((crd) => client.apply(crd)));
  for (const crd of crds) await established(client, crd);
}

async function established(client: KubeClient, { metadata: { name } }: KubeObject): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const crd = await client.read(CustomResourceDefinition, { name });
    if (crd?.status?.conditions?.some(({ type, status }) => type === "Established" && status === "True")) return;
    await sleep(50);
  }
  throw new Error(`${name} is not served after ten seconds`);
}

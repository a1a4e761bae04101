import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { expect } from "vitest";
import { parse } from "yaml";
import type { KubeObject } from "../../src/api/index.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { versions } from "../../src/local/binary/versions.ts";
import { eventually } from "./eventually.ts";

/** Defines the extension kinds as a gardenlet does it, under its own name, from Gardener's module; resolves when they are served. */
export async function applyGardenersCrds(client: KubeClient): Promise<void> {
  const module = `github.com/gardener/gardener@v${versions.gardener}`;
  const { stdout } = await execa("go", ["mod", "download", "-json", module]);
  const folder = join((JSON.parse(stdout) as { readonly Dir: string }).Dir, "example/seed-crds");
  const files = (await readdir(folder)).filter((name) => name.startsWith("10-crd-extensions.gardener.cloud_"));
  const crds = await Promise.all(
    files.map(async (name) => parse(await readFile(join(folder, name), "utf8"), { version: "1.1" }) as KubeObject),
  );
  for (const crd of crds) await client.apply(crd, { fieldManager: "gardenlet" });
  const wanted = crds.map((crd) => (crd["spec"] as { readonly names: { readonly kind: string } }).names.kind);
  await eventually(async () => {
    const served = (await client.types()).map(({ kind }) => kind);
    expect(served).toEqual(expect.arrayContaining(wanted));
  });
}

import { randomBytes } from "node:crypto";
import { brotliDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { managedResourceOf } from "../../../src/activities/installation/managed-resource.ts";
import { readManifests } from "../../../src/activities/installation/manifests.ts";
import type { InstallationRun } from "../../../src/api/registration/run.ts";
import type { KubeObject } from "../../../src/api/index.ts";
import type { Secret } from "../../../src/kube/index.ts";

const run = { name: "large", registration: "extension-large" } as InstallationRun;
const noise = (name: string, bytes: number) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data: { noise: randomBytes(bytes).toString("hex") },
});
const namesIn = async ({ data }: Secret) =>
  (await readManifests(brotliDecompressSync(bytesOf(data)).toString())).map(({ metadata }) => metadata.name);
const bytesOf = (data: Secret["data"]) => Buffer.from(data?.["data.yaml.br"] ?? "", "base64");

test("5 MB of manifests are handed over in as many Secrets as they need, in their order", async () => {
  const objects = Array.from({ length: 50 }, (_, index) => noise(`noise-${index}`, 50_000));
  const { secrets, resource } = managedResourceOf(run, objects);
  expect(secrets.length).toBeGreaterThanOrEqual(3);
  for (const { data } of secrets) expect(bytesOf(data).byteLength).toBeLessThanOrEqual(1_000_000);
  expect((await Promise.all(secrets.map(namesIn))).flat()).toEqual(objects.map(({ metadata }) => metadata.name));
  expect(resource.spec.secretRefs).toEqual(secrets.map(({ metadata: { name } }) => ({ name })));
  expect(new Set(resource.spec.secretRefs.map(({ name }) => name)).size).toBe(secrets.length);
});

test("a Secret's name follows from what is in it", () => {
  const objects = [noise("a", 100), noise("b", 100)];
  const { resource } = managedResourceOf(run, objects);
  expect(managedResourceOf(run, objects).resource).toEqual(resource);
  expect(managedResourceOf(run, objects.slice(1)).resource).not.toEqual(resource);
});

test("what fits into one Secret stays together, and so does nothing at all", async () => {
  const namesOf = (objects: readonly KubeObject[]) => Promise.all(managedResourceOf(run, objects).secrets.map(namesIn));
  expect(await namesOf([noise("a", 1_000), noise("b", 1_000)])).toEqual([["a", "b"]]);
  expect(await namesOf([])).toEqual([[]]);
});

test("an object that is too large for a Secret is named", () => {
  expect(() => managedResourceOf(run, [noise("a", 10), noise("large", 1_500_000)])).toThrow(
    /^ConfigMap large has 1\.\d MB, compressed, which does not fit into a Secret \(1 MB\)$/,
  );
});

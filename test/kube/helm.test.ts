import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { createHelm } from "../../src/activities/installation/helm.ts";
import { managedResourceOf } from "../../src/activities/installation/managed-resource.ts";
import { parseManifests } from "../../src/activities/installation/manifests.ts";
import type { InstallationRun } from "../../src/api/registration/run.ts";
import { findBinary } from "../support/binary.ts";
import { packageChart } from "../support/charts.ts";

const rendering = async (files: Record<string, string>, values: Record<string, unknown> = {}) => ({
  ...{ chart: Buffer.from(await packageChart(files), "base64"), values },
  ...{ release: "one", namespace: "extension-one", kubeVersion: "v1.34.4" },
});

const run: InstallationRun = {
  ...{ name: "one", uid: "1", operation: "Create", registration: "one", seedName: "seed-1", hash: "1" },
  ...{ seedExists: true, gardenAccess: false, seedDeadline: 1, retryDuration: 1 },
};

test("values reach a chart as they are, whatever other YAML would make of them", async () => {
  const values = { yes: "no", off: "on", n: "y", number: "1_000", bits: "0b11", time: "22:30", large: 1e9 };
  const helm = createHelm({ binary: await findBinary("helm") });
  const text = await helm.template(await rendering({ "templates/shown.yaml": "{{ .Values | toJson }}" }, values));
  expect(JSON.parse(text.slice(text.indexOf("{")))).toMatchObject(values);
});

test("integers that a number of JavaScript does not hold reach the ManagedResource with all of their digits", async () => {
  const helm = createHelm({ binary: await findBinary("helm") });
  const template = `apiVersion: v1
kind: Limit
metadata: { name: one }
spec: { above: 9007199254740993, most: 9223372036854775807, below: 9007199254740991, share: 1e22, whole: 1.0 }
`;
  const text = await helm.template(await rendering({ "templates/limit.yaml": template }));
  const { secrets } = managedResourceOf(run, await parseManifests(text));
  const [manifests = ""] = Object.values(secrets[0]?.data ?? {});
  expect(brotliDecompressSync(Buffer.from(manifests, "base64")).toString()).toContain(
    '{"above":9007199254740993,"most":9223372036854775807,"below":9007199254740991,"share":1e+22,"whole":1}',
  );
});

test("the definitions of kinds that a chart brings are among its manifests", async () => {
  const helm = createHelm({ binary: await findBinary("helm") });
  const crd =
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: things.example.com\n";
  expect(await helm.template(await rendering({ "crds/thing.yaml": crd }))).toContain("name: things.example.com");
});

test("Helm sees nothing of the process that runs it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "perennial-helm-test-"));
  const binary = join(folder, "helm");
  await writeFile(binary, "#!/bin/sh\nenv\n");
  await chmod(binary, 0o755);
  process.env["SECRET_OF_THE_PROCESS"] = "hidden";
  try {
    const seen = await createHelm({ binary }).template(await rendering({}));
    expect(seen).toContain("HELM_CACHE_HOME=");
    expect(seen).not.toContain("SECRET_OF_THE_PROCESS");
  } finally {
    delete process.env["SECRET_OF_THE_PROCESS"];
    await rm(folder, { recursive: true });
  }
});

import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createHelm } from "../../src/activities/installation/helm.ts";
import { findBinary } from "../support/binary.ts";
import { packageChart } from "../support/charts.ts";

const rendering = async (files: Record<string, string>, values: Record<string, unknown> = {}) => ({
  ...{ chart: Buffer.from(await packageChart(files), "base64"), values },
  ...{ release: "one", namespace: "extension-one", kubeVersion: "v1.34.4" },
});

test("values reach a chart as they are, whatever other YAML would make of them", async () => {
  const values = { yes: "no", off: "on", n: "y", number: "1_000", bits: "0b11", time: "22:30", large: 1e9 };
  const helm = createHelm({ binary: await findBinary("helm") });
  const text = await helm.template(await rendering({ "templates/shown.yaml": "{{ .Values | toJson }}" }, values));
  expect(JSON.parse(text.slice(text.indexOf("{")))).toMatchObject(values);
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

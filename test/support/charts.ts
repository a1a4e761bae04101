import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { ManagedResource } from "../../src/api/index.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { findBinary } from "./binary.ts";

/** The controller of a chart that does little: a Deployment that tells what it was told. */
export const deploymentTemplate = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: controller
  namespace: {{ .Release.Namespace }}
  annotations:
    foo: {{ .Values.foo | quote }}
    seed: {{ .Values.gardener.seed.name }}
    identifier: {{ .Values.gardener.seed.identifier }}
    region: {{ .Values.gardener.seed.spec.provider.region }}
    garden: {{ .Values.gardener.garden.clusterIdentity }}
spec:
  selector: { matchLabels: { app: controller } }
  template:
    metadata: { labels: { app: controller } }
    spec:
      containers:
        - name: controller
          image: example.org/controller
`;

/** Packages a chart of these files with the real Helm; in base64, as registrations carry it. */
export async function packageChart(templates: Readonly<Record<string, string>>, version = "1.0.0"): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-chart-"));
  try {
    const files = { "Chart.yaml": `apiVersion: v2\nname: trivial\nversion: ${version}\n`, ...templates };
    for (const [path, text] of Object.entries(files)) {
      const file = join(folder, "trivial", path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    const helm = await findBinary("helm");
    await promisify(execFile)(helm, ["package", "trivial"], { cwd: folder, env: { HOME: folder } });
    const [packaged = ""] = (await readdir(folder)).filter((name) => name.endsWith(".tgz"));
    return (await readFile(join(folder, packaged))).toString("base64");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Says in a ManagedResource's status what the seed's resource manager would say once all of it is applied and well. */
export async function sayApplied(client: KubeClient, resource: ManagedResource, healthy = true): Promise<void> {
  const at = { lastTransitionTime: "2026-01-01T00:00:00Z", lastUpdateTime: "2026-01-01T00:00:00Z", reason: "Said" };
  const conditions = [
    { ...at, type: "ResourcesApplied", status: "True", message: "all are applied" },
    {
      ...at,
      type: "ResourcesHealthy",
      status: healthy ? "True" : "False",
      message: healthy ? "well" : "controller is down",
    },
    { ...at, type: "ResourcesProgressing", status: "False", message: "rolled out" },
  ] as const;
  const status = { observedGeneration: resource.metadata.generation, conditions: [...conditions] };
  await client.replaceStatus({ ...resource, status });
}

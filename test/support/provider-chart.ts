import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../src/api/index.ts";
import { packageChart } from "../../src/local/cluster/chart.ts";
import { findBinary } from "./binary.ts";

/** The objects of the local provider's chart in this namespace, with these values, as Helm renders them. */
export async function renderProviderChart(namespace: string, values: object): Promise<KubeObject[]> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-provider-chart-"));
  try {
    const [chart, file] = [join(folder, "chart.tgz"), join(folder, "values.json")];
    await writeFile(chart, await packageChart("provider-local"));
    await writeFile(file, JSON.stringify(values));
    const { stdout } = await execa(
      await findBinary("helm"),
      ["template", "provider-local", chart, "--namespace", namespace, "--values", file],
      { env: { HOME: folder } },
    );
    const documents = parseAllDocuments(stdout);
    return "empty" in documents ? [] : documents.map((document) => document.toJS() as KubeObject);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

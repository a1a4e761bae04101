import type { KubeObject } from "../../api/schema/meta.ts";
import type { Helm, Rendering } from "./helm.ts";
import { InvalidInstallation } from "./invalid.ts";
import { hooksOf, parseManifests } from "./manifests.ts";

/** The objects of a chart; throws an {@link InvalidInstallation} where it does not render, or has what no resource manager does. */
export async function renderChart(helm: Helm, wanted: Rendering): Promise<readonly KubeObject[]> {
  const text = await rendering(() => helm.template(wanted));
  const objects = await rendering(() => parseManifests(text));
  const hooks = hooksOf(objects).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  if (hooks.length > 0)
    throw new InvalidInstallation(
      "ChartHasHooks",
      `the chart has hooks, which no resource manager runs: ${hooks.join(", ")}; take them out of the chart`,
    );
  return objects;
}

async function rendering<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new InvalidInstallation("ChartCannotBeRendered", `the chart cannot be rendered: ${why}`, { cause: error });
  }
}

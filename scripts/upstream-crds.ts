import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { parse, stringify } from "yaml";
import { versions } from "../src/local/binary/versions.ts";

/** Definitions that a Go module of others publishes. */
export interface UpstreamCrds {
  readonly module: string;
  readonly version: string;
  /** Where they are in the module, and what stands there before `<group>_<plural>.yaml`. */
  readonly folder: string;
  readonly prefix?: string;
  readonly names: readonly string[];
}

const gardener = { module: "github.com/gardener/gardener", version: versions.gardener, prefix: "crd-" };

/**
 * What extensions for Gardener take for given in a seed: controllers map or watch these kinds when they start, and end
 * where the API server does not know them.
 */
export const upstreamCrds: readonly UpstreamCrds[] = [
  {
    ...gardener,
    folder: "pkg/component/gardener/resourcemanager/assets",
    names: ["resources.gardener.cloud_managedresources"],
  },
  {
    ...gardener,
    folder: "pkg/component/autoscaling/vpa/templates",
    names: ["verticalpodautoscalers", "verticalpodautoscalercheckpoints"].map((name) => `autoscaling.k8s.io_${name}`),
  },
  {
    ...gardener,
    folder: "pkg/component/autoscaling/pvcautoscaler/assets",
    names: ["autoscaling.gardener.cloud_persistentvolumeclaimautoscalers"],
  },
  {
    ...gardener,
    folder: "pkg/component/observability/monitoring/prometheusoperator/templates",
    names: ["podmonitors", "probes", "prometheuses", "prometheusrules", "scrapeconfigs", "servicemonitors"].map(
      (name) => `monitoring.coreos.com_${name}`,
    ),
  },
  {
    module: "github.com/gardener/machine-controller-manager",
    version: versions.machineControllerManager,
    folder: "kubernetes/crds",
    names: ["machineclasses", "machinedeployments", "machines", "machinesets"].map(
      (name) => `machine.sapcloud.io_${name}`,
    ),
  },
  {
    module: "github.com/gardener/etcd-druid/api",
    version: versions.etcdDruid,
    folder: "core/v1alpha1/crds",
    names: ["etcds", "etcdcopybackupstasks"].map((name) => `druid.gardener.cloud_${name}`),
  },
  {
    module: "github.com/gardener/cert-management/pkg/apis",
    version: versions.certManagement,
    folder: "cert/crds",
    names: ["certificaterevocations", "certificates", "issuers"].map((name) => `cert.gardener.cloud_${name}`),
  },
];

/** The files of deploy/seed/crds: name to content. Asks the Go module proxy for what is not in its cache. */
export async function upstreamCrdFiles(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const source of upstreamCrds) {
    const { stdout } = await execa("go", ["mod", "download", "-json", `${source.module}@v${source.version}`]);
    const { Dir } = JSON.parse(stdout) as { Dir: string };
    for (const name of source.names) {
      const text = await readFile(join(Dir, source.folder, `${source.prefix ?? ""}${name}.yaml`), "utf8");
      files.set(`${name}.yaml`, `${headOf(source)}\n${render(text)}`);
    }
  }
  return files;
}

/** The first line of each file that comes from the source. */
export function headOf({ module, version }: UpstreamCrds): string {
  return `# Written by \`npm run generate:upstream\`: ${module} v${version} (Apache-2.0), without what explains the fields.`;
}

/** The definition without the words of `kubectl explain`, which are most of it. */
function render(text: string): string {
  const crd = withoutDescriptions(parse(text, { version: "1.1" }));
  return stringify(crd, { version: "1.1", lineWidth: 120, aliasDuplicateObjects: false });
}

/** A field that is called `description` is a schema, not a text. */
function withoutDescriptions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDescriptions);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, content]) => key !== "description" || typeof content !== "string")
      .map(([key, content]) => [key, withoutDescriptions(content)]),
  );
}

/** Writes a local repository of clusterctl from deploy/cluster-api: `node scripts/clusterctl-repository.ts FOLDER`. */
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

const source = join(import.meta.dirname, "../deploy/cluster-api");

/** The version that clusterctl knows our providers by; its series is in metadata.yaml. */
const VERSION = "v0.1.0";

/** Our providers by clusterctl's names: its word for their type, the groups of their definitions, and what comes with them. */
const providers = {
  "control-plane": {
    type: "ControlPlaneProvider",
    groups: ["controlplane", "cluster", "perennial"],
    files: [
      ...["rbac.yaml", "endpoint-rbac.yaml", "endpoint-record-rbac.yaml", "shoots-rbac.yaml"],
      ...["endpoint-admission.yaml", "process.yaml"],
    ],
  },
  infrastructure: { type: "InfrastructureProvider", groups: ["infrastructure"], files: [] },
  bootstrap: { type: "BootstrapProvider", groups: ["bootstrap"], files: [] },
} as const;

/** Writes the repository, with a configuration of clusterctl that names it; templates are with the infrastructure. */
export async function writeClusterctlRepository(folder: string): Promise<void> {
  const entries: string[] = [];
  for (const [name, provider] of Object.entries(providers)) {
    const target = join(folder, `${name}-perennial`, VERSION);
    const components = join(target, `${name}-components.yaml`);
    await mkdir(target, { recursive: true });
    await writeFile(components, await componentsOf(provider));
    await cp(join(source, "metadata.yaml"), join(target, "metadata.yaml"));
    if (name === "infrastructure") await cp(join(source, "templates"), target, { recursive: true });
    entries.push(`  - name: perennial\n    type: ${provider.type}\n    url: ${components}\n`);
  }
  await writeFile(join(folder, "clusterctl.yaml"), `providers:\n${entries.join("")}`);
}

/** One file with all that installs a provider; each has the same Namespace, as clusterctl wants it. */
async function componentsOf({ groups, files }: (typeof providers)[keyof typeof providers]): Promise<string> {
  const names = (await readdir(join(source, "crds"))).filter((name) =>
    groups.some((group) =>
      [`${group}.cluster.x-k8s.io_`, `${group}.x-k8s.io_`, `${group}.dev_`].some((start) => name.startsWith(start)),
    ),
  );
  const all = [...names.map((name) => join("crds", name)), ...files];
  const texts = await Promise.all(all.map((file) => readFile(join(source, file), "utf8")));
  return [NAMESPACE, ...texts].join("---\n");
}

const NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: perennial\n";

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error("say in which folder the repository is to be");
  await writeClusterctlRepository(resolve(folder));
}

import { registryPath } from "./images.ts";
import type { Registry } from "./registry.ts";

/** Whose images are looked for in the environment's registry first. */
const mirroredHosts = [
  "registry.k8s.io",
  "europe-docker.pkg.dev",
  "quay.io",
  "gcr.io",
  "docker.io",
  "perennial.dev",
  "registry.local.gardener.cloud:5001",
] as const;

/** Where containerd, `ctr` and the node agent look for mirrors. */
const folder = "/etc/containerd/certs.d";

/** The files of a machine, by path, that lead its containerd to the registry; what is not there comes from its own registry. */
export function mirrorFiles({ host, ca }: Registry): Readonly<Record<string, string>> {
  const authority = `${folder}/perennial-registry.crt`;
  const mirrors = mirroredHosts.map((mirrored): [string, string] => {
    const lines = [
      `server = "https://${mirrored === "docker.io" ? "registry-1.docker.io" : mirrored}"`,
      "",
      `[host."https://${host}/v2/${registryPath(mirrored)}"]`,
      '  capabilities = ["pull", "resolve"]',
      "  override_path = true",
      `  ca = "${authority}"`,
      "",
    ];
    return [`${folder}/${mirrored}/hosts.toml`, lines.join("\n")];
  });
  // The registry itself, by its address.
  const own = [`server = "https://${host}"`, "", `[host."https://${host}"]`, `  ca = "${authority}"`, ""].join("\n");
  return Object.fromEntries([[authority, ca], ...mirrors, [`${folder}/${host}/hosts.toml`, own]]);
}

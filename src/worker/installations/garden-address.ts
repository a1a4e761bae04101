import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { GardenAddress } from "../../activities/installation/garden-access.ts";
import { parseKubeconfig } from "../../kube/index.ts";

/** The garden's address and authority, as this worker's own kubeconfig has them: its seed's pods reach it there, too. */
export function readGardenAddress(file: string): GardenAddress {
  const { server, cluster, directory } = parseKubeconfig(readFileSync(file, "utf8"), dirname(resolve(file)));
  const { "certificate-authority-data": data, "certificate-authority": path } = cluster;
  if (typeof data === "string") return { server, ca: Buffer.from(data, "base64").toString() };
  return typeof path === "string" ? { server, ca: readFileSync(resolve(directory, path), "utf8") } : { server };
}

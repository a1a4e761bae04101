import type { KubeObject } from "../../api/index.ts";
import { RESOURCE_MANAGER_IMAGE } from "../context.ts";
import { mountFiles } from "../files.ts";
import { HOST_PORTS } from "../on-nodes/host-ports.ts";
import { placed, type PodPlace } from "../on-nodes/place.ts";
import { configurationOf, PORTS, RESOURCE_MANAGER, RESOURCE_MANAGER_SERVER } from "./configuration.ts";
import { CONFIGURATION_PATH, resourceManagerObjects } from "./workload.ts";

/** Where a seed keeps what is its own and no Shoot's, as upstream. */
export const SEED_NAMESPACE = "garden";

/** What the seed's resource manager is made from. */
export interface SeedResourceManager {
  /** SHA-256 of the Secret with its server's certificate. */
  readonly checksum: string;
  /** Where it runs on nodes that carry their own control plane; there, one is enough. */
  readonly place?: PodPlace;
}

/**
 * The resource manager that applies ManagedResources of class `seed`, from all namespaces, in the seed itself. Its rights
 * come with deploy/options/resource-manager: a worker that could give them could do anything in the seed.
 */
export function seedResourceManager({ checksum, place }: SeedResourceManager): KubeObject[] {
  const ports = place === "host" ? HOST_PORTS.garden : PORTS;
  const configuration = configurationOf({ of: "seed", namespace: SEED_NAMESPACE }, ports);
  const config = { name: RESOURCE_MANAGER, data: { "config.yaml": configuration }, mountPath: CONFIGURATION_PATH };
  const checksums = { [RESOURCE_MANAGER_SERVER]: checksum };
  const files = mountFiles({ checksums }, { [RESOURCE_MANAGER_SERVER]: ["tls.crt", "tls.key"] }, [config]);
  const workload = resourceManagerObjects({
    namespace: SEED_NAMESPACE,
    image: RESOURCE_MANAGER_IMAGE,
    replicas: place === undefined ? 2 : 1,
    priorityClassName: "gardener-system-critical",
    configMap: config.name,
    configuration,
    files,
    ports,
  });
  return place === undefined ? workload : workload.map((object) => placed(object, place));
}

import type { KubeObject } from "../../api/index.ts";
import { RESOURCE_MANAGER_IMAGE } from "../context.ts";
import { mountFiles } from "../files.ts";
import { configurationOf, RESOURCE_MANAGER, RESOURCE_MANAGER_SERVER } from "./configuration.ts";
import { CONFIGURATION_PATH, resourceManagerObjects } from "./workload.ts";

/** Where a seed keeps what is its own and no Shoot's, as upstream. */
export const SEED_NAMESPACE = "garden";

/** What the seed's resource manager is made from. */
export interface SeedResourceManager {
  /** SHA-256 of the Secret with its server's certificate. */
  readonly checksum: string;
}

/**
 * The resource manager that applies ManagedResources of class `seed`, from all namespaces, in the seed itself. Its rights
 * come with deploy/options/resource-manager: a worker that could give them could do anything in the seed.
 */
export function seedResourceManager({ checksum }: SeedResourceManager): KubeObject[] {
  const configuration = configurationOf({ of: "seed", namespace: SEED_NAMESPACE });
  const config = { name: RESOURCE_MANAGER, data: { "config.yaml": configuration }, mountPath: CONFIGURATION_PATH };
  const checksums = { [RESOURCE_MANAGER_SERVER]: checksum };
  const files = mountFiles({ checksums }, { [RESOURCE_MANAGER_SERVER]: ["tls.crt", "tls.key"] }, [config]);
  return resourceManagerObjects({
    namespace: SEED_NAMESPACE,
    image: RESOURCE_MANAGER_IMAGE,
    replicas: 2,
    priorityClassName: "gardener-system-critical",
    configMap: config.name,
    configuration,
    files,
  });
}

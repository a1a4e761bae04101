import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { writeClusterctlRepository } from "../../scripts/clusterctl-repository.ts";
import { findBinary } from "./binary.ts";

/** The repository that the project's script writes from deploy/cluster-api, as clusterctl reads it. */
export interface ClusterctlRepository {
  /** What `clusterctl generate` prints; throws what it said when it failed. No management cluster is asked. */
  generate(args: readonly string[], variables: Readonly<Record<string, string>>): Promise<string>;
  close(): Promise<void>;
}

/** Writes the repository into a folder of its own, which `close` removes. */
export async function openClusterctlRepository(): Promise<ClusterctlRepository> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-clusterctl-repository-"));
  await writeClusterctlRepository(folder);
  const clusterctl = await findBinary("clusterctl");
  return {
    async generate(args, variables) {
      const env = { XDG_CONFIG_HOME: folder, ...variables };
      const all = ["generate", ...args, "--config", join(folder, "clusterctl.yaml")];
      return (await execa(clusterctl, all, { env, timeout: 60_000 })).stdout;
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

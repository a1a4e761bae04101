import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import type { Node } from "../../src/kube/index.ts";
import { kubeconfigFile } from "../../src/local/cluster/clusters.ts";
import type { Environment } from "../../src/local/environment/environment.ts";
import { withEnvironmentNames } from "../../src/local/process/name-resolution.ts";
import { findBinary } from "./binary.ts";
import type { LocalEnvironment } from "./local-environment.ts";

/** A management cluster as its users have it: by kubectl and clusterctl. What a program says when it fails is thrown. */
export interface ManagementCluster {
  kubectl(args: readonly string[], input?: string): Promise<string>;
  clusterctl(...args: readonly string[]): Promise<string>;
  /** Runs kubectl with the kubeconfig that clusterctl gives now, which finds the API server's name by the environment's DNS server. */
  inCluster(cluster: string, args: readonly string[], input?: string): Promise<string>;
  /** A Cluster's Nodes, by the kubeconfig that clusterctl gives now. */
  nodes(cluster: string): Promise<readonly Node[]>;
  /** Runs a page's commands as they stand, but for the environment's names, and stops at the first that fails; what they printed. */
  follow(commands: string): Promise<string>;
  close(): Promise<void>;
}

/** The namespace of the example Clusters. */
export const clusterNamespace = "garden-dev";

/** The garden of a local environment with Cluster API. */
export async function openManagementCluster({ environment }: LocalEnvironment): Promise<ManagementCluster> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-clusterctl-"));
  const [kubectl, clusterctl] = [await findBinary("kubectl"), await findBinary("clusterctl")];
  const garden = kubeconfigFile(environment, "garden");
  const { PATH = "", HOME = "" } = process.env;
  const env = { PATH, HOME, KUBECONFIG: garden, XDG_CONFIG_HOME: folder };
  const run = async (command: string, args: readonly string[], input = "") =>
    (await execa(command, args, { env, extendEnv: false, input, timeout: 60_000 })).stdout;
  const inCluster: ManagementCluster["inCluster"] = async (cluster, args, input) => {
    const file = join(folder, `${cluster}.yaml`);
    const kubeconfig = await run(clusterctl, ["get", "kubeconfig", cluster, "--namespace", clusterNamespace]);
    await writeFile(file, kubeconfig, { mode: 0o600 });
    const wanted = { command: kubectl, args: ["--kubeconfig", file, ...args] };
    const named = await withEnvironmentNames(environment, wanted);
    return await run(named.command, named.args, input);
  };
  return {
    inCluster,
    kubectl: (args, input) => run(kubectl, ["--namespace", clusterNamespace, ...args], input),
    clusterctl: (...args) => run(clusterctl, [...args, "--namespace", clusterNamespace]),
    async nodes(cluster) {
      const list = JSON.parse(await inCluster(cluster, ["get", "nodes", "--output", "json"])) as { items: Node[] };
      return list.items;
    },
    async follow(commands) {
      const programs = await mkdtemp(join(folder, "bin-"));
      for (const [name, program] of Object.entries({ kubectl, clusterctl }))
        await symlink(program, join(programs, name));
      const options = { env: { ...env, PATH: `${programs}:${PATH}` }, extendEnv: false, cwd: folder, timeout: 240_000 };
      const script = withNamesOf(environment, commands);
      return (await execa("bash", ["-euo", "pipefail", "-c", script], options)).stdout;
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Text about environment `local`, told of another one. */
const withNamesOf = ({ domain, gateway, network }: Environment, text: string): string =>
  text.replaceAll("perennial.test", domain).replaceAll("172.30.0.0/16", network).replaceAll("172.30.0.1", gateway);

/** An example of deploy/examples/cluster-api, with the names of the environment and networks that nothing else in it has. */
export async function renderExample({ environment }: LocalEnvironment, name: string): Promise<string> {
  const file = join(import.meta.dirname, `../../deploy/examples/cluster-api/${name}.yaml`);
  return withNamesOf(environment, await readFile(file, "utf8"))
    .replaceAll(/10\.18(\d)\.0\.0\/16/g, "100.8$1.0.0/16")
    .replaceAll(/10\.19(\d)\.0\.0\/16/g, "100.9$1.0.0/16");
}

import { join } from "node:path";
import type { KubeClient } from "../../kube/index.ts";
import { issueKubeconfig, type RunningCluster } from "../cluster/clusters.ts";
import { writeIfChanged } from "../cluster/private-file.ts";
import type { Environment } from "../environment/environment.ts";
import { withEnvironmentNames } from "../process/name-resolution.ts";
import { createPorts } from "../process/ports.ts";
import type { Processes } from "../process/processes.ts";
import { CORE_NAMESPACE, readCoreObjects } from "./core-objects.ts";
import { managerFlags } from "./manager-flags.ts";

/** The process of Cluster API's core manager in an environment. */
export const coreManagerName = "cluster-api-manager";

/** The garden that the core manager serves, and how it is reached. */
export interface CoreManagerDeps {
  readonly environment: Environment;
  readonly processes: Processes;
  readonly binary: string;
  readonly garden: RunningCluster;
  readonly client: KubeClient;
}

/**
 * Starts Cluster API's core manager for the garden, as its own service account, and has its webhooks asked. It resolves names by the
 * environment's DNS server, so that it finds Shoots' API servers as users do.
 */
export async function startCoreManager({
  environment,
  processes,
  binary,
  garden,
  client,
}: CoreManagerDeps): Promise<void> {
  const { stateDir, gateway: host } = environment;
  const running = (await processes.list()).some((process) => process.name === coreManagerName && process.running);
  const claim = async (part: string, at: string) =>
    await createPorts(environment).claim({ owner: `${coreManagerName}/${part}`, host: at, running });
  const webhookPort = await claim("webhooks", "0.0.0.0");
  const healthPort = await claim("health", "127.0.0.1");
  const metricsPort = await claim("metrics", "127.0.0.1");
  const authority = await garden.pki.authority("ca-cluster-api");
  const request = { name: coreManagerName, commonName: coreManagerName, hosts: [host] };
  const { certificateFile, keyFile, certificate } = await garden.pki.issue(authority, request);
  const kubeconfig = await issueKubeconfig(garden, account);
  const kubeconfigFile = await writeIfChanged(
    join(stateDir, "identities", `${coreManagerName}.garden.yaml`),
    kubeconfig,
  );
  const args = managerFlags({ kubeconfigFile, certificateFile, keyFile, webhookPort, healthPort, metricsPort });
  await processes.start({
    name: coreManagerName,
    ...(await withEnvironmentNames(environment, { command: binary, args })),
    version: [certificate, kubeconfig].join("\n"),
    ready: async () => (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).ok,
    readyTimeout: 120_000,
    grace: 15_000,
  });
  const { webhooks } = await readCoreObjects();
  const address = { url: `https://${host}:${webhookPort}`, caBundle: authority.certificate };
  for (const configuration of webhooks(address)) await client.apply(configuration);
}

const account = {
  name: "account-capi-manager",
  commonName: `system:serviceaccount:${CORE_NAMESPACE}:capi-manager`,
  organization: `system:serviceaccounts:${CORE_NAMESPACE}`,
};

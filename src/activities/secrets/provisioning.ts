import { PURPOSE_LABEL } from "../../api/labels.ts";
import { CredentialsBinding, OperatingSystemConfig, SecretBinding } from "../../api/index.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import {
  nodeAgentSecret,
  operatingSystemConfigName,
  poolsOf,
  RESOURCE_MANAGER,
  type ControlPlaneContext,
} from "../../components/index.ts";
import { Secret, type KubeClient } from "../../kube/index.ts";
import { announceKubeconfig } from "../control-plane/cluster.ts";
import { removeLastingToken } from "./lasting-token.ts";
import { readContext } from "../control-plane/context.ts";
import { configurationProblem, StepError } from "../step-error.ts";
import { referencedSecret } from "../secret-reference.ts";
import type { SecretData } from "./store.ts";
import { ensureSecrets } from "./secrets.ts";
import type { ShootClients } from "../shoot/clients.ts";
import { patchShootStatus } from "../shoot/patch.ts";

/** Every write into the seed goes through `seedClient`, which is the run's fenced client. */
export interface ProvisioningDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly shootClients: ShootClients;
  /** What the garden keeps of these Secrets of the Shoot, by name. */
  keptSecrets(run: ShootRun, names: readonly string[]): Promise<ReadonlyMap<string, SecretData>>;
}

/** Keys, certificates, credentials, and what machines read. */
export function createProvisioning({ gardenClient, seedClient, shootClients, keptSecrets }: ProvisioningDeps) {
  return {
    /** Generated once, kept in Secrets of the Shoot's namespace and in the garden; certificates follow the names they are for. */
    async deploySecrets(run: ShootRun): Promise<void> {
      const kept = (names: readonly string[]) => keptSecrets(run, names);
      const context = await readContext(gardenClient, seedClient, run);
      await ensureSecrets(seedClient, context, { kept });
      await noteResourceManager(gardenClient, run, context);
      await announceKubeconfig(seedClient, run);
    },

    /** Copies the user's credentials for the provider, as they are now. */
    async deployCloudProviderSecret(run: ShootRun): Promise<void> {
      const context = await readContext(gardenClient, seedClient, run);
      const { namespace, name } = await readCredentials(gardenClient, context);
      const secret = await gardenClient.read(Secret, { namespace, name });
      if (secret === undefined)
        throw configurationProblem(`Secret ${namespace}/${name} with the provider's credentials does not exist`);
      await seedClient.apply({
        apiVersion: "v1",
        kind: "Secret",
        metadata: {
          name: "cloudprovider",
          namespace: run.technicalID,
          labels: { [PURPOSE_LABEL]: "cloudprovider" },
        },
        type: "Opaque",
        data: secret.data ?? {},
      });
    },

    /** For each pool what its machines are to be, in the Shoot. */
    async deployNodeAgentSecrets(run: ShootRun): Promise<void> {
      const context = await readContext(gardenClient, seedClient, run);
      const shootClient = await shootClients.get(run.technicalID);
      const secrets = await seedClient.list(Secret, { namespace: run.technicalID });
      const data = new Map(secrets.map((secret) => [secret.metadata.name, secret.data ?? {}]));
      const valueOf = (secret: string, key: string) => readKey(data, run.technicalID, secret, key);
      await removeLastingToken(seedClient, shootClient, run.technicalID);
      for (const pool of poolsOf(context)) {
        const name = operatingSystemConfigName(context, pool, "reconcile");
        const config = await readConfig(seedClient, run.technicalID, name);
        await shootClient.apply(nodeAgentSecret(context, pool, config, valueOf));
      }
    },
  };
}

/**
 * Writes into the Shoot's status that it has a resource manager, before that is deployed: by this it is found again when
 * nothing asks for it any more. Its Secret tells of one that an earlier release has deployed.
 */
async function noteResourceManager(
  gardenClient: KubeClient,
  run: ShootRun,
  { shoot, managesResources, checksums }: ControlPlaneContext,
): Promise<void> {
  if (shoot.status?.managesResources === true) return;
  if (managesResources !== true && checksums[RESOURCE_MANAGER] === undefined) return;
  await patchShootStatus(gardenClient, run, { managesResources: true });
}

/** The Secret that the Shoot's binding names; the older kind of binding is still in use upstream. */
async function readCredentials(gardenClient: KubeClient, { shoot }: ControlPlaneContext) {
  const { namespace } = shoot.metadata;
  const { credentialsBindingName, secretBindingName } = shoot.spec;
  if (credentialsBindingName !== undefined) {
    const binding = await gardenClient.read(CredentialsBinding, { namespace, name: credentialsBindingName });
    if (binding === undefined)
      throw configurationProblem(`CredentialsBinding ${namespace}/${credentialsBindingName} does not exist`);
    const who = `CredentialsBinding ${namespace}/${credentialsBindingName}`;
    return referencedSecret(binding.credentialsRef, { namespace, who });
  }
  const name = secretBindingName ?? "";
  const binding = await gardenClient.read(SecretBinding, { namespace, name });
  if (binding === undefined) throw configurationProblem(`SecretBinding ${namespace}/${name} does not exist`);
  const { name: secret, namespace: elsewhere } = binding.secretRef;
  const who = `SecretBinding ${namespace}/${name}`;
  return referencedSecret({ name: secret, namespace: elsewhere }, { namespace, who });
}

async function readConfig(seedClient: KubeClient, namespace: string, name: string): Promise<OperatingSystemConfig> {
  const config = await seedClient.read(OperatingSystemConfig, { namespace, name });
  if (config === undefined) throw new StepError(`OperatingSystemConfig ${namespace}/${name} does not exist yet`);
  return config;
}

function readKey(
  data: ReadonlyMap<string, Readonly<Record<string, string>>>,
  namespace: string,
  secret: string,
  key: string,
): string {
  const value = data.get(secret)?.[key];
  if (value === undefined) throw configurationProblem(`Secret ${namespace}/${secret} has no key ${key}`);
  return value;
}

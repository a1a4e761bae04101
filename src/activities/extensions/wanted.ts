import { Infrastructure, OperatingSystemConfig, type Raw } from "../../api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import {
  containerRuntimeObjects,
  controlPlaneObject,
  dnsRecordObject,
  extensionObjects,
  infrastructureObject,
  networkObject,
  operatingSystemConfigName,
  operatingSystemConfigs,
  poolsOf,
  workerObject,
  type ControlPlaneContext,
  type SeedContext,
} from "../../components/index.ts";
import { refTo, type KubeClient } from "../../kube/index.ts";
import { deployBackupEntry } from "../backup/entry.ts";
import { deployDnsCredentials } from "../control-plane/dns.ts";
import { StepError } from "../step-error.ts";
import type { AppliedKind, Purpose } from "../../api/extensions/kinds.ts";

/** Which objects are wanted, and where to find what they are made from. */
export interface Wanted {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly context: SeedContext;
  readonly kind: AppliedKind;
  readonly purpose: Purpose | undefined;
  /** Under which they are claimed in the garden. */
  readonly epoch: number;
}

/** The Shoot's objects of a kind, with what other extensions have reported filled in from the seed. */
export const wantedObjects = (wanted: Wanted): Promise<readonly KubeObject[]> => builders[wanted.kind](wanted);

/** How the objects of each kind that flows write are made. */
const builders: Readonly<Record<AppliedKind, (wanted: Wanted) => Promise<readonly KubeObject[]>>> = {
  Infrastructure: async ({ context }) => [infrastructureObject(context)],
  ControlPlane: async ({ seedClient, context }) => [
    controlPlaneObject(context, await readProviderStatus(seedClient, context)),
  ],
  Network: async ({ context }) => [networkObject(context)],
  DNSRecord: async ({ gardenClient, seedClient, context, purpose }) => {
    const name = purpose === "external" ? "external" : "internal";
    return [dnsRecordObject(context, name, await deployDnsCredentials(gardenClient, seedClient, context, name))];
  },
  BackupEntry: async ({ gardenClient, seedClient, context, epoch }) => [
    await deployBackupEntry({ gardenClient, seedClient, context, epoch }),
  ],
  OperatingSystemConfig: async ({ context }) =>
    poolsOf(context).flatMap((pool) => operatingSystemConfigs(context, pool)),
  Extension: async ({ context, purpose }) => extensionObjects(context, purpose),
  ContainerRuntime: async ({ context }) => containerRuntimeObjects(context),
  Worker: async ({ seedClient, context }) => [await worker(seedClient, context)],
};

async function worker(seedClient: KubeClient, context: ControlPlaneContext): Promise<KubeObject> {
  const userData = await Promise.all(
    poolsOf(context).map(async (pool) => {
      const name = operatingSystemConfigName(context, pool, "provision");
      const config = await seedClient.read(OperatingSystemConfig, { namespace: context.namespace, name });
      const secret = config?.status?.cloudConfig?.secretRef.name;
      if (secret === undefined)
        throw new StepError(`OperatingSystemConfig ${context.namespace}/${name} has no user data yet`);
      return [pool.name, { name: secret, key: "cloud_config" }] as const;
    }),
  );
  const infrastructureProviderStatus = await readProviderStatus(seedClient, context);
  return workerObject(context, {
    userData: Object.fromEntries(userData),
    ...(infrastructureProviderStatus === undefined ? {} : { infrastructureProviderStatus }),
  });
}

async function readProviderStatus(
  seedClient: KubeClient,
  { shoot, namespace }: ControlPlaneContext,
): Promise<Raw | undefined> {
  const ref = refTo(Infrastructure, { namespace, name: shoot.metadata.name });
  return (await seedClient.read(ref))?.status?.providerStatus;
}

import { isIP } from "node:net";
import type {
  ContainerRuntime,
  ControlPlane,
  DNSRecord,
  Extension,
  ExtensionBackupEntry,
  Infrastructure,
  Network,
  Raw,
} from "../api/index.ts";
import { poolsOf, type ControlPlaneContext } from "./context.ts";
import { backupSettings } from "./etcd/backup-place.ts";
import { backupEntryName } from "../api/extensions/backup-entry.ts";
import { backupEntrySecretName, GARDEN_NAMESPACE } from "../api/names.ts";
import { networksOf } from "./networks.ts";
import { poolLabels } from "./node/pool.ts";

const apiVersion = "extensions.gardener.cloud/v1alpha1";

/** The Secret with the user's cloud credentials, copied into the Shoot's namespace. */
export const cloudProviderSecretRef = ({ namespace }: ControlPlaneContext) => ({ name: "cloudprovider", namespace });

/** What the provider has to build before there can be machines. */
export function infrastructureObject(context: ControlPlaneContext): Infrastructure {
  const { region, provider } = context.shoot.spec;
  return {
    apiVersion,
    kind: "Infrastructure",
    metadata: metadata(context),
    spec: {
      type: provider.type,
      region,
      secretRef: cloudProviderSecretRef(context),
      ...(context.sshPublicKey === undefined ? {} : { sshPublicKey: context.sshPublicKey }),
      ...(provider.infrastructureConfig ? { providerConfig: provider.infrastructureConfig } : {}),
    },
  };
}

/** What the provider adds to the control plane, given what it built. */
export function controlPlaneObject(context: ControlPlaneContext, infrastructureProviderStatus?: Raw): ControlPlane {
  const { region, provider } = context.shoot.spec;
  return {
    apiVersion,
    kind: "ControlPlane",
    metadata: metadata(context),
    spec: {
      type: provider.type,
      region,
      secretRef: cloudProviderSecretRef(context),
      ...(infrastructureProviderStatus ? { infrastructureProviderStatus } : {}),
      ...(provider.controlPlaneConfig ? { providerConfig: provider.controlPlaneConfig } : {}),
    },
  };
}

/** The network between the Shoot's pods. */
export function networkObject(context: ControlPlaneContext): Network {
  const { networking } = context.shoot.spec;
  const { pods, services } = networksOf(context);
  return {
    apiVersion,
    kind: "Network",
    metadata: metadata(context),
    spec: {
      type: networking?.type ?? "",
      podCIDR: pods,
      serviceCIDR: services,
      ipFamilies: networking?.ipFamilies ?? ["IPv4"],
      ...(networking?.providerConfig ? { providerConfig: networking.providerConfig } : {}),
    },
  };
}

/** The Shoot's Extensions that act in a phase of an operation; all of them unless it is said. Named after their types. */
export function extensionObjects(
  { shoot, namespace, extensions = [] }: ControlPlaneContext,
  phase?: string,
): Extension[] {
  const due = extensions.filter(({ reconcile }) => phase === undefined || reconcile === phase);
  return due.map(({ type }) => {
    const { providerConfig } = (shoot.spec.extensions ?? []).find((one) => one.type === type) ?? {};
    const spec = { type, ...(providerConfig ? { providerConfig } : {}) };
    return { apiVersion, kind: "Extension", metadata: { name: type, namespace }, spec };
  });
}

/** What the Shoot's pools have besides their own container runtime: an object for each type and pool. */
export function containerRuntimeObjects(context: ControlPlaneContext): ContainerRuntime[] {
  return poolsOf(context).flatMap((pool) =>
    (pool.cri?.containerRuntimes ?? []).map(({ type, providerConfig }) => ({
      apiVersion,
      kind: "ContainerRuntime",
      metadata: { name: `${type}-${pool.name}`, namespace: context.namespace },
      spec: {
        type,
        binaryPath: RUNTIME_BINARIES,
        workerPool: { name: pool.name, selector: { matchLabels: poolLabels(pool) } },
        ...(providerConfig ? { providerConfig } : {}),
      },
    })),
  );
}

/** Where machines look for the binaries of container runtimes (upstream: ContainerDRuntimeContainersBinFolder). */
const RUNTIME_BINARIES = "/var/bin/containerruntimes";

/** The Shoot's part of a bucket; that of a seed is named after the Seed. Throws where no backups are kept. */
export function backupEntryObject(
  context: ControlPlaneContext,
  backupBucketProviderStatus?: Raw,
  bucketName = context.seed?.metadata.uid,
): ExtensionBackupEntry {
  const { namespace, shoot, seed } = context;
  const backup = backupSettings(context);
  if (backup === undefined || bucketName === undefined) {
    const keeper = seed === undefined ? `Shoot ${shoot.metadata.name}` : `Seed ${seed.metadata.name}`;
    throw new Error(`cannot describe BackupEntry of ${namespace}: ${keeper} keeps no backups`);
  }
  const name = backupEntryName(namespace, shoot.metadata.uid ?? "");
  return {
    apiVersion,
    kind: "BackupEntry",
    metadata: { name },
    spec: {
      type: backup.provider,
      region: backup.region ?? seed?.spec.provider.region ?? shoot.spec.region,
      bucketName,
      secretRef: { name: backupEntrySecretName(name), namespace: GARDEN_NAMESPACE },
      ...(backupBucketProviderStatus ? { backupBucketProviderStatus } : {}),
    },
  };
}

/** Who manages a domain: the type of DNS provider, and its zone if that is known. */
export interface DnsProvider {
  readonly type: string;
  readonly zone?: string;
}

/** Name of an own copy of the DNS provider's credentials in the Shoot's namespace. */
export const dnsSecretName = ({ shoot }: ControlPlaneContext, purpose: "internal" | "external") =>
  `dnsrecord-${shoot.metadata.name}-${purpose}`;

/** `api.<domain>` of the API server's load balancer; throws while there is no address or no such domain. */
export function dnsRecordObject(
  context: ControlPlaneContext,
  purpose: "internal" | "external",
  provider: DnsProvider,
): DNSRecord {
  const { apiServerAddress } = context;
  return dnsRecordOf(context, purpose, provider, apiServerAddress === undefined ? [] : [apiServerAddress]);
}

/**
 * `api.<domain>` of all these addresses: of the IPv4 addresses among them, else of those of IPv6, else of the first host name. Throws
 * where there is no address or no such domain.
 */
export function dnsRecordOf(
  context: ControlPlaneContext,
  purpose: "internal" | "external",
  { type, zone }: DnsProvider,
  addresses: readonly string[],
): DNSRecord {
  const { namespace, shoot } = context;
  const domain = purpose === "internal" ? context.internalDomain : context.externalDomain;
  if (domain === undefined)
    throw new Error(`cannot describe ${purpose} DNSRecord of ${namespace}: it has no such domain`);
  const ofType = (wanted: RecordType) => addresses.filter((address) => recordType(address) === wanted);
  const values = [ofType("A"), ofType("AAAA"), ofType("CNAME").slice(0, 1)].find(({ length }) => length > 0);
  if (values?.[0] === undefined)
    throw new Error(`cannot describe ${purpose} DNSRecord of ${namespace}: kube-apiserver has no address yet`);
  return {
    apiVersion,
    kind: "DNSRecord",
    metadata: { name: `${shoot.metadata.name}-${purpose}`, namespace },
    spec: {
      type,
      secretRef: { name: dnsSecretName(context, purpose), namespace },
      ...(zone === undefined ? {} : { zone }),
      name: `api.${domain}`,
      recordType: recordType(values[0]),
      values,
      ttl: context.dnsTtl ?? 120,
    },
  };
}

type RecordType = DNSRecord["spec"]["recordType"];

function recordType(address: string): RecordType {
  return ({ 4: "A", 6: "AAAA" } as const)[isIP(address)] ?? "CNAME";
}

function metadata({ shoot, namespace }: ControlPlaneContext) {
  return { name: shoot.metadata.name, namespace };
}

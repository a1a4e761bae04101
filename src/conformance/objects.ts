import { randomBytes, randomUUID } from "node:crypto";
import { backupEntryName } from "../api/extensions/backup-entry.ts";
import { EXTENSIONS_API, isClusterScoped, type ExtensionKind, type ExtensionObject } from "../api/extensions/kinds.ts";
import { POOL_LABEL } from "../api/labels.ts";
import { GARDEN_NAMESPACE } from "../api/names.ts";
import type { KubeObject } from "../api/schema/meta.ts";
import type { Fields, Subject } from "./subject.ts";

/** Where one object of a trial lives: the technical ID of a Shoot that does not exist. */
export interface Place {
  /** The Shoot's namespace in the seed, and the name of its Cluster. */
  readonly namespace: string;
  readonly shoot: string;
  readonly uid: string;
}

/** A new place; no two are the same. */
export function newPlace(): Place {
  const shoot = `v${randomBytes(4).toString("hex")}`;
  return { namespace: `shoot--verify--${shoot}`, shoot, uid: randomUUID() };
}

/** Where the Secrets of an object are looked for: its own namespace, or the garden's for a cluster-scoped kind. */
export const secretsOf = (kind: ExtensionKind, { namespace }: Place): string =>
  isClusterScoped(kind) ? GARDEN_NAMESPACE : namespace;

/** The Secret that `spec.secretRef` names; each place has its own. */
export const credentialsName = (kind: ExtensionKind, { shoot }: Place): string =>
  isClusterScoped(kind) ? `verify-${shoot}` : "cloudprovider";

/** The object of the trial as a caller would write it, without annotations. */
export function subjectObject({ kind, type, spec, providerConfig }: Subject, place: Place): KubeObject {
  const { namespace, shoot } = place;
  const metadata = isClusterScoped(kind) ? { name: globalName(kind, place) } : { name: shoot, namespace };
  const config = providerConfig === undefined ? {} : { providerConfig };
  const chosen = fieldsOf[kind](place, { name: credentialsName(kind, place), namespace: secretsOf(kind, place) });
  return { apiVersion: EXTENSIONS_API, kind, metadata, spec: { type, ...chosen, ...config, ...spec } };
}

/** An entry is named after the Shoot that it belongs to. */
const globalName = (kind: ExtensionKind, { namespace, shoot, uid }: Place): string =>
  kind === "BackupEntry" ? backupEntryName(namespace, uid) : `verify-${shoot}`;

/** A change of `spec` that asks for nothing new where the kind has no better one: the class that counts by default is spelled out. */
export const changeOf = ({ kind }: Pick<ExtensionObject, "kind">): Fields =>
  kind === "DNSRecord" ? { values: ["192.0.2.2"] } : { class: "shoot" };

type Reference = Readonly<{ name: string; namespace: string }>;

const region = "local";

/** What the flows of a Shoot fill in, kind by kind. */
const fieldsOf: Readonly<Record<ExtensionKind, (place: Place, secretRef: Reference) => Fields>> = {
  Infrastructure: (_, secretRef) => ({ region, secretRef }),
  ControlPlane: (_, secretRef) => ({ region, secretRef }),
  Network: () => ({ podCIDR: "10.96.0.0/16", serviceCIDR: "10.112.0.0/16", ipFamilies: ["IPv4"] }),
  DNSRecord: ({ shoot }, secretRef) => ({
    secretRef,
    name: `api.${shoot}.verify.example.org`,
    recordType: "A",
    values: ["192.0.2.1"],
    ttl: 120,
  }),
  OperatingSystemConfig: () => ({
    purpose: "provision",
    units: [{ name: "verify.service", command: "start", enable: true, content: "[Service]\nExecStart=/bin/true\n" }],
    files: [
      { path: "/etc/verify", permissions: 0o644, content: { inline: { encoding: "b64", data: "dmVyaWZ5Cg==" } } },
    ],
  }),
  Worker: (_, secretRef) => ({ region, secretRef, pools: [examplePool] }),
  ContainerRuntime: () => ({
    binaryPath: "/var/bin/containerruntimes",
    workerPool: { name: examplePool.name, selector: { matchLabels: { [POOL_LABEL]: examplePool.name } } },
  }),
  Extension: () => ({}),
  BackupBucket: (_, secretRef) => ({ region, secretRef }),
  BackupEntry: ({ shoot }, secretRef) => ({ region, secretRef, bucketName: `verify-${shoot}` }),
  Bastion: () => ({ userData: "IyEvYmluL3NoCg==", ingress: [{ ipBlock: { cidr: "192.0.2.0/24" } }] }),
  SelfHostedShootExposure: () => ({
    port: 443,
    endpoints: [{ nodeName: "verify", addresses: [{ type: "InternalIP", address: "192.0.2.3" }] }],
  }),
};

/** A pool of one small machine; its user data is what an operating system's controller would have written. */
export const examplePool = {
  name: "worker",
  machineType: "local",
  machineImage: { name: "local", version: "1.0.0" },
  architecture: "amd64",
  kubernetesVersion: "1.34.4",
  minimum: 1,
  maximum: 1,
  maxSurge: 1,
  maxUnavailable: 0,
  nodeAgentSecretName: "gardener-node-agent-worker",
  userDataSecretRef: { name: "user-data", key: "cloud_config" },
  nodeTemplate: { capacity: { cpu: "1", memory: "2Gi", gpu: "0" } },
};

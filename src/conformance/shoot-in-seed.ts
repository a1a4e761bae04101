import { FORCE_DELETION_ANNOTATION, GENERIC_KUBECONFIG_ANNOTATION } from "../api/annotations.ts";
import { EXTENSIONS_API } from "../api/extensions/kinds.ts";
import {
  BACKUP_PROVIDER_LABEL,
  HIGH_AVAILABILITY_LABEL,
  NETWORKING_PROVIDER_LABEL,
  POD_SECURITY_LABEL,
  ROLE_LABEL,
  SEED_PROVIDER_LABEL,
  SHOOT_PROVIDER_LABEL,
} from "../api/labels.ts";
import { GENERIC_KUBECONFIG, SHOOT_KUBECONFIG_FOLDER } from "../api/names.ts";
import type { KubeObject } from "../api/schema/meta.ts";
import { credentialsName, secretsOf, type Place } from "./objects.ts";
import type { Fields, Subject } from "./subject.ts";

/** How the Shoot is, as its Cluster tells extensions. */
export interface ShootState {
  readonly lastOperation: "Processing" | "Failed";
  /** It is being deleted, whatever is left behind. */
  readonly byForce?: boolean;
}

/** What a seed holds of a Shoot before its extensions are asked: the namespace, the Cluster, the credentials and the rest. */
export function shootObjects(subject: Subject, place: Place): readonly KubeObject[] {
  const { kind } = subject;
  const namespace = secretsOf(kind, place);
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    { apiVersion: "v1", kind: "Namespace", metadata: { name: place.namespace, labels: namespaceLabels(subject.type) } },
    { ...secret, metadata: { name: GENERIC_KUBECONFIG, namespace: place.namespace }, stringData: { kubeconfig } },
    clusterObject(subject, place, { lastOperation: "Processing" }),
    {
      ...secret,
      metadata: { name: "user-data", namespace: place.namespace },
      stringData: { cloud_config: "#!/bin/sh\n" },
    },
    ...credentials(subject, place),
    ...(subject.objects ?? []).map((object) => inPlace(object, place)),
  ];
}

/** The Secret that the object's `spec.secretRef` names; the subject's own, where it brings one. */
export function credentials({ kind, objects = [] }: Subject, place: Place): readonly KubeObject[] {
  const metadata = { name: credentialsName(kind, place), namespace: secretsOf(kind, place) };
  const given = objects.find((object) => object.kind === "Secret" && object.metadata.name === "cloudprovider");
  return [{ ...secret, stringData: {}, ...given, metadata }];
}

/** What extensions know of the Shoot. */
export function clusterObject({ type, cluster = {} }: Subject, place: Place, state: ShootState): KubeObject {
  const { namespace, shoot, uid } = place;
  const lastUpdateTime = new Date().toISOString();
  const deletion = state.byForce
    ? { deletionTimestamp: lastUpdateTime, annotations: { [FORCE_DELETION_ANNOTATION]: "true" } }
    : {};
  const spec = {
    cloudProfile: { apiVersion: CORE, kind: "CloudProfile", metadata: { name: "verify" }, spec: profileSpec(type) },
    seed: { apiVersion: CORE, kind: "Seed", metadata: { name: "verify" }, spec: seedSpec(type) },
    shoot: {
      apiVersion: CORE,
      kind: "Shoot",
      metadata: { name: shoot, namespace: "garden-verify", uid, generation: 1, ...deletion },
      spec: shootSpec(type),
      status: {
        technicalID: namespace,
        uid,
        seedName: "verify",
        lastOperation: { type: "Reconcile", state: state.lastOperation, progress: 50, description: "", lastUpdateTime },
      },
    },
  };
  const metadata = { name: namespace, annotations: { [GENERIC_KUBECONFIG_ANNOTATION]: GENERIC_KUBECONFIG } };
  return { apiVersion: EXTENSIONS_API, kind: "Cluster", metadata, spec: laidOver(spec, cluster) };
}

/** As flows label the namespace of a Shoot of which all is of one type. */
const namespaceLabels = (type: string) => ({
  [ROLE_LABEL]: "shoot",
  [SEED_PROVIDER_LABEL]: type,
  [SHOOT_PROVIDER_LABEL]: type,
  [NETWORKING_PROVIDER_LABEL]: type,
  [BACKUP_PROVIDER_LABEL]: type,
  [POD_SECURITY_LABEL]: "privileged",
  [HIGH_AVAILABILITY_LABEL]: "true",
});

/** With the token of an access Secret it would open the Shoot's API server, which does not exist. */
const kubeconfig = `apiVersion: v1
kind: Config
current-context: shoot
contexts: [{ name: shoot, context: { cluster: shoot, user: shoot } }]
clusters: [{ name: shoot, cluster: { server: "https://kube-apiserver" } }]
users: [{ name: shoot, user: { tokenFile: ${SHOOT_KUBECONFIG_FOLDER}/token } }]
`;

const CORE = "core.gardener.cloud/v1beta1";

const secret = { apiVersion: "v1", kind: "Secret" } as const;

const region = "local";

const profileSpec = (type: string) => ({
  type,
  kubernetes: { versions: [{ version: "1.34.4" }] },
  machineImages: [{ name: "local", versions: [{ version: "1.0.0", architectures: ["amd64"] }] }],
  machineTypes: [{ name: "local", architecture: "amd64", cpu: "1", gpu: "0", memory: "2Gi", usable: true }],
  regions: [{ name: region }],
});

const seedSpec = (type: string) => ({
  provider: { type, region },
  networks: { pods: "10.0.0.0/16", services: "10.1.0.0/16" },
  dns: {},
  ingress: { domain: "ingress.verify.example.org", controller: { kind: "nginx" } },
});

const shootSpec = (type: string) => ({
  cloudProfile: { kind: "CloudProfile", name: "verify" },
  region,
  seedName: "verify",
  kubernetes: { version: "1.34.4", kubeAPIServer: {}, kubeControllerManager: { nodeCIDRMaskSize: 24 } },
  networking: { type, pods: "10.96.0.0/16", services: "10.112.0.0/16", nodes: "10.250.0.0/16", ipFamilies: ["IPv4"] },
  provider: {
    type,
    workers: [
      {
        name: "worker",
        minimum: 1,
        maximum: 1,
        machine: { type: "local", image: { name: "local", version: "1.0.0" }, architecture: "amd64" },
      },
    ],
  },
});

/** The object in a namespace of the trial. */
const inPlace = (object: KubeObject, { namespace }: Place): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, namespace },
});

/** Fields over fields, at any depth; anything else replaces what was there. */
function laidOver(below: object, above: Fields): Fields {
  const lower = new Map<string, unknown>(Object.entries(below));
  const merged = Object.entries(above).map(([name, value]) => {
    const known = lower.get(name);
    return [name, isFields(known) && isFields(value) ? laidOver(known, value) : value] as const;
  });
  return { ...below, ...Object.fromEntries(merged) };
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

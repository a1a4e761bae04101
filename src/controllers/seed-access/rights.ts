import { backupEntryName } from "../../api/extensions/backup-entry.ts";
import {
  authorityNames,
  EXTENSION_IDENTITIES_NAMESPACE,
  GARDEN_NAMESPACE,
  generatedSecretName,
  installationAccount,
  kubeconfigSecretName,
  sshKeyPairName,
  SEED_IDENTITIES_NAMESPACE,
  statePartNames,
} from "../../api/names.ts";
import {
  FIRST_EPOCH,
  type BackupBucket,
  type BackupEntry,
  type ControllerInstallation,
  type Seed,
  type ShootBastion,
} from "../../api/index.ts";
import type { NamespacedKey, PolicyRule } from "../../kube/index.ts";
import { holdersOf, type KnownShoot } from "./known-shoot.ts";

/** Rights in one namespace of the garden; without a namespace, on what is in none. */
export interface Rights {
  readonly namespace?: string;
  readonly rules: readonly PolicyRule[];
}

/**
 * What the seed that leads a Shoot may do for it in the garden. `credentials` is the Secret that the Shoot's binding names.
 * Creation of ShootStates and Events cannot be granted by name: deploy/garden/seed-restriction.yaml restricts it.
 */
export function shootRights(shoot: KnownShoot, credentials: NamespacedKey | undefined): Rights[] {
  const { namespace } = shoot.metadata;
  const entries = entriesOf(shoot);
  const rules = [
    rule("core.gardener.cloud", "backupentries", entries, "get", "create", "patch"),
    rule("core.gardener.cloud", "backupentries/status", entries, "patch"),
    epochRule(shoot, holdersOf(shoot).leader, epochOf(shoot)),
  ];
  return inNamespaces([...writerRights(shoot, credentials), { namespace, rules }]);
}

/** What the seed that has led may do until the Shoot has arrived: all but saying where its backups are. */
export function leavingShootRights(shoot: KnownShoot, credentials: NamespacedKey | undefined): Rights[] {
  const { namespace } = shoot.metadata;
  const rules = [epochRule(shoot, holdersOf(shoot).source, epochOf(shoot) - 1)]; // a planned move raises it by one
  return inNamespaces([...writerRights(shoot, credentials), { namespace, rules }]);
}

const epochOf = ({ status }: KnownShoot): number => status?.leadership?.epoch ?? FIRST_EPOCH;

/**
 * The right to write an epoch into what the garden keeps of the Shoot. Nothing is of this resource; deploy/garden/seed-restriction.yaml
 * asks for it. It names the Seed, too: a role and its binding change one after the other.
 */
const epochRule = ({ metadata: { name, uid = "" } }: KnownShoot, seed: string | undefined, epoch: number): PolicyRule =>
  rule(
    "perennial.dev",
    "epochs",
    present(seed).map((holder) => `${name}.${uid}.${epoch}.${holder}`),
    "use",
  );

/** What a seed may do that leads, or has led and may still have something to say. */
function writerRights(shoot: KnownShoot, credentials: NamespacedKey | undefined): Rights[] {
  const { namespace, name } = shoot.metadata;
  const rules = [
    rule("core.gardener.cloud", "shoots/status", [name], "patch"),
    { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create"] },
    rule("core.gardener.cloud", "shoots/finalizers", [name], "update"), // its Secret and its BackupEntry are owned by it
    rule("core.gardener.cloud", "shootstates", [name, ...statePartNames(name)], "update", "patch", "delete"),
    { apiGroups: ["core.gardener.cloud"], resources: ["shootstates"], verbs: ["create"] },
    rule("", "secrets", secretsOf(name), "get", "create", "patch"),
    rule("", "configmaps", Object.values(authorityNames(name)), "get", "create", "patch"),
  ];
  return inNamespaces([...comingShootRights(shoot, credentials), { namespace, rules }]);
}

/** What the seed that is to lead may do until it leads: read what it prepares the Shoot's place from. It writes nothing. */
export function comingShootRights(shoot: KnownShoot, credentials: NamespacedKey | undefined): Rights[] {
  const { namespace, name } = shoot.metadata;
  const rules = [
    rule("core.gardener.cloud", "shoots", [name], "get"),
    rule("core.gardener.cloud", "shootstates", [name, ...statePartNames(name)], "get"),
    rule("core.gardener.cloud", "backupentries", entriesOf(shoot), "get"),
    rule("core.gardener.cloud", "secretbindings", present(shoot.spec.secretBindingName), "get"),
    rule("core.gardener.cloud", "namespacedcloudprofiles", ownProfilesOf(shoot), "get"),
    rule("security.gardener.cloud", "credentialsbindings", present(shoot.spec.credentialsBindingName), "get"),
    rule("", "secrets", [...new Set([...dnsSecretsOf(shoot), ...referredBy(shoot, "Secret")])].sort(), "get"),
    rule("", "configmaps", referredBy(shoot, "ConfigMap"), "get"),
  ];
  return inNamespaces([
    { namespace, rules },
    ...(credentials ? readable([credentials]) : []),
    ...exposureRights(shoot),
  ]);
}

/** The name that the Shoot's BackupEntry has, or will have. */
const entriesOf = ({ metadata, status }: KnownShoot): string[] =>
  present(status?.technicalID).map((technicalID) => backupEntryName(technicalID, metadata.uid ?? ""));

const exposureRights = ({ spec: { exposureClassName: name } }: KnownShoot): Rights[] =>
  name ? [{ rules: [rule("core.gardener.cloud", "exposureclasses", [name], "get")] }] : [];

/** What users and their tools reach the Shoot with. */
const secretsOf = (shoot: string): string[] => [
  kubeconfigSecretName(shoot),
  authorityNames(shoot).ca,
  sshKeyPairName(shoot),
];

/** CloudProfiles may be read by all seeds. */
const ownProfilesOf = ({ spec }: KnownShoot): string[] =>
  spec.cloudProfile?.kind === "NamespacedCloudProfile" ? [spec.cloudProfile.name] : [];

/** A WorkloadIdentity and a Secret may bear the same name. */
const dnsSecretsOf = ({ spec }: KnownShoot): string[] => {
  const names = (spec.dns?.providers ?? []).flatMap(({ secretName, credentialsRef }) =>
    present(credentialsRef?.kind === "Secret" ? credentialsRef.name : secretName),
  );
  return [...new Set(names)].sort();
};

/** What the Shoot names for its extensions. */
const referredBy = ({ spec }: KnownShoot, kind: "Secret" | "ConfigMap"): string[] => {
  const names = (spec.resources ?? []).flatMap(({ resourceRef }) =>
    resourceRef.kind === kind ? resourceRef.name : [],
  );
  return [...new Set(names)].sort();
};

/** What a seed that has been left may do: see that the Shoot is another's now. */
export const leftShootRights = ({ metadata: { namespace, name } }: KnownShoot): Rights[] => [
  { namespace, rules: [rule("core.gardener.cloud", "shoots", [name], "get")] },
];

/** What a seed may do with a Bastion that it makes: read whom to let in. The garden's worker says there how it is. */
export const bastionRights = ({ metadata: { namespace, name } }: ShootBastion): Rights[] => [
  { namespace, rules: [rule("operations.gardener.cloud", "bastions", [name], "get")] },
];

/** What a seed may do with a BackupEntry that it keeps, also when the Shoot is gone. */
export const entryRights = ({ metadata: { namespace, name } }: BackupEntry): Rights[] => [
  {
    namespace,
    rules: [
      rule("core.gardener.cloud", "backupentries", [name], "get", "create", "patch"),
      rule("core.gardener.cloud", "backupentries/status", [name], "patch"),
    ],
  },
];

/**
 * What a seed may do for itself: keep its Seed's status and the revision of its binding, make the bucket that its Seed asks for, and read the credentials
 * that its Seed names, and those of `sources`, the buckets from which Shoots that come to it are restored.
 */
export function seedRights(seed: Seed, sources: readonly SourceBucket[]): Rights[] {
  const { name, uid = "" } = seed.metadata;
  const { backup, dns } = seed.spec;
  const refs = [backup?.credentialsRef, dns.internal?.credentialsRef, ...(dns.defaults ?? []).map(credentialsOf)];
  const rules = [
    rule("core.gardener.cloud", "seeds", [name], "get", "list", "watch"),
    rule("core.gardener.cloud", "seeds/status", [name], "patch"),
    rule("core.gardener.cloud", "backupbuckets", sources.map(({ bucket }) => bucket.metadata.name).sort(), "get"),
  ];
  const binding = {
    namespace: SEED_IDENTITIES_NAMESPACE,
    rules: [rule("", "configmaps", [name], "get", "create", "patch")],
  };
  return inNamespaces([
    { rules },
    binding,
    ...bucketRights({ name: uid, seedName: name }),
    ...readable([...refs, ...sources.flatMap(credentialsOfSource)].flatMap(toKey)),
  ]);
}

/** A bucket from which a Shoot is restored, and the Seed that keeps it. */
export interface SourceBucket {
  readonly bucket: BackupBucket;
  readonly seed: Seed | undefined;
}

/**
 * What may be needed to read a bucket: by its name, and what its Seed names, because the bucket itself is written by its seed.
 * Of a Seed that is gone, only the bucket still says it.
 */
const credentialsOfSource = ({ bucket, seed }: SourceBucket): (Reference | undefined)[] => [
  seed === undefined ? bucket.spec.credentialsRef : seed.spec.backup?.credentialsRef,
  { name: generatedSecretName(bucket.metadata.name) },
];

/** What a seed may do with a bucket that it keeps, also when its Seed is gone. */
export function bucketRights(bucket: { readonly name: string; readonly seedName: string }): Rights[] {
  const { name, seedName } = bucket;
  const generated = generatedSecretName(name);
  return [
    {
      rules: [
        rule("core.gardener.cloud", "seeds", [seedName], "get"),
        rule("core.gardener.cloud", "backupbuckets", [name], "get", "create", "patch"),
        rule("core.gardener.cloud", "backupbuckets/status", [name], "patch"),
      ],
    },
    { namespace: GARDEN_NAMESPACE, rules: [rule("", "secrets", [generated], "get", "create", "patch")] },
  ];
}

/** What a seed may do with a controller that is installed there: read what it is made of, and say how it is. */
export function installationRights(installation: ControllerInstallation, secrets: readonly string[]): Rights[] {
  const { metadata, spec } = installation;
  const rules = [
    rule("core.gardener.cloud", "controllerinstallations", [metadata.name], "get"),
    rule("core.gardener.cloud", "controllerinstallations/status", [metadata.name], "patch"),
    rule("core.gardener.cloud", "controllerregistrations", present(spec.registrationRef.name), "get"),
    rule("core.gardener.cloud", "controllerdeployments", present(spec.deploymentRef?.name), "get"),
  ];
  return inNamespaces([
    { rules },
    { namespace: GARDEN_NAMESPACE, rules: [rule("", "secrets", [...secrets].sort(), "get")] },
    {
      namespace: EXTENSION_IDENTITIES_NAMESPACE,
      rules: [rule("", "serviceaccounts/token", [installationAccount(metadata.name)], "create")],
    },
  ]).filter(({ rules: granted }) => granted.length > 0);
}

interface Reference {
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
}

const credentialsOf = ({ credentialsRef }: { readonly credentialsRef: Reference }) => credentialsRef;

/** A WorkloadIdentity and a Secret may bear the same name. */
function toKey({ kind = "Secret", name, namespace = GARDEN_NAMESPACE }: Reference = {}): NamespacedKey[] {
  return name === undefined || kind !== "Secret" ? [] : [{ name, namespace }];
}

const readable = (secrets: readonly NamespacedKey[]): Rights[] =>
  secrets.map(({ namespace, name }) => ({ namespace, rules: [rule("", "secrets", [name], "get")] }));

/** A list of the name, if there is one. */
export const present = (name: string | undefined): string[] => (name === undefined ? [] : [name]);

/** A rule for named objects. RBAC takes no names for all names, so a rule without names is dropped by {@link inNamespaces}. */
function rule(group: string, resource: string, names: readonly string[], ...verbs: readonly string[]): PolicyRule {
  return { apiGroups: [group], resources: [resource], resourceNames: names, verbs };
}

/** One entry for each namespace, in the order in which they come, without what grants nothing. */
function inNamespaces(rights: readonly Rights[]): Rights[] {
  const merged = new Map<string | undefined, PolicyRule[]>();
  for (const { namespace, rules } of rights) {
    const granting = rules.filter(({ resourceNames }) => resourceNames === undefined || resourceNames.length > 0);
    merged.set(namespace, [...(merged.get(namespace) ?? []), ...granting]);
  }
  return [...merged].map(([namespace, rules]) => (namespace === undefined ? { rules } : { namespace, rules }));
}

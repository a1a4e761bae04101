import semver from "semver";
import { readEffectiveProfile } from "../../api/core/effective-profile.ts";
import { Shoot, type CloudProfile } from "../../api/index.ts";
import { MAINTENANCE_TRIGGER_ANNOTATION } from "../../api/annotations.ts";
import { judge, type Cause, type JsonPatchOperation, type KubeClient, type Webhook } from "../../extension/index.ts";

type Pool = NonNullable<Shoot["spec"]["provider"]["workers"]>[number];

/** The type of the providers whose Shoots are looked at here; those of others are theirs. */
const TYPE = "local";

/**
 * Fills in what only this provider knows: the network of its machines. And answers GEP-1's maintenance trigger: machines get
 * the newest version of their image, and the annotation goes.
 */
export function createLocalShootDefaulter(deps: { readonly client: KubeClient; readonly now?: () => Date }): Webhook {
  return async ({ object, operation }) => {
    const { data: shoot } = Shoot.schema.safeParse(object);
    if (shoot?.spec.provider.type !== TYPE || shoot.metadata.deletionTimestamp !== undefined) return { allowed: true };
    const triggered = shoot.metadata.annotations?.[MAINTENANCE_TRIGGER_ANNOTATION] === "maintenance";
    const profile = triggered ? await readEffectiveProfile(deps.client, shoot) : undefined;
    const now = deps.now?.() ?? new Date();
    return {
      allowed: true,
      patch: [
        ...(operation === "CREATE" ? networkPatch(shoot) : []),
        ...(profile ? imagePatch(shoot.spec.provider.workers ?? [], profile, now) : []),
        ...(triggered
          ? [{ op: "remove" as const, path: `/metadata/annotations/${MAINTENANCE_TRIGGER_ANNOTATION}` }]
          : []),
      ],
    };
  };
}

/** Judges what no other part of the garden can know: what machines of this computer do not have. */
export const judgeLocalShoot: Webhook = async ({ object, oldObject }) => {
  const { data: shoot } = Shoot.schema.safeParse(object);
  if (shoot?.spec.provider.type !== TYPE || shoot.metadata.deletionTimestamp !== undefined) return judge([]);
  const before = Shoot.schema.safeParse(oldObject).data;
  const known = new Set((before ? localCauses(before) : []).map(({ field }) => field));
  const told = new Set(before ? localWarnings(before) : []);
  return judge(
    localCauses(shoot).filter(({ field }) => !known.has(field)),
    localWarnings(shoot).filter((warning) => !told.has(warning)),
  );
};

/** Machines of a Shoot with workers need a network; without one named, it is that of this provider. */
function networkPatch({ spec }: Shoot): JsonPatchOperation[] {
  if ((spec.provider.workers ?? []).length === 0 || spec.networking?.type !== undefined) return [];
  return [{ op: "add", path: "/spec/networking", value: { ...spec.networking, type: TYPE } }];
}

function imagePatch(pools: readonly Pool[], profile: CloudProfile, now: Date): JsonPatchOperation[] {
  return pools.flatMap((pool, index): JsonPatchOperation[] => {
    const newest = newestVersion(pool, profile, now);
    if (newest === undefined) return [];
    return [{ op: "add", path: `/spec/provider/workers/${index}/machine/image/version`, value: newest }];
  });
}

/** The newest version that is meant for use, of the pool's image and for its machines; undefined where the pool has it. */
export function newestVersion({ machine }: Pool, { spec }: CloudProfile, now: Date): string | undefined {
  const { image, architecture = "amd64" } = machine;
  const offered = spec.machineImages.find(({ name }) => name === image?.name)?.versions ?? [];
  const [newest] = offered
    .filter(({ classification = "supported" }) => classification === "supported")
    .filter(({ expirationDate }) => expirationDate === undefined || new Date(expirationDate) > now)
    .filter(({ architectures = ["amd64"] }) => architectures.includes(architecture))
    .map(({ version }) => version)
    .sort(byVersion);
  return newest === undefined || (image?.version !== undefined && byVersion(newest, image.version) >= 0)
    ? undefined
    : newest;
}

const byVersion = (a: string, b: string): number =>
  semver.rcompare(semver.coerce(a) ?? "0.0.0", semver.coerce(b) ?? "0.0.0");

function localCauses({ spec }: Shoot): Cause[] {
  const { infrastructureConfig, controlPlaneConfig, workers = [] } = spec.provider;
  const none = "leave it out: the local provider has no settings";
  const disk = "leave it out: machines use the disk of this computer";
  return [
    ...(infrastructureConfig ? [{ field: "spec.provider.infrastructureConfig", message: none }] : []),
    ...(controlPlaneConfig ? [{ field: "spec.provider.controlPlaneConfig", message: none }] : []),
    ...workers.flatMap(({ providerConfig, volume, dataVolumes = [] }, index): Cause[] => {
      const field = `spec.provider.workers[${index}]`;
      return [
        ...(providerConfig ? [{ field: `${field}.providerConfig`, message: none }] : []),
        ...(volume ? [{ field: `${field}.volume`, message: disk }] : []),
        ...(dataVolumes.length > 0 ? [{ field: `${field}.dataVolumes`, message: disk }] : []),
      ];
    }),
  ];
}

/** The fields of pools that the machines of this provider do nothing about, and what they do instead. */
function localWarnings({ spec }: Shoot): string[] {
  return (spec.provider.workers ?? []).flatMap((pool, index) => {
    const field = `spec.provider.workers[${index}]`;
    const roles = Object.keys(pool.labels ?? {}).filter((label) => label.startsWith("node-role.kubernetes.io/"));
    return [
      ...(pool.maximum > pool.minimum
        ? [`${field}.maximum: nodes are not scaled by their load: the pool has ${pool.minimum}, its minimum`]
        : []),
      ...(hasFields(pool.annotations) ? [`${field}.annotations: Nodes do not get them`] : []),
      ...roles.map((label) => `${field}.labels[${label}]: Nodes do not get it, as kubelets may not write it`),
      ...(["clusterAutoscaler", "priority", "machineControllerManager"] as const)
        .filter((name) => pool[name] !== undefined)
        .map((name) => `${field}.${name}: nothing acts on it, as this provider makes its machines itself`),
    ];
  });
}

const hasFields = (value: object | undefined): boolean => Object.keys(value ?? {}).length > 0;

import { profileReference } from "../api/core/effective-profile.ts";
import { isOverride, mergeProfiles } from "../api/core/profile-merge.ts";
import { CloudProfile, NamespacedCloudProfile } from "../api/index.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Authorizer } from "./authorizer.ts";
import { offerCauses } from "./cloud-profile.ts";
import { KnownShoot } from "./watched/known.ts";
import { withdrawalCauses } from "./in-use.ts";
import { judge, type Cause, type Webhook } from "./review.ts";

type Own = NamespacedCloudProfile["spec"];

/**
 * Judges NamespacedCloudProfiles: their parent is there, they change nothing of it but how long its versions are good for, and
 * take nothing back that Shoots of the project have (Gardener: plugin NamespacedCloudProfileValidator).
 */
export function createNamespacedCloudProfileValidator(deps: {
  readonly client: KubeClient;
  readonly authorize: Authorizer;
  readonly now?: () => Date;
}): Webhook {
  return async ({ object, oldObject, userInfo }) => {
    const profile = NamespacedCloudProfile.parse(object);
    const old = oldObject && NamespacedCloudProfile.parse(oldObject);
    const { namespace, name } = profile.metadata;
    const parent = await deps.client.read(CloudProfile, { name: profile.spec.parent.name });
    if (parent === undefined)
      return judge([{ field: "spec.parent.name", message: `there is no CloudProfile ${profile.spec.parent.name}` }]);
    const merged = mergeProfiles(parent.spec, profile.spec);
    const shoots = old ? await deps.client.list(KnownShoot, { namespace }) : [];
    const users = shoots.filter((shoot) => {
      const reference = profileReference(shoot);
      return reference?.kind === profile.kind && reference.name === name;
    });
    const mayRaise = () =>
      deps.authorize(userInfo, {
        ...{ group: NamespacedCloudProfile.group, resource: NamespacedCloudProfile.plural, verb: RAISE_LIMITS },
        ...{ namespace, name },
      });
    const isRaised = raisesLimit(profile.spec, old?.spec, parent.spec) && !(await mayRaise());
    return judge([
      ...(isRaised ? [limitCause(parent)] : []),
      ...overrideCauses(profile.spec, old?.spec, { parent: parent.spec, now: deps.now?.() ?? new Date() }),
      ...offerCauses(merged),
      ...(old
        ? withdrawalCauses({
            before: mergeProfiles(parent.spec, old.spec),
            after: merged,
            shoots: users,
            profile: `${profile.kind} ${namespace}/${name}`,
          })
        : []),
    ]);
  };
}

/** The verb by which operators let users raise what a CloudProfile limits (Gardener: plugin CustomVerbAuthorizer). */
const RAISE_LIMITS = "raise-spec-limits";

/** Whether a project would have more nodes than its parent profile allows, and more than it was let have before. */
function raisesLimit(own: Own, old: Own | undefined, parent: CloudProfile["spec"]): boolean {
  const [wanted, had, most] = [own, old, parent].map((one) => one?.limits?.maxNodesTotal);
  return wanted !== undefined && most !== undefined && wanted > Math.max(most, had ?? 0);
}

const limitCause = ({ spec, metadata }: CloudProfile): Cause => ({
  field: "spec.limits.maxNodesTotal",
  message: `must be at most ${spec.limits?.maxNodesTotal}, the limit of CloudProfile ${metadata.name}: you may not ${RAISE_LIMITS} of ${NamespacedCloudProfile.plural}`,
  forbidden: true,
});

interface Ground {
  readonly parent: CloudProfile["spec"];
  readonly now: Date;
}

/** Why a project cannot change what its parent profile offers like this. Pure. */
export function overrideCauses(own: Own, old: Own | undefined, { parent, now }: Ground): Cause[] {
  const offered = new Set(parent.kubernetes.versions?.map(({ version }) => version));
  const before = new Map(old?.kubernetes?.versions?.map(({ version, expirationDate }) => [version, expirationDate]));
  const versions = (own.kubernetes?.versions ?? []).flatMap(({ version, expirationDate }, index): Cause[] => {
    const field = `spec.kubernetes.versions[${index}]`;
    if (!offered.has(version)) return [{ field, message: `${version} is not offered by the parent CloudProfile` }];
    return expiryCauses(field, expirationDate, old && { before: before.get(version), now });
  });
  return [...versions, ...imageCauses(own, old, { parent, now })];
}

function imageCauses(own: Own, old: Own | undefined, { parent, now }: Ground): Cause[] {
  return (own.machineImages ?? []).flatMap(({ name, versions }, at) => {
    const ofParent = new Set(versionsOf(parent.machineImages, name).map(({ version }) => version));
    const before = versionsOf(old?.machineImages, name);
    return versions.flatMap((version, index): Cause[] => {
      const field = `spec.machineImages[${at}].versions[${index}]`;
      const known = before.find((one) => one.version === version.version);
      if (!ofParent.has(version.version)) return [];
      if (isOverride(version))
        return expiryCauses(field, version.expirationDate, old && { before: known?.expirationDate, now });
      if (known !== undefined && !isOverride(known)) return []; // it was the project's own before the parent had it
      const message = `${name} ${version.version} is the parent CloudProfile's: only its expirationDate can be changed`;
      return [{ field, message, forbidden: true }];
    });
  });
}

const versionsOf = (images: CloudProfile["spec"]["machineImages"] | undefined, name: string) =>
  images?.find((image) => image.name === name)?.versions ?? [];

/** A new date may be over only in a new profile, which is written as it once was somewhere else. */
function expiryCauses(
  field: string,
  date: string | undefined,
  change: { readonly before: string | undefined; readonly now: Date } | undefined,
): Cause[] {
  const at = `${field}.expirationDate`;
  if (date === undefined) return [{ field: at, message: "must be set: it is all that can be changed of the parent's" }];
  if (change === undefined || date === change.before || new Date(date) > change.now) return [];
  return [{ field: at, message: `${date} is over` }];
}

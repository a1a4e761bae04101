import semver from "semver";
import { profileReference } from "../api/core/effective-profile.ts";
import { mergeProfiles } from "../api/core/profile-merge.ts";
import { CloudProfile, NamespacedCloudProfile } from "../api/index.ts";
import { inWords, isInRange, WORKING_MINORS, type MinorRange } from "../api/shoot/kubernetes-versions.ts";
import type { KubeClient } from "../kube/index.ts";
import { KnownShoot } from "./watched/known.ts";
import { withdrawalCauses } from "./in-use.ts";
import { judge, type Cause, type Webhook } from "./review.ts";
import { twiceCauses } from "./shoot/lists.ts";

type Offer = CloudProfile["spec"];

/** Judges CloudProfiles: what they offer has names of its own, and nothing that Shoots have is taken back, directly or by a project's profile. */
export function createCloudProfileValidator({
  client,
  minors = WORKING_MINORS,
}: {
  readonly client: KubeClient;
  readonly minors?: MinorRange | undefined;
}): Webhook {
  return async ({ object, oldObject }) => {
    const profile = CloudProfile.parse(object);
    const old = oldObject && CloudProfile.parse(oldObject);
    const causesOf = ({ spec }: CloudProfile) => [...offerCauses(spec), ...rangeCauses(spec, minors)];
    const before = old ? causesOf(old).map(({ message }) => message) : [];
    const own = causesOf(profile).filter(({ message }) => !before.includes(message));
    return judge([...own, ...(old ? await takenBack(client, old, profile) : [])]);
  };
}

async function takenBack(client: KubeClient, old: CloudProfile, profile: CloudProfile): Promise<Cause[]> {
  const [shoots, children] = await Promise.all([client.list(KnownShoot), client.list(NamespacedCloudProfile)]);
  const { name } = profile.metadata;
  const uses = (kind: string, named: string) => (shoot: KnownShoot) => {
    const reference = profileReference(shoot);
    return reference?.kind === kind && reference.name === named && shoot.metadata.deletionTimestamp === undefined;
  };
  const words = `${CloudProfile.kind} ${name}`;
  const own = shoots.filter(uses(CloudProfile.kind, name));
  const byNamespace = Map.groupBy(shoots, ({ metadata }) => metadata.namespace);
  return [
    ...withdrawalCauses({ before: old.spec, after: profile.spec, shoots: own, profile: words }),
    ...children
      .filter(({ spec }) => spec.parent.name === name)
      .flatMap((child) => {
        const { metadata, spec } = child;
        const users = (byNamespace.get(metadata.namespace) ?? []).filter(uses(child.kind, metadata.name));
        if (users.length === 0) return []; // projects make as many as they like, and to merge one takes its time
        const [before, after] = [mergeProfiles(old.spec, spec), mergeProfiles(profile.spec, spec)];
        return withdrawalCauses({ before, after, shoots: users, profile: words });
      }),
  ];
}

/** Why a profile cannot offer versions of Kubernetes: no Shoot could have them. */
function rangeCauses({ kubernetes }: Offer, minors: MinorRange): Cause[] {
  return (kubernetes.versions ?? []).flatMap(({ version }, index) =>
    semver.valid(version) === null || isInRange(version, minors)
      ? []
      : [
          {
            field: `spec.kubernetes.versions[${index}].version`,
            message: `${version} does not work here: offer versions of ${inWords(minors)}`,
          },
        ],
  );
}

/** Why a profile cannot offer what it does, whatever Shoots there are (Gardener: ValidateCloudProfileSpec). */
export function offerCauses({ kubernetes, machineImages, machineTypes, volumeTypes = [], regions }: Offer): Cause[] {
  const versions = (kubernetes.versions ?? []).map(({ version }) => version);
  const malformed = versions.flatMap((version, index): Cause[] =>
    semver.valid(version) === version
      ? []
      : [
          {
            field: `spec.kubernetes.versions[${index}].version`,
            message: `${version} must be a full version, such as 1.34.4`,
          },
        ],
  );
  const named = (list: readonly { readonly name: string }[], field: string) =>
    twiceCauses(
      list.map(({ name }) => name),
      (index) => `${field}[${index}].name`,
    );
  return [
    ...malformed,
    ...twiceCauses(versions, (index) => `spec.kubernetes.versions[${index}].version`),
    ...named(machineTypes, "spec.machineTypes"),
    ...named(volumeTypes, "spec.volumeTypes"),
    ...named(regions, "spec.regions"),
    ...regions.flatMap(({ zones = [] }, index) => named(zones, `spec.regions[${index}].zones`)),
    ...named(machineImages, "spec.machineImages"),
    ...machineImages.flatMap(({ versions: ofImage }, index) =>
      twiceCauses(
        ofImage.map(({ version }) => version),
        (at) => `spec.machineImages[${index}].versions[${at}].version`,
      ),
    ),
  ];
}

import { listed } from "../api/counted.ts";
import type { CloudProfile } from "../api/index.ts";
import { keyOf, type KnownShoot } from "./watched/known.ts";
import type { Cause } from "./review.ts";

type Offer = CloudProfile["spec"];

/** What a profile offers before and after a change, and the Shoots that live by it. */
export interface OfferChange {
  readonly before: Offer;
  readonly after: Offer;
  readonly shoots: readonly KnownShoot[];
  /** Begins the refusal: `CloudProfile local`. */
  readonly profile: string;
}

/**
 * Why a profile cannot stop to offer something: Shoots have it, and what they have could then not be described any more. Offers
 * end by an expiration date (Gardener: ResourceReferenceManager). Pure.
 */
export function withdrawalCauses({ before, after, shoots, profile }: OfferChange): Cause[] {
  const left = new Set(offersOf(after));
  const withdrawn = new Map(offersOf(before).flatMap((offer) => (left.has(offer) ? [] : [[offer, new Set<string>()]])));
  for (const { metadata, ...shoot } of shoots)
    for (const need of needsOf(shoot)) withdrawn.get(need)?.add(keyOf(metadata));
  return [...withdrawn].flatMap(([offer, users]) => {
    if (users.size === 0) return [];
    const [field = "", ...value] = offer.split(SEPARATOR);
    const names = listed([...users], mostNamed);
    const message = `${value.join(" ")} cannot be removed from ${profile}: it is in use by Shoot ${names}`;
    return [{ field, message, forbidden: true }];
  });
}

const mostNamed = 10;

/** Each thing on offer, as a text by which it is compared: the field that lists it, and what it is. */
function offersOf({ kubernetes, machineImages, machineTypes, volumeTypes, regions }: Offer): string[] {
  return [
    ...(kubernetes.versions ?? []).map(({ version }) => ["spec.kubernetes.versions", version]),
    ...machineImages.flatMap(({ name, versions }) => versions.map(({ version }) => [images, name, version])),
    ...machineTypes.map(({ name }) => ["spec.machineTypes", name]),
    ...(volumeTypes ?? []).map(({ name }) => ["spec.volumeTypes", name]),
    ...regions.flatMap(({ name, zones = [] }) => [
      ["spec.regions", name],
      ...zones.map((zone) => ["spec.regions", name, zone.name]),
    ]),
  ].map((offer) => offer.join(SEPARATOR));
}

/** No name of an offer has it. */
const SEPARATOR = "\n";

const images = "spec.machineImages";

function needsOf({ spec }: Pick<KnownShoot, "spec">): string[] {
  const pools = (spec.provider.workers ?? []).flatMap(
    ({ machine, kubernetes, volume, dataVolumes = [], zones = [] }) => [
      ["spec.kubernetes.versions", kubernetes?.version],
      [images, machine.image?.name, machine.image?.version],
      ["spec.machineTypes", machine.type],
      ...[volume, ...dataVolumes].map((one) => ["spec.volumeTypes", one?.type]),
      ...zones.map((zone) => ["spec.regions", spec.region, zone]),
    ],
  );
  const own = [
    ["spec.kubernetes.versions", spec.kubernetes.version],
    ["spec.regions", spec.region],
  ];
  return [...own, ...pools].map((need) => need.join(SEPARATOR));
}

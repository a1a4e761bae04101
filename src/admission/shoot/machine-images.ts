import semver from "semver";
import type { CloudProfile, Shoot } from "../../api/index.ts";
import { notOffered } from "../offer.ts";
import type { Cause } from "../review.ts";

type Pool = NonNullable<Shoot["spec"]["provider"]["workers"]>[number];

/**
 * Why the machines cannot run their image: it is not offered, has expired or is for other machines, or it does not go with the
 * pool's container runtime or kubelet (Gardener: validateMachineImagesConstraints).
 */
export function imageCauses(pool: Pool, { profile, now, version }: ImageOffer, field: string): Cause[] {
  const { image, architecture = "amd64" } = pool.machine;
  if (!image) return [];
  const offered = profile.spec.machineImages.find(({ name }) => name === image.name);
  if (!offered) {
    const names = profile.spec.machineImages.map(({ name }) => name);
    return [{ field: `${field}.machine.image.name`, message: notOffered(image.name, profile, names) }];
  }
  const usable = offered.versions
    .filter(({ expirationDate, classification }) => isUsable(classification, expirationDate, now))
    .filter(({ architectures = ["amd64"] }) => architectures.includes(architecture));
  const at = `${field}.machine.image.version`;
  const chosen = usable.find((one) => one.version === image.version);
  if (!image.version) return [];
  if (!chosen)
    return [
      {
        field: at,
        message: notOffered(
          image.version,
          profile,
          usable.map((one) => one.version),
        ),
      },
    ];
  return fitCauses(pool, { profile, version }, field);
}

/** What machine images are judged by; `version` is that of Kubernetes, which kubelets have unless their pool names another. */
interface ImageOffer {
  readonly profile: CloudProfile;
  readonly now: Date;
  readonly version: string;
}

/** Why the image that the machines have does not go with the pool's container runtime or kubelet, be it on offer still or not. */
export function fitCauses(
  { machine: { image }, cri, kubernetes }: Pool,
  { profile, version }: Omit<ImageOffer, "now">,
  field: string,
): Cause[] {
  const known = profile.spec.machineImages.find(({ name }) => name === image?.name)?.versions;
  const chosen = known?.find((one) => one.version === image?.version);
  return [
    ...runtimeCauses(cri?.name ?? "containerd", chosen?.cri, `${field}.cri.name`),
    ...kubeletCauses(
      kubernetes?.version ?? version,
      chosen?.kubeletVersionConstraint,
      `${field}.machine.image.version`,
    ),
  ];
}

/** Whether new machines may run a version: one that has expired, or was never meant for use, they may not. */
export function isUsable(classification: string | undefined, expirationDate: string | undefined, now: Date): boolean {
  if (classification === "expired" || classification === "unavailable") return false;
  return expirationDate === undefined || new Date(expirationDate) > now;
}

type ImageVersion = CloudProfile["spec"]["machineImages"][number]["versions"][number];

function runtimeCauses(wanted: string, offered: ImageVersion["cri"] = [], field: string): Cause[] {
  const names = offered.map(({ name }) => name);
  if (names.length === 0 || names.includes(wanted)) return [];
  return [{ field, message: `the machine image has ${names.join(", ")}, not ${wanted}` }];
}

function kubeletCauses(kubelet: string, constraint: string | undefined, field: string): Cause[] {
  if (constraint === undefined || semver.valid(kubelet) === null || semver.satisfies(kubelet, constraint)) return [];
  return [
    { field, message: `the machine image is for kubelets ${constraint}, not ${kubelet}: choose another version` },
  ];
}

import { isDeepStrictEqual } from "node:util";
import { profileReference, readRootProfileName } from "../../api/core/effective-profile.ts";
import type { KubeClient } from "../../kube/index.ts";
import type { Cause } from "../review.ts";
import type { ShootChange } from "./change.ts";

/**
 * Why the Shoot cannot change to another profile: it stays with its CloudProfile and those that extend it (Gardener:
 * ValidateCloudProfileChanges). What it has already is not judged anew, so machines of which another CloudProfile says less, or nothing,
 * would not count against a Quota any more. A profile that does not exist is for others to refuse.
 */
export async function profileChangeCauses(client: KubeClient, { shoot, old, profile }: ShootChange): Promise<Cause[]> {
  if (old === undefined || profile === undefined) return [];
  if (isDeepStrictEqual(profileReference(shoot), profileReference(old))) return [];
  const [before, after] = await Promise.all([readRootProfileName(client, old), readRootProfileName(client, shoot)]);
  if (before === undefined || before === after) return [];
  const message = `cannot change from CloudProfile ${before} to ${after}: choose ${before}, or a NamespacedCloudProfile that extends it`;
  return [{ field: "spec.cloudProfile", message, forbidden: true }];
}

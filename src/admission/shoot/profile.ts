import type { CloudProfile, Shoot } from "../../api/index.ts";
import { notOffered } from "../offer.ts";
import type { Cause } from "../review.ts";
import { versionCauses } from "./version.ts";
import { workerCauses } from "./workers.ts";
import type { ShootChange } from "./change.ts";

/** Why the CloudProfile does not offer what the Shoot wants. Without a CloudProfile there is nothing to compare with. */
export function profileCauses(change: ShootChange): Cause[] {
  const { shoot, profile } = change;
  if (!profile) return [];
  return [
    ...providerCauses(shoot, profile),
    ...regionCauses(shoot, profile),
    ...versionCauses(change, profile),
    ...workerCauses(change, profile),
  ];
}

function providerCauses({ spec }: Shoot, { spec: offered, metadata }: CloudProfile): Cause[] {
  if (spec.provider.type === offered.type) return [];
  const message = `CloudProfile ${metadata.name} is for provider ${offered.type}, not for ${spec.provider.type}`;
  return [{ field: "spec.provider.type", message }];
}

function regionCauses({ spec }: Shoot, profile: CloudProfile): Cause[] {
  const regions = profile.spec.regions.map(({ name }) => name);
  if (regions.includes(spec.region)) return [];
  return [{ field: "spec.region", message: notOffered(spec.region, profile, regions) }];
}

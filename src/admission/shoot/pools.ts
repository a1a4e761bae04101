import type { Shoot } from "../../api/index.ts";
import type { Cause } from "../review.ts";
import { twiceCauses } from "./lists.ts";

type WorkerPool = NonNullable<Shoot["spec"]["provider"]["workers"]>[number];

/** Why worker pools contradict themselves, whatever their CloudProfile offers. */
export function poolCauses({ spec }: Shoot): Cause[] {
  const { workers = [] } = spec.provider;
  const hosts = workers.filter(({ maximum, systemComponents }) => maximum > 0 && systemComponents?.allow !== false);
  const message = "must have a pool with maximum above 0 that allows system components: CoreDNS has to run somewhere";
  return [
    ...(workers.length > 0 && hosts.length === 0 ? [{ field: "spec.provider.workers", message }] : []),
    ...workers.flatMap((pool, index) => ownCauses(pool, `spec.provider.workers[${index}]`)),
  ];
}

function ownCauses(
  { cri, zones = [], volume, dataVolumes = [], kubeletDataVolumeName }: WorkerPool,
  field: string,
): Cause[] {
  const names = dataVolumes.map(({ name }) => name);
  const unknown = kubeletDataVolumeName !== undefined && !names.includes(kubeletDataVolumeName);
  return [
    ...(cri && cri.name !== "containerd"
      ? [{ field: `${field}.cri.name`, message: `must be containerd, not ${cri.name}` }]
      : []),
    ...twiceCauses(zones, (index) => `${field}.zones[${index}]`),
    ...twiceCauses(names, (index) => `${field}.dataVolumes[${index}].name`),
    ...(unknown
      ? [{ field: `${field}.kubeletDataVolumeName`, message: "must be the name of one of dataVolumes" }]
      : []),
    ...[volume, ...dataVolumes].flatMap((one, index) => {
      const at = index === 0 ? `${field}.volume` : `${field}.dataVolumes[${index - 1}]`;
      return one && parseFloat(one.size) === 0 ? [{ field: `${at}.size`, message: "must be more than 0" }] : [];
    }),
  ];
}

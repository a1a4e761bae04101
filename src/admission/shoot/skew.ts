import semver from "semver";
import type { Shoot } from "../../api/index.ts";
import type { Cause } from "../review.ts";

/** How many minor versions a kubelet may be behind its API server (Kubernetes' version skew policy). */
const FARTHEST_BEHIND = 3;

/** Why kubelets of a pool could not work with the API server: newer than it, or too old for it. */
export function skewCauses({ spec }: Shoot): Cause[] {
  return (spec.provider.workers ?? []).flatMap(({ kubernetes }, index) => {
    const cause = skewOf(kubernetes?.version, spec.kubernetes.version);
    return cause === undefined ? [] : [{ field: `spec.provider.workers[${index}].kubernetes.version`, message: cause }];
  });
}

function skewOf(ofPool: string | undefined, ofShoot: string): string | undefined {
  if (ofPool !== undefined && semver.valid(ofPool) !== ofPool) return "must be a full version, such as 1.34.4";
  const [kubelet, apiServer] = [semver.parse(ofPool), semver.parse(ofShoot)];
  if (!kubelet || !apiServer) return undefined;
  const isFar = semver.gt(kubelet, apiServer) || apiServer.minor - kubelet.minor > FARTHEST_BEHIND;
  return isFar
    ? `${kubelet.version} must be at most three minor versions behind ${apiServer.version}, and not ahead of it`
    : undefined;
}

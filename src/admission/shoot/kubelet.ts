import { secondsOf } from "../../api/schema/duration.ts";
import type { Shoot } from "../../api/index.ts";
import { IMAGE_GC } from "../../api/shoot/kubelet-defaults.ts";
import type { Cause } from "../review.ts";

type Kubelet = NonNullable<Shoot["spec"]["kubernetes"]["kubelet"]>;

/** Why kubelets would not start with what they are asked for, by the rules that the kubelet itself checks. */
export function kubeletCauses({ spec }: Shoot): Cause[] {
  const pools = spec.provider.workers ?? [];
  return [
    ...configCauses(spec.kubernetes.kubelet, "spec.kubernetes.kubelet"),
    ...pools.flatMap(({ kubernetes }, index) =>
      configCauses(kubernetes?.kubelet, `spec.provider.workers[${index}].kubernetes.kubelet`),
    ),
  ];
}

function configCauses(kubelet: Kubelet = {}, field: string): Cause[] {
  const { imageGCLowThresholdPercent: low = IMAGE_GC.low, imageGCHighThresholdPercent: high = IMAGE_GC.high } = kubelet;
  const { imageMinimumGCAge, imageMaximumGCAge, maxParallelImagePulls = 1, serializeImagePulls = true } = kubelet;
  const ages = [imageMinimumGCAge ?? "2m", imageMaximumGCAge ?? "0"].map(secondsOf);
  const [least = 0, most = 0] = ages;
  return [
    ...refuse(low >= high, `${field}.imageGCLowThresholdPercent`, `must be below imageGCHighThresholdPercent, ${high}`),
    ...refuse(most > 0 && most <= least, `${field}.imageMaximumGCAge`, "must be longer than imageMinimumGCAge"),
    ...refuse(
      maxParallelImagePulls > 1 && serializeImagePulls,
      `${field}.maxParallelImagePulls`,
      "can be more than 1 only with serializeImagePulls: false",
    ),
    ...softEvictionCauses(kubelet, field),
  ];
}

function softEvictionCauses({ evictionSoft = {}, evictionSoftGracePeriod = {} }: Kubelet, field: string): Cause[] {
  const graces: Readonly<Record<string, unknown>> = evictionSoftGracePeriod;
  return Object.keys(evictionSoft)
    .filter((signal) => graces[signal] === undefined)
    .map((signal) => ({
      field: `${field}.evictionSoftGracePeriod.${signal}`,
      message: "must be set with evictionSoft",
    }));
}

function refuse(condition: boolean, field: string, message: string): Cause[] {
  return condition ? [{ field, message }] : [];
}

import { secondsOf } from "../../api/schema/duration.ts";
import { nanosOf } from "../../api/schema/quantity.ts";
import type { Shoot } from "../../api/index.ts";
import { IMAGE_GC } from "../../api/shoot/kubelet-defaults.ts";
import type { Cause } from "../review.ts";

type Kubelet = NonNullable<Shoot["spec"]["kubernetes"]["kubelet"]>;

/**
 * Why kubelets would not start with what they are asked for, by the rules that the kubelet itself checks: its validation, and the code
 * that reads thresholds, sizes and reservations. Feature gates are judged by `gateCauses`, what machines have by `reservedCauses`.
 */
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
  return [imageCauses, softEvictionCauses, thresholdCauses, reservationCauses, logCauses, nodeCauses].flatMap((rule) =>
    rule(kubelet, field),
  );
}

function imageCauses(kubelet: Kubelet, field: string): Cause[] {
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
  ];
}

/** Swap that kubelets end for, and serving certificates that they may not ask for. */
function nodeCauses({ memorySwap, failSwapOn, featureGates }: Kubelet, field: string): Cause[] {
  return [
    ...refuse(
      memorySwap !== undefined && failSwapOn !== false,
      `${field}.memorySwap`,
      "can be set only with failSwapOn: false",
    ),
    ...refuse(
      featureGates?.["RotateKubeletServerCertificate"] === false,
      `${field}.featureGates.RotateKubeletServerCertificate`,
      "must not be false: kubelets ask the Shoot's API server for their serving certificates",
    ),
  ];
}

/** A share of 0% or 100% is no threshold for a kubelet; any other amount of nothing keeps it from starting. */
function thresholdCauses({ evictionHard, evictionSoft, evictionMinimumReclaim }: Kubelet, field: string): Cause[] {
  const thresholds = Object.entries({ evictionHard, evictionSoft }).flatMap(([name, values]) =>
    Object.entries(values ?? {}).flatMap(([signal, value = "100%"]) => {
      const at = `${field}.${name}.${signal}`;
      const share = shareOf(value);
      if (share !== undefined) return refuse(share > 100, at, "must be at most 100%");
      return refuse(nanosOf(value) === 0n, at, "must be more than 0, or 0% for no threshold");
    }),
  );
  const reclaims = Object.entries(evictionMinimumReclaim ?? {}).flatMap(([signal, value = ""]) =>
    refuse(
      shareOf(value) === 0,
      `${field}.evictionMinimumReclaim.${signal}`,
      "must be more than 0%; 0 asks for nothing",
    ),
  );
  return [...thresholds, ...reclaims];
}

/** In percent; undefined for an amount. */
function shareOf(value: string | number): number | undefined {
  const text = String(value);
  return text.endsWith("%") ? Number(text.slice(0, -1)) : undefined;
}

function reservationCauses({ kubeReserved = {}, cpuManagerPolicy }: Kubelet, field: string): Cause[] {
  const { cpu, pid } = kubeReserved;
  return [
    ...refuse(
      cpuManagerPolicy === "static" && cpu !== undefined && nanosOf(cpu) === 0n,
      `${field}.kubeReserved.cpu`,
      "must be more than 0 with cpuManagerPolicy: static",
    ),
    ...refuse(
      pid !== undefined && (nanosOf(pid) ?? 0n) > MOST_PROCESSES * 1_000_000_000n,
      `${field}.kubeReserved.pid`,
      `must be at most ${MOST_PROCESSES}, the most that a kernel has`,
    ),
  ];
}

const MOST_PROCESSES = 4_194_304n;

/** Kubelets read a size only as far as it is a whole number of bytes that their fast numbers hold. */
function logCauses({ containerLogMaxSize: size = "100Mi" }: Kubelet, field: string): Cause[] {
  const isWhole = /^[0-9]+(?:[KMGT]i|[kMGT]|[eE]\+?[0-9]+)?$/.test(String(size));
  const isRead = isWhole && (nanosOf(size) ?? 0n) <= 1024n ** 4n * 1_000_000_000n;
  return refuse(!isRead, `${field}.containerLogMaxSize`, "must be a whole number up to 1Ti, such as 100Mi");
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

import type { Shoot } from "../api/index.ts";
import { omitUndefined } from "../omit-undefined.ts";

type Kubelet = NonNullable<Shoot["spec"]["kubernetes"]["kubelet"]>;

/** The same Shoot with each eviction threshold as text, which is what programs in Go read: users may write a number for it. */
export function withTextualThresholds({ spec, ...shoot }: Shoot): Shoot {
  const { kubernetes, provider } = spec;
  const workers = provider.workers?.map((pool) =>
    pool.kubernetes?.kubelet === undefined
      ? pool
      : { ...pool, kubernetes: { ...pool.kubernetes, kubelet: textual(pool.kubernetes.kubelet) } },
  );
  return {
    ...shoot,
    spec: {
      ...spec,
      kubernetes: { ...kubernetes, ...(kubernetes.kubelet && { kubelet: textual(kubernetes.kubelet) }) },
      provider: { ...provider, ...omitUndefined({ workers }) },
    },
  };
}

const textual = (kubelet: Kubelet): Kubelet => ({
  ...kubelet,
  ...(kubelet.evictionHard && { evictionHard: texts(kubelet.evictionHard) }),
  ...(kubelet.evictionSoft && { evictionSoft: texts(kubelet.evictionSoft) }),
});

const texts = (thresholds: Readonly<Record<string, string | number | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(thresholds).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );

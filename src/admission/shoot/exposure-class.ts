import { isDeepStrictEqual } from "node:util";
import { ExposureClass, type Shoot } from "../../api/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import type { Cause } from "../review.ts";

type Spec = Pick<Shoot["spec"], "exposureClassName" | "seedSelector" | "tolerations">;

/**
 * The spec with what its ExposureClass asks of Seeds, and with the tolerations that it has. Scheduler and admission then need no
 * look at the class, which never changes (Gardener: ShootExposureClass). What the Shoot says itself stays.
 */
export async function withExposureClass<S extends Spec>(client: KubeClient, spec: S, old?: Spec): Promise<S> {
  if (!isJudged(spec, old)) return spec;
  const { scheduling } = (await client.read(ExposureClass, { name: spec.exposureClassName })) ?? {};
  return scheduling === undefined ? spec : withScheduling(spec, scheduling);
}

/** Why the Shoot cannot have its ExposureClass: there is none of that name, or the Shoot's own words contradict it. */
export async function exposureClassCauses(client: KubeClient, spec: Spec, old?: Spec): Promise<Cause[]> {
  if (!isJudged(spec, old)) return [];
  const { exposureClassName: name } = spec;
  const found = await client.read(ExposureClass, { name });
  const field = "spec.exposureClassName";
  if (found === undefined)
    return [{ field, message: `there is no ExposureClass ${name}: see kubectl get exposureclasses, or leave it out` }];
  if (found.metadata.deletionTimestamp !== undefined)
    return [{ field, message: `ExposureClass ${name} is being deleted: choose another` }];
  return found.scheduling === undefined ? [] : contradictions(spec, found.scheduling, name);
}

/** What an ExposureClass asks of Seeds. */
type Scheduling = NonNullable<ExposureClass["scheduling"]>;

/** Both together; where they contradict each other the Shoot's own stays, and {@link contradictions} says so. */
function withScheduling<S extends Spec>(spec: S, { seedSelector, tolerations = [] }: Scheduling): S {
  const own = spec.tolerations ?? [];
  const more = tolerations.filter(({ key }) => !own.some((one) => one.key === key));
  return {
    ...spec,
    ...(seedSelector && { seedSelector: united(spec.seedSelector, seedSelector) }),
    ...(more.length > 0 && { tolerations: [...own, ...more] }),
  };
}

type Selector = NonNullable<Spec["seedSelector"]>;

function united(own: Selector = {}, { matchLabels, matchExpressions = [], providerTypes }: Selector): Selector {
  const had = own.matchExpressions ?? [];
  const more = matchExpressions.filter((one) => !had.some((other) => isDeepStrictEqual(one, other)));
  return {
    ...own,
    ...(matchLabels && { matchLabels: { ...matchLabels, ...own.matchLabels } }),
    ...(more.length > 0 && { matchExpressions: [...had, ...more] }),
    ...(!own.providerTypes?.length && providerTypes?.length && { providerTypes }),
  };
}

/** Upstream unites the providers of both; here the Shoot may only ask for less than its class, which serves no others. */
function contradictions(spec: Spec, { seedSelector = {}, tolerations = [] }: Scheduling, name: string): Cause[] {
  const { matchLabels = {}, providerTypes = [] } = seedSelector;
  const own = spec.seedSelector ?? {};
  const labels = Object.entries(matchLabels).filter(([key, value]) => own.matchLabels?.[key] !== value);
  const isServed = (type: string) => [type, "*"].some((one) => providerTypes.includes(one));
  const types = providerTypes.length === 0 ? [] : (own.providerTypes ?? []).filter((type) => !isServed(type));
  const taints = tolerations.filter(({ key, value }) => {
    const mine = spec.tolerations?.find((one) => one.key === key);
    return mine !== undefined && mine.value !== undefined && mine.value !== value;
  });
  return [
    ...labels.map(([key, value]) => ({
      field: "spec.seedSelector.matchLabels",
      message: `contradict ExposureClass ${name}, which asks for Seeds with label ${key}=${value}: leave ${key} out`,
    })),
    ...types.map((type) => ({
      field: "spec.seedSelector.providerTypes",
      message: `contradict ExposureClass ${name}, which is for Seeds of ${providerTypes.join(", ")}: leave ${type} out`,
    })),
    ...taints.map(({ key }) => ({
      field: "spec.tolerations",
      message: `contradict ExposureClass ${name}, which has its own toleration of ${key}: leave ${key} out`,
    })),
  ];
}

/** What a Shoot has had stays: only a change of what places it is judged. */
function isJudged(spec: Spec, old: Spec | undefined): spec is Spec & { readonly exposureClassName: string } {
  if (!spec.exposureClassName) return false;
  const deciding = ({ exposureClassName, seedSelector, tolerations }: Spec) => ({
    ...{ exposureClassName, seedSelector, tolerations },
  });
  return old === undefined || !isDeepStrictEqual(deciding(spec), deciding(old));
}

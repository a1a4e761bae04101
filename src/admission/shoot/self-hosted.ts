import { isDeepStrictEqual } from "node:util";
import type { Shoot } from "../../api/index.ts";
import { objectStoreProviders } from "../../api/object-stores.ts";
import { GARDEN_NAMESPACE } from "../../api/names.ts";
import { primaryDnsProvider } from "../../api/shoot/dns-provider.ts";
import { controlPlanePools, isSelfHosted } from "../../api/shoot/self-hosted.ts";
import type { Authorizer } from "../authorizer.ts";
import type { Cause, UserInfo } from "../review.ts";
import type { ShootChange } from "./change.ts";

/** How many nodes a control plane can have: an even number stands no more losses than the one below it. */
const SIZES = [1, 3, 5, 7];

/** Why a Shoot cannot carry its own control plane; nothing for one that a Seed carries. */
export function selfHostedCauses(shoot: Shoot): Cause[] {
  const { seedName, hibernation, provider } = shoot.spec;
  if (!isSelfHosted(shoot)) return [];
  const pools = (provider.workers ?? []).flatMap((pool, index) => (pool.controlPlane ? [{ pool, index }] : []));
  return [
    ...pools.slice(1).map(({ index }) => ({
      field: `${at(index)}.controlPlane`,
      message: `must not be set: pool ${pools[0]?.pool.name ?? ""} carries the control plane already`,
    })),
    ...pools.flatMap(({ pool, index }) => [
      ...sizeCauses(pool, at(index)),
      ...backupCauses(pool, at(index)),
      ...exposureCauses(shoot, pool, at(index)),
    ]),
    ...(shoot.metadata.namespace === GARDEN_NAMESPACE
      ? []
      : [{ field: "metadata.namespace", message: `must be ${GARDEN_NAMESPACE} for a Shoot that carries itself` }]),
    ...(seedName
      ? [{ field: "spec.seedName", message: "must not be set: the Shoot carries its own control plane" }]
      : []),
    ...(hibernation?.enabled === true
      ? [
          {
            field: "spec.hibernation.enabled",
            message: "must not be true: a control plane that sleeps cannot wake itself",
          },
        ]
      : []),
  ];
}

const at = (index: number): string => `spec.provider.workers[${index}]`;

function sizeCauses({ minimum, maximum }: { minimum: number; maximum: number }, field: string): Cause[] {
  if (minimum !== maximum)
    return [
      { field: `${field}.maximum`, message: `must be ${minimum}, the minimum: a control plane has a fixed size` },
    ];
  if (SIZES.includes(minimum)) return [];
  return [{ field: `${field}.minimum`, message: `must be 1, 3, 5 or 7, not ${minimum}, for a control plane` }];
}

type ControlPlanePool = ReturnType<typeof controlPlanePools>[number];

/** A machine that is made anew has to reach the backups by itself. */
function backupCauses({ controlPlane }: ControlPlanePool, field: string): Cause[] {
  const { provider } = controlPlane?.backup ?? {};
  if (provider === undefined || objectStoreProviders.includes(provider)) return [];
  const message = `must be an object store, not ${provider}: write ${objectStoreProviders.join(", ")}`;
  return [{ field: `${field}.controlPlane.backup.provider`, message }];
}

/** Either an extension leads to the control plane, or the DNS by itself, in a domain that the Shoot says who manages. */
function exposureCauses(shoot: Shoot, { controlPlane }: ControlPlanePool, pool: string): Cause[] {
  const { exposure } = controlPlane ?? {};
  if (exposure === undefined) return [];
  const field = `${pool}.controlPlane.exposure`;
  const isByDns = exposure.dns !== undefined;
  if (isByDns === (exposure.extension !== undefined)) return [{ field, message: "must say either extension or dns" }];
  const provider = primaryDnsProvider(shoot);
  const lacking = [
    ...(shoot.spec.dns?.domain ? [] : ["spec.dns.domain"]),
    ...(provider?.type && (provider.secretName ?? provider.credentialsRef)
      ? []
      : ["a provider with its Secret in spec.dns.providers"]),
  ];
  if (!isByDns || lacking.length === 0) return [];
  return [{ field: `${field}.dns`, message: `needs a name that is managed: write ${lacking.join(" and ")}` }];
}

/** Where the control plane of a Shoot is stays as it was when it was made. */
export function selfHostedChangeCauses({ shoot, old }: Pick<ShootChange, "shoot" | "old">): Cause[] {
  if (old === undefined) return [];
  const [before, now] = [old, shoot].map((one) => controlPlanePools(one).map(({ name }) => name));
  if (isDeepStrictEqual(before, now)) return [];
  const message =
    before?.length === 0 || now?.length === 0
      ? "cannot be changed: a Shoot does not switch between a Seed and nodes of its own"
      : `cannot be changed: pool ${before?.join(", ") ?? ""} carries the control plane`;
  return [{ field: "spec.provider.workers", message, forbidden: true }];
}

/** Setting or changing what carries the control plane takes Gardener's verb for it. */
export async function markCauses(
  authorize: Authorizer,
  user: UserInfo,
  { shoot, old }: Pick<ShootChange, "shoot" | "old">,
): Promise<Cause[]> {
  if (isDeepStrictEqual(controlPlanePools(shoot), old ? controlPlanePools(old) : [])) return [];
  const { namespace, name } = shoot.metadata;
  const asked = { group: "core.gardener.cloud", resource: "shoots", verb: "mark-self-hosted", namespace, name };
  if (await authorize(user, asked)) return [];
  const message = "may be set and changed only with verb mark-self-hosted on shoots: have an operator do it";
  return [{ field: "spec.provider.workers", message, forbidden: true }];
}

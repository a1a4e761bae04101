import { isDeepStrictEqual } from "node:util";
import type { CloudProfile, Shoot } from "../../api/index.ts";
import { nanosOf } from "../../api/schema/quantity.ts";
import type { Cause } from "../review.ts";
import type { ShootChange } from "./change.ts";

type Pool = NonNullable<Shoot["spec"]["provider"]["workers"]>[number];

/** Why kubelets would not start: they reserve more than their machine has. What a pool had before stays (Gardener: plugin ShootValidator). */
export function reservedCauses({ shoot, old }: Pick<ShootChange, "shoot" | "old">, profile: CloudProfile): Cause[] {
  return (shoot.spec.provider.workers ?? []).flatMap((pool, index) => {
    const { field, reserved } = reservationOf(shoot, pool, index);
    const before = old?.spec.provider.workers?.find(({ name }) => name === pool.name);
    if (old && before?.machine.type === pool.machine.type) {
      if (isDeepStrictEqual(reserved, reservationOf(old, before, index).reserved)) return [];
    }
    const type = profile.spec.machineTypes.find(({ name }) => name === pool.machine.type);
    return (["cpu", "memory"] as const).flatMap((resource): Cause[] => {
      const [wanted, has] = [reserved?.[resource], type?.[resource]];
      if (wanted === undefined || has === undefined || (nanosOf(wanted) ?? 0n) <= (nanosOf(has) ?? 0n)) return [];
      const message = `${wanted} is more than machine type ${pool.machine.type} has, ${has}: reserve less, or choose another type`;
      return [{ field: `${field}.${resource}`, message }];
    });
  });
}

/** The pool's own settings of kubelets take the place of the Shoot's as a whole. */
function reservationOf({ spec }: Shoot, { kubernetes }: Pool, index: number) {
  const own = kubernetes?.kubelet;
  return {
    field: `${own ? `spec.provider.workers[${index}]` : "spec"}.kubernetes.kubelet.kubeReserved`,
    reserved: (own ?? spec.kubernetes.kubelet)?.kubeReserved,
  };
}

import type { ShootCluster } from "../../api/cluster-api/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import { pausedSaid } from "../endpoint/paused.ts";
import { say } from "./say.ts";

/**
 * Says that an infrastructure is there: it holds what its Shoot is made from besides the template, and brings no endpoint (seed 004,
 * scenario 2), so there is nothing to wait for. Its zones are the failure domains that MachinePools choose from.
 */
export async function reconcileInfrastructure(management: KubeClient, infrastructure: ShootCluster): Promise<void> {
  const { zones } = infrastructure.spec ?? {};
  const ready = { type: "Ready", status: "True", reason: "Ready", message: "" } as const;
  await say(management, infrastructure, [ready, pausedSaid(false)], {
    initialization: { provisioned: true },
    ...(zones && { failureDomains: zones.map((name) => ({ name, controlPlane: false })) }),
  });
}

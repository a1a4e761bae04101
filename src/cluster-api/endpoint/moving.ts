import { CONTROL_PLANE_AVAILABLE_CONDITION, type Cluster } from "../../api/cluster-api/index.ts";
import { findCondition } from "../objects/conditions.ts";

/** The reason with which a control plane says, in condition Available, that it is on its way to another place. */
export const MOVING = "Moving";

/** In ms: for how long a control plane that moves may be away before that counts; a planned migration of a Shoot's takes less. */
export const MOVING_GRACE = 50_000;

/** Whether the control plane of a Cluster says that it moves: core copies its word, with the reason, into the Cluster. */
export const isMoving = (cluster: Cluster | undefined): boolean =>
  findCondition(cluster?.status?.conditions, CONTROL_PLANE_AVAILABLE_CONDITION)?.reason === MOVING;

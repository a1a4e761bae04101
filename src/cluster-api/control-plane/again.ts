import type { ShootControlPlane } from "../../api/cluster-api/index.ts";
import type { Shoot } from "../../api/index.ts";
import { moveOf } from "../../api/placement/move.ts";
import { againIn, type Again } from "../again.ts";
import type { Report } from "./report.ts";

/** In ms: how soon an API server that does not answer yet, or moves, is asked again. */
const SOON = 5_000;

/** In ms: how soon what no watch tells of is tried again. */
const LATER = 60_000;

/**
 * Obstacles that go without an event of ours: admission says yes, another's Shoot goes, the one to be adopted comes. So does a Secret that
 * is in the kubeconfig's place.
 */
const UNTOLD: readonly string[] = ["Refused", "ShootMissing", "ShootTaken"];

/** When a control plane is reconciled again without an event, in ms from now; undefined where watches tell all. Pure but for chance. */
export function whenAgain(controlPlane: ShootControlPlane, { shoot, obstacle, ...seen }: Report): Again | undefined {
  if (shoot !== undefined && isToBeAskedAgain(controlPlane, shoot, seen)) return { requeueAfter: SOON };
  const isTold = seen.unkept === undefined && (obstacle === undefined || !UNTOLD.includes(obstacle.reason));
  return isTold ? undefined : againIn(LATER);
}

/**
 * An API server is asked until it has answered, and while its version is to become the Shoot's or it moves; else the Shoot's
 * conditions tell. A version that the Shoot does not say, as admission refuses it, is not waited for. Pure.
 */
export function isToBeAsked({ status }: ShootControlPlane, shoot: Shoot): boolean {
  if (shoot.spec.hibernation?.enabled === true) return false;
  if (status?.initialization?.controlPlaneInitialized !== true || moveOf(shoot).is !== "settled") return true;
  return status.versions?.some(({ version }) => version !== versionOf(shoot)) ?? true;
}

function isToBeAskedAgain(controlPlane: ShootControlPlane, shoot: Shoot, { kubeconfig, version }: Report): boolean {
  if (kubeconfig === undefined || !isToBeAsked(controlPlane, shoot)) return false;
  return version === undefined || moveOf(shoot).is !== "settled" || version !== versionOf(shoot);
}

/** The version that a Shoot is to run, with a leading v. */
const versionOf = ({ spec }: Shoot): string => `v${spec.kubernetes.version}`;

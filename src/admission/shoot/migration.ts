import { isDeepStrictEqual } from "node:util";
import { CANCEL_MIGRATION_ANNOTATION, FORCE_TAKEOVER_ANNOTATION, type Seed, type Shoot } from "../../api/index.ts";
import { migrationObstacles } from "../../api/placement/migration.ts";
import { describeNeedlessness, isSeedReady } from "../../api/placement/fit.ts";
import {
  describeMove,
  isArriving,
  isLeaving,
  isMoving,
  isReturning,
  leadingSeed,
  needsSource,
} from "../../api/placement/move.ts";
import { describeReliance, parseTakeover } from "../../api/placement/takeover.ts";
import type { Cause, UserInfo } from "../review.ts";
import type { ShootChange } from "./change.ts";

/** Why a Shoot with a control plane cannot move to the Seed that it now names; everything that stands in the way at once. */
export function migrationCauses({ shoot, old, seed, source, profile, neighbours, now }: ShootChange): Cause[] {
  if (!old) return [];
  const takeover = annotationOf(shoot, FORCE_TAKEOVER_ANNOTATION) !== undefined;
  const to = shoot.spec.seedName ?? "";
  const facts = { shoot: old, to, source, destination: seed, profile, neighbours, now, takeover };
  const obstacles = migrationObstacles(facts);
  return obstacles.map(({ field, message }) => ({ field, message }));
}

/** Whether the request moves a Shoot away from the Seed that holds its control plane. */
export function isMigration({ shoot, old }: Pick<ShootChange, "shoot" | "old">): boolean {
  if (old === undefined || !isLeaving({ spec: shoot.spec, status: old.status })) return false;
  return !isMoving(old) || isTakenElsewhere(shoot, old);
}

/** Whether the request approves that a Shoot, whose new Seed has died before it was restored there, goes to yet another. */
function isTakenElsewhere(shoot: Shoot, old: Shoot): boolean {
  if (!isArriving(old) || !isLeaving({ spec: shoot.spec, status: old.status })) return false;
  const approval = parseTakeover(annotationOf(shoot, FORCE_TAKEOVER_ANNOTATION) ?? "");
  return approval !== undefined && isNew(FORCE_TAKEOVER_ANNOTATION, shoot, old);
}

/** Whether the request calls a Shoot back that has not left its Seed yet. */
export function isCancellation(shoot: Shoot, old: Shoot): boolean {
  const asked = annotationOf(shoot, CANCEL_MIGRATION_ANNOTATION) === "true";
  return asked && isLeaving(old) && shoot.spec.seedName === leadingSeed(old);
}

/** Whether the request moves a Shoot that has a control plane, there or back: then nothing else of its spec may change. */
export function isMove({ shoot, old }: Pick<ShootChange, "shoot" | "old">): boolean {
  return isMigration({ shoot, old }) || (old !== undefined && isCancellation(shoot, old));
}

/** Why the spec of a Shoot on its way cannot change like this; calling it back is the one change that can be made. */
export function movingCauses(shoot: Shoot, old: Shoot): Cause[] {
  if (!isMoving(old) || isCancellation(shoot, old) || isTakenElsewhere(shoot, old)) return [];
  const to = shoot.spec.seedName;
  if (to === old.spec.seedName) {
    const message = `cannot be changed while the Shoot moves to Seed ${to}: wait for Restore to succeed`;
    return [{ field: "spec", message, forbidden: true }];
  }
  const field = "spec.seedName";
  if (!isLeaving(old) || to !== leadingSeed(old)) return [{ field, message: describeMove(old), forbidden: true }];
  const { namespace, name } = shoot.metadata;
  const message =
    `to call the Shoot back to Seed ${to}, set annotation ${CANCEL_MIGRATION_ANNOTATION} to "true" in the same request: ` +
    `perennial shoot migrate ${namespace}/${name} --cancel`;
  return [{ field, message, forbidden: true }];
}

/** Who asks for what: a request that sets one of the annotations of a migration. */
export interface MigrationRequest {
  readonly shoot: Shoot;
  /** Absent on creation. */
  readonly old?: Shoot | undefined;
  readonly user: UserInfo;
  readonly mayBind: () => Promise<boolean>;
}

/** Why the annotations that call a Shoot back, or approve a takeover, cannot be set, or the first of them removed. */
export async function migrationAnnotationCauses(request: MigrationRequest): Promise<Cause[]> {
  return [...cancellationCauses(request), ...(await takeoverCauses(request))];
}

function cancellationCauses({ shoot, old }: MigrationRequest): Cause[] {
  if (old && isReturning(old) && wasRemoved(CANCEL_MIGRATION_ANNOTATION, shoot, old)) {
    const message = `cannot be removed while the Shoot goes back to Seed ${leadingSeed(old)}: Restore takes it away`;
    return [{ field: fieldOf(CANCEL_MIGRATION_ANNOTATION), message, forbidden: true }];
  }
  if (!isNew(CANCEL_MIGRATION_ANNOTATION, shoot, old) || (old && isCancellation(shoot, old))) return [];
  const message =
    old && isLeaving(old)
      ? `takes "true", together with spec.seedName: ${leadingSeed(old)}`
      : "can be set only while the Shoot is leaving its Seed: there is nothing to call back";
  return [{ field: fieldOf(CANCEL_MIGRATION_ANNOTATION), message, forbidden: true }];
}

async function takeoverCauses({ shoot, old, user, mayBind }: MigrationRequest): Promise<Cause[]> {
  if (!isNew(FORCE_TAKEOVER_ANNOTATION, shoot, old)) return [];
  const field = fieldOf(FORCE_TAKEOVER_ANNOTATION);
  const refuse = (message: string): Cause[] => [{ field, message, forbidden: true }];
  if (!(await mayBind())) return refuse("may be set only by users who can update shoots/binding");
  const approval = parseTakeover(annotationOf(shoot, FORCE_TAKEOVER_ANNOTATION) ?? "");
  if (!approval) return [{ field, message: 'has to be JSON with a reason, such as {"reason": "seed-1 burnt down"}' }];
  if (approval.by !== (user.username ?? "") || approval.at === undefined)
    return refuse("by and at are filled in from the request: leave them out");
  if (old && needsSource({ ...shoot, status: old.status })) return [];
  return refuse("can be set only while the Shoot moves to another Seed, or together with the change of spec.seedName");
}

/** What an approval of a takeover relies on, said to who has just given it. */
export function takeoverWarnings({ shoot, old, source, now }: ShootChange): string[] {
  if (!isNew(FORCE_TAKEOVER_ANNOTATION, shoot, old) || !old) return [];
  const seed = sourceOf({ shoot, old }) ?? "";
  const approval = parseTakeover(annotationOf(shoot, FORCE_TAKEOVER_ANNOTATION) ?? "");
  return [describeReliance(seed, approval?.sourceIsOff === true), ...alive(source, now)];
}

/** The Seed that a Shoot on its way leaves, or has left; undefined for a Shoot that stays. */
export function sourceOf({ shoot, old }: Pick<ShootChange, "shoot" | "old">): string | undefined {
  if (!old || !needsSource({ ...shoot, status: old.status })) return undefined;
  return isLeaving({ spec: shoot.spec, status: old.status }) ? leadingSeed(old) : old.status?.leadership?.previousSeed;
}

function alive(source: Seed | undefined, now: Date): string[] {
  return source && isSeedReady(source, now) ? [describeNeedlessness(source, now)] : [];
}

function isNew(annotation: string, shoot: Shoot, old: Shoot | undefined): boolean {
  const value = annotationOf(shoot, annotation);
  return value !== undefined && !isDeepStrictEqual(value, old && annotationOf(old, annotation));
}

function wasRemoved(annotation: string, shoot: Shoot, old: Shoot): boolean {
  return annotationOf(old, annotation) !== undefined && annotationOf(shoot, annotation) === undefined;
}

function annotationOf({ metadata }: Shoot, annotation: string): string | undefined {
  return metadata.annotations?.[annotation];
}

const fieldOf = (annotation: string): string => `metadata.annotations[${annotation}]`;

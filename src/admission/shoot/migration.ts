import { isDeepStrictEqual } from "node:util";
import { commandLines } from "../../api/command-lines.ts";
import { CANCEL_MIGRATION_ANNOTATION, FORCE_TAKEOVER_ANNOTATION, type Seed, type Shoot } from "../../api/index.ts";
import { migrationObstacles } from "../../api/placement/migration.ts";
import { describeNeedlessness, isSeedReady } from "../../api/placement/fit.ts";
import { describeMove, moveOf, neededSource, type Move } from "../../api/placement/move.ts";
import { describeReliance, readTakeover } from "../../api/placement/takeover.ts";
import type { Cause, UserInfo } from "../review.ts";
import type { ShootChange } from "./change.ts";

/** Why a Shoot with a control plane cannot move to the Seed that it now names; everything that stands in the way at once. */
export function migrationCauses({ shoot, old, seed, source, profile, neighbours, lacking, now }: ShootChange): Cause[] {
  if (!old) return [];
  const takeover = annotationOf(shoot, FORCE_TAKEOVER_ANNOTATION) !== undefined;
  const to = shoot.spec.seedName ?? "";
  const facts = {
    shoot: old,
    to,
    source,
    destination: seed,
    profile,
    neighbours,
    now,
    takeover,
    ...(lacking && { lacking }),
  };
  const obstacles = migrationObstacles(facts);
  return obstacles.map(({ field, message }) => ({ field, message }));
}

/** What a request does to where a Shoot is: it moves the Shoot to another Seed, calls it back, or leaves it alone. */
export type MoveChange = "none" | "migration" | "cancellation";

/** Reads the request against the status as it was; a request that creates a Shoot moves nothing. Pure. */
export function moveChangeOf({ shoot, old }: Pick<ShootChange, "shoot" | "old">): MoveChange {
  if (old === undefined) return "none";
  const [before, after] = [moveOf(old), moveUnder(shoot, old)];
  switch (before.is) {
    case "settled":
      return after.is === "leaving" ? "migration" : "none";
    case "leaving":
      return isCancelled(shoot) && shoot.spec.seedName === before.source ? "cancellation" : "none";
    case "arriving":
    case "returning":
      // Its new Seed has died before it was restored there: approved anew, it goes to yet another.
      return after.is === "leaving" && isNewlyApproved(shoot, old) ? "migration" : "none";
  }
}

/** Where the Shoot is once the request is granted: by the new spec and annotations, and the status as it was. */
function moveUnder(shoot: Shoot, { status }: Shoot): Move {
  return moveOf({ ...shoot, status });
}

function isCancelled(shoot: Shoot): boolean {
  return annotationOf(shoot, CANCEL_MIGRATION_ANNOTATION) === "true";
}

function isNewlyApproved(shoot: Shoot, old: Shoot): boolean {
  return readTakeover(shoot) !== undefined && isNew(FORCE_TAKEOVER_ANNOTATION, shoot, old);
}

/** Why the spec of a Shoot on its way cannot change like this; calling it back is the one change that can be made. */
export function movingCauses(shoot: Shoot, old: Shoot): Cause[] {
  const move = moveOf(old);
  if (move.is === "settled" || moveChangeOf({ shoot, old }) !== "none") return [];
  const to = shoot.spec.seedName;
  if (to === old.spec.seedName) {
    const message = `cannot be changed while the Shoot moves to Seed ${to}: wait for Restore to succeed`;
    return [{ field: "spec", message, forbidden: true }];
  }
  const field = "spec.seedName";
  if (move.is !== "leaving" || to !== move.source)
    return [{ field, message: describeMove(old.metadata, move), forbidden: true }];
  const { namespace, name } = shoot.metadata;
  const message =
    `to call the Shoot back to Seed ${to}, set annotation ${CANCEL_MIGRATION_ANNOTATION} to "true" in the same request: ` +
    commandLines.cancelMigration(`${namespace}/${name}`);
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
  const move = old && moveOf(old);
  const refuse = (message: string): Cause[] => [
    { field: fieldOf(CANCEL_MIGRATION_ANNOTATION), message, forbidden: true },
  ];
  if (old && move?.is === "returning" && wasRemoved(CANCEL_MIGRATION_ANNOTATION, shoot, old))
    return refuse(`cannot be removed while the Shoot goes back to Seed ${move.leader}: Restore takes it away`);
  if (!isNew(CANCEL_MIGRATION_ANNOTATION, shoot, old) || moveChangeOf({ shoot, old }) === "cancellation") return [];
  if (move?.is === "leaving") return refuse(`takes "true", together with spec.seedName: ${move.source}`);
  return refuse("can be set only while the Shoot is leaving its Seed: there is nothing to call back");
}

async function takeoverCauses({ shoot, old, user, mayBind }: MigrationRequest): Promise<Cause[]> {
  if (!isNew(FORCE_TAKEOVER_ANNOTATION, shoot, old)) return [];
  const field = fieldOf(FORCE_TAKEOVER_ANNOTATION);
  const refuse = (message: string): Cause[] => [{ field, message, forbidden: true }];
  if (!(await mayBind())) return refuse("may be set only by users who can update shoots/binding");
  if (sourceOf({ shoot, old }) === undefined)
    return refuse(
      "can be set only while the Shoot moves to another Seed, or together with the change of spec.seedName",
    );
  const approval = readTakeover(shoot);
  if (!approval) return [{ field, message: 'has to be JSON with a reason, such as {"reason": "seed-1 burnt down"}' }];
  if (approval.by === (user.username ?? "") && approval.at !== undefined) return [];
  return refuse("by and at are filled in from the request: leave them out");
}

/** What an approval of a takeover relies on, said to who has just given it. */
export function takeoverWarnings({ shoot, old, source, now }: ShootChange): string[] {
  if (!isNew(FORCE_TAKEOVER_ANNOTATION, shoot, old) || !old) return [];
  const seed = sourceOf({ shoot, old }) ?? "";
  return [describeReliance(seed, readTakeover(shoot)?.sourceIsOff === true), ...alive(source, now)];
}

/** The Seed that a Shoot on its way still needs; undefined for a Shoot that stays. */
export function sourceOf({ shoot, old }: Pick<ShootChange, "shoot" | "old">): string | undefined {
  return old && neededSource(moveUnder(shoot, old));
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

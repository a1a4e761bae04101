import { isDeepStrictEqual } from "node:util";
import { FORCE_DELETION_ANNOTATION, technicalIDOf, type ErrorCode, type Project, type Shoot } from "../../api/index.ts";
import { readNamespaceProject } from "../../api/core/namespace-project.ts";
import { counted } from "../../api/counted.ts";
import { GARDEN_NAMESPACE } from "../../api/names.ts";
import { moveOf } from "../../api/placement/move.ts";
import type { KubeClient } from "../../kube/index.ts";
import type { Cause } from "../review.ts";
import { KnownShoot } from "../watched/known.ts";
import type { ShootChange } from "./change.ts";
import { frozenPart, MENDABLE } from "./mendable.ts";
import { movingCauses } from "./migration.ts";

/** Why a new Shoot cannot have its name: what is made from it must be a DNS label, and its own. */
export async function nameCauses(client: KubeClient, shoot: Shoot): Promise<Cause[]> {
  const { name: project } = await readNamespaceProject(client, shoot.metadata.namespace);
  const malformed = formCauses(shoot, project);
  return malformed.length > 0 ? malformed : await twinCauses(client, shoot, project);
}

function formCauses({ metadata: { name } }: Shoot, project: string): Cause[] {
  const causes: Cause[] = [];
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name)) {
    causes.push({ field: "metadata.name", message: "must be a DNS label: small letters, digits and hyphens" });
  }
  if (name.includes("--")) causes.push({ field: "metadata.name", message: "must not have two hyphens in a row" });
  if (project.length + name.length > maxNameLength) {
    const message = `must have at most ${counted(maxNameLength - project.length, "character")} in project ${project}`;
    causes.push({ field: "metadata.name", message });
  }
  return causes;
}

const maxNameLength = 21;

/** Why there can be no new Shoot: its Project is to go with its last one (Gardener: plugin ShootValidator). */
export function projectCauses(project: Project | undefined, old: Shoot | undefined): Cause[] {
  if (old || project?.metadata.deletionTimestamp === undefined) return [];
  const message = `Project ${project.metadata.name} is being deleted: choose another`;
  return [{ field: "metadata.namespace", message, forbidden: true }];
}

/** Two namespaces may count as one project; two Shoots of one name in them would share a namespace in their seed. */
async function twinCauses(client: KubeClient, { metadata }: Shoot, project: string): Promise<Cause[]> {
  const id = technicalIDOf(project, metadata.name);
  const known = await client.list(KnownShoot);
  const namesakes = known.filter(
    (other) => other.metadata.name === metadata.name && other.metadata.namespace !== metadata.namespace,
  );
  const byNamespace = Map.groupBy(namesakes, (other) => other.metadata.namespace);
  for (const [namespace, versions] of byNamespace) {
    const given = new Set(versions.map(({ status }) => status?.technicalID));
    const project = given.has(undefined) ? (await readNamespaceProject(client, namespace)).name : undefined;
    const isTaken = given.has(id) || (project !== undefined && technicalIDOf(project, metadata.name) === id);
    if (!isTaken) continue;
    const message = `Shoot ${namespace}/${metadata.name} has the same technical ID, ${id}: choose another name`;
    return [{ field: "metadata.name", message }];
  }
  return [];
}

/** Why the spec cannot change now: the Shoot is going, or moving (Gardener contract: C9, Shoot lifecycle). */
export function frozenCauses(shoot: Shoot, old: Shoot, specChanged: boolean): Cause[] {
  if (!specChanged) return [];
  if (old.metadata.deletionTimestamp === undefined) return movingCauses(shoot, old);
  if (isDeepStrictEqual(frozenPart(shoot.spec), frozenPart(old.spec))) return [];
  const message = `cannot be changed once the Shoot is being deleted, except for what can hold the deletion up: ${MENDABLE}`;
  return [{ field: "spec", message, forbidden: true }];
}

/** Why the Shoot cannot be deleted now. */
export function deletionCauses(old: Shoot): Cause[] {
  if (moveOf(old).is === "settled" || old.metadata.deletionTimestamp !== undefined) return [];
  const message = `cannot be deleted while it moves to Seed ${old.spec.seedName}: wait for Restore to succeed`;
  return [{ field: "status.lastOperation", message, forbidden: true }];
}

/** Why the Shoot cannot be hibernated now. */
export function hibernationCauses(shoot: Shoot, old: Shoot): Cause[] {
  if (!shoot.spec.hibernation?.enabled || old.spec.hibernation?.enabled) return [];
  const field = "spec.hibernation.enabled";
  const { lastOperation, constraints } = old.status ?? {};
  if (!lastOperation || (lastOperation.type === "Create" && lastOperation.state !== "Succeeded")) {
    return [{ field, message: "cannot be set before the Shoot has been created", forbidden: true }];
  }
  const constraint = constraints?.find(({ type }) => type === "HibernationPossible");
  if (!constraint || constraint.status === "True") return [];
  return [{ field, message: `cannot be set: ${constraint.message}`, forbidden: true }];
}

/** Why the annotation that asks for a deletion by force cannot be set or removed (Gardener contract: C1.3, force delete). */
export function forceDeletionCauses(shoot: Shoot, old: Shoot, now: ShootChange["now"]): Cause[] {
  const [wanted, before] = [isForced(shoot), isForced(old)];
  if (wanted === before) return [];
  const field = `metadata.annotations[${FORCE_DELETION_ANNOTATION}]`;
  if (before) return [{ field, message: "cannot be removed once it is set", forbidden: true }];
  if (shoot.metadata.deletionTimestamp === undefined) {
    return [{ field, message: "can be set only when the Shoot is being deleted: delete it first", forbidden: true }];
  }
  const { lastErrors = [] } = old.status ?? {};
  if (lastErrors.flatMap(({ codes }) => codes ?? []).some((code) => forcing.has(code))) return [];
  const age = now.getTime() - Date.parse(shoot.metadata.deletionTimestamp);
  if (lastErrors.length > 0 && age >= PATIENCE_MINUTES * 60_000) return [];
  const message = `can be set only after an error that the deletion cannot get over (${[...forcing].join(", ")}), or once it has gone on for ${PATIENCE_MINUTES} minutes and status.lastErrors says what it fails at`;
  return [{ field, message, forbidden: true }];
}

/** How long a deletion is tried before any error at all justifies force. */
const PATIENCE_MINUTES = 60;

function isForced({ metadata }: Shoot): boolean {
  return metadata.annotations?.[FORCE_DELETION_ANNOTATION] === "true";
}

const forcing: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "ERR_INFRA_UNAUTHENTICATED",
  "ERR_INFRA_UNAUTHORIZED",
  "ERR_INFRA_DEPENDENCIES",
  "ERR_CLEANUP_CLUSTER_RESOURCES",
  "ERR_CONFIGURATION_PROBLEM",
]);

/** Why the Shoot cannot have its purpose: Shoots that Seeds are made from belong to the garden's operators (Gardener: ValidateShootSpec). */
export function purposeCauses({ metadata, spec }: Shoot): Cause[] {
  if (spec.purpose !== "infrastructure" || metadata.namespace === GARDEN_NAMESPACE) return [];
  return [{ field: "spec.purpose", message: "infrastructure is for Shoots in namespace garden: choose another" }];
}

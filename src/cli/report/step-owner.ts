import { OPERATION_ANNOTATION } from "../../api/annotations.ts";
import { ControllerRegistration, Seed, type Shoot } from "../../api/index.ts";
import {
  contractOf,
  definitionOf,
  isClusterScoped,
  type AppliedKind,
  type ExtensionObject,
} from "../../api/extensions/kinds.ts";
import type { KubeClient } from "../../kube/index.ts";
import type { Action } from "../../workflows/actions.ts";
import { placeOf } from "./step-place.ts";

/** The actor of a step: our own worker, or an extension controller through one of its objects. */
export interface StepOwner {
  /** The actor, in words. */
  readonly owner: string;
  readonly kind?: AppliedKind;
  /** Name of the object in the Shoot's namespace of the seed. */
  readonly object?: string;
  readonly type?: string;
}

/** What an extension object says of itself, as far as it helps. */
export interface ObjectReport {
  readonly object: string;
  readonly state?: string;
  readonly description?: string;
  readonly lastUpdateTime?: string;
}

/** The extension objects behind an action: `purpose` is undefined where all of the kind are meant. */
interface Extension {
  readonly kind: AppliedKind;
  readonly purpose?: string;
}

/** The extension objects behind an action; undefined for what our own worker carries out. */
export function extensionOf(action: Action): Extension | undefined {
  if ("kind" in action) return action;
  return action.verb === "call" && action.activity === "lowerTtl" ? { kind: "DNSRecord" } : undefined;
}

/**
 * The owner of a step, from what its row says: looks up in the garden which ControllerRegistration answers for the kind
 * and type. Without a row, as for a step that today's flows do not have, it is the Seed's worker.
 */
export async function findOwner(
  gardenClient: KubeClient,
  action: Action | undefined,
  shoot: Shoot,
): Promise<StepOwner> {
  const place = placeOf(action, shoot);
  if (place.in === "time") return { owner: "none: the step waits until a time has passed" };
  if (place.in === "garden") return { owner: "Perennial's worker for the garden" };
  if (action?.verb === "awaitNodes") return { owner: "the Shoot's machines: their kubelets, and pods of kube-system" };
  const extension = action && extensionOf(action);
  if (extension === undefined) return { owner: `Perennial's worker for seed ${place.seed ?? "<none>"}` };
  return await findController(gardenClient, { shoot, extension, seedName: place.seed });
}

/** The extension controller behind an object, and the object. */
async function findController(
  gardenClient: KubeClient,
  { shoot, extension, seedName }: { shoot: Shoot; extension: Extension; seedName: string | undefined },
): Promise<StepOwner> {
  const { kind } = extension;
  const seed = await gardenClient.read(Seed, { name: seedName ?? "" });
  const types = contractOf(kind).types({ shoot, seed }, extension.purpose);
  const [type] = new Set(types).size === 1 ? types : [];
  const object = objectName(extension, shoot);
  const registrations = await gardenClient.list(ControllerRegistration);
  const found = registrations.filter(({ spec }) =>
    // A type that the Shoot does not name, such as that of an extension for all Shoots, is any.
    spec.resources?.some((one) => one.kind === kind && (types.length === 0 || types.includes(one.type))),
  );
  const names = found.map(({ metadata }) => metadata.name).join(", ");
  const owner = names
    ? `extension controller ${names}`
    : "an extension controller that no ControllerRegistration names";
  return { owner, kind, ...(object !== undefined && { object }), ...(type !== undefined && { type }) };
}

/** The object's name, where the step has one object and it is known already. */
function objectName({ kind, purpose }: Extension, { metadata, status }: Shoot): string | undefined {
  const { purposes, nameOf } = contractOf(kind);
  const ambiguous = purposes !== undefined && purpose === undefined;
  const { technicalID, uid } = status ?? {};
  const known = technicalID !== undefined && uid !== undefined;
  if (ambiguous || (isClusterScoped(kind) && !known)) return undefined;
  return nameOf?.({ name: metadata.name, technicalID: technicalID ?? "", uid: uid ?? "" }, purpose);
}

/** What the object in the seed says, the unfinished one where a kind has several; undefined when there is no object. */
export async function readReport(
  seedClient: KubeClient,
  { kind, object }: StepOwner,
  namespace: string,
): Promise<ObjectReport | undefined> {
  if (kind === undefined) return undefined;
  const all = await seedClient.list(definitionOf(kind), { namespace });
  const named = all.filter(({ metadata }) => object === undefined || metadata.name === object);
  const found = named.find(({ status }) => status?.lastOperation?.state !== "Succeeded") ?? named[0];
  return found && { object: found.metadata.name, ...reportOf(found) };
}

function reportOf({ metadata, status }: ExtensionObject): Omit<ObjectReport, "object"> {
  const asked = metadata.annotations?.[OPERATION_ANNOTATION];
  if (asked) return { state: `the controller has not taken up what was asked for (${asked})` };
  const { lastOperation, lastError } = status ?? {};
  if (!lastOperation) return { state: "no controller has acted on it yet" };
  const { type = "", state = "", lastUpdateTime } = lastOperation;
  const description = lastError?.description ?? lastOperation.description;
  return {
    state: `${type} ${state}`.trim(),
    ...(description !== undefined && { description }),
    ...(lastUpdateTime !== undefined && { lastUpdateTime }),
  };
}

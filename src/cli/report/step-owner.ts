import { OPERATION_ANNOTATION } from "../../api/annotations.ts";
import type { ControllerRegistration, Seed, Shoot } from "../../api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { KubeClient } from "../../kube/index.ts";
import { placeOf } from "./step-place.ts";

/** Who has to act for a step: our own worker, or an extension controller through one of its objects. */
export interface StepOwner {
  /** In words: who it is. */
  readonly owner: string;
  readonly kind?: string;
  /** Name of the object in the Shoot's namespace of the seed. */
  readonly object?: string;
  readonly type?: string;
}

/** An object of an extension kind; without a name it is any of the kind in the Shoot's namespace. */
export interface ExtensionName {
  readonly kind: string;
  readonly object: string | undefined;
  readonly type: string | undefined;
}

/** What an extension object says of itself, as far as it helps. */
export interface ObjectReport {
  readonly object: string;
  readonly state?: string;
  readonly description?: string;
  readonly lastUpdateTime?: string;
}

/** The extension object behind a step; undefined for steps that our own worker carries out. */
export function extensionOf(step: string, shoot: Shoot): ExtensionName | undefined {
  const stem = step.replace(/^(remove|migrate)(?=[A-Z])/, "");
  const find = stepObjects[`${stem.charAt(0).toLowerCase()}${stem.slice(1)}`];
  return find?.(shoot);
}

/** The owner of a step: looks up in the garden which ControllerRegistration answers for the kind and type. */
export async function findOwner(gardenClient: KubeClient, step: string, shoot: Shoot): Promise<StepOwner> {
  const extension = extensionOf(step, shoot);
  const place = placeOf(step, shoot);
  if (place.in === "time") return { owner: "nobody: the step waits until a time has passed" };
  if (place.in === "garden") return { owner: "Perennial's worker for the garden" };
  if (!extension) return { owner: `Perennial's worker for seed ${place.seed ?? "<none>"}` };
  const { kind, object } = extension;
  const seed = await gardenClient.read<Seed>({ ...core, kind: "Seed", name: place.seed ?? "" });
  const type = extension.type ?? seedsType(kind, seed);
  const registrations = await gardenClient.list<ControllerRegistration>({ ...core, kind: "ControllerRegistration" });
  const found = registrations.filter(({ spec }) =>
    spec.resources?.some((one) => one.kind === kind && one.type === type),
  );
  const names = found.map(({ metadata }) => metadata.name).join(", ");
  const owner = names
    ? `extension controller ${names}`
    : "an extension controller that no ControllerRegistration names";
  return { owner, kind, ...(object !== undefined && { object }), ...(type !== undefined && { type }) };
}

/** What the object in the seed says, the unfinished one where a kind has several; undefined when there is no object. */
export async function readReport(
  seedClient: KubeClient,
  { kind, object }: StepOwner,
  namespace: string,
): Promise<ObjectReport | undefined> {
  if (kind === undefined) return undefined;
  const all = await seedClient.list<ExtensionObject>({ ...extensions, kind }, { namespace });
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

/** The type of what a Seed decides on for its Shoots: where backups go, and the internal domain. */
function seedsType(kind: string, seed: Seed | undefined): string | undefined {
  if (kind === "BackupEntry") return seed?.spec.backup?.provider;
  return seed?.spec.dns.internal?.type ?? seed?.spec.dns.provider?.type;
}

const core = { apiVersion: "core.gardener.cloud/v1beta1" } as const;
const extensions = { apiVersion: "extensions.gardener.cloud/v1alpha1" } as const;

interface ExtensionObject extends KubeObject {
  readonly status?: {
    readonly lastOperation?: { type?: string; state?: string; description?: string; lastUpdateTime?: string };
    readonly lastError?: { description?: string };
  };
}

type Find = (shoot: Shoot) => ExtensionName;

const provider =
  (kind: string): Find =>
  ({ metadata, spec }) => ({ kind, object: metadata.name, type: spec.provider.type });

const dns =
  (purpose: string): Find =>
  ({ metadata, spec }) => ({
    kind: "DNSRecord",
    object: `${metadata.name}-${purpose}`,
    type:
      purpose === "external"
        ? (spec.dns?.providers?.find((one) => one.primary)?.type ?? spec.dns?.providers?.[0]?.type)
        : undefined,
  });

const backups: Find = ({ status }) => ({
  kind: "BackupEntry",
  object: status?.technicalID && status.uid && `${status.technicalID}--${status.uid}`,
  type: undefined,
});

/** The steps of the flow tables that act through an extension object, and that object; nodes join through Worker. */
const stepObjects: Readonly<Record<string, Find>> = {
  infrastructure: provider("Infrastructure"),
  controlPlane: provider("ControlPlane"),
  worker: provider("Worker"),
  nodesReady: provider("Worker"),
  network: ({ metadata, spec }) => ({ kind: "Network", object: metadata.name, type: spec.networking?.type }),
  operatingSystemConfig: ({ spec }) => ({
    kind: "OperatingSystemConfig",
    object: undefined, // several: one per pool and purpose
    type: spec.provider.workers?.[0]?.machine.image?.name,
  }),
  backupEntry: backups,
  copiedBackups: backups,
  shortAddress: ({ spec }) => ({
    kind: "DNSRecord",
    object: undefined, // both
    type: spec.dns?.providers?.find((one) => one.primary)?.type,
  }),
  internalDns: dns("internal"),
  externalDns: dns("external"),
};

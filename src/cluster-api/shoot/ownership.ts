import { COMPOSED_ANNOTATION, OWNED_WORKERS_ANNOTATION } from "../../api/annotations.ts";
import type { Shoot } from "../../api/index.ts";
import { CONTROL_PLANE_ID_LABEL } from "../../api/labels.ts";
import { refOf, type JsonPatchOperation, type KubeClient } from "../../kube/index.ts";
import { COMPOSER, CREATOR } from "../objects/field-managers.ts";

/**
 * Leaves the creator of a Shoot nothing but the Seed's name: the composer owns the rest from then on, as if it had applied it. A row that
 * two managers own, or none, stays when the composer drops it (Kubernetes: "server-side apply", migration from client-side writes).
 */
export async function releaseCreation(garden: KubeClient, shoot: Shoot): Promise<Shoot> {
  const entries = managersOf(shoot);
  const creator = entries.find(({ manager }) => manager === CREATOR);
  if (creator === undefined || JSON.stringify(creator.fieldsV1) === JSON.stringify(seedNameOf(creator))) return shoot;
  const reduced = { ...creator, fieldsV1: seedNameOf(creator) };
  const composer = { ...creator, manager: COMPOSER, operation: "Apply", fieldsV1: withoutSeedName(creator) };
  const others = entries.filter(({ manager }) => manager !== CREATOR);
  const composers = others.some(({ manager }) => manager === COMPOSER) ? [] : [composer];
  return await garden.patch(refOf(shoot), replaceManagers(shoot, [...others, reduced, ...composers]));
}

/** Takes from a Shoot what says that it is a control plane's, and the composer's ownership; its spec stays as it is. */
export async function dropOwnership(garden: KubeClient, shoot: Shoot): Promise<void> {
  const fresh = await garden.read(refOf(shoot));
  if (fresh === undefined || fresh.metadata.uid !== shoot.metadata.uid) return;
  const entries = managersOf(fresh).filter(({ manager }) => manager !== COMPOSER && manager !== CREATOR);
  const { labels = {}, annotations = {} } = fresh.metadata;
  const removals = [
    ...(CONTROL_PLANE_ID_LABEL in labels ? [removal("labels", CONTROL_PLANE_ID_LABEL)] : []),
    ...[OWNED_WORKERS_ANNOTATION, COMPOSED_ANNOTATION]
      .filter((key) => key in annotations)
      .map((key) => removal("annotations", key)),
  ];
  await garden.patch(refOf(fresh), [...removals, ...replaceManagers(fresh, entries)]);
}

/** One writer's share of an object, as the API server keeps it. */
interface ManagedFields {
  readonly manager?: string;
  readonly fieldsV1?: { readonly "f:metadata"?: object; readonly "f:spec"?: { readonly "f:seedName"?: object } };
}

const managersOf = ({ metadata }: Shoot): readonly ManagedFields[] => metadata.managedFields ?? [];

const seedNameOf = ({ fieldsV1 }: ManagedFields) =>
  fieldsV1?.["f:spec"]?.["f:seedName"] === undefined ? {} : { "f:spec": { "f:seedName": {} } };

function withoutSeedName({ fieldsV1 }: ManagedFields): object {
  const { "f:seedName": _, ...spec } = fieldsV1?.["f:spec"] ?? {};
  return { ...fieldsV1, "f:spec": spec };
}

/** Only of the Shoot as it was read: another's write in between is a conflict. */
const replaceManagers = ({ metadata }: Shoot, entries: readonly ManagedFields[]): readonly JsonPatchOperation[] => [
  { op: "replace", path: "/metadata/managedFields", value: entries.length === 0 ? [{}] : entries },
  { op: "replace", path: "/metadata/resourceVersion", value: metadata.resourceVersion },
];

const removal = (field: "labels" | "annotations", key: string): JsonPatchOperation => ({
  op: "remove",
  path: `/metadata/${field}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`,
});

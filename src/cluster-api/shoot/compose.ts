import { createHash } from "node:crypto";
import {
  COMPOSED_ANNOTATION,
  isOwnKey,
  isReservedKey,
  OWN_PREFIX,
  OWNED_WORKERS_ANNOTATION,
} from "../../api/annotations.ts";
import type { Cluster, ShootCluster, ShootControlPlane } from "../../api/cluster-api/index.ts";
import { Shoot } from "../../api/index.ts";
import { CONTROL_PLANE_ID_LABEL } from "../../api/labels.ts";
import { infrastructureCredentialsName } from "../../api/names.ts";
import type { KubeObject, NamespacedMeta } from "../../api/schema/meta.ts";
import { typeMeta } from "../../kube/index.ts";
import { omitUndefined } from "../../omit-undefined.ts";
import { obstacle, type Obstacle } from "../objects/obstacle.ts";
import { chooseDomain } from "./domain.ts";
import { idOf, isOwn } from "./identity.ts";
import type { Pool, Row } from "./row.ts";
import { chooseRows, type Rows } from "./rows.ts";

/** All that a Shoot is made from. */
export interface Ingredients {
  readonly cluster: Cluster;
  readonly controlPlane: ShootControlPlane;
  readonly pools: readonly Pool[];
  /** The names of rows whose pools are being deleted. */
  readonly leaving?: readonly string[];
  readonly infrastructure?: ShootCluster | undefined;
  /** Where the Shoot is, or is to be. */
  readonly key: { readonly namespace: string; readonly name: string };
  /** The Shoot as it is; undefined before it is made. */
  readonly present?: Shoot | undefined;
}

/** What a Shoot is to say, as far as objects of Cluster API name it: of an adopted one, parts of its spec. */
export interface Composed extends KubeObject {
  readonly metadata: NamespacedMeta;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** The Shoot as Cluster API's objects want it, or what stands against it. */
export type Composition = { readonly shoot: Composed } | { readonly obstacle: Obstacle };

/**
 * The Shoot that a control plane and its pools make: the template's spec, `spec.version`, and a row for each MachinePool. Of an
 * adopted Shoot, only the version and the rows. The Seed's name is left out: it counts only when a Shoot is made. Pure.
 */
export function composeShoot(ingredients: Ingredients): Composition {
  const { controlPlane, infrastructure, present } = ingredients;
  const { shootTemplate, version } = controlPlane.spec;
  const misplaced = shootTemplate && (findReserved(shootTemplate) ?? findMisplaced(shootTemplate.spec));
  if (misplaced !== undefined) return { obstacle: misplaced };
  const chosen = chooseDomain(controlPlane, infrastructure);
  if ("obstacle" in chosen) return chosen;
  const rows = rowsFor(ingredients);
  if ("obstacle" in rows) return rows;
  if (version === undefined && present === undefined) return obstacle("VersionMissing", VERSION_MISSING);
  const spec = specOf(ingredients, rows.chosen, chosen.domain);
  return { shoot: { ...typeMeta(Shoot), metadata: metadataOf(ingredients, rows.chosen, spec), spec } };
}

function rowsFor({ controlPlane, infrastructure, pools, present, leaving = [] }: Ingredients): Rows {
  const { version, workerless = false } = controlPlane.spec;
  const own = present !== undefined && isOwn(present, controlPlane);
  const facts = { version, zones: infrastructure?.spec?.zones };
  return chooseRows(pools, facts, { workerless, present, isOwn: own, leaving });
}

const VERSION_MISSING = "spec.version is not set: write a full version with a leading v, such as v1.34.4";

/**
 * Whose the Shoot is, which of its rows are pools', and a hash of all that is composed: a Shoot that says more than is wanted does
 * not show whether the rest was composed before, or is another's.
 */
function metadataOf({ controlPlane, key }: Ingredients, rows: readonly Row[], spec: Composed["spec"]): NamespacedMeta {
  const { labels, annotations } = controlPlane.spec.shootTemplate?.metadata ?? {};
  const id = idOf(controlPlane) ?? "";
  const owned = rows.map(({ name }) => name).join(",");
  const hash = createHash("sha256").update(JSON.stringify({ labels, annotations, spec })).digest("hex");
  return {
    ...key,
    labels: { ...labels, [CONTROL_PLANE_ID_LABEL]: id },
    annotations: { ...annotations, [OWNED_WORKERS_ANNOTATION]: owned, [COMPOSED_ANNOTATION]: hash },
  };
}

/** The template with version and rows; without a template, these alone. */
function specOf(
  { controlPlane, infrastructure, key }: Ingredients,
  rows: readonly Row[],
  domain: string | undefined,
): Composed["spec"] {
  const { shootTemplate, version } = controlPlane.spec;
  const template = shootTemplate?.spec;
  const kubernetes = { ...template?.kubernetes, ...omitUndefined({ version: version?.replace(/^v/, "") }) };
  const provider = { ...template?.provider, ...(rows.length > 0 ? { workers: rows } : {}) };
  return {
    ...(template && withoutSeed(withInfrastructure(template, infrastructure, key.name))),
    ...(domain === undefined ? {} : { dns: { ...template?.dns, domain } }),
    ...(Object.keys(kubernetes).length > 0 ? { kubernetes } : {}),
    ...(Object.keys(provider).length > 0 ? { provider } : {}),
  };
}

type ShootTemplate = NonNullable<ShootControlPlane["spec"]["shootTemplate"]>;
type Template = ShootTemplate["spec"];

/** Annotations that are operations and approvals: admission would judge them as this process's, and not as the user's. */
function findReserved({ metadata }: ShootTemplate): Obstacle | undefined {
  const label = Object.keys(metadata?.labels ?? {}).find(isOwnKey);
  if (label !== undefined)
    return {
      reason: "TemplateInvalid",
      message: `spec.shootTemplate.metadata.labels cannot hold ${label}: remove it, because keys that begin with ${OWN_PREFIX} are written by Perennial's processes`,
    };
  const key = Object.keys(metadata?.annotations ?? {}).find(isReservedKey);
  return key === undefined
    ? undefined
    : {
        reason: "TemplateInvalid",
        message: `spec.shootTemplate.metadata.annotations cannot hold ${key}: take it away here, and annotate the Shoot itself`,
      };
}

/** Fields that the definition keeps, because it keeps what it does not know, and that are others' to say. */
function findMisplaced({ kubernetes, provider }: Template): Obstacle | undefined {
  if (kubernetes !== undefined && "version" in kubernetes)
    return misplaced("kubernetes.version", "the version is spec.version");
  return "workers" in provider ? misplaced("provider.workers", "each row of workers is a MachinePool") : undefined;
}

const misplaced = (field: string, remedy: string): Obstacle => ({
  reason: "TemplateInvalid",
  message: `spec.shootTemplate.spec.${field} cannot be said here: ${remedy}`,
});

const withoutSeed = ({ seedName: _, ...kept }: Template): Template => kept;

/** What the template says goes before what the infrastructure brings. */
function withInfrastructure(template: Template, infrastructure: ShootCluster | undefined, shoot: string): Template {
  const { region, seedSelector, credentials } = infrastructure?.spec ?? {};
  const credentialsBindingName = credentials && infrastructureCredentialsName(shoot);
  const own = template.secretBindingName === undefined ? { credentialsBindingName } : {};
  return { ...omitUndefined({ region, seedSelector, ...own }), ...template };
}

import {
  DELETE_FOR_MOVE_ANNOTATION,
  MANAGED_BY_ANNOTATION,
  PAUSED_ANNOTATION,
  REPLICAS_MANAGED_BY_ANNOTATION,
} from "../../api/cluster-api/index.ts";
import { MANAGED_ELSEWHERE_LABEL, REPLICAS_MANAGED_BY_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { refOf, unlessGone, type KubeClient } from "../../kube/index.ts";

/** By which label each annotation is remembered that decides what this process writes: `clusterctl move` keeps labels. */
const labels = {
  [REPLICAS_MANAGED_BY_ANNOTATION]: REPLICAS_MANAGED_BY_LABEL,
  [MANAGED_BY_ANNOTATION]: MANAGED_ELSEWHERE_LABEL,
} as const;

type Remembered = keyof typeof labels;

const all = Object.keys(labels) as readonly Remembered[];

/**
 * An annotation of an object, as its users wrote it. The mark of `clusterctl move` takes the place of all annotations, so of a marked
 * object it is what its label remembers. Pure.
 */
export function annotationOf({ metadata }: KubeObject, name: Remembered): string | undefined {
  const { annotations = {}, labels: remembered = {} } = metadata;
  const isMarked = DELETE_FOR_MOVE_ANNOTATION in annotations;
  return annotations[name] ?? (isMarked ? remembered[labels[name]] : undefined);
}

/** The annotations that the mark has taken from an object, as its labels remember them. Pure. */
export function lostAnnotations(object: KubeObject): Record<string, string> {
  const found = all.map((name) => [name, annotationOf(object, name)] as const);
  return Object.fromEntries(found.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

/**
 * Keeps in labels what annotations say, so that the label comes and goes with its annotation. At most one write for each object, and
 * none where labels say so already, nor to one that is marked, deleted or paused.
 */
export async function rememberAnnotations(
  management: KubeClient,
  objects: readonly (KubeObject | undefined)[],
): Promise<void> {
  for (const object of objects) {
    const { uid, annotations = {}, labels: present = {}, deletionTimestamp } = object?.metadata ?? {};
    if (object === undefined || deletionTimestamp !== undefined || keptOff.some((name) => name in annotations))
      continue;
    const wanted = all.map((name) => [labels[name], asLabel(annotations[name])] as const);
    const changed = wanted.filter(([label, value]) => present[label] !== value);
    if (changed.length === 0) continue;
    const news = Object.fromEntries(changed.map(([label, value]) => [label, value ?? null]));
    await unlessGone(management.patch(refOf(object), { metadata: { uid, labels: news } }));
  }
}

const keptOff = [DELETE_FOR_MOVE_ANNOTATION, PAUSED_ANNOTATION];

/** What a label can hold of a value; all but `false` mean the same to Cluster API. */
const asLabel = (value: string | undefined): string | undefined =>
  value === undefined || /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/.test(value) ? value : "true";

import { isDeepStrictEqual } from "node:util";
import { WAIT_ANNOTATION } from "../../api/annotations.ts";
import type { KubeObject } from "../../api/schema/meta.ts";

/** The fields in which a write would change an object, as paths; what the API server and waits write there does not count. */
export const changesOf = (before: KubeObject, after: KubeObject): string[] =>
  differences(lasting(before), lasting(after));

/** The fields in which two values differ, as paths, the details of each left out. */
function differences(before: unknown, after: unknown, path: readonly string[] = []): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (path.length === DEPTH || !isFields(before) || !isFields(after)) return [path.join(".")];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => differences(before[key], after[key], [...path, key]));
}

const DEPTH = 4;

/** Of an object, what is neither the API server's, nor its controller's, nor a note of those who wait for it. */
export function lasting(object: KubeObject): Fields {
  const { status: _, ...rest } = object;
  const { managedFields: __, resourceVersion: ___, generation: ____, ...metadata } = object.metadata;
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([name]) => name !== WAIT_ANNOTATION);
  const kept = { ...rest, metadata: { ...metadata, annotations: Object.fromEntries(annotations) } };
  return object.kind === "Cluster" ? { ...kept, spec: lastingCopies(object["spec"] as Copies) } : kept;
}

/**
 * Of the copies in a Cluster, what extensions go by. The Shoot's status changes with every operation, the Seed's with
 * every heartbeat; of the Shoot's last operation extensions ask whether it has failed.
 */
function lastingCopies({ cloudProfile, seed, shoot }: Copies): Fields {
  const { conditions: _, ...seedStatus } = seed?.status ?? {};
  const { conditions: __, constraints: ___, lastErrors: ____, lastOperation, ...shootStatus } = shoot.status ?? {};
  const failed = (lastOperation as { state?: string } | undefined)?.state === "Failed";
  return {
    cloudProfile: unversioned(cloudProfile),
    seed: seed && { ...unversioned(seed), status: seedStatus },
    shoot: { ...unversioned(shoot), status: { ...shootStatus, failed } },
  };
}

function unversioned({ metadata, ...rest }: Copy): Fields {
  const { resourceVersion: _, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

type Fields = Readonly<Record<string, unknown>>;

interface Copy extends Fields {
  readonly metadata: Fields;
  readonly status?: Fields;
}

interface Copies {
  readonly cloudProfile: Copy;
  readonly seed?: Copy;
  readonly shoot: Copy;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

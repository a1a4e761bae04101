import { isDeepStrictEqual } from "node:util";
import { PURPOSE_LABEL } from "../../api/labels.ts";
import { referencedResourceName } from "../../api/names.ts";
import type { Shoot } from "../../api/index.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { ConfigMap, refOf, Secret, type KubeClient } from "../../kube/index.ts";
import { readGardenObjects } from "../control-plane/cluster.ts";
import { omitUndefined } from "../../omit-undefined.ts";
import { configurationProblem } from "../step-error.ts";

/** Every write into the seed goes through `seedClient`, which is the run's fenced client. */
export interface ReferenceDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
}

/**
 * The Secrets and ConfigMaps that `spec.resources` of a Shoot names, beside its control plane: extensions find each under
 * `ref-` and its name in the garden (upstream: PrepareReferencedResourcesForSeedCopy).
 */
export function createReferences({ gardenClient, seedClient }: ReferenceDeps) {
  const deploy = async (run: ShootRun, reference: Reference) => {
    const { kind, name } = reference;
    const source = await gardenClient.read(kinds[kind], { namespace: run.namespace, name });
    const copy = { namespace: run.technicalID, name: referencedResourceName(name) };
    const existing = await seedClient.read(kinds[kind], copy);
    if (source === undefined) {
      // What is being deleted can do with the copy that it has, and its spec cannot be changed any more.
      if (run.operation === "Delete") return;
      throw configurationProblem(`${kind} ${run.namespace}/${name}, which spec.resources names, does not exist`);
    }
    const content = contentOf(source);
    if (existing !== undefined && !canBecome(existing, content)) await seedClient.remove(refOf(existing));
    const metadata = { ...copy, labels: { [PURPOSE_LABEL]: REFERENCED } };
    await seedClient.apply({ apiVersion: "v1", kind, metadata, ...content });
  };

  return {
    /** Copies them as they are now; throws for one that is not there, unless the Shoot is being deleted. */
    async deploy(run: ShootRun): Promise<void> {
      const { shoot } = await readGardenObjects(gardenClient, run);
      for (const reference of referencesOf(shoot)) await deploy(run, reference);
    },

    /** Removes the copies of those that the Shoot names no more. */
    async removeStale(run: ShootRun): Promise<void> {
      const { shoot } = await readGardenObjects(gardenClient, run);
      const named = new Set(referencesOf(shoot).map(({ kind, name }) => `${kind}/${referencedResourceName(name)}`));
      const options = { namespace: run.technicalID, labelSelector: `${PURPOSE_LABEL}=${REFERENCED}` };
      const copies = [...(await seedClient.list(Secret, options)), ...(await seedClient.list(ConfigMap, options))];
      const stale = copies.filter(({ kind, metadata }) => !named.has(`${kind}/${metadata.name}`));
      for (const copy of stale) await seedClient.remove(refOf(copy));
    },
  };
}

const kinds = { Secret, ConfigMap } as const;

interface Reference {
  readonly kind: keyof typeof kinds;
  readonly name: string;
}

/** Objects of other kinds are for admission to refuse. */
function referencesOf({ spec }: Shoot): Reference[] {
  return (spec.resources ?? []).flatMap(({ resourceRef: { apiVersion = "v1", kind, name } }) =>
    apiVersion === "v1" && (kind === "Secret" || kind === "ConfigMap") ? [{ kind, name }] : [],
  );
}

/** The value of {@link PURPOSE_LABEL} on a copy. */
const REFERENCED = "referenced-resource";

interface Content {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
  readonly type?: string;
}

const contentOf = ({ data, binaryData, immutable, type }: Content): Content =>
  omitUndefined({ data, binaryData, immutable, type });

/** Whether the API server would let the copy change so: its type never changes, and nothing of an immutable one. */
function canBecome(copy: Content, wanted: Content): boolean {
  if (copy.type !== wanted.type) return false;
  return copy.immutable !== true || (wanted.immutable === true && hasSame(copy, wanted));
}

const hasSame = (one: Content, other: Content): boolean =>
  isDeepStrictEqual([one.data ?? {}, one.binaryData ?? {}], [other.data ?? {}, other.binaryData ?? {}]);

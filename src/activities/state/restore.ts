import { isDeepStrictEqual } from "node:util";
import type { ShootRun } from "../../api/shoot/run.ts";
import { omitUndefined } from "../../omit-undefined.ts";
import { refOf, refTo, Secret, typeMeta, type KubeClient } from "../../kube/index.ts";
import { configurationProblem, type StepError } from "../step-error.ts";
import { adoption, isPrepared, preparedMark } from "../secrets/prepared.ts";
import type { StateItem } from "./entry.ts";
import {
  bareObject,
  labelsOfKept,
  refusalOfReference,
  refusalOfSecret,
  refusalOfType,
  type ResourceReference,
} from "./handed-over.ts";

/**
 * Brings what is kept of Secrets and referenced objects into a namespace of this seed. While the Shoot is still elsewhere,
 * Secrets come as copies, and objects that states refer to not at all: their controllers there change them up to the end.
 * Another seed wrote all of it: it decides on content only, and never on kinds, types, labels and annotations.
 */
export function createStateRestore(seedClient: KubeClient) {
  const restoreSecret = async (namespace: string, { fields, content }: StateItem, arriving: boolean): Promise<void> => {
    const { name, labels } = fields as { name: string; labels?: Record<string, string> };
    const { data, immutable } = content as Pick<Secret, "data" | "immutable">;
    const kept = omitUndefined({ type: "Opaque", data, immutable });
    const ref = refTo(Secret, { namespace, name });
    const annotations = arriving ? {} : preparedMark(kept);
    const wanted: Secret = {
      ...typeMeta(Secret),
      metadata: { namespace, name, labels: labelsOfKept(name, labels), annotations },
      ...kept,
    };
    const present = await seedClient.read(ref);
    if (present === undefined) return void (await seedClient.create(wanted));
    if (isDeepStrictEqual(present.data ?? {}, kept.data ?? {})) {
      if (arriving && isPrepared(present)) await seedClient.patch(ref, adoption);
      return;
    }
    // The Shoot's keys may have been renewed since the copy was made.
    if (!isPrepared(present) || present.immutable) {
      throw configurationProblem(
        `cannot restore Secret ${namespace}/${name}: another one is there, and the Shoot's machines and users know the one that was kept; remove the wrong one`,
      );
    }
    const { resourceVersion } = present.metadata;
    await seedClient.replace({
      ...wanted,
      metadata: { ...wanted.metadata, ...(resourceVersion && { resourceVersion }) },
    });
  };

  /** What is there already is newer than what was kept. */
  const restoreObject = async (
    { technicalID: namespace, ...run }: Restored,
    { fields, content }: StateItem,
  ): Promise<void> => {
    const ref = fields as unknown as ResourceReference["resourceRef"];
    const why = refusalOfReference(ref) ?? refusalOfType(content);
    if (why !== undefined) throw refused(run, "resources", `${ref.kind} ${ref.name}`, why);
    const object = bareObject(ref, content, namespace);
    if ((await seedClient.read(refOf(object))) === undefined) await seedClient.create(object);
  };

  return {
    async secrets(run: Restored, items: readonly StateItem[], o: { readonly arriving: boolean }): Promise<void> {
      const secrets = items.filter(({ section, fields }) => section === "gardener" && fields["type"] === "secret");
      for (const { fields, content } of secrets) {
        const name = String(fields["name"]);
        const why = refusalOfSecret(name, content);
        if (why !== undefined) throw refused(run, "gardener", `Secret ${name}`, why);
      }
      for (const item of secrets) await restoreSecret(run.technicalID, item, o.arriving);
    },

    async referenced(run: Restored, items: readonly StateItem[]): Promise<void> {
      for (const item of items) await restoreObject(run, item);
    },
  };
}

type Restored = Pick<ShootRun, "namespace" | "name" | "technicalID">;

const refused = (run: Pick<ShootRun, "namespace" | "name">, list: string, what: string, why: string): StepError =>
  configurationProblem(
    `cannot restore ${what} from ShootState ${run.namespace}/${run.name}: ${why}; find out who has put it there, and remove it from spec.${list}`,
  );

import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../api/schema/meta.ts";
import { refTo, Secret, typeMeta, type KubeClient } from "../../kube/index.ts";
import { configurationProblem } from "../step-error.ts";
import { adoption, isPrepared, preparedMark } from "../secrets/prepared.ts";
import type { StateItem } from "./entry.ts";

/**
 * Brings what is kept of Secrets and referenced objects into a namespace of this seed. While the Shoot is still elsewhere,
 * Secrets come as copies, and objects that states refer to not at all: their controllers there change them up to the end.
 */
export function createStateRestore(seedClient: KubeClient) {
  const restoreSecret = async (namespace: string, { fields, content }: StateItem, arriving: boolean): Promise<void> => {
    const { name, labels } = fields as { name: string; labels?: Record<string, string> };
    const kept = content as Pick<Secret, "type" | "data" | "immutable">;
    const ref = refTo(Secret, { namespace, name });
    const annotations = arriving ? {} : preparedMark(kept);
    const wanted: Secret = {
      ...typeMeta(Secret),
      metadata: { namespace, name, ...(labels && { labels }), annotations },
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
  const restoreObject = async (namespace: string, { content }: StateItem): Promise<void> => {
    const object = content as KubeObject;
    const metadata = { ...object.metadata, namespace };
    const { apiVersion, kind } = object;
    if ((await seedClient.read({ apiVersion, kind, namespace, name: metadata.name })) !== undefined) return;
    await seedClient.create({ ...object, metadata });
  };

  return async (namespace: string, items: readonly StateItem[], o: { readonly arriving: boolean }): Promise<void> => {
    const { secrets = [], resources = [] } = Object.groupBy(items, ({ section, fields }) => {
      if (section === "resources") return "resources";
      return section === "gardener" && fields["type"] === "secret" ? "secrets" : "others";
    });
    for (const item of secrets) await restoreSecret(namespace, item, o.arriving);
    if (o.arriving) for (const item of resources) await restoreObject(namespace, item);
  };
}

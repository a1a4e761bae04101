import type { KubeObject } from "../api/schema/meta.ts";
import type { KubeClient, WriteOptions } from "./client.ts";
import { isApplied } from "./directory/is-applied.ts";
import { isUnchanged } from "./directory/managers.ts";
import { refOf } from "./path.ts";

/**
 * The same client, but that it applies only what would change something, and reads first. Where reading does not say that for certain, the
 * API server is asked by a dry run.
 */
export function applyingChanges(client: KubeClient, manager = "perennial"): KubeClient {
  const wouldChange = async (object: KubeObject, live: KubeObject, o: WriteOptions): Promise<boolean> => {
    if (!isAdmissions(object) && isApplied(object, live, o.fieldManager ?? manager)) return false;
    // What does not work as a dry run is tried.
    const tried = await client.apply(object, { ...o, dryRun: true }).catch(() => undefined);
    return tried === undefined || !isUnchanged(live, tried);
  };
  return {
    ...client,
    async apply<T extends KubeObject>(object: T, o: WriteOptions = {}): Promise<T> {
      if (o.dryRun === true) return await client.apply(object, o);
      const live = await client.read(refOf(object));
      if (live === undefined || (await wouldChange(object, live, o))) return await client.apply(object, o);
      return live;
    },
  };
}

/** Webhooks of extensions change workloads when these are written, and would do so otherwise than before. */
const isAdmissions = ({ apiVersion }: KubeObject): boolean => apiVersion.startsWith("apps/");

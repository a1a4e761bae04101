import { wavesOf } from "../../activities/control-plane/waves.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { KubeClient } from "../../kube/index.ts";

/** Applies objects, as many at a time as can be. */
export async function applyAll(client: KubeClient, objects: readonly KubeObject[]): Promise<void> {
  for (const wave of wavesOf(objects)) await Promise.all(wave.map(async (object) => await client.apply(object)));
}

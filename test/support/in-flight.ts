import type { KubeObject } from "../../src/api/schema/meta.ts";
import type { KubeClient } from "../../src/kube/index.ts";

/** What of a client's writes of one sort was under way at a time. */
export interface InFlight {
  readonly client: KubeClient;
  /** How many there were at once, at most. */
  most(): number;
  /** Of what kind each was, in the order in which they began; `alone` when no other was under way then. */
  begun(): readonly { readonly kind: string; readonly alone: boolean }[];
}

/** The same client; its writes are counted. */
export function inFlight(client: KubeClient, method: "apply" | "create"): InFlight {
  const begun: { kind: string; alone: boolean }[] = [];
  let [now, most] = [0, 0];
  const counted = async (object: KubeObject, o?: object): Promise<KubeObject> => {
    now += 1;
    most = Math.max(most, now);
    begun.push({ kind: object.kind, alone: now === 1 });
    return await client[method](object, o).finally(() => (now -= 1));
  };
  return { client: { ...client, [method]: counted }, most: () => most, begun: () => begun };
}

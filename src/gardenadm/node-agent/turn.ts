import { serialLeaseName, SYSTEM_NAMESPACE } from "../../api/names.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isAlreadyExists, isConflict } from "../../kube/errors.ts";
import { Lease, Node } from "../../kube/kinds.ts";
import { typeMeta } from "../../kube/path.ts";
import { microTime } from "../../kube/time.ts";

/** The right of one node of a pool to change while the others wait. */
export interface Turn {
  /** Takes the turn: undefined when it is this node's now, else the node that has it. */
  take(): Promise<string | undefined>;
  /** Gives it to whichever node asks next; nothing where this node has not got it. */
  pass(): Promise<void>;
}

/**
 * The turns of a pool's nodes, by a Lease. No time ends a turn: where a node has broken by a change, or is off in the middle of
 * it, no other follows it into the ditch. It ends when the node has done, or when its Node has left the cluster.
 */
export function createTurn(client: KubeClient, pool: string, node: string): Turn {
  const key = { namespace: SYSTEM_NAMESPACE, name: serialLeaseName(pool) };
  return {
    async take() {
      const lease = await client.read(Lease, key);
      const holder = lease?.spec.holderIdentity ?? "";
      if (holder === node) return undefined;
      if (holder !== "" && (await client.read(Node, { name: holder })) !== undefined) return holder;
      const spec = { holderIdentity: node, acquireTime: microTime() };
      try {
        if (lease === undefined) await client.create<Lease>({ ...typeMeta(Lease), metadata: key, spec });
        else await client.replace<Lease>({ ...lease, spec: { ...lease.spec, ...spec } });
        return undefined;
      } catch (error) {
        if (isConflict(error) || isAlreadyExists(error)) return "another node, which was faster";
        throw error;
      }
    },
    async pass() {
      const lease = await client.read(Lease, key);
      if (lease?.spec.holderIdentity !== node) return;
      await client.replace<Lease>({ ...lease, spec: { ...lease.spec, holderIdentity: "" } });
    },
  };
}

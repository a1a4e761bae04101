import type { KubeClient } from "./client.ts";
import { Lease } from "./kinds.ts";

/** The same client, which tells of each call that may change something: Leases, which are about who writes, and dry runs are not told of. */
export function tellingWrites(client: KubeClient, tell: () => void): KubeClient {
  const told = ({ kind }: { readonly kind: string }, isDry = false): void => {
    if (kind !== Lease.kind && !isDry) tell();
  };
  return {
    ...client,
    async apply(object, o) {
      told(object, o?.dryRun);
      return await client.apply(object, o);
    },
    async applyStatus(object, o) {
      told(object);
      return await client.applyStatus(object, o);
    },
    async create(object, o) {
      told(object, o?.dryRun);
      return await client.create(object, o);
    },
    async replace(object) {
      told(object);
      return await client.replace(object);
    },
    async replaceStatus(object) {
      told(object);
      return await client.replaceStatus(object);
    },
    async patch(ref, patch, o) {
      told(ref);
      return await client.patch(ref, patch, o);
    },
    async remove(ref, o) {
      told(ref);
      await client.remove(ref, o);
    },
    async removeAll(type, o) {
      told(type);
      await client.removeAll(type, o);
    },
  };
}

import type { KubeClient } from "./client.ts";
import { Lease } from "./kinds.ts";
import { typeMeta } from "./path.ts";
import { microTime } from "./time.ts";

/** What one candidate reads from and writes to a Lease. */
export interface LeaseRecord {
  /** Takes or renews the Lease: true when it is ours now, false when another holds it; a lost race throws a conflict. */
  acquire(): Promise<boolean>;
  /** Gives the Lease back if it is ours. */
  release(): Promise<void>;
}

/**
 * The Lease as one candidate sees it. Whether another holder's Lease has run out is judged by when we last saw it change
 * on our own clock, never by the times in it: clocks of other machines may be wrong. A holder that has said that its Lease
 * lasts longer than ours is given that time: it may be of another release.
 */
export function createLeaseRecord(o: {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  /** Milliseconds. */
  readonly expireAfter: number;
}): LeaseRecord {
  const { client, namespace, name, identity } = o;
  const leaseDurationSeconds = Math.max(1, Math.round(o.expireAfter / 1000));
  let seen: { readonly version: string; readonly at: number } | undefined;

  function expired({ metadata, spec }: Lease): boolean {
    const version = `${metadata.uid} ${spec.holderIdentity} ${spec.renewTime} ${spec.leaseTransitions}`;
    if (seen?.version !== version) seen = { version, at: performance.now() };
    const lasts = Math.max(o.expireAfter, (spec.leaseDurationSeconds ?? 0) * 1000);
    return !spec.holderIdentity || performance.now() - seen.at >= lasts;
  }

  return {
    async acquire() {
      const lease = await client.read(Lease, { namespace, name });
      const renewTime = microTime();
      const ours = { holderIdentity: identity, leaseDurationSeconds, renewTime };
      if (lease === undefined) {
        const metadata = { namespace, name };
        await client.create<Lease>({
          ...typeMeta(Lease),
          metadata,
          spec: { ...ours, acquireTime: renewTime, leaseTransitions: 0 },
        });
        return true;
      }
      const renewal = lease.spec.holderIdentity === identity;
      if (!expired(lease) && !renewal) return false;
      const taken = { acquireTime: renewTime, leaseTransitions: (lease.spec.leaseTransitions ?? 0) + 1 };
      await client.replace<Lease>({ ...lease, spec: { ...lease.spec, ...ours, ...(renewal ? {} : taken) } });
      return true;
    },
    async release() {
      const lease = await client.read(Lease, { namespace, name });
      if (lease?.spec.holderIdentity !== identity) return;
      await client.replace<Lease>({ ...lease, spec: { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1 } });
    },
  };
}

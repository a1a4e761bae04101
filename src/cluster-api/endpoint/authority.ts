import { createSecureContext, type SecureContext } from "node:tls";
import type { Trust } from "./trust.ts";

/** The authority of a Trust, as a TLS handshake takes it. Throws for one that is no certificate. */
export type AuthorityOf = (trust: Trust) => SecureContext;

/**
 * Makes the authority of each text once, for as long as a Trust with it is remembered. Without it Node makes one for every connection, with 22 KB
 * outside of the heap. Only a full garbage collection frees them, and none comes for their sake. A Secret that is written again, and each API server
 * of a Cluster, brings a Trust of its own with the same text.
 */
export function createAuthorities(): AuthorityOf {
  const known = new WeakMap<Trust, SecureContext>();
  const made = new Map<string, WeakRef<SecureContext>>();
  const freed = new FinalizationRegistry<string>((ca) => {
    if (made.get(ca)?.deref() === undefined) made.delete(ca);
  });

  function make(trust: Trust): SecureContext {
    const authority = makeAuthority(trust);
    made.set(trust.ca, new WeakRef(authority));
    freed.register(authority, trust.ca);
    return authority;
  }

  return (trust) => {
    const authority = known.get(trust) ?? made.get(trust.ca)?.deref() ?? make(trust);
    known.set(trust, authority);
    return authority;
  };
}

/** One for a single connection. */
export const makeAuthority: AuthorityOf = ({ ca }) => createSecureContext({ ca });

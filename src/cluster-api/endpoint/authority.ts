import { createSecureContext, type SecureContext } from "node:tls";
import type { Trust } from "./trust.ts";

/** The authority of a Trust, as a TLS handshake takes it. Throws for one that is no certificate. */
export type AuthorityOf = (trust: Trust) => SecureContext;

/**
 * Makes each authority once, for as long as its Trust is remembered. Without it Node makes one for every connection, with 22 KB outside of
 * the heap. Only a full garbage collection frees them, and none comes for their sake.
 */
export function createAuthorities(): AuthorityOf {
  const made = new WeakMap<Trust, SecureContext>();
  return (trust) => {
    const authority = made.get(trust) ?? makeAuthority(trust);
    made.set(trust, authority);
    return authority;
  };
}

/** One for a single connection. */
export const makeAuthority: AuthorityOf = ({ ca }) => createSecureContext({ ca });

import type { Shoot } from "../../api/index.ts";

/**
 * The part of a spec that stays as it is while the Shoot is being deleted. The rest can be what keeps the deletion from its end (settings with
 * which no control plane starts, credentials that were revoked), and none of it decides which objects the deletion looks for.
 */
export function frozenPart({ kubernetes, dns, ...spec }: Shoot["spec"]): object {
  const {
    credentialsBindingName: _credentials,
    secretBindingName: _secret,
    resources: _resources,
    extensions = [],
    ...rest
  } = spec;
  return {
    ...rest,
    kubernetes: { version: kubernetes.version, encryption: kubernetes.kubeAPIServer?.encryptionConfig },
    dns: { ...dns, providers: undefined },
    extensions: extensions.map(({ providerConfig: _config, ...extension }) => extension),
  };
}

/** What {@link frozenPart} leaves out, in words. */
export const MENDABLE =
  "spec.kubernetes without its version and encryptionConfig, the credentials, spec.resources, dns.providers, and the extensions' providerConfig";

import { DNS_DOMAIN_ANNOTATION, DNS_PROVIDER_ANNOTATION } from "../../api/annotations.ts";
import { ROLE_LABEL } from "../../api/labels.ts";
import { Secret, type KubeClient } from "../../kube/index.ts";

/** The garden's domain for leadership records, and with which credentials its provider changes it. */
export interface LeadershipDomain {
  readonly domain: string;
  /** Type of DNS provider, such as `rfc2136`. */
  readonly type: string;
  readonly secret: { readonly namespace: string; readonly name: string };
}

/** The garden's domain for leadership records, from the Secret that upstream's internal domain is the model of; if there is one. */
export async function findLeadershipDomain(gardenClient: KubeClient): Promise<LeadershipDomain | undefined> {
  const labelSelector = `${ROLE_LABEL}=leadership-domain`;
  const [secret] = await gardenClient.list(Secret, { namespace, labelSelector });
  const { [DNS_DOMAIN_ANNOTATION]: domain, [DNS_PROVIDER_ANNOTATION]: type } = secret?.metadata.annotations ?? {};
  if (secret === undefined || domain === undefined || type === undefined) return undefined;
  return { domain, type, secret: { namespace, name: secret.metadata.name } };
}

/** Name of the TXT record that says which seed leads a Shoot. */
export async function leadershipRecord(
  gardenClient: KubeClient,
  name: string,
  project: string,
): Promise<string | undefined> {
  const found = await findLeadershipDomain(gardenClient);
  return found && `${name}.${project}.${found.domain}`;
}

const namespace = "garden";

import { Seed } from "../../api/index.ts";
import { isWithin } from "../../dns/domain.ts";
import type { KubeClient } from "../../kube/index.ts";
import { configurationProblem } from "../step-error.ts";
import type { LeadershipDomain } from "./leadership-domain.ts";

/**
 * Throws where a seed could say who leads: where the leadership domain lies in a domain whose credentials Seeds have, or
 * is written with the same Secret. Who may change a zone may also name other servers for what is below it.
 */
export async function requireOwnZone(gardenClient: KubeClient, { domain, secret }: LeadershipDomain): Promise<void> {
  for (const { metadata, spec } of await gardenClient.list(Seed)) {
    const { provider, internal, defaults = [] } = spec.dns;
    const refs = [provider?.credentialsRef, internal?.credentialsRef, ...defaults.map((one) => one.credentialsRef)];
    if (refs.some((ref) => ref?.name === secret.name && (ref.namespace ?? secret.namespace) === secret.namespace))
      throw configurationProblem(
        `leadership domain ${domain} has the credentials of Seed ${metadata.name}, Secret ${secret.namespace}/${secret.name}: give it a key of its own, which no Seed names`,
      );
    const above = [internal, ...defaults].find((one) => one !== undefined && isWithin(domain, one.domain))?.domain;
    if (above !== undefined)
      throw configurationProblem(
        `leadership domain ${domain} lies in domain ${above}, of which Seed ${metadata.name} has the key: give it a zone of its own, beside that domain`,
      );
  }
}

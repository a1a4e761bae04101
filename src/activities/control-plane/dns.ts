import { dnsSecretName, type ControlPlaneContext, type DnsProvider } from "../../components/index.ts";
import { Secret, type KubeClient } from "../../kube/index.ts";
import { configurationProblem } from "../failure.ts";
import type { Purpose } from "../../api/extensions/kinds.ts";

/** The provider that manages one of the Shoot's two domains, and the Secret in the garden with its credentials. */
interface Managed extends DnsProvider {
  readonly secret: { readonly namespace: string; readonly name: string };
}

/** Copies the credentials of the domain's DNS provider beside the DNSRecord, and says what provider that is. */
export async function deployDnsCredentials(
  gardenClient: KubeClient,
  seedClient: KubeClient,
  context: ControlPlaneContext,
  purpose: Purpose,
): Promise<DnsProvider> {
  const { secret, ...provider } = purpose === "internal" ? internal(context) : external(context);
  const found = await gardenClient.read(Secret, secret);
  if (found === undefined)
    throw configurationProblem(
      `Secret ${secret.namespace}/${secret.name} with credentials of DNS provider ${provider.type} does not exist`,
    );
  await seedClient.apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: dnsSecretName(context, purpose), namespace: context.namespace },
    type: "Opaque",
    data: found.data ?? {},
  });
  return provider;
}

function internal({ seed }: ControlPlaneContext): Managed {
  const domain = seed.spec.dns.internal;
  if (domain === undefined) throw configurationProblem(`Seed ${seed.metadata.name} has no spec.dns.internal`);
  return managed(domain, "garden");
}

/** The user's primary provider, else the seed's default domain that the Shoot's domain is in. */
function external({ shoot, seed }: ControlPlaneContext): Managed {
  const { domain = "", providers = [] } = shoot.spec.dns ?? {};
  const primary = providers.find((provider) => provider.primary) ?? providers[0];
  if (primary?.type !== undefined && primary.secretName !== undefined) {
    return { type: primary.type, secret: { namespace: shoot.metadata.namespace, name: primary.secretName } };
  }
  const usual = (seed.spec.dns.defaults ?? []).find(
    (one) => domain === one.domain || domain.endsWith(`.${one.domain}`),
  );
  if (usual === undefined) {
    throw configurationProblem(
      `spec.dns.domain ${domain} is in no default domain of Seed ${seed.metadata.name}: name a provider with its Secret in spec.dns.providers`,
    );
  }
  return managed(usual, "garden");
}

function managed(
  {
    type,
    zone,
    credentialsRef,
  }: {
    type: string;
    zone?: string | undefined;
    credentialsRef: { name?: string | undefined; namespace?: string | undefined };
  },
  namespace: string,
): Managed {
  const secret = { namespace: credentialsRef.namespace ?? namespace, name: credentialsRef.name ?? "" };
  return { type, secret, ...(zone === undefined ? {} : { zone }) };
}

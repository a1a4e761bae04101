import type { Seed } from "../../api/index.ts";
import { primaryDnsProvider } from "../../api/shoot/dns-provider.ts";
import { dnsSecretName, seedOf, type ControlPlaneContext, type DnsProvider } from "../../components/index.ts";
import { isWithin } from "../../dns/domain.ts";
import { Secret, type KubeClient } from "../../kube/index.ts";
import { configurationProblem } from "../step-error.ts";
import { referencedSecret } from "../secret-reference.ts";

/** The provider that manages one of the Shoot's two domains, and the Secret in the garden with its credentials. */
interface Managed extends DnsProvider {
  readonly secret: { readonly namespace: string; readonly name: string };
}

/**
 * Copies the credentials of the domain's DNS provider beside the DNSRecord, and says what provider that is. A Shoot that carries
 * itself has none but its own.
 */
export async function deployDnsCredentials(
  gardenClient: Pick<KubeClient, "read">,
  seedClient: KubeClient,
  context: ControlPlaneContext,
  purpose: "internal" | "external",
): Promise<DnsProvider> {
  const { secret, ...provider } = managedBy(context, purpose);
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

/** The type of the DNS provider whose credentials {@link deployDnsCredentials} copies. */
export const dnsProviderType = (context: ControlPlaneContext, purpose: "internal" | "external"): string =>
  managedBy(context, purpose).type;

const managedBy = (context: ControlPlaneContext, purpose: "internal" | "external"): Managed =>
  purpose === "internal" ? internal(context) : external(context);

function internal(context: ControlPlaneContext): Managed {
  const seed = seedOf(context);
  const domain = seed.spec.dns.internal;
  if (domain === undefined) throw configurationProblem(`Seed ${seed.metadata.name} has no spec.dns.internal`);
  return managed(domain, `spec.dns.internal of Seed ${seed.metadata.name}`);
}

/** The user's primary provider, else the seed's default domain that the Shoot's domain is in. */
function external(context: ControlPlaneContext): Managed {
  const own = primaryProvider(context.shoot);
  if (own !== undefined) return own;
  const seed = seedOf(context);
  const { domain = "" } = context.shoot.spec.dns ?? {};
  const usual = (seed.spec.dns.defaults ?? []).find((one) => isWithin(domain, one.domain));
  if (usual !== undefined) return managed(usual, `spec.dns.defaults of Seed ${seed.metadata.name}`);
  throw configurationProblem(
    `spec.dns.domain ${domain} is in no default domain of Seed ${seed.metadata.name}: name a provider with its Secret in spec.dns.providers`,
  );
}

/** The provider that the Shoot itself names, with its Secret. */
function primaryProvider(shoot: ControlPlaneContext["shoot"]): Managed | undefined {
  const { namespace, name } = shoot.metadata;
  const { type, secretName, credentialsRef } = primaryDnsProvider(shoot) ?? {};
  const ref = credentialsRef ?? (secretName === undefined ? undefined : { name: secretName });
  if (type === undefined || ref === undefined) return undefined;
  const who = `Shoot ${namespace}/${name}`;
  return { type, secret: referencedSecret({ ...ref, namespace }, { namespace, who }) };
}

type Domain = NonNullable<Seed["spec"]["dns"]["internal"]>;

function managed({ type, zone, credentialsRef }: Domain, who: string): Managed {
  const secret = referencedSecret(credentialsRef, { namespace: "garden", who });
  return { type, secret, ...(zone === undefined ? {} : { zone }) };
}

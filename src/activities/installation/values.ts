import type { Raw, Seed } from "../../api/index.ts";
import { GARDENER_VERSION, PROTECTED_TAINT } from "../../api/names.ts";
import { toldAnnotations } from "../../api/registration/told.ts";

/** What of garden and Seed a chart is told. */
export interface MixedIn {
  /** The Seed that it is installed on; none where it is installed in a cluster that carries its own control plane. */
  readonly seed?: Seed;
  /** The uid of kube-system in the garden. */
  readonly gardenIdentity: string;
  /** The uid of namespace `garden` there, which seed 001 calls the garden's identifier. */
  readonly gardenIdentifier?: string | undefined;
}

/**
 * The values of a chart with what every chart is told besides, below `gardener`: today's words, and those of seed 001
 * (`garden.identifier`, `seed.identifier`, `seed.region`, `seed.spec`). They win over what the deployment says.
 */
export function chartValues(values: Raw, { seed, gardenIdentity, gardenIdentifier }: MixedIn): Raw {
  const gardener = {
    version: GARDENER_VERSION,
    garden: {
      clusterIdentity: gardenIdentity,
      identifier: gardenIdentifier ?? gardenIdentity,
      genericKubeconfigSecretName: "generic-token-kubeconfig",
    },
    ...(seed && { seed: seedValues(seed) }),
    gardenlet: { featureGates: {} },
    selfHostedShootCluster: seed === undefined,
  };
  return { ...values, gardener: { ...mapOf(values["gardener"]), ...gardener } };
}

function seedValues(seed: Seed): Raw {
  const { metadata, spec, status } = seed;
  const { provider, networks, taints = [], settings, ingress } = spec;
  return {
    identifier: metadata.name,
    name: metadata.name,
    clusterIdentity: status?.clusterIdentity ?? "",
    annotations: toldAnnotations(seed),
    labels: metadata.labels ?? {},
    provider: provider.type,
    region: provider.region,
    ...volumeValues(seed),
    ingressDomain: ingress?.domain ?? "",
    protected: taints.some(({ key }) => key === PROTECTED_TAINT),
    visible: settings?.scheduling?.visible ?? true,
    taints,
    networks,
    blockCIDRs: networks.blockCIDRs ?? [],
    spec,
  };
}

function volumeValues({ spec }: Seed): Raw {
  const providers = spec.volume?.providers ?? [];
  return { volumeProvider: providers[0]?.name ?? "", volumeProviders: providers };
}

const mapOf = (value: unknown): Raw => (typeof value === "object" && value !== null ? (value as Raw) : {});

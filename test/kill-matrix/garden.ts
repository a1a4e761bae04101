import { SEED_IDENTITIES_NAMESPACE } from "../../src/api/names.ts";
import { TUNNEL_ANNOTATION } from "../../src/api/annotations.ts";
import type { Seed, Shoot } from "../../src/api/index.ts";
import type { KubeObject } from "../../src/api/schema/meta.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { exampleObjects } from "../support/examples.ts";
import type { TestNameServer } from "../support/name-server.ts";

/** Applies the example garden without its Shoot, its Seed once for each seed, and the credentials of its DNS server. */
export async function applyGarden(
  gardenClient: KubeClient,
  seeds: readonly string[],
  dns: TestNameServer,
): Promise<void> {
  const examples = await exampleObjects();
  const [seed] = examples.filter((object): object is Seed & KubeObject => object.kind === "Seed");
  if (seed === undefined) throw new Error("deploy/examples has no Seed");
  const objects = [
    ...["garden", SEED_IDENTITIES_NAMESPACE].map((name) => ({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name },
    })),
    dnsSecret("dns", dns),
    {
      ...dnsSecret("leadership", dns),
      metadata: {
        name: "leadership",
        namespace: "garden",
        labels: { "gardener.cloud/role": "leadership-domain" },
        annotations: {
          "dns.gardener.cloud/domain": "leadership-perennial.test",
          "dns.gardener.cloud/provider": "rfc2136",
        },
      },
    },
    ...examples.filter(({ kind }) => kind !== "Shoot" && kind !== "Seed"),
    ...seeds.map((name) => ({
      ...seed,
      // What plays nodes runs no pods, so that there is neither an agent of a tunnel nor CoreDNS to reach.
      metadata: { ...seed.metadata, name, annotations: { ...seed.metadata.annotations, [TUNNEL_ANNOTATION]: "false" } },
      spec: { ...seed.spec, backup: backups },
    })),
  ];
  for (const object of objects) await gardenClient.apply(object);
}

const backups = {
  provider: "local",
  region: "local",
  credentialsRef: { apiVersion: "v1", kind: "Secret", name: "dns", namespace: "garden" },
};

function dnsSecret(name: string, { server, zone, key }: TestNameServer): KubeObject {
  const content = {
    Server: `${server.address}:${server.port}`,
    Zone: zone,
    TSIGKeyName: key.name,
    TSIGSecret: key.secret,
    TSIGSecretAlgorithm: key.algorithm,
  };
  const data = Object.fromEntries(
    Object.entries(content).map(([k, value]) => [k, Buffer.from(value).toString("base64")]),
  );
  return { apiVersion: "v1", kind: "Secret", metadata: { name, namespace: "garden" }, data };
}

/** The example Shoot under another name, on a seed. */
export async function renderShoot(name: string, seedName: string): Promise<Shoot> {
  const example = (await exampleObjects()).find(({ kind }) => kind === "Shoot") as Shoot | undefined;
  if (example === undefined) throw new Error("deploy/examples has no Shoot");
  const { namespace } = example.metadata;
  const dns = { domain: `${name}.dev.perennial.test` };
  return { ...example, metadata: { name, namespace }, spec: { ...example.spec, seedName, dns } };
}

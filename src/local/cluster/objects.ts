import { readFile } from "node:fs/promises";
import { DNS_DOMAIN_ANNOTATION, DNS_PROVIDER_ANNOTATION } from "../../api/annotations.ts";
import { ROLE_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { KubeClient } from "../../kube/index.ts";
import { keyName, leadershipDomain, leadershipKeyName, type DnsServer } from "../process/dns.ts";
import type { ControllerRegistration } from "../../api/index.ts";
import { clusterNetworks, isLeft, type Environment } from "../environment/environment.ts";
import type { ProgramImage } from "../image/program-image.ts";
import { readManifest } from "../../manifests.ts";
import { renderProviderRegistration } from "./provider-registration.ts";

/** Applies to the garden what a Shoot refers to: the examples' registration (with `image`, one that installs it), cloud profile, project and credentials, and a Seed for each seed. */
export async function applyObjects(
  gardenClient: KubeClient,
  environment: Environment,
  seeds: readonly string[],
  { dns, image }: { readonly dns: DnsServer; readonly image?: ProgramImage | undefined },
): Promise<void> {
  const examples = await Promise.all(
    ["cloud-profile", "project", "secret-binding", "backup-credentials"].map(readExample),
  );
  const [seed] = await readExample("seed");
  if (seed === undefined) throw new Error("cannot register the seeds: deploy/examples/seed.yaml is empty");
  const objects = [
    ...renderDnsSecrets(environment, {
      key: await readFile(dns.keyFile, "utf8"),
      leadershipKey: await readFile(dns.leadershipKeyFile, "utf8"),
    }),
    ...(image === undefined
      ? (await readExample("controller-registration")).map((object) => withoutLeft(object, environment))
      : await renderProviderRegistration(environment, dns, image)),
    ...examples.flat(),
    ...seeds.map((name) => renderSeed(seed, environment, name)),
  ];
  for (const object of objects) await gardenClient.apply(object);
}

/** An object of the examples; the built-in provider's registration without what it leaves to others. */
export function withoutLeft(object: KubeObject, environment: Pick<Environment, "left">): KubeObject {
  if (object.kind !== "ControllerRegistration") return object;
  const { spec, ...rest } = object as ControllerRegistration;
  const resources = (spec.resources ?? []).filter((resource) => !isLeft(environment, resource));
  return { ...rest, spec: { ...spec, resources } };
}

/** The Seed of the examples under another name, with the networks and domains of its environment. */
export function renderSeed(example: KubeObject, environment: Environment, name: string): KubeObject {
  const { pods, services } = clusterNetworks(environment, name);
  const text = JSON.stringify(example)
    .replaceAll(`${example.metadata.name}.perennial.test`, `${name}.perennial.test`)
    .replaceAll("perennial.test", environment.domain);
  const seed = JSON.parse(text) as KubeObject & { spec: { networks: object } };
  const networks = { ...seed.spec.networks, pods, services };
  return { ...seed, metadata: { ...seed.metadata, name }, spec: { ...seed.spec, networks } };
}

/** The namespace of Gardener's own objects. */
export const gardenNamespace: KubeObject = {
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name: "garden", labels: { [ROLE_LABEL]: "garden" } },
};

/**
 * The credentials of the environment's DNS server, in the garden's namespace: for the domains of the Seeds, and those of
 * their own for the domain of the records that say who leads. Both are given as the text of their key files.
 */
export function renderDnsSecrets(
  environment: Environment,
  { key, leadershipKey }: { readonly key: string; readonly leadershipKey: string },
): KubeObject[] {
  const credentials = (zone: string, name: string, text: string) => ({
    Server: `${environment.gateway}:53`,
    Zone: zone,
    TSIGKeyName: name,
    TSIGSecret: secretOf(text),
    TSIGSecretAlgorithm: "hmac-sha256",
  });
  const stringData = credentials(environment.domain, keyName, key);
  const leadership = leadershipDomain(environment);
  return [
    gardenNamespace,
    { apiVersion: "v1", kind: "Secret", metadata: { name: "dns", namespace: "garden" }, type: "Opaque", stringData },
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name: "leadership-domain",
        namespace: "garden",
        labels: { [ROLE_LABEL]: "leadership-domain" },
        annotations: {
          [DNS_PROVIDER_ANNOTATION]: "rfc2136",
          [DNS_DOMAIN_ANNOTATION]: leadership,
        },
      },
      type: "Opaque",
      stringData: credentials(leadership, leadershipKeyName, leadershipKey),
    },
  ] as KubeObject[];
}

function secretOf(keyFile: string): string {
  const secret = /secret "([^"]+)"/.exec(keyFile)?.[1];
  if (secret === undefined) throw new Error("cannot read the DNS key: its file holds no secret");
  return secret;
}

async function readExample(name: string): Promise<KubeObject[]> {
  return await readManifest(`examples/${name}.yaml`);
}

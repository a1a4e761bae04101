import { MACHINE_CONTROLLER_MANAGER_ANNOTATION, RESOURCE_MANAGER_ANNOTATION } from "../../api/annotations.ts";
import type { ControllerRegistration, KubeObject } from "../../api/index.ts";
import type { ProgramImage } from "../image/program-image.ts";
import { machineApiFolder } from "../machine-api/calls.ts";
import type { DnsServer } from "../process/dns.ts";
import type { Environment } from "../environment/environment.ts";
import { packageChart } from "./chart.ts";
import { readManifest } from "../../manifests.ts";

/**
 * What the garden is given so that the local provider of each seed is installed like any other extension: the registration of
 * the examples, which now says how, and the chart in deploy/charts with what it has to know of the environment.
 */
export async function renderProviderRegistration(
  environment: Environment,
  dns: DnsServer,
  image: ProgramImage,
): Promise<KubeObject[]> {
  const [registration] = await readManifest("examples/controller-registration.yaml");
  if (registration === undefined)
    throw new Error("cannot register the local provider: deploy/examples/controller-registration.yaml is empty");
  const { metadata, spec, ...rest } = registration as ControllerRegistration;
  const { name } = metadata;
  return [
    await deploymentBy(name, valuesFor(environment, dns, image)),
    {
      ...rest,
      metadata: { ...metadata, annotations: { ...metadata.annotations, ...doesItself } },
      spec: { ...spec, deployment: { deploymentRefs: [{ name }] } },
    },
  ] as KubeObject[];
}

/**
 * What the configuration of a self-hosted cluster takes so that the local provider runs there: its ControllerDeployment, out of
 * this image, and the ControllerRegistration of the examples.
 */
export async function selfHostedProviderRegistration({
  name: image,
  code: imageContent,
}: Pick<ProgramImage, "name" | "code">): Promise<KubeObject[]> {
  const registrations = await readManifest("examples/self-hosted/controller-registration.yaml");
  const deployments = registrations.map(
    async ({ metadata }) => await deploymentBy(metadata.name, { image, imageContent }),
  );
  return [...(await Promise.all(deployments)), ...registrations];
}

async function deploymentBy(name: string, values: Readonly<Record<string, unknown>>): Promise<KubeObject> {
  const rawChart = (await packageChart("provider-local")).toString("base64");
  return {
    apiVersion: "core.gardener.cloud/v1",
    kind: "ControllerDeployment",
    metadata: { name },
    helm: { rawChart, values },
  };
}

/** It makes machines by itself, and puts no ManagedResources into Shoots: neither is deployed beside control planes for it. */
const doesItself = { [MACHINE_CONTROLLER_MANAGER_ANNOTATION]: "false", [RESOURCE_MANAGER_ANNOTATION]: "false" };

function valuesFor(environment: Environment, dns: DnsServer, { name, code }: ProgramImage) {
  return {
    image: name,
    imageContent: code,
    environment,
    host: { machineApi: machineApiFolder(environment), dnsKey: dns.keyFile, zoneKey: dns.askKeyFile },
    dnsServer: dns.address,
  };
}

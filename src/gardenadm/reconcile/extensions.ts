import { createHelm } from "../../activities/installation/helm.ts";
import { managedResourceOf, managedResourceRef } from "../../activities/installation/managed-resource.ts";
import { renderChart } from "../../activities/installation/render.ts";
import { fetchChart } from "../../activities/installation/source.ts";
import { chartValues } from "../../activities/installation/values.ts";
import type { WaitTarget } from "../../activities/index.ts";
import { INSTALLATION_LABEL, REGISTRATION_LABEL, ROLE_LABEL } from "../../api/labels.ts";
import { installationNamespace } from "../../api/names.ts";
import { asLabel } from "../../api/registration/registered.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { inHostNetwork, type PodPlace } from "../../components/index.ts";
import { Namespace, typeMeta, type KubeClient } from "../../kube/index.ts";
import type { Configuration } from "../configuration/configuration.ts";
import { OperatorError } from "../steps/fault.ts";
import { gardenOf } from "../configuration/garden.ts";
import { extensionPorts } from "../cluster/extension-ports.ts";
import { wantedExtensions, type WantedExtension } from "../configuration/registrations.ts";

/** What installing takes besides the cluster. */
export interface ExtensionDeps {
  readonly client: KubeClient;
  readonly configuration: Configuration;
  /** The binary of Helm. */
  readonly helm: string;
  readonly clusterIdentity: string;
}

/**
 * Hands the charts of all controllers that the cluster needs to its resource manager; answers with what there is to wait for. On the
 * host's network, each gets five ports that no other program of a control plane has.
 */
export async function deployExtensions(deps: ExtensionDeps, place: PodPlace): Promise<WaitTarget[]> {
  const targets: WaitTarget[] = [];
  for (const [index, extension] of wantedExtensions(deps.configuration).entries())
    targets.push(await deployExtension(deps, extension, { place, index }));
  return targets;
}

interface Installed {
  readonly place: PodPlace;
  readonly index: number;
}

async function deployExtension(
  deps: ExtensionDeps,
  extension: WantedExtension,
  { place, index }: Installed,
): Promise<WaitTarget> {
  const { client } = deps;
  const { name } = extension;
  const objects = await render(deps, extension, place === "host" ? { usablePorts: extensionPorts(index) } : {});
  const labels = {
    [ROLE_LABEL]: "extension",
    [REGISTRATION_LABEL]: asLabel(name),
    [INSTALLATION_LABEL]: asLabel(name),
  };
  await client.apply({ ...typeMeta(Namespace), metadata: { name: installationNamespace(name), labels } });
  const placed = place === "host" ? objects.map(inHostNetwork) : objects;
  const { secrets, resource } = managedResourceOf({ name, registration: name }, placed);
  for (const secret of secrets) await client.apply(secret);
  const { generation } = (await client.apply(resource)).metadata;
  return {
    ...managedResourceRef(name),
    ...(generation !== undefined && { generation }),
    until: "healthy",
    severeAfter: 60_000,
    deadline: 300_000,
  };
}

async function render(
  { client, configuration, helm: binary, clusterIdentity }: ExtensionDeps,
  { name, deployment }: WantedExtension,
  more: Readonly<Record<string, unknown>>,
): Promise<readonly KubeObject[]> {
  if (deployment.is !== "helm") {
    const why = deployment.is === "invalid" ? deployment.problem : `its type is ${deployment.type}, and not helm`;
    throw new OperatorError(`extension ${name} cannot be installed: ${why}`);
  }
  const helm = createHelm({ binary });
  const { chart: source, values } = deployment.helm;
  const chart = await fetchChart({ gardenClient: gardenOf(configuration), helm }, source);
  const { gitVersion } = (await client.get("/version")) as { gitVersion: string };
  return await renderChart(helm, {
    chart,
    release: name,
    namespace: installationNamespace(name),
    values: { ...chartValues(values, { gardenIdentity: clusterIdentity }), ...more },
    kubeVersion: gitVersion,
  });
}

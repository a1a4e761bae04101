import { GARDEN_NAMESPACE } from "../../api/names.ts";
import { ControllerDeployment, ControllerInstallation, ControllerRegistration } from "../../api/index.ts";
import {
  readDeployment,
  readInlineDeployment,
  type ChartSource,
  type DeploymentReading,
  type HelmDeployment,
} from "../../api/registration/deployment.ts";
import type { InstallationRef } from "../../api/registration/run.ts";
import { Secret, type KubeClient } from "../../kube/index.ts";
import type { Helm } from "./helm.ts";
import { InvalidInstallation } from "./invalid.ts";

/** The installation of this uid; undefined when it is gone, or a later one has its name. */
export async function readInstallation(
  gardenClient: KubeClient,
  { name, uid }: InstallationRef,
): Promise<ControllerInstallation | undefined> {
  const found = await gardenClient.read(ControllerInstallation, { name });
  return found?.metadata.uid === uid ? found : undefined;
}

/** What the registration of an installation says of its deployment, wherever it says it. */
export async function readMethod(
  gardenClient: KubeClient,
  { spec }: Pick<ControllerInstallation, "spec">,
): Promise<DeploymentReading> {
  const { name = "" } = spec.registrationRef;
  const deployment = spec.deploymentRef?.name;
  if (deployment !== undefined) {
    const found = await gardenClient.read(ControllerDeployment, { name: deployment });
    if (found !== undefined) return readDeployment(found);
    throw new InvalidInstallation("DeploymentNotFound", `there is no ControllerDeployment ${deployment}`);
  }
  const registration = await gardenClient.read(ControllerRegistration, { name });
  if (registration !== undefined) return readInlineDeployment(registration);
  throw new InvalidInstallation("RegistrationNotFound", `there is no ControllerRegistration ${name}`);
}

/** How Helm is to install it; throws where the registration says nothing that Helm can do. */
export async function readHelmDeployment(
  gardenClient: KubeClient,
  installation: ControllerInstallation,
): Promise<HelmDeployment> {
  const reading = await readMethod(gardenClient, installation);
  if (reading.is === "helm") return reading.helm;
  const problem =
    reading.is === "invalid" ? reading.problem : `its type is ${reading.type}, which an operator installs`;
  throw new InvalidInstallation("ChartInformationInvalid", problem);
}

/** The packaged chart, from where it is kept. */
export async function fetchChart(
  { gardenClient, helm }: { readonly gardenClient: Pick<KubeClient, "read">; readonly helm: Helm },
  source: ChartSource,
): Promise<Uint8Array> {
  if (source.in === "object") return decode(source.base64);
  const { ref, pullSecret, caSecret } = source;
  const read = (name: string | undefined, key: string) => readSecret(gardenClient, name, key);
  const [dockerConfig, ca] = await Promise.all([read(pullSecret, ".dockerconfigjson"), read(caSecret, "bundle.crt")]);
  try {
    return await helm.pull({ ref, ...(dockerConfig && { dockerConfig }), ...(ca && { ca }) });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new InvalidInstallation("OCIChartCannotBePulled", `chart ${ref} cannot be pulled: ${why}`, { cause: error });
  }
}

function decode(base64: string): Uint8Array {
  const chart = Buffer.from(base64, "base64");
  if (chart[0] === 0x1f && chart[1] === 0x8b) return chart;
  throw new InvalidInstallation(
    "ChartInformationInvalid",
    "the chart is no packaged chart: base64 of a tar.gz is expected",
  );
}

async function readSecret(
  gardenClient: Pick<KubeClient, "read">,
  name: string | undefined,
  key: string,
): Promise<string | undefined> {
  if (name === undefined) return undefined;
  const secret = await gardenClient.read(Secret, { namespace: GARDEN_NAMESPACE, name });
  const value = secret?.data?.[key];
  if (value !== undefined) return Buffer.from(value, "base64").toString();
  const problem = `Secret ${GARDEN_NAMESPACE}/${name} ${secret === undefined ? "does not exist" : `has no ${key}`}`;
  throw new InvalidInstallation("OCIChartCannotBePulled", `the chart cannot be pulled: ${problem}`);
}

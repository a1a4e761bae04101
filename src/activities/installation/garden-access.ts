import { INSTALLATION_LABEL } from "../../api/labels.ts";
import { EXTENSION_IDENTITIES_NAMESPACE, installationAccount, installationNamespace } from "../../api/names.ts";
import { isForbidden, isNotFound, Secret, ServiceAccount, typeMeta, type KubeClient } from "../../kube/index.ts";
import type { InstallationRun } from "../../api/registration/run.ts";
import { lifeOf, requestToken } from "../control-plane/service-account-token.ts";
import { StepError } from "../step-error.ts";
import { gardenSecrets, gardenTokenFile } from "./garden-kubeconfig.ts";
import { renderYaml } from "../../yaml.ts";

/** The garden as a seed's pods reach it; `ca` is PEM, absent where the system's authorities sign. */
export interface GardenAddress {
  readonly server: string;
  readonly ca?: string;
}

/** Both clusters, under the seed's rights, and the address of the garden. */
export interface GardenAccessDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly gardenAddress: GardenAddress;
  readonly now?: () => Date;
}

/** The installation that access is for. */
type Installed = Pick<InstallationRun, "name">;

/**
 * Keeps the Secrets by which an installation's controller speaks to the garden: a kubeconfig that names the token's file,
 * and a token of the installation's own service account for twelve hours, replaced after six. Clients read the file again.
 * Returns when it is to be done again; throws while the manager has not made the account.
 */
export async function keepGardenAccess(deps: GardenAccessDeps, { name }: Installed): Promise<Date> {
  const { gardenClient, seedClient, gardenAddress, now = () => new Date() } = deps;
  const namespace = installationNamespace(name);
  const labels = { [INSTALLATION_LABEL]: name };
  const write = (secret: string, data: Readonly<Record<string, string>>) =>
    seedClient.apply({
      ...typeMeta(Secret),
      metadata: { namespace, name: secret, labels },
      type: "Opaque",
      data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")])),
    });

  await write(gardenSecrets.kubeconfig, { kubeconfig: kubeconfigOf(gardenAddress) });
  const present = await seedClient.read(Secret, { namespace, name: gardenSecrets.token });
  const renewal = renewalOf(Buffer.from(present?.data?.["token"] ?? "", "base64").toString());
  if (renewal !== undefined && now() < renewal) return renewal;
  const token = await request(gardenClient, name);
  await write(gardenSecrets.token, { token });
  return renewalOf(token) ?? now();
}

async function request(gardenClient: KubeClient, installation: string): Promise<string> {
  const [namespace, name] = [EXTENSION_IDENTITIES_NAMESPACE, installationAccount(installation)];
  try {
    return await requestToken(gardenClient, { ...typeMeta(ServiceAccount), metadata: { name, namespace } }, LIFE);
  } catch (error) {
    if (!isNotFound(error) && !isForbidden(error)) throw error;
    const what = `ServiceAccount ${namespace}/${name} is not there yet, or this seed may not speak for it yet`;
    throw new StepError(`${what}: the manager makes it`, [], { cause: error });
  }
}

/** In seconds, as upstream's. */
const LIFE = 12 * 3600;

/** When half of a token's life is over; undefined for what is no token. */
function renewalOf(token: string): Date | undefined {
  const life = lifeOf(token);
  return life && new Date((life.issued.getTime() + life.expires.getTime()) / 2);
}

const kubeconfigOf = ({ server, ca }: GardenAddress): string =>
  renderYaml({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: "garden",
        cluster: {
          server,
          ...(ca === undefined ? {} : { "certificate-authority-data": Buffer.from(ca).toString("base64") }),
        },
      },
    ],
    users: [{ name: "extension", user: { tokenFile: gardenTokenFile } }],
    contexts: [{ name: "garden", context: { cluster: "garden", user: "extension" } }],
    "current-context": "garden",
  });

import {
  CLUSTER_NAME_LABEL,
  CLUSTER_SECRET_TYPE,
  clusterKubeconfigName,
  ShootControlPlane,
  type Cluster,
  type ControlPlaneEndpoint,
} from "../../api/cluster-api/index.ts";
import { renderKubeconfig, Secret, typeMeta, type KubeClient } from "../../kube/index.ts";
import { parseForeignKubeconfig } from "../../kube/kubeconfig.ts";
import { digestOf, type TrustSecret } from "../endpoint/trust.ts";
import { completeEndpoint, isSameEndpoint, renderEndpoint, type EndpointField } from "../endpoint/value.ts";
import { covers } from "../objects/covers.ts";
import { isRefusal, type Obstacle } from "../objects/obstacle.ts";

/**
 * The kubeconfig that a garden publishes for a Shoot; undefined while it has none. Core and this process connect with it, and users
 * of the project may write its Secret: one that would run a command or read a file is none.
 */
export function publishedKubeconfig(secret: Secret | undefined): string | undefined {
  const data = secret?.data?.["kubeconfig"];
  if (data === undefined || data === "") return undefined;
  try {
    return parseForeignKubeconfig(Buffer.from(data, "base64").toString()).text;
  } catch {
    return undefined;
  }
}

/**
 * Keeps Secret `<cluster>-kubeconfig`, by which core and users reach the Cluster (contract: "Cluster kubeconfig"): what the garden
 * publishes for the Shoot. Nothing is written where it says so. Returns what stands against that: another Secret of that name.
 */
export async function keepKubeconfig(
  management: KubeClient,
  { cluster, controlPlane, present }: KubeconfigPlace,
  kubeconfig: string,
): Promise<Obstacle | undefined> {
  const { name, namespace } = cluster.metadata;
  const { name: owner, uid = "" } = controlPlane.metadata;
  const wanted = {
    ...typeMeta(Secret),
    metadata: {
      name: clusterKubeconfigName(name),
      namespace,
      labels: { [CLUSTER_NAME_LABEL]: name },
      ownerReferences: [{ ...typeMeta(ShootControlPlane), name: owner, uid, controller: true }],
    },
    type: CLUSTER_SECRET_TYPE,
    data: { value: Buffer.from(kubeconfig).toString("base64") },
  };
  const isKept = present?.digest === digestOf(wanted.data.value) && covers(present.metadata, wanted.metadata);
  if (isKept) return undefined;
  try {
    await management.apply<Secret>(wanted);
    return undefined;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const fieldSelector = `metadata.name=${wanted.metadata.name}`;
    const [found] = await management.list(Secret, { namespace, fieldSelector });
    return { reason: "KubeconfigRefused", message: (found && whyTaken(found, uid)) ?? error.message };
  }
}

/** Why a Secret cannot become the Cluster's kubeconfig, and what to do about it: its type stays, and it has one controller. Pure. */
function whyTaken({ metadata, type, immutable }: Secret, owner: string): string | undefined {
  const secret = `Secret ${metadata.namespace}/${metadata.name}`;
  const remedy = "delete it, and it is made anew within about a minute";
  if (type !== CLUSTER_SECRET_TYPE) return `${secret} is of type ${type}, and not ${CLUSTER_SECRET_TYPE}: ${remedy}`;
  const other = metadata.ownerReferences?.find(({ controller, uid }) => controller === true && uid !== owner);
  if (other !== undefined) return `${secret} belongs to ${other.kind} ${other.name}: ${remedy}`;
  return immutable === true ? `${secret} is immutable: ${remedy}` : undefined;
}

/** Whose kubeconfig it is, and what is there of it. */
export interface KubeconfigPlace {
  readonly cluster: Cluster;
  readonly controlPlane: ShootControlPlane;
  readonly present: TrustSecret | undefined;
}

/**
 * The kubeconfig with the address that the Cluster has: where another endpoint than the Shoot's own wins, it leads there, and
 * checks the certificate by the Shoot's own name.
 */
export function leadingTo(kubeconfig: string, own: ControlPlaneEndpoint, field: EndpointField): string {
  const wins = completeEndpoint(field);
  if (wins === undefined || isSameEndpoint(wins, own)) return kubeconfig;
  const { cluster, user } = parseForeignKubeconfig(kubeconfig);
  const { token } = user;
  const ca = cluster["certificate-authority-data"];
  if (typeof token !== "string" || typeof ca !== "string") return kubeconfig;
  const server = `https://${renderEndpoint(wins)}`;
  return renderKubeconfig({ server, ca: Buffer.from(ca, "base64").toString(), token, tlsServerName: own.host });
}

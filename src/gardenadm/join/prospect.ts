import semver from "semver";
import { SYSTEM_NAMESPACE } from "../../api/names.ts";
import { imagesFor, nodeAgentSecretName, type ControlPlaneContext } from "../../components/index.ts";
import { isForbidden, Secret, type KubeClient } from "../../kube/index.ts";
import { NAMESPACE, readMade } from "../cluster/control-plane.ts";
import { readMachineOrder, type MachineOrder } from "../cluster/machine-order.ts";
import { placeOf, type Place, type WantedPlace } from "../cluster/place.ts";
import type { ThisMachine } from "../machine/this-machine.ts";
import { hasKubelet } from "../machine/traces.ts";
import { demandsOf } from "../preflight/demands.ts";
import { networkFaults } from "../preflight/networks.ts";
import { OperatorError } from "../steps/fault.ts";
import { refuseOlderCluster } from "./namesake.ts";
import type { Caller } from "./caller.ts";

/** What a machine is to be in its cluster. */
export interface Prospect extends Place {
  /** The Secret in kube-system that says what the machines of its pool are to be, by name. */
  readonly secretName: string;
  readonly order: MachineOrder;
}

/**
 * Chooses pool and zone, and reads what machines of it are to be. Throws an OperatorError where the cluster has no such place for
 * this machine: what is wanted does not exist, the token is for another role, networks overlap, or its API server is older than the kubelet.
 */
export async function findProspect(
  { client, token }: Caller,
  { root }: Pick<ThisMachine, "root">,
  wanted: WantedPlace,
): Promise<Prospect> {
  const context = await readCluster(client).catch(refuseOlderCluster);
  const place = placeOf(context, wanted);
  const demands = demandsOf(context.shoot, place.pool);
  const faults = (await hasKubelet(root)) ? [] : await networkFaults({ root, demands });
  if (faults.length > 0) throw new OperatorError(faults.join("; "));
  await refuseNewerKubelet(client, place.pool.kubernetes?.version ?? context.shoot.spec.kubernetes.version);
  const secretName = nodeAgentSecretName(context, place.pool);
  const secret = await readOrder(client, secretName).catch((cause: unknown) => {
    if (token === undefined || !isForbidden(cause)) throw cause;
    const flag = wanted.role === "control-plane" ? "--control-plane " : "";
    throw new OperatorError(
      `bootstrap token ${token.id} is not for ${wanted.role} nodes: make one with 'gardenadm token create ${flag}--print-join-command' on a node of the control plane`,
      { cause },
    );
  });
  return { ...place, secretName, order: readMachineOrder(secret) };
}

/** What the cluster says of itself to its nodes. */
async function readCluster(client: KubeClient): Promise<ControlPlaneContext> {
  const { shoot, cloudProfile } = await readMade(client);
  const images = imagesFor(shoot.spec.kubernetes.version);
  return { shoot, cloudProfile, namespace: NAMESPACE, checksums: {}, images, nodes: [] };
}

/** By minor versions: those of patches differ while one is rolled out. */
async function refuseNewerKubelet(client: KubeClient, version: string): Promise<void> {
  const { gitVersion } = (await client.get("/version")) as { gitVersion: string };
  const [kubelet, apiServer] = [semver.parse(version), semver.parse(gitVersion)];
  if (kubelet === null || apiServer === null || minorOf(kubelet) <= minorOf(apiServer)) return;
  throw new OperatorError(
    `the machines of this pool have kubelets of ${version}, newer than the API server of ${gitVersion}: bring the control plane to that version first, by 'gardenadm init' on its first node`,
  );
}

const minorOf = ({ major, minor }: semver.SemVer): number => major * 10_000 + minor;

/** The Secret that says what the machines of a pool are to be. */
export async function readOrder(client: KubeClient, name: string): Promise<Secret> {
  const secret = await client.read(Secret, { namespace: SYSTEM_NAMESPACE, name });
  if (secret !== undefined) return secret;
  throw new OperatorError(
    `Secret ${SYSTEM_NAMESPACE}/${name}, which says what the machine is to be, does not exist: 'gardenadm init' on the first node makes it`,
  );
}

import { clusterKubeconfigName, type Cluster, type ShootControlPlane } from "../../api/cluster-api/index.ts";
import type { Shoot } from "../../api/index.ts";
import { kubeconfigSecretName } from "../../api/names.ts";
import type { EventRecorder, KubeClient } from "../../kube/index.ts";
import { omitUndefined } from "../../omit-undefined.ts";
import type { Again } from "../again.ts";
import { completeEndpoint } from "../endpoint/value.ts";
import { currentEndpoint } from "../shoot/address.ts";
import type { ApiServers } from "../shoot/api-servers.ts";
import { infrastructureOf, leavingRowsOf, poolsOf } from "../shoot/cluster-parts.ts";
import { composeShoot } from "../shoot/compose.ts";
import type { GardenView } from "../shoot/garden-view.ts";
import { controlPlaneIdentity, establish, isOwn } from "../shoot/identity.ts";
import { projectOf } from "../shoot/project.ts";
import type { World } from "../shoot/world.ts";
import type { ShootWriter, Written } from "../shoot/write.ts";
import { isToBeAsked, whenAgain } from "./again.ts";
import { endpointName, isOverruled, publishEndpoint } from "./endpoint.ts";
import { findShoot, shootKey } from "./find.ts";
import { keepKubeconfig, leadingTo, publishedKubeconfig } from "./kubeconfig.ts";
import { noteShoot } from "./note-shoot.ts";
import { report, type Seen, type Silence } from "./report.ts";
import { whyNotAgain, whyNotYet, whyUnseen } from "./waiting.ts";

/** What a control plane's reconciliation works with. */
export interface ControlPlaneDeps {
  readonly management: KubeClient;
  readonly garden: KubeClient;
  /** Of the management cluster. */
  readonly events: Pick<EventRecorder, "record">;
  readonly world: World;
  readonly writer: ShootWriter;
  readonly servers: ApiServers;
  readonly silence: Silence;
  readonly gardenView: Pick<GardenView, "obstacleTo" | "knows">;
}

/**
 * Brings a control plane to where its Cluster wants it: a Shoot that says what is composed, its endpoint as soon as it has one, its
 * kubeconfig, and a status by contract v1beta2. It waits for no endpoint of others.
 */
export async function reconcileControlPlane(
  deps: ControlPlaneDeps,
  cluster: Cluster,
  controlPlane: ShootControlPlane,
): Promise<void | Again> {
  const { management } = deps;
  const project = projectOf(deps, controlPlane);
  if ("obstacle" in project) return await report(deps, controlPlane, project);
  const established = await establish(management, controlPlane, controlPlaneIdentity, project.namespace);
  const written = await writeShoot(deps, cluster, established, project.namespace);
  const shoot = "shoot" in written ? written.shoot : undefined;
  await noteShoot(management, established, shoot);
  const held = "obstacle" in written ? { obstacle: written.obstacle } : {};
  const seen = shoot === undefined ? {} : await publish(deps, cluster, established, shoot);
  const found = { ...held, ...(shoot && { shoot }), ...seen };
  await report(deps, established, found);
  return whenAgain(established, found);
}

async function writeShoot(
  { garden, world, writer }: ControlPlaneDeps,
  cluster: Cluster,
  controlPlane: ShootControlPlane,
  namespace: string,
): Promise<Written> {
  const place = { namespace, cluster: cluster.metadata.name };
  const key = shootKey(controlPlane, place);
  const present = world.shoots.get(key.name, namespace) ?? (await findShoot(garden, controlPlane, place));
  const infrastructure = infrastructureOf(world, cluster);
  const waiting =
    present === undefined
      ? (whyNotAgain(controlPlane, key) ?? whyNotYet(cluster, controlPlane, infrastructure))
      : whyUnseen(cluster, infrastructure);
  if (waiting !== undefined)
    return { obstacle: waiting, ...(present && isOwn(present, controlPlane) && { shoot: present }) };
  const pools = poolsOf(world, cluster);
  const composition = composeShoot({
    cluster,
    controlPlane,
    pools,
    leaving: leavingRowsOf(world, cluster),
    infrastructure,
    key,
    present,
  });
  if ("obstacle" in composition)
    return { ...composition, ...(present && isOwn(present, controlPlane) && { shoot: present }) };
  const { shootRef, shootTemplate } = controlPlane.spec;
  const beginning = { ...omitUndefined({ seedName: shootTemplate?.spec.seedName }), adopts: shootRef !== undefined };
  return await writer.write(composition.shoot, present, beginning);
}

/** Endpoint, kubeconfig, version: each as soon as it is known. */
async function publish(
  deps: ControlPlaneDeps,
  cluster: Cluster,
  controlPlane: ShootControlPlane,
  shoot: Shoot,
): Promise<Seen> {
  const { management, world, servers, silence } = deps;
  const { namespace, name } = cluster.metadata;
  const secret = world.kubeconfigs.get(kubeconfigSecretName(shoot.metadata.name), shoot.metadata.namespace);
  const published = publishedKubeconfig(secret);
  const endpoint = currentEndpoint(shoot, completeEndpoint(controlPlane.spec.controlPlaneEndpoint), published);
  if (endpoint === undefined) return {};
  const present = world.endpoints.get(endpointName(cluster), namespace);
  const unpublished =
    controlPlane.spec.endpointFrom === "Infrastructure"
      ? undefined
      : await publishEndpoint(deps, { cluster, controlPlane, present }, endpoint);
  if (published === undefined) return { endpoint, unpublished };
  const kept = world.secrets.get(clusterKubeconfigName(name), namespace);
  const unkept = await keepKubeconfig(
    management,
    { cluster, controlPlane, present: kept },
    leadingTo(published, endpoint, isOverruled(present, controlPlane) ? cluster.spec.controlPlaneEndpoint : undefined),
  );
  const known = { endpoint, unpublished, kubeconfig: published, unkept };
  if (!isToBeAsked(controlPlane, shoot)) return known;

  const id = `${namespace}/${name}`;
  const version = await servers.ask(id, published);
  if (version !== undefined) silence.delete(id);
  else if (!silence.has(id)) silence.set(id, Date.now());
  return { ...known, version };
}

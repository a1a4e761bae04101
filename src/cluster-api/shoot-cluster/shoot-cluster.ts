import type { Cluster, ShootCluster } from "../../api/cluster-api/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import { pausedSaid } from "../endpoint/paused.ts";
import type { Obstacle } from "../shoot/obstacle.ts";
import { projectOf } from "../shoot/project.ts";
import { say } from "../shoot/say.ts";
import type { World } from "../shoot/world.ts";
import { provideDomain } from "./domain.ts";
import { establishInfrastructure, infrastructureId } from "./identity.ts";

/** What a ShootCluster's reconciliation works with. */
export interface InfrastructureDeps {
  readonly management: KubeClient;
  readonly garden: KubeClient;
  readonly world: World;
}

/** In ms, a tenth more or less: how soon what the garden refused, or another has, is tried again. */
const LATER = 60_000;

/**
 * Brings what a Shoot needs beside the service: its domain, with the endpoint (seed 004, scenario 3). Says by contract v1beta2
 * whether all is there; once it was, it stays provisioned. Its zones are the failure domains that MachinePools choose from. One
 * that asks for nothing of the garden is ready at once.
 */
export async function reconcileInfrastructure(
  deps: InfrastructureDeps,
  cluster: Cluster,
  infrastructure: ShootCluster,
): Promise<void | { readonly requeueAfter: number }> {
  const obstacle = await provide(deps, cluster, infrastructure);
  const { spec, status } = infrastructure;
  const domains = (spec?.zones ?? []).map((name) => ({ name, controlPlane: false }));
  await say(deps.management, infrastructure, [readySaid(obstacle), pausedSaid(false)], {
    ...(obstacle === undefined && { initialization: { provisioned: true } }),
    ...((domains.length > 0 || status?.failureDomains !== undefined) && { failureDomains: domains }),
  });
  return obstacle === undefined ? undefined : { requeueAfter: LATER * (0.9 + Math.random() * 0.2) };
}

async function provide(
  deps: InfrastructureDeps,
  cluster: Cluster,
  infrastructure: ShootCluster,
): Promise<Obstacle | undefined> {
  if (!needsGarden(infrastructure)) return undefined;
  const project = projectOf(deps, infrastructure);
  if ("obstacle" in project) return project.obstacle;
  await establishInfrastructure(deps.management, infrastructure, project.namespace);
  const shoot = { namespace: project.namespace, name: cluster.metadata.name };
  const place = { cluster, infrastructure, holder: { id: infrastructureId(infrastructure), shoot } };
  return await provideDomain(deps, place);
}

const needsGarden = ({ spec }: ShootCluster): boolean => spec?.endpoint !== undefined;

const readySaid = (obstacle: Obstacle | undefined) =>
  obstacle === undefined
    ? ({ type: "Ready", status: "True", reason: "Ready", message: "" } as const)
    : ({ type: "Ready", status: "False", ...obstacle } as const);

import type { Cluster, ShootCluster } from "../../api/cluster-api/index.ts";
import { infrastructureCredentialsName } from "../../api/names.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { Secret, type EventRecorder, type KubeClient, type Reflector } from "../../kube/index.ts";
import { againIn, type Again } from "../again.ts";
import type { Obstacle } from "../objects/obstacle.ts";
import { pausedSaid } from "../objects/paused.ts";
import { say } from "../objects/say.ts";
import { controlPlaneOf } from "../shoot/cluster-parts.ts";
import { establish } from "../shoot/identity.ts";
import { projectOf } from "../shoot/project.ts";
import { GARDEN_CREDENTIALS, type World } from "../shoot/world.ts";
import { isOf, provideCredentials } from "./credentials.ts";
import { provideDomain, type DomainPlace } from "./domain.ts";
import { findMismatch, findNoSeed } from "./fit.ts";
import { infrastructureId, infrastructureIdentity } from "./holder.ts";

/** What a ShootCluster's reconciliation works with. */
export interface InfrastructureDeps {
  readonly management: KubeClient;
  readonly garden: KubeClient;
  readonly events: Pick<EventRecorder, "record">;
  readonly world: World;
}

/** In ms: how soon what the garden refused, or another has, is tried again. */
const LATER = 60_000;

/**
 * Brings what a Shoot needs beside the service: credentials (scenario 2 of the proposal of flexible endpoints), and its domain with
 * the endpoint (scenario 3). Says by contract v1beta2 whether all is there; once it was, it stays provisioned. Its zones are the
 * failure domains that MachinePools choose from. One that asks for nothing of the garden is ready at once.
 */
export async function reconcileInfrastructure(
  deps: InfrastructureDeps,
  cluster: Cluster,
  infrastructure: ShootCluster,
): Promise<void | Again> {
  const obstacle = await provide(deps, cluster, infrastructure);
  const { spec, status } = infrastructure;
  const domains = (spec?.zones ?? []).map((name) => ({ name, controlPlane: false }));
  await say(deps.management, infrastructure, [readySaid(obstacle), pausedSaid(false)], {
    ...(obstacle === undefined && { initialization: { provisioned: true } }),
    ...((domains.length > 0 || status?.failureDomains !== undefined) && { failureDomains: domains }),
  });
  return obstacle === undefined ? undefined : againIn(LATER);
}

async function provide(
  deps: InfrastructureDeps,
  cluster: Cluster,
  infrastructure: ShootCluster,
): Promise<Obstacle | undefined> {
  const unfit =
    findMismatch(infrastructure, controlPlaneOf(deps.world, cluster)) ??
    (await findNoSeed(deps.garden, infrastructure));
  if (unfit !== undefined || !needsGarden(infrastructure)) return unfit;
  const project = projectOf(deps, infrastructure);
  if ("obstacle" in project) return project.obstacle;
  await establish(deps.management, infrastructure, infrastructureIdentity, project.namespace);
  const shoot = { namespace: project.namespace, name: cluster.metadata.name };
  const place = { cluster, infrastructure, holder: { id: infrastructureId(infrastructure), shoot } };
  return (await provideDomain(deps, place)) ?? (await bringCredentials(deps, place));
}

const needsGarden = ({ spec }: ShootCluster): boolean =>
  spec?.endpoint !== undefined || spec?.credentials !== undefined;

async function bringCredentials(
  { management, garden, world }: InfrastructureDeps,
  place: DomainPlace,
): Promise<Obstacle | undefined> {
  const { infrastructure, holder } = place;
  const { namespace, name } = holder.shoot;
  const secretName = infrastructure.spec?.credentials?.secretRef.name ?? "";
  const known = world.credentials.get(secretName, infrastructure.metadata.namespace);
  const source = known && (await readCredentials(management, known));
  const own = <T extends KubeObject>(objects: Pick<Reflector<T>, "get">) => {
    const found = objects.get(infrastructureCredentialsName(name), namespace);
    return found && isOf(found, holder) ? found : undefined;
  };
  const present = { secret: own(world.gardenSecrets), binding: own(world.gardenBindings) };
  return await provideCredentials(garden, { infrastructure, holder, source, present });
}

/** The Secret with what is in it, if it is labelled to be shared. A list is one, because it takes the label into account. */
async function readCredentials(management: KubeClient, { metadata: { namespace, name } }: Secret) {
  const selection = { namespace, labelSelector: GARDEN_CREDENTIALS, fieldSelector: `metadata.name=${name}` };
  const [secret] = await management.list(Secret, selection);
  return secret;
}

const readySaid = (obstacle: Obstacle | undefined) =>
  obstacle === undefined
    ? ({ type: "Ready", status: "True", reason: "Ready", message: "" } as const)
    : ({ type: "Ready", status: "False", ...obstacle } as const);

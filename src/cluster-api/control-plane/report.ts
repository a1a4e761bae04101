import {
  CLUSTER_NAME_LABEL,
  type Condition,
  type ControlPlaneEndpoint,
  type ShootControlPlane,
} from "../../api/cluster-api/index.ts";
import type { Shoot } from "../../api/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import { findCondition, type Said } from "../objects/conditions.ts";
import type { Obstacle } from "../objects/obstacle.ts";
import { pausedSaid } from "../objects/paused.ts";
import { say } from "../objects/say.ts";
import { availabilityOf } from "../shoot/availability.ts";
import { notInitialized } from "./not-initialized.ts";
import { SHOOT_DELETED } from "./waiting.ts";

/** Since when API servers do not answer, by `namespace/name` of the Cluster; in ms since the epoch. */
export type Silence = Map<string, number>;

/** What was found out of a control plane's API server. */
export interface Seen {
  readonly endpoint?: ControlPlaneEndpoint;
  /** Why no ClusterEndpoint says the endpoint. */
  readonly unpublished?: Obstacle | undefined;
  readonly kubeconfig?: string;
  /** Why the kubeconfig is not in the Cluster's Secret. */
  readonly unkept?: Obstacle | undefined;
  /** What the API server says that it runs, with a leading v; undefined where it did not answer or was not asked. */
  readonly version?: string | undefined;
}

/** What there is to say of a control plane. */
export interface Report extends Seen {
  /** What stands against the Shoot that is wanted. */
  readonly obstacle?: Obstacle;
  readonly shoot?: Shoot;
}

/** Writes the status of a control plane by contract v1beta2; what was reached once stays. */
export async function report(
  { management, silence }: { readonly management: KubeClient; readonly silence: Silence },
  controlPlane: ShootControlPlane,
  { obstacle, shoot, version, endpoint, unpublished, kubeconfig, unkept }: Report,
): Promise<void> {
  const { status, spec } = controlPlane;
  const isInitialized = status?.initialization?.controlPlaneInitialized === true || version !== undefined;
  const versions = version === undefined ? status?.versions : [{ version }];
  const available = shoot ? availability(controlPlane, shoot, silence) : unknownFor(obstacle);
  const said = [
    isInitialized ? available : notInitialized(shoot),
    synced(obstacle),
    rollingOut(spec.version, versions),
    ...publications({ endpoint, unpublished, kubeconfig, unkept }),
    pausedSaid(false),
  ];
  await say(management, controlPlane, said, {
    externalManagedControlPlane: true,
    ...(isInitialized && { initialization: { controlPlaneInitialized: true } }),
    ...(versions && { versions }),
    ...(shoot && { shoot: placeOf(shoot) }),
  });
}

/** Of what there is to publish, whether others can find it. */
const publications = ({
  endpoint,
  unpublished,
  kubeconfig,
  unkept,
}: { [P in "endpoint" | "unpublished" | "kubeconfig" | "unkept"]: Seen[P] | undefined }): readonly Said[] => [
  ...(endpoint ? [published("EndpointPublished", unpublished)] : []),
  ...(kubeconfig === undefined ? [] : [published("KubeconfigPublished", unkept)]),
];

/** Of a control plane that has answered once, and whose Shoot is not seen now: it may run all the same, unless that was deleted. */
const unknownFor = ({ reason, message }: Obstacle = NO_SHOOT): Said => ({
  type: "Available",
  status: reason === SHOOT_DELETED ? "False" : "Unknown",
  reason,
  message,
});

const NO_SHOOT: Obstacle = { reason: "ShootMissing", message: "there is no Shoot" };

function availability({ metadata, status }: ShootControlPlane, shoot: Shoot, silence: Silence): Said {
  const silentSince = silence.get(`${metadata.namespace}/${metadata.labels?.[CLUSTER_NAME_LABEL]}`);
  const before = findCondition(status?.conditions, "Available");
  return { type: "Available", ...availabilityOf(shoot, { before: known(before), silentSince, now: Date.now() }) };
}

const known = (before: Condition | undefined) => (before?.status === "Unknown" ? undefined : before);

const published = (type: string, obstacle: Obstacle | undefined): Said =>
  obstacle === undefined
    ? { type, status: "True", reason: "Published", message: "" }
    : { type, status: "False", ...obstacle };

const synced = (obstacle: Obstacle | undefined): Said =>
  obstacle === undefined
    ? { type: "ShootSynced", status: "True", reason: "Synced", message: "" }
    : { type: "ShootSynced", status: "False", ...obstacle };

function rollingOut(wanted: string | undefined, versions: readonly { readonly version: string }[] | undefined): Said {
  const old = versions?.find(({ version }) => wanted !== undefined && version !== wanted);
  if (old === undefined) return { type: "RollingOut", status: "False", reason: "NotRollingOut", message: "" };
  const message = `API servers run ${old.version}, and ${wanted} is wanted`;
  return { type: "RollingOut", status: "True", reason: "RollingOut", message };
}

const placeOf = ({ metadata: { namespace, name, uid = "" } }: Shoot) => ({ namespace, name, uid });

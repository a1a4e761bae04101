import {
  CLUSTER_NAME_LABEL,
  Cluster,
  ClusterEndpoint,
  MachinePool,
  ShootCluster,
  ShootControlPlane,
  ShootMachinePool,
} from "../../api/cluster-api/index.ts";
import { DomainReservation, Shoot } from "../../api/index.ts";
import { CONTROL_PLANE_ID_LABEL, INFRASTRUCTURE_ID_LABEL, ROLE_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { createReflector, Namespace, Secret, type Change, type Kind, type Reflector } from "../../kube/index.ts";
import type { ClusterApiDeps } from "../part.ts";
import { isLeftToMove } from "../endpoint/paused.ts";
import { rowNameOf, type Pool } from "./row.ts";

/** What our controllers know of both clusters, by watches alone. */
export interface World {
  readonly clusters: Reflector<Cluster>;
  readonly controlPlanes: Reflector<ShootControlPlane>;
  readonly infrastructures: Reflector<ShootCluster>;
  readonly machinePools: Reflector<MachinePool>;
  readonly pools: Reflector<ShootMachinePool>;
  readonly endpoints: Reflector<ClusterEndpoint>;
  /** Secrets of Clusters, in the management cluster. */
  readonly secrets: Reflector<Secret>;
  readonly namespaces: Reflector<Namespace>;
  /** Shoots that stand for control planes. */
  readonly shoots: Reflector<Shoot>;
  /** Secrets with Shoots' kubeconfigs, in the garden. */
  readonly kubeconfigs: Reflector<Secret>;
  /** Domains that are reserved, in the garden. */
  readonly reservations: Reflector<DomainReservation>;
  start(): void;
  synced(): Promise<unknown>;
  stop(): Promise<void>;
}

/** Called with the name of a Cluster of which something has changed. */
export type Wake = (cluster: { readonly namespace: string; readonly name: string }) => void;

/** Watches all that Shoots of Clusters are made from, and tells of each change which Cluster it concerns. */
export function createWorld({ management, garden, log }: ClusterApiDeps, wake: Wake): World {
  const watch = <T extends KubeObject>(
    kind: Kind<T>,
    clusterOf: (object: T) => string | undefined,
    labelSelector?: string,
  ) =>
    createReflector(inGarden(kind) ? garden : management, kind, {
      log,
      ...(labelSelector === undefined ? {} : { labelSelector }),
      onEvent: ({ object }: Change<T>) => {
        const name = clusterOf(object);
        const { namespace } = object.metadata;
        if (name !== undefined && namespace !== undefined) wake({ namespace, name });
      },
    });

  const world = {
    clusters: watch(Cluster, ({ metadata }) => metadata.name),
    controlPlanes: watch(ShootControlPlane, clusterNameOf),
    infrastructures: watch(ShootCluster, clusterNameOf),
    machinePools: watch(MachinePool, ({ spec }) => spec.clusterName),
    pools: watch(ShootMachinePool, clusterNameOf),
    endpoints: watch(ClusterEndpoint, clusterNameOf),
    secrets: watch(Secret, clusterNameOf, CLUSTER_NAME_LABEL),
    namespaces: createReflector(management, Namespace, { log, onEvent: ({ object }) => wakeAll(object.metadata.name) }),
    shoots: createReflector(garden, Shoot, {
      log,
      labelSelector: CONTROL_PLANE_ID_LABEL,
      onEvent: ({ object }) => wakeOwner(object),
    }),
    kubeconfigs: createReflector(garden, Secret, {
      log,
      labelSelector: `${ROLE_LABEL}=kubeconfig`,
      onEvent: ({ object: { metadata } }) => {
        const shoot = world.shoots.get(metadata.name.replace(/\.kubeconfig$/, ""), metadata.namespace);
        if (shoot !== undefined) wakeOwner(shoot);
      },
    }),
    reservations: createReflector(garden, DomainReservation, { log, onEvent: ({ object }) => wakeHolders(object) }),
  };

  function wakeAll(namespace: string): void {
    for (const { metadata } of world.clusters.list(namespace)) wake({ namespace, name: metadata.name });
  }

  function wakeOwner({ metadata }: Shoot): void {
    const id = metadata.labels?.[CONTROL_PLANE_ID_LABEL];
    for (const controlPlane of world.controlPlanes.list()) {
      const name = clusterNameOf(controlPlane);
      if (controlPlane.metadata.labels?.[CONTROL_PLANE_ID_LABEL] === id && name !== undefined)
        wake({ namespace: controlPlane.metadata.namespace, name });
    }
  }

  /** Whose it is in the garden, and who waits for that domain. */
  function wakeHolders({ metadata }: KubeObject): void {
    const id = metadata.labels?.[INFRASTRUCTURE_ID_LABEL];
    for (const infrastructure of world.infrastructures.list()) {
      const name = clusterNameOf(infrastructure);
      const isHolder = id !== undefined && infrastructure.metadata.labels?.[INFRASTRUCTURE_ID_LABEL] === id;
      const isWaiting = infrastructure.spec?.endpoint?.domain === metadata.name;
      if (name !== undefined && (isHolder || isWaiting)) wake({ namespace: infrastructure.metadata.namespace, name });
    }
  }

  const reflectors: readonly Pick<Reflector<KubeObject>, "start" | "synced" | "stop">[] = Object.values(world);
  return {
    ...world,
    start: () => reflectors.forEach((one) => one.start()),
    synced: () => Promise.all(reflectors.map((one) => one.synced())),
    stop: async () => void (await Promise.all(reflectors.map((one) => one.stop()))),
  };
}

const inGarden = (kind: Kind): boolean => kind.kind === Shoot.kind;

/** The Cluster that an object belongs to: core labels what Clusters and pools name. */
export const clusterNameOf = ({ metadata }: KubeObject): string | undefined => metadata.labels?.[CLUSTER_NAME_LABEL];

/** The pools of a Cluster, as far as both halves of each are there and core has joined them. */
export function poolsOf(world: Pick<World, "machinePools" | "pools">, { metadata }: Cluster): readonly Pool[] {
  const halves = world.machinePools.list(metadata.namespace).filter(({ spec }) => spec.clusterName === metadata.name);
  return halves.flatMap((machinePool) => {
    const ref = machinePool.spec.template.spec.infrastructureRef;
    if (ref.kind !== ShootMachinePool.kind) return [];
    const infrastructure = world.pools.get(ref.name, metadata.namespace);
    return infrastructure === undefined ? [] : [{ machinePool, infrastructure }];
  });
}

/** The names of a Cluster's rows whose pools are being deleted; `clusterctl move` deletes what stays elsewhere. */
export function leavingRowsOf({ pools }: Pick<World, "pools">, { metadata }: Cluster): readonly string[] {
  const own = pools.list(metadata.namespace).filter((pool) => clusterNameOf(pool) === metadata.name);
  return own.filter((pool) => pool.metadata.deletionTimestamp !== undefined && !isLeftToMove(pool)).map(rowNameOf);
}

/** The control plane that a Cluster names, where it is one of ours and core has joined it with the Cluster, by its label. */
export function controlPlaneOf(
  { controlPlanes }: { readonly controlPlanes: Pick<Reflector<ShootControlPlane>, "get"> },
  { metadata, spec }: Cluster,
): ShootControlPlane | undefined {
  const { apiGroup, kind, name } = spec.controlPlaneRef ?? {};
  if (apiGroup !== groupOf(ShootControlPlane) || kind !== ShootControlPlane.kind || name === undefined)
    return undefined;
  const found = controlPlanes.get(name, metadata.namespace);
  return found && clusterNameOf(found) === metadata.name ? found : undefined;
}

const groupOf = ({ apiVersion }: Kind): string => apiVersion.replace(/\/.*$/, "");

/** The infrastructure of a Cluster, where it is one of ours and core has joined it with the Cluster, by its label. */
export function infrastructureOf(
  { infrastructures }: { readonly infrastructures: Pick<Reflector<ShootCluster>, "get"> },
  { metadata, spec }: Cluster,
): ShootCluster | undefined {
  const { kind, name } = spec.infrastructureRef ?? {};
  if (kind !== ShootCluster.kind || name === undefined) return undefined;
  const found = infrastructures.get(name, metadata.namespace);
  return found && clusterNameOf(found) === metadata.name ? found : undefined;
}

import {
  CLUSTER_NAME_LABEL,
  MachinePool,
  ShootCluster,
  ShootControlPlane,
  ShootMachinePool,
} from "../../api/cluster-api/index.ts";
import { CredentialsBinding, DomainReservation, Shoot } from "../../api/index.ts";
import {
  CONTROL_PLANE_ID_LABEL,
  GARDEN_CREDENTIALS_LABEL,
  INFRASTRUCTURE_ID_LABEL,
  ROLE_LABEL,
} from "../../api/labels.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import {
  createReflector,
  indexBy,
  Namespace,
  Secret,
  type Change,
  type NamespacedKey,
  type Reflector,
} from "../../kube/index.ts";
import { essentialNamespace, nameOnly, onlyKubeconfig, projectIn, withoutLastApplied, withoutNodes } from "../kept.ts";
import type { ClusterApiDeps } from "../part.ts";
import { createWatches, type Watches } from "../watches.ts";

/** What is listed and watched of the garden; each part of the work names what it needs of that. */
export const gardenLists = ["shoots", "kubeconfigs", "reservations", "gardenSecrets", "gardenBindings"] as const;

/** One of them. */
export type GardenList = (typeof gardenLists)[number];

/** What our controllers know of both clusters, by watches alone. */
export interface World {
  readonly clusters: Watches["clusters"];
  readonly controlPlanes: Reflector<ShootControlPlane>;
  readonly infrastructures: Reflector<ShootCluster>;
  readonly machinePools: Reflector<MachinePool>;
  readonly pools: Reflector<ShootMachinePool>;
  readonly endpoints: Watches["endpoints"];
  /** Secrets of Clusters, in the management cluster. */
  readonly secrets: Watches["secrets"];
  readonly namespaces: Reflector<Namespace>;
  /** Shoots that stand for control planes. */
  readonly shoots: Reflector<Shoot>;
  /** Secrets with Shoots' kubeconfigs, in the garden. */
  readonly kubeconfigs: Reflector<Secret>;
  /** Domains that are reserved, in the garden. */
  readonly reservations: Reflector<DomainReservation>;
  /** Secrets of the management cluster that may be copied into the garden, by name: any user who makes Secrets makes such. */
  readonly credentials: Reflector<Secret>;
  /** What the garden has of ShootClusters' credentials. */
  readonly gardenSecrets: Reflector<Secret>;
  readonly gardenBindings: Reflector<CredentialsBinding>;
  /** What bears a Cluster's label, or of MachinePools names the Cluster, without a search. */
  readonly of: {
    controlPlanes(cluster: NamespacedKey): ShootControlPlane[];
    infrastructures(cluster: NamespacedKey): ShootCluster[];
    machinePools(cluster: NamespacedKey): MachinePool[];
    pools(cluster: NamespacedKey): ShootMachinePool[];
  };
  /** Control planes that bear an identity: several, where a user has copied one. */
  controlPlanesById(id: string): ShootControlPlane[];
  /** Shoots that bear a control plane's identity. */
  shootsById(id: string): Shoot[];
  start(): void;
  /** Resolves when all that the management cluster has is known; of the garden, each list tells of itself. */
  synced(): Promise<unknown>;
  stop(): Promise<void>;
}

/** Called with the name of a Cluster of which something has changed. */
export type Wake = (cluster: { readonly namespace: string; readonly name: string }) => void;

/** Watches all that Shoots of Clusters are made from, and tells of each change which Cluster it concerns. */
export function createWorld({ management, garden, log, ...deps }: ClusterApiDeps, wake: Wake): World {
  const { clusters, endpoints, secrets } = deps.watches ?? createWatches({ management, log });
  const keep = withoutLastApplied;
  const held = {
    labelSelector: INFRASTRUCTURE_ID_LABEL,
    onEvent: ({ object }: Change<KubeObject>) => wakeHolders(object),
  };
  const world = {
    ...{ clusters, endpoints, secrets },
    controlPlanes: createReflector(management, ShootControlPlane, { log, keep }),
    infrastructures: createReflector(management, ShootCluster, { log, keep }),
    machinePools: createReflector(management, MachinePool, { log, keep: withoutNodes }),
    pools: createReflector(management, ShootMachinePool, { log, keep }),
    namespaces: createReflector(management, Namespace, {
      log,
      keep: essentialNamespace,
      onEvent({ object, old }) {
        if (old === undefined || projectIn(old) !== projectIn(object)) wakeAll(object.metadata.name);
      },
    }),
    shoots: createReflector(garden, Shoot, { log, labelSelector: CONTROL_PLANE_ID_LABEL, keep }),
    kubeconfigs: createReflector(garden, Secret, {
      log,
      labelSelector: `${ROLE_LABEL}=kubeconfig`,
      keep: onlyKubeconfig,
      onEvent: ({ object: { metadata } }) => {
        const shoot = world.shoots.get(metadata.name.replace(/\.kubeconfig$/, ""), metadata.namespace);
        if (shoot !== undefined) wakeOwner(shoot);
      },
    }),
    reservations: createReflector(garden, DomainReservation, { log, onEvent: ({ object }) => wakeHolders(object) }),
    credentials: createReflector(management, Secret, {
      log,
      metadataOnly: true,
      labelSelector: GARDEN_CREDENTIALS,
      keep: nameOnly,
      onEvent: ({ object }) => wakeUsers(object),
    }),
    gardenSecrets: createReflector(garden, Secret, { log, ...held }),
    gardenBindings: createReflector(garden, CredentialsBinding, { log, ...held }),
  };

  // Before the listeners below, which read them.
  const namedIn = indexBy(clusters, ({ metadata }) => metadata.namespace);
  const controlPlanesById = indexBy(world.controlPlanes, controlPlaneIdOf);
  const shootsById = indexBy(world.shoots, controlPlaneIdOf);
  const of = {
    controlPlanes: byCluster(world.controlPlanes, clusterNameOf),
    infrastructures: byCluster(world.infrastructures, clusterNameOf),
    machinePools: byCluster(world.machinePools, namedClusterOf),
    pools: byCluster(world.pools, clusterNameOf),
  };
  tell(clusters, ({ metadata }) => metadata.name);
  tell(world.machinePools, namedClusterOf);
  for (const one of [world.controlPlanes, world.infrastructures, world.pools, endpoints, secrets])
    tell<KubeObject>(one, clusterNameOf);
  world.shoots.listen(({ object }) => wakeOwner(object));

  function tell<T extends KubeObject>(watch: Pick<Reflector<T>, "listen">, clusterOf: ClusterOf<T>): void {
    watch.listen(({ object }) => {
      const name = clusterOf(object);
      const { namespace } = object.metadata;
      if (name !== undefined && namespace !== undefined) wake({ namespace, name });
    });
  }

  function wakeAll(namespace: string): void {
    for (const { metadata } of namedIn(namespace)) wake({ namespace, name: metadata.name });
  }

  function wakeOwner(shoot: Shoot): void {
    for (const controlPlane of controlPlanesById(controlPlaneIdOf(shoot) ?? "")) {
      const name = clusterNameOf(controlPlane);
      if (name !== undefined) wake({ namespace: controlPlane.metadata.namespace, name });
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

  /** Who names this Secret. */
  function wakeUsers({ metadata: { namespace, name } }: Secret): void {
    for (const infrastructure of world.infrastructures.list(namespace)) {
      const cluster = clusterNameOf(infrastructure);
      const isUser = infrastructure.spec?.credentials?.secretRef.name === name;
      if (cluster !== undefined && isUser) wake({ namespace, name: cluster });
    }
  }

  type Running = Pick<Reflector<KubeObject>, "start" | "synced" | "stop">;
  const reflectors: readonly Running[] = Object.values(world);
  const ofGarden: ReadonlySet<Running> = new Set(gardenLists.map((list) => world[list]));
  return {
    ...world,
    ...{ of, controlPlanesById, shootsById },
    start: () => reflectors.forEach((one) => one.start()),
    synced: () => Promise.all(reflectors.filter((one) => !ofGarden.has(one)).map((one) => one.synced())),
    stop: async () => void (await Promise.all(reflectors.map((one) => one.stop()))),
  };
}

/** Label selector of Secrets that may be copied into the garden. */
export const GARDEN_CREDENTIALS = `${GARDEN_CREDENTIALS_LABEL}=true`;

/** The name of the Cluster that an object belongs to. */
type ClusterOf<T> = (object: T) => string | undefined;

function byCluster<T extends KubeObject>(
  watch: Reflector<T>,
  clusterOf: ClusterOf<T>,
): (cluster: NamespacedKey) => T[] {
  const found = indexBy(watch, (object) => `${object.metadata.namespace}/${clusterOf(object)}`);
  return ({ namespace, name }) => found(`${namespace}/${name}`);
}

const namedClusterOf = ({ spec }: MachinePool): string => spec.clusterName;

const controlPlaneIdOf = ({ metadata }: KubeObject): string | undefined => metadata.labels?.[CONTROL_PLANE_ID_LABEL];

/** The Cluster that an object belongs to: core labels what Clusters and pools name. */
export const clusterNameOf = ({ metadata }: KubeObject): string | undefined => metadata.labels?.[CLUSTER_NAME_LABEL];

import { join } from "node:path";
import type { KubeClient } from "../kube/index.ts";
import {
  createExtensionController,
  type ExtensionControllerOptions,
  type ExtensionKind,
  type Guard,
} from "../extension/index.ts";
import { seedMachineName } from "../local/cluster/node.ts";
import { isLeft, type Environment } from "../local/environment/environment.ts";
import type { Machines } from "../local/machine/machines.ts";
import type { Logger } from "../log.ts";
import { createAddressPool } from "./network/address-pool.ts";
import { loadBalancerAddresses } from "./network/addresses.ts";
import { createBackupBucketActuator } from "./backup/bucket.ts";
import { createBackupEntryActuator } from "./backup/entry.ts";
import { createBuckets } from "./backup/buckets.ts";
import { createControlPlaneActuator } from "./control-plane.ts";
import { createDnsRecordActuator, type DefaultNameServer } from "./dns/record.ts";
import { createContainerRuntimeActuator } from "./extension/container-runtime.ts";
import { createNoteActuator } from "./extension/note.ts";
import { createInfrastructureActuator } from "./infrastructure.ts";
import { createLoadBalancers } from "./network/load-balancer.ts";
import { createJoinReports } from "./worker/join-reports.ts";
import { createMachineKeeper } from "./worker/machine-keeper.ts";
import { createNetworkActuator, resumePodNetworks } from "./network/network.ts";
import { adaptKubelet } from "./machine-image/kubelet.ts";
import { createOperatingSystemConfigActuator } from "./machine-image/operating-system-config.ts";
import { createPodNetworks } from "./network/pod-network.ts";
import { createShootAccess } from "./shoot-access.ts";
import { createKeyedMutex } from "./keyed-mutex.ts";
import { createVolumeProvisioner, type Runner } from "./volumes.ts";
import { createServingCertificates } from "./worker/serving-certificates.ts";
import { createWorkerActuator } from "./worker/worker.ts";

/** What the provider of one seed is made of. */
export interface ProviderDeps {
  readonly client: KubeClient;
  readonly seed: string;
  readonly environment: Environment;
  readonly machines: Machines;
  readonly nameServer?: DefaultNameServer;
  /** Asked before anything is done for a Shoot. */
  readonly guard: Guard;
  readonly log: Logger;
}

/** A running provider. */
export interface Provider {
  /** Starts everything; resolves when all that exists has been seen once. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Everything that a seed and its Shoots ask of a cloud, on this machine: all extension kinds, volumes, load balancers. */
export function createProvider({
  client,
  seed,
  environment,
  machines,
  nameServer,
  guard,
  log,
}: ProviderDeps): Provider {
  const shoots = createShootAccess(client, log);
  const podNetworks = createPodNetworks({ machines, shoots, guard, log });
  const mutex = createKeyedMutex();
  const extension = <K extends ExtensionKind>(
    options: Pick<ExtensionControllerOptions<K>, "kind" | "type" | "actuator">,
  ): Runner[] =>
    isLeft(environment, options) ? [] : [createExtensionController<K>({ client, guard, log, ...options })];

  const directory = join(environment.stateDir, "load-balancer-addresses");
  const pool = createAddressPool(directory, () => loadBalancerAddresses(environment));
  const buckets = createBuckets(join(environment.stateDir, "buckets"));
  const parts: Runner[] = [
    ...extension({ kind: "Infrastructure", type: "local", actuator: createInfrastructureActuator(environment) }),
    ...extension({ kind: "ControlPlane", type: "local", actuator: createControlPlaneActuator(placeOf(environment)) }),
    ...extension({
      kind: "OperatingSystemConfig",
      type: "local",
      actuator: createOperatingSystemConfigActuator(adaptKubelet),
    }),
    ...extension({ kind: "Worker", type: "local", actuator: createWorkerActuator({ machines, shoots, mutex }) }),
    ...extension({ kind: "Network", type: "local", actuator: createNetworkActuator(podNetworks) }),
    ...extension({ kind: "Extension", type: "local-note-seed", actuator: createNoteActuator("seed", shoots) }),
    ...extension({ kind: "Extension", type: "local-note-shoot", actuator: createNoteActuator("shoot", shoots) }),
    ...extension({ kind: "Extension", type: "local-note-nodes", actuator: createNoteActuator("nodes", shoots) }),
    ...extension({ kind: "ContainerRuntime", type: "local-runc", actuator: createContainerRuntimeActuator(shoots) }),
    ...extension({ kind: "DNSRecord", type: "rfc2136", actuator: createDnsRecordActuator(nameServer) }),
    ...extension({ kind: "BackupBucket", type: "local", actuator: createBackupBucketActuator(buckets) }),
    ...extension({ kind: "BackupEntry", type: "local", actuator: createBackupEntryActuator(buckets) }),
    createVolumeProvisioner({ client, directory: join(environment.stateDir, "volumes", seed), log }),
    createLoadBalancers({ client, cluster: seed, machine: seedMachineName(seed), machines, pool, log }),
    createMachineKeeper({ client, machines, mutex, guard, log }),
    createJoinReports({ client, machines, shoots, guard, log }),
    createServingCertificates({ client, machines, shoots, guard, log }),
  ];

  return {
    async start() {
      for (const part of parts) part.start();
      await Promise.all(parts.map((part) => part.synced()));
      await resumePodNetworks(client, podNetworks);
    },
    async stop() {
      await Promise.all([...parts.map((part) => part.stop()), podNetworks.stopAll()]);
      await shoots.close();
    },
  };
}

const placeOf = ({ name, network, domain }: Environment) => ({ environment: name, network, domain });

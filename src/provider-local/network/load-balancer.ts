import {
  createController,
  createReflector,
  isNotFound,
  refOf,
  Service,
  type KubeClient,
  type NamespacedKey,
} from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import type { Machines } from "../../local/machine/machines.ts";
import type { AddressPool } from "./address-pool.ts";
import type { Runner } from "../volumes.ts";

/** A cluster, the machine of it that answers for the addresses, and the pool that they come from. */
export interface LoadBalancerDeps {
  readonly client: KubeClient;
  /** Names the cluster among those that share the pool. */
  readonly cluster: string;
  readonly machine: string;
  readonly machines: Pick<Machines, "addAddress" | "removeAddress">;
  readonly pool: AddressPool;
  readonly log: Logger;
}

/** Gives each Service of type LoadBalancer an address of its own as long as it exists; kube-proxy does the rest. */
export function createLoadBalancers(deps: LoadBalancerDeps): Runner {
  const log = deps.log.child({ controller: "load-balancers" });
  const reconcile = (key: NamespacedKey) => balance({ ...deps, log }, key);
  const queue = createController({ name: "load-balancers", log, reconcile });
  const reflector = createReflector(deps.client, Service, {
    log,
    onEvent: ({ object: { metadata, spec } }) => {
      if (spec.type !== "LoadBalancer" && !metadata.finalizers?.includes(FINALIZER)) return;
      queue.enqueue({ name: metadata.name, namespace: metadata.namespace });
    },
  });
  return {
    start() {
      queue.start();
      reflector.start();
    },
    synced: () => reflector.synced(),
    stop: async () => void (await Promise.all([queue.stop(), reflector.stop()])),
  };
}

/** The finalizer of Kubernetes' own service controller, which doesn't run where there is no cloud. */
const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";

async function balance(deps: LoadBalancerDeps, key: NamespacedKey): Promise<void> {
  const service = await deps.client.read(Service, key);
  if (!service || service.spec.loadBalancerClass !== undefined) return;
  const wanted = service.spec.type === "LoadBalancer" && service.metadata.deletionTimestamp === undefined;
  await (wanted ? provide(deps, service) : withdraw(deps, service));
}

/** The claim on disk comes after the finalizer and before the status, so that a crash in between loses no address. */
async function provide(
  { client, cluster, machine, machines, pool, log }: LoadBalancerDeps,
  service: Service,
): Promise<void> {
  await setFinalizers(client, service, (others) => [...others, FINALIZER]);
  const current = service.status?.loadBalancer?.ingress?.[0]?.ip;
  const address = await pool.claim(ownerOf(cluster, service), current ?? service.spec.loadBalancerIP);
  await machines.addAddress(machine, address);
  if (current === address) return;
  await client.patch(
    refOf(service),
    { status: { loadBalancer: { ingress: [{ ip: address, ipMode: "VIP" }] } } },
    { subresource: "status" },
  );
  log.info(
    { service: service.metadata.name, namespace: service.metadata.namespace, address },
    "load balancer provided",
  );
}

async function withdraw(
  { client, cluster, machine, machines, pool, log }: LoadBalancerDeps,
  service: Service,
): Promise<void> {
  if (!service.metadata.finalizers?.includes(FINALIZER)) return;
  const address = await pool.claim(ownerOf(cluster, service), service.status?.loadBalancer?.ingress?.[0]?.ip);
  await machines.removeAddress(machine, address);
  await pool.release(ownerOf(cluster, service));
  try {
    if (!service.metadata.deletionTimestamp) {
      await client.patch(refOf(service), { status: { loadBalancer: null } }, { subresource: "status" });
    }
    await setFinalizers(client, service, (others) => others);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  log.info(
    { service: service.metadata.name, namespace: service.metadata.namespace, address },
    "load balancer withdrawn",
  );
}

async function setFinalizers(
  client: KubeClient,
  service: Service,
  choose: (others: string[]) => string[],
): Promise<void> {
  const { finalizers: before = [], resourceVersion } = service.metadata;
  const finalizers = choose(before.filter((finalizer) => finalizer !== FINALIZER));
  if (finalizers.length === before.length) return;
  await client.patch(refOf(service), { metadata: { finalizers, resourceVersion } });
}

function ownerOf(cluster: string, { metadata: { uid } }: Service): string {
  return `${cluster}/${uid}`;
}

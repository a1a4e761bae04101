import { findAccess, keepKubeconfig, kubeconfigRef } from "../activities/control-plane/user-kubeconfig.ts";
import type { Shoot } from "../api/index.ts";
import { createOwners } from "./mirror/owner.ts";
import { createRounds, type RoundsDeps } from "./rounds.ts";

/** `now` is the time by which kubeconfigs grow old. */
export interface KubeconfigsDeps extends RoundsDeps {
  readonly now?: () => Date;
}

/**
 * Renews the kubeconfigs that flows have published for the Shoots which this seed leads. A Shoot that hibernates keeps
 * the one that it has, until it wakes up. Any number of replicas may do this at once.
 */
export function createKubeconfigs({ now = () => new Date(), ...deps }: KubeconfigsDeps) {
  const renew = createRenewal({ ...deps, now });
  return createRounds<Date>(deps, {
    /** Remembers when to look again; what is forgotten with the process is read again. */
    async visit(namespace, due) {
      if (due !== undefined && due > now()) return due;
      const renewal = await renew(namespace);
      return new Date(Math.min(renewal.getTime(), now().getTime() + LONGEST_PAUSE));
    },
    failure: "cannot renew the Shoot's kubeconfig",
  });
}

/** In ms: a Secret that others have changed meanwhile is put right by the Shoot's next Reconcile, or else after this time. */
const LONGEST_PAUSE = 6 * 3_600_000;

/** Renews the kubeconfig of one namespace's Shoot where there is one to renew; returns when to look again. */
function createRenewal({
  gardenClient,
  seedClient,
  seedName,
  shootClients,
  now,
}: Required<Pick<KubeconfigsDeps, "now">> & KubeconfigsDeps) {
  const findOwner = createOwners({ gardenClient, seedClient, seedName });

  /** The Shoot of the namespace, where this seed leads it and its flow has published a kubeconfig. */
  const findShoot = async (namespace: string): Promise<Shoot | undefined> => {
    const { shoot } = await findOwner(namespace);
    if (shoot === undefined || !isAwake(shoot)) return undefined;
    return (await gardenClient.read(kubeconfigRef(shoot.metadata))) && shoot;
  };

  return async (namespace: string): Promise<Date> => {
    const shoot = await findShoot(namespace);
    const server = shoot?.status?.advertisedAddresses?.find(({ name }) => name === "external")?.url;
    const access = shoot && (await findAccess({ seedClient, shootClients }, namespace, server));
    if (shoot === undefined || access === undefined) return new Date(now().getTime() + PAUSE);
    return keepKubeconfig(gardenClient, shoot, access, now);
  };
}

/** In ms: how soon a Shoot is looked at again for which there is nothing to do yet. */
const PAUSE = 300_000;

/** Whether the Shoot's API server is to run. */
const isAwake = ({ metadata, spec, status }: Shoot): boolean =>
  metadata.deletionTimestamp === undefined && spec.hibernation?.enabled !== true && status?.hibernated !== true;

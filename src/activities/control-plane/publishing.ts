import { Infrastructure } from "../../api/index.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { externalApiServerName, internalApiServerName, type ControlPlaneContext } from "../../components/index.ts";
import { refTo, Secret, type KubeClient, type MergePatch } from "../../kube/index.ts";
import { readGardenObjects, syncCluster } from "./cluster.ts";
import { readContext } from "./context.ts";
import { keepCredentials } from "./garden-credentials.ts";
import { StepError } from "../step-error.ts";
import { wantedKeyPair } from "../secrets/access.ts";
import type { ShootClients } from "../shoot/clients.ts";
import { patchShootStatus } from "../shoot/patch.ts";
import { findAccess, keepKubeconfig } from "./user-kubeconfig.ts";

/** What a flow makes known in the garden: networks, addresses, and the users' way in. */
export function createPublishing({
  gardenClient,
  seedClient,
  shootClients,
}: {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly shootClients: ShootClients;
}) {
  const publishCredentials = async (context: ControlPlaneContext): Promise<void> => {
    const found = await seedClient.list(Secret, { namespace: context.namespace });
    const secrets = new Map(found.map(({ metadata, data }) => [metadata.name, data ?? {}]));
    await keepCredentials(gardenClient, context.shoot, { secrets, keyPair: wantedKeyPair(context)[0] });
  };
  const patchStatus = (run: ShootRun, status: MergePatch) => patchShootStatus(gardenClient, run, status);

  return {
    /** The networks that the provider chose; extensions read them from `Cluster`. */
    async publishInfrastructure(run: ShootRun): Promise<void> {
      const { status } = (await seedClient.read(Infrastructure, { namespace: run.technicalID, name: run.name })) ?? {};
      const { networking, egressCIDRs, nodesCIDR } = status ?? {};
      const nodes = networking?.nodes ?? (nodesCIDR === undefined ? undefined : [nodesCIDR]);
      const known = { ...networking, ...(nodes ? { nodes } : {}), ...(egressCIDRs ? { egressCIDRs } : {}) };
      if (Object.keys(known).length > 0) await patchStatus(run, { networking: known });
      await syncCluster(seedClient, run, await readGardenObjects(gardenClient, run));
    },

    /** Under which addresses the Shoot's API server is reached. */
    async publishAddress(run: ShootRun): Promise<void> {
      const context = await readContext(gardenClient, seedClient, run);
      const urls = [
        ["external", externalApiServerName(context)],
        ["internal", internalApiServerName(context)],
        ["unmanaged", context.apiServerAddress],
      ] as const;
      const advertisedAddresses = urls.flatMap(([name, host]) =>
        host === undefined ? [] : [{ name, url: `https://${host}` }],
      );
      if (advertisedAddresses.length > 0) await patchStatus(run, { advertisedAddresses });
    },

    /**
     * What users reach the Shoot with, in the garden: the administrator's kubeconfig, of which a Shoot that hibernates keeps
     * the one that it has; and where extensions of others are at work, authorities and the key pair for its nodes.
     */
    async publishKubeconfig(run: ShootRun): Promise<void> {
      await seedClient.remove(refTo(Secret, { namespace: run.technicalID, name: FORMER_KUBECONFIG }));
      if (run.hibernated && run.managesResources !== true) return;
      const context = await readContext(gardenClient, seedClient, run);
      if (run.managesResources === true) await publishCredentials(context);
      if (run.hibernated) return;
      const host = externalApiServerName(context);
      const server = host === undefined ? undefined : `https://${host}`;
      const access = await findAccess({ seedClient, shootClients }, run.technicalID, server);
      if (access === undefined)
        throw new StepError(`Shoot ${run.namespace}/${run.name} has no address for a kubeconfig yet`);
      await keepKubeconfig(gardenClient, context.shoot, access);
    },
  };
}

/** The Secret of a certificate for a year that users were given before; it is of no use any more. */
const FORMER_KUBECONFIG = "user-kubeconfig";

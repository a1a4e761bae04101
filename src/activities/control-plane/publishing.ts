import { ROLE_LABEL } from "../../api/labels.ts";
import { Infrastructure, Shoot } from "../../api/index.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { externalApiServerName, internalApiServerName } from "../../components/index.ts";
import { Secret, typeMeta, type KubeClient, type MergePatch } from "../../kube/index.ts";
import { readGardenObjects, syncCluster } from "./cluster.ts";
import { readContext } from "./context.ts";
import { StepError } from "../failure.ts";
import { patchShootStatus } from "../shoot/patch.ts";

/** What a flow makes known in the garden: networks, addresses, and the users' way in. */
export function createPublishing({
  gardenClient,
  seedClient,
}: {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
}) {
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

    /** An administrator's kubeconfig, where upstream keeps it: Secret `<shoot>.kubeconfig` beside the Shoot. */
    async publishKubeconfig(run: ShootRun): Promise<void> {
      const kubeconfig = await readUserKubeconfig(seedClient, run);
      await gardenClient.apply({
        apiVersion: "v1",
        kind: "Secret",
        metadata: {
          name: `${run.name}.kubeconfig`,
          namespace: run.namespace,
          labels: { [ROLE_LABEL]: "kubeconfig" },
          ownerReferences: [{ ...typeMeta(Shoot), name: run.name, uid: run.uid }],
        },
        type: "Opaque",
        data: { kubeconfig },
      });
    },
  };
}

async function readUserKubeconfig(seedClient: KubeClient, run: ShootRun): Promise<string> {
  const secret = await seedClient.read(Secret, { namespace: run.technicalID, name: "user-kubeconfig" });
  if (secret?.data?.kubeconfig !== undefined) return secret.data.kubeconfig;
  throw new StepError(`Secret ${run.technicalID}/user-kubeconfig has no kubeconfig yet`);
}

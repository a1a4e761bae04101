import { test as base } from "vitest";
import { startControlPlane, type ControlPlane } from "./control-plane.ts";
import { applyCrds } from "./crds.ts";
import { sharedCluster, stopSharedCluster, type Ending } from "./shared-cluster.ts";

/**
 * Tests with a cluster: a real API server that serves our CustomResourceDefinitions and goes by our fencing policies.
 *
 * The files that a worker runs share the server one after the other. Each finds it as if it were new: after a file, all
 * objects are as they were before it. A file that adds to how the server answers others takes {@link extendingTest}, a
 * file that changes it otherwise has a server of its own, by {@link ownClusterTest}.
 */
export const test = sharingTest({ forgets: false });

/** Tests whose file adds kinds, webhooks or policies to the shared cluster, which forgets them after it. */
export const extendingTest = sharingTest({ forgets: true });

function sharingTest(ending: Ending) {
  return (
    base
      // eslint-disable-next-line no-empty-pattern -- vitest reads here which other fixtures are needed
      .extend("shared", { scope: "worker" }, async ({}, { onCleanup }) => {
        onCleanup(stopSharedCluster);
        return await sharedCluster();
      })
      .extend("cluster", { scope: "file" }, async ({ shared }, { onCleanup }) => {
        await shared.begin();
        onCleanup(() => shared.end(ending));
        return shared.cluster;
      })
  );
}

/** What the tests of a file ask of a cluster of their own. */
export interface OwnClusterOptions {
  /** Further flags of kube-apiserver. */
  readonly flags?: readonly string[];
  /** Names, besides those of loopback, for which the API server has a certificate. */
  readonly hosts?: readonly string[];
  /** The CustomResourceDefinitions of deploy/crds are served. */
  readonly crds?: boolean;
}

/** Tests whose file has a cluster to itself: to kill, to change in what others would feel, to start with other flags. */
export function ownClusterTest({ flags = [], hosts = [], crds = false }: OwnClusterOptions = {}) {
  // eslint-disable-next-line no-empty-pattern -- as above
  return base.extend("cluster", { scope: "file" }, async ({}, { onCleanup }): Promise<ControlPlane> => {
    const cluster = await startControlPlane({ flags, hosts });
    onCleanup(() => cluster.stop());
    if (crds) await applyCrds(cluster.client);
    return cluster;
  });
}

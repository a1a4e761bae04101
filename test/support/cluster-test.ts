import { test as base } from "vitest";
import { startControlPlane, type ControlPlane } from "./control-plane.ts";
import { applyCrds } from "./crds.ts";
import { eventually } from "./eventually.ts";
import { applyFencing } from "./fencing.ts";
import { rememberKeyspace } from "./keyspace.ts";

/**
 * Tests with a cluster: a real API server that serves our CustomResourceDefinitions and goes by our fencing policies.
 *
 * The files that a worker runs share the server one after the other. Each finds it as if it were new: after a file, all
 * objects are as they were before it. A file that changes how the server answers others has a server of its own, by
 * {@link ownClusterTest}.
 */
export const test = base
  // eslint-disable-next-line no-empty-pattern -- vitest reads here which other fixtures are needed
  .extend("shared", { scope: "worker" }, async ({}, { onCleanup }) => {
    const shared = await startSharedCluster();
    onCleanup(() => shared.cluster.stop());
    return shared;
  })
  .extend("cluster", { scope: "file" }, async ({ shared }, { onCleanup }) => {
    await shared.begin();
    onCleanup(() => shared.end());
    return shared.cluster;
  });

/** What the tests of a file ask of a cluster of their own. */
export interface OwnClusterOptions {
  /** Further flags of kube-apiserver. */
  readonly flags?: readonly string[];
  /** Names, besides those of loopback, for which the API server has a certificate. */
  readonly hosts?: readonly string[];
  /** The CustomResourceDefinitions of deploy/crds are served. */
  readonly crds?: boolean;
}

/** Tests whose file has a cluster to itself: to kill, to extend by kinds, webhooks and policies, to start with other flags. */
export function ownClusterTest({ flags = [], hosts = [], crds = false }: OwnClusterOptions = {}) {
  // eslint-disable-next-line no-empty-pattern -- as above
  return base.extend("cluster", { scope: "file" }, async ({}, { onCleanup }): Promise<ControlPlane> => {
    const cluster = await startControlPlane({ flags, hosts });
    onCleanup(() => cluster.stop());
    if (crds) await applyCrds(cluster.client);
    return cluster;
  });
}

/** A cluster that one file after the other begins and ends with. */
interface SharedCluster {
  readonly cluster: ControlPlane;
  /** Fails when something has changed since the last file ended. */
  begin(): Promise<void>;
  /** Takes back all that the file did; fails when it did what others would feel. */
  end(): Promise<void>;
}

async function startSharedCluster(): Promise<SharedCluster> {
  const cluster = await startControlPlane({ flags: ["--allow-privileged=true"] });
  await applyCrds(cluster.client);
  await applyFencing(cluster.client, "seed");
  await applyFencing(cluster.client, "garden");
  await eventually(() => cluster.client.get("/readyz")); // from then on it adds nothing more by itself
  const keyspace = await rememberKeyspace(cluster.etcdUrl);
  return {
    cluster,
    async begin() {
      const late = await keyspace.changes();
      if (late.length === 0) return;
      await keyspace.restore();
      throw new Error(`an earlier file went on writing after its end: ${late.join(", ")}`);
    },
    async end() {
      const lasting = (await keyspace.changes()).filter((key) => unshared.some((part) => key.includes(part)));
      await keyspace.restore();
      if (lasting.length === 0) return;
      throw new Error(`this file needs a cluster of its own, it changed ${lasting.join(", ")}`);
    },
  };
}

/** The API server learns of changes to these a moment later: it would go by them in the next file. */
const unshared = [
  "/apiregistration.k8s.io/",
  "/customresourcedefinitions/",
  "/mutatingadmissionpolic",
  "/validatingadmissionpolic",
  "/mutatingwebhookconfigurations/",
  "/validatingwebhookconfigurations/",
];

import type { KubeClient } from "../../src/kube/index.ts";
import { admissionInForce, type Judges } from "./admission-in-force.ts";
import { startControlPlane, type ControlPlane } from "./control-plane.ts";
import { applyCrds } from "./crds.ts";
import { eventually } from "./eventually.ts";
import { applyFencing } from "./fencing.ts";
import { rememberKeyspace, type Change } from "./keyspace.ts";

/** The cluster of a process, that one file after the other begins and ends with. */
export interface SharedCluster {
  readonly cluster: ControlPlane;
  /** Fails when something has changed since the last file ended. */
  begin(): Promise<void>;
  /** Takes back all that the file did; fails when it did what others would feel. */
  end(o: Ending): Promise<void>;
}

/** How a file ends. */
export interface Ending {
  /** The file may have added kinds, webhooks and policies: waits until the API server has forgotten them. */
  readonly forgets: boolean;
}

let shared: Promise<SharedCluster> | undefined;

/** The cluster that all files of this process share; the first call starts it. */
export function sharedCluster(): Promise<SharedCluster> {
  return (shared ??= startSharedCluster());
}

/** Stops it, if it was started. The kernel does so when the process dies. */
export async function stopSharedCluster(): Promise<void> {
  const stopping = shared;
  shared = undefined;
  await (await stopping)?.cluster.stop();
}

async function startSharedCluster(): Promise<SharedCluster> {
  const cluster = await startControlPlane({ flags });
  const { client } = cluster;
  await applyCrds(client);
  await applyFencing(client, "seed");
  await applyFencing(client, "garden");
  await eventually(() => client.get("/readyz")); // from then on it adds nothing more by itself
  const kinds = await kindsOf(client);
  const keyspace = await rememberKeyspace(cluster.etcdUrl);

  /** Takes back all that has changed, and waits until the API server goes by what there was before. */
  const takeBack = async (lasting: readonly Change[]) => {
    await keyspace.restore({ except: API_SERVICES });
    if (lasting.length === 0) return;
    await admissionInForce(client, judgesAmong(lasting));
    await eventually(async () => (await kindsOf(client)) === kinds);
    // The API server itself removes those of kinds that are gone, and would bring them back before it knows.
    await eventually(async () => !(await keyspace.changes()).some(({ key }) => key.includes(API_SERVICES)));
    await keyspace.restore();
  };

  return {
    cluster,
    async begin() {
      const late = await keyspace.changes();
      if (late.length === 0) return;
      await keyspace.restore();
      throw new Error(`an earlier file went on writing after its end: ${late.map(({ key }) => key).join(", ")}`);
    },
    async end({ forgets }) {
      const lasting = (await keyspace.changes()).filter(({ key }) => unshared.some((part) => key.includes(part)));
      await takeBack(lasting);
      const unforgotten = lasting.filter(({ isNew }) => !forgets || !isNew).map(({ key }) => key);
      if (unforgotten.length === 0) return;
      throw new Error(`this file needs a cluster of its own, it changed ${unforgotten.join(", ")}`);
    },
  };
}

const API_SERVICES = "/apiregistration.k8s.io/";

/** As a Shoot's own API server has them: nodes join by tokens, and the addresses of Services are those of our examples. */
const flags = [
  "--allow-privileged=true",
  "--enable-bootstrap-token-auth=true",
  "--authorization-mode=Node",
  "--service-cluster-ip-range=10.190.0.0/16",
];

const kindsOf = async (client: KubeClient): Promise<string> =>
  JSON.stringify((await client.types()).map(({ apiVersion, kind }) => `${apiVersion} ${kind}`).sort());

/** The API server learns of changes to these a moment later: it would go by them in the next file. */
const unshared = [
  API_SERVICES,
  "/customresourcedefinitions/",
  "/mutatingadmissionpolic",
  "/validatingadmissionpolic",
  "/mutatingwebhookconfigurations/",
  "/validatingwebhookconfigurations/",
];

function judgesAmong(changes: readonly Change[]): Judges[] {
  const judges = {
    mutation: "/mutatingwebhook",
    validation: "/validatingwebhook",
    policy: "/validatingadmissionpolic",
  };
  const has = (part: string) => changes.some(({ key }) => key.includes(part));
  return (["mutation", "validation", "policy"] as const).filter((judge) => has(judges[judge]));
}

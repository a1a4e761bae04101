import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { createKubeClient, parseKubeconfig, type KubeClient } from "../../src/kube/index.ts";
import type { BareMachines } from "../../src/local/bare/machines.ts";
import { findSet } from "../../src/local/bare/set.ts";
import { replaceFile } from "../../src/local/replace-file.ts";
import { FIRST } from "./cluster.ts";
import { SET } from "./machines.ts";
import { askInMachine } from "./run-in-machine.ts";

/** The machines that carry the control plane. */
const SERVERS = ["a", "b", "c"] as const;

/** How the host reaches the cluster. */
export interface Access {
  /** A kubeconfig for root only, with a context for the API server of each machine; it goes with the set. */
  readonly file: string;
  readonly client: KubeClient;
}

/** Fetches the administrator's kubeconfig from the first machine. */
export async function fetchAccess(machines: BareMachines): Promise<Access> {
  const text = await askInMachine(machines, FIRST, ["cat", "/etc/kubernetes/admin.conf"]);
  const { cluster, user } = parseKubeconfig(text, dirname("/etc/kubernetes/admin.conf"));
  const set = await findSet(SET);
  if (set === undefined) throw new Error(`cannot write a kubeconfig: set ${SET} of machines is gone`);
  const addresses = new Map((await machines.list()).map(({ name, address = "" }) => [name, address]));
  const servers = SERVERS.map((name) => ({ name, server: `https://${addresses.get(name) ?? ""}` }));
  const file = join(set.stateDir, "kubeconfig.yaml");
  const kubeconfig = stringify({
    ...{ apiVersion: "v1", kind: "Config", "current-context": FIRST },
    clusters: servers.map(({ name, server }) => ({ name, cluster: { ...cluster, server } })),
    users: [{ name: "admin", user }],
    contexts: servers.map(({ name }) => ({ name, context: { cluster: name, user: "admin" } })),
  });
  await replaceFile(file, kubeconfig);
  return { file, client: createKubeClient({ file }, { userAgent: "demo" }) };
}

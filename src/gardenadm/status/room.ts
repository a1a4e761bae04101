import { etcdctlFiles } from "../cluster/members.ts";

/**
 * The command that makes room in an etcd whose database is full, to be copied on a node of the control plane: gives up what is older than
 * now, has each of the members at these client URLs make its database small, one after another, and lets writes in again.
 */
export function roomCommand(endpoints: readonly string[]): string {
  const { program, ca, cert, key } = etcdctlFiles;
  const variables = `ETCDCTL_ENDPOINTS=${endpoints.join(",")} ETCDCTL_CACERT=${ca} ETCDCTL_CERT=${cert} ETCDCTL_KEY=${key}`;
  const revision = `$(${program} endpoint status --write-out=json | sed 's/.*"revision":\\([0-9]*\\).*/\\1/')`;
  return `export ${variables}; ${program} compact "${revision}"; ${program} defrag --command-timeout=5m && ${program} alarm disarm`;
}

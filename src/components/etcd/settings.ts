import type { Flags } from "../command-line.ts";
import { secretPath } from "../files.ts";

/** The folder of its volume that has an etcd's data unless they were replaced. */
export const USUAL_ETCD_DIRECTORY = "new.etcd";

/** Where an etcd has its volume, and on it its data. */
export const dataVolume = { mountPath: "/var/etcd/data", directory: `/var/etcd/data/${USUAL_ETCD_DIRECTORY}` } as const;

/** Where the container of an etcd on a node has its settings, in a file of this name. */
export const settingsVolume = { mountPath: "/etc/etcd", file: "etcd.yaml" } as const;

/**
 * A link among the data of an etcd on a node, by which alone it finds its settings, and what it leads to, as its container sees both.
 * Without its data it has no settings, and ends, at every start: of a pod that goes on, kubelets check nothing when a container begins
 * again. Once it has a log of what it has agreed to, the link leads through another one beside that.
 */
export const settingsLink = {
  path: `${dataVolume.directory}/member/${settingsVolume.file}`,
  inLog: `${dataVolume.directory}/member/wal/${settingsVolume.file}`,
  target: `${settingsVolume.mountPath}/${settingsVolume.file}`,
} as const;

/** What one member of an etcd is called, and where it is. */
export interface MemberPlace {
  readonly name: string;
  /** By which members of other clusters are told from its own. */
  readonly token: string;
  /** The URL by which its peers reach it. */
  readonly peer: string;
  /** The URL by which clients reach it. */
  readonly client: string;
  /** URLs that it listens at, by what for; separated by commas. */
  readonly listen: Readonly<Record<"client" | "peer" | "metrics", string>>;
  /** All members as `name=peer`, separated by commas; and whether they begin a cluster or join one. Read at its first start. */
  readonly initialCluster: string;
  readonly initialState?: "new" | "existing";
  /** Where its data are; in the usual folder of its volume unless it is said. */
  readonly directory?: string;
}

/** An etcd's settings by the names of its flags; `quota` is in bytes. */
export function settings(place: MemberPlace, quota: number): Flags {
  return {
    name: place.name,
    "data-dir": place.directory ?? dataVolume.directory,
    "listen-client-urls": place.listen.client,
    "advertise-client-urls": place.client,
    "client-cert-auth": true,
    "trusted-ca-file": secretPath("ca-etcd", "ca.crt"),
    "cert-file": secretPath("etcd-server", "tls.crt"),
    "key-file": secretPath("etcd-server", "tls.key"),
    "listen-peer-urls": place.listen.peer,
    "initial-advertise-peer-urls": place.peer,
    "initial-cluster": place.initialCluster,
    "initial-cluster-state": place.initialState,
    "initial-cluster-token": place.token,
    "peer-client-cert-auth": true,
    "peer-trusted-ca-file": secretPath("ca-etcd-peer", "ca.crt"),
    "peer-cert-file": secretPath("etcd-peer", "tls.crt"),
    "peer-key-file": secretPath("etcd-peer", "tls.key"),
    "listen-metrics-urls": place.listen.metrics,
    "quota-backend-bytes": quota,
    "snapshot-count": 10_000,
  };
}

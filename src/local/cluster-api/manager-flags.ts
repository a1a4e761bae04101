import { dirname, relative } from "node:path";

/** Where the core manager finds its cluster and its certificate, and what it listens at. */
export interface ManagerPlace {
  readonly kubeconfigFile: string;
  /** What its webhooks serve, in PEM. */
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly webhookPort: number;
  /** The port of `/healthz` and `/readyz`. */
  readonly healthPort: number;
  /** The port of `/metrics` on loopback, without authentication; undefined where no metrics are served. */
  readonly metricsPort?: number;
}

/**
 * The flags of Cluster API's core manager outside of a pod: with topologies and machine pools. It does not migrate stored objects
 * of versions that nothing has written here.
 */
export function managerFlags(place: ManagerPlace): string[] {
  const { kubeconfigFile, certificateFile, keyFile, webhookPort, healthPort, metricsPort } = place;
  const folder = dirname(certificateFile);
  return [
    `--kubeconfig=${kubeconfigFile}`,
    `--webhook-cert-dir=${folder}`,
    `--webhook-cert-name=${relative(folder, certificateFile)}`,
    `--webhook-key-name=${relative(folder, keyFile)}`,
    `--webhook-port=${webhookPort}`,
    `--health-addr=127.0.0.1:${healthPort}`,
    // Without authentication it serves metrics alone: neither profiles nor a way to change the log level.
    ...(metricsPort === undefined
      ? ["--diagnostics-address=0"]
      : [`--diagnostics-address=127.0.0.1:${metricsPort}`, "--insecure-diagnostics"]),
    "--skip-crd-migration-phases=StorageVersionMigration,CleanupManagedFields",
    "--feature-gates=ClusterTopology=true",
  ];
}

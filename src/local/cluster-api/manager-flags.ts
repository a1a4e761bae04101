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
}

/**
 * The flags of Cluster API's core manager outside of a pod: with topologies and machine pools. It does not migrate stored objects
 * of versions that nothing has written here.
 */
export function managerFlags(place: ManagerPlace): string[] {
  const { kubeconfigFile, certificateFile, keyFile, webhookPort, healthPort } = place;
  const folder = dirname(certificateFile);
  return [
    `--kubeconfig=${kubeconfigFile}`,
    `--webhook-cert-dir=${folder}`,
    `--webhook-cert-name=${relative(folder, certificateFile)}`,
    `--webhook-key-name=${relative(folder, keyFile)}`,
    `--webhook-port=${webhookPort}`,
    `--health-addr=127.0.0.1:${healthPort}`,
    "--diagnostics-address=0", // serves no metrics
    "--skip-crd-migration-phases=StorageVersionMigration,CleanupManagedFields",
    "--feature-gates=ClusterTopology=true",
  ];
}

/** The set of bare machines where none is named. */
export const defaultSet = "machines";

/**
 * The command lines of the CLI that messages name as remedies. `shoot` is `namespace/name`, or the name alone where the
 * user has just typed that. A test holds each against the CLI's own registry.
 */
export const commandLines = {
  localUp: (environment = "local") => `perennial local up${environment === "local" ? "" : ` --name ${environment}`}`,
  localUpOnClusters: () => "perennial local up --garden-kubeconfig FILE --seed NAME=FILE",
  wipeMachine: (machine: string, set = defaultSet) => `perennial local machine wipe ${machine}${inSet(set)}`,
  cutPower: (machine: string, set = defaultSet) => `perennial local machine off ${machine} --hard${inSet(set)}`,
  createMachine: (machine: string, set = defaultSet) => `perennial local machine create ${machine} --bare${inSet(set)}`,
  showJournal: (machine: string, set = defaultSet) =>
    `perennial local machine shell ${machine}${inSet(set)} -- journalctl`,
  enterMachine: (machine: string, set = defaultSet) => `perennial local machine shell ${machine}${inSet(set)}`,
  switchOn: (machine: string, set = defaultSet) => `perennial local machine on ${machine}${inSet(set)}`,
  localStatus: () => "perennial local status",
  listShoots: () => "perennial shoot list",
  describeShoot: (shoot: string) => `perennial shoot describe ${shoot}`,
  watchShoot: (shoot: string) => `perennial shoot watch ${shoot}`,
  writeKubeconfig: (shoot: string) => `perennial shoot kubeconfig ${shoot} --file ${shoot.split("/").at(-1)}.yaml`,
  reconcileShoot: (shoot: string) => `perennial shoot reconcile ${shoot}`,
  retryShoot: (shoot: string) => `perennial shoot retry ${shoot}`,
  retryStep: (shoot: string, step: string) => `perennial shoot retry ${shoot} --step ${step}`,
  takeOver: (shoot: string, destination = "SEED") =>
    `perennial shoot migrate ${shoot} --to ${destination} --force-takeover --reason TEXT`,
  cancelMigration: (shoot: string) => `perennial shoot migrate ${shoot} --cancel`,
  recoverLeadership: (shoot: string) => `perennial shoot recover-leadership ${shoot}`,
  listExtensions: () => "perennial extension list",
  describeExtension: (registration: string) => `perennial extension describe ${registration}`,
  retryInstallation: (installation: string, step: string) => `perennial extension retry ${installation} --step ${step}`,
  listEndpoints: () => "perennial endpoint list",
  listFlows: () => "perennial flow list -o wide",
  planFlow: (shoot: string) => `perennial flow plan ${shoot}`,
  showFlow: (workflow: string) => `perennial flow show ${workflow}`,
} as const;

const inSet = (set: string): string => (set === defaultSet ? "" : ` --set ${set}`);

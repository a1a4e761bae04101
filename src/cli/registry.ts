import type { Group } from "./group.ts";

/** Every verb there is, in the order of the help; a new one is its file and one line here. */
export const registry: readonly Group[] = [
  {
    name: "local",
    summary: "The local environment: garden, seeds, Temporal and our own processes on this machine",
    verbs: [
      async () => (await import("./local/up.ts")).up,
      async () => (await import("./local/status.ts")).status,
      async () => (await import("./local/load.ts")).load,
      async () => (await import("./local/down.ts")).down,
    ],
  },
  {
    name: "local machine",
    summary: "Bare machines: an init system and containerd on this host, and nothing of Kubernetes",
    verbs: [
      async () => (await import("./local/machine/create.ts")).create,
      async () => (await import("./local/machine/list.ts")).list,
      async () => (await import("./local/machine/shell.ts")).shell,
      async () => (await import("./local/machine/on.ts")).on,
      async () => (await import("./local/machine/off.ts")).off,
      async () => (await import("./local/machine/wipe.ts")).wipe,
      async () => (await import("./local/machine/remove.ts")).remove,
      async () => (await import("./local/machine/bucket.ts")).bucket,
    ],
  },
  {
    name: "shoot",
    summary: "Shoots: look at them, follow them, ask for operations",
    verbs: [
      async () => (await import("./shoot/list.ts")).list,
      async () => (await import("./shoot/describe.ts")).describe,
      async () => (await import("./shoot/watch.ts")).watch,
      async () => (await import("./shoot/kubeconfig.ts")).kubeconfig,
      async () => (await import("./shoot/reconcile.ts")).reconcile,
      async () => (await import("./shoot/retry.ts")).retry,
      async () => (await import("./shoot/migrate.ts")).migrate,
      async () => (await import("./shoot/recover-leadership.ts")).recoverLeadership,
      async () => (await import("./shoot/delete.ts")).deleteShoot,
    ],
  },
  {
    name: "flow",
    summary: "Flows: the operations of Shoots, step by step",
    verbs: [
      async () => (await import("./flow/list.ts")).list,
      async () => (await import("./flow/show.ts")).show,
      async () => (await import("./flow/plan.ts")).plan,
      async () => (await import("./flow/reset.ts")).reset,
      async () => (await import("./flow/replay.ts")).replay,
    ],
  },
  {
    name: "extension",
    summary: "Extensions: what is registered and where it is installed; make one, and judge one by the contract",
    verbs: [
      async () => (await import("./extension/list.ts")).list,
      async () => (await import("./extension/describe.ts")).describe,
      async () => (await import("./extension/install.ts")).install,
      async () => (await import("./extension/retry.ts")).retry,
      async () => (await import("./extension/init.ts")).init,
      async () => (await import("./extension/verify.ts")).verify,
    ],
  },
  {
    name: "seed",
    summary: "Seeds: which cluster each of them is",
    verbs: [async () => (await import("./seed/rebind.ts")).rebind],
  },
  {
    name: "garden",
    summary: "The garden: which cluster it is",
    verbs: [async () => (await import("./rebind-garden.ts")).rebindGarden],
  },
  {
    name: "endpoint",
    summary: "Endpoints of Cluster API's Clusters: who gives them, which one wins and why, whether they serve",
    verbs: [
      async () => (await import("./endpoint/list.ts")).list,
      async () => (await import("./endpoint/describe.ts")).describe,
      async () => (await import("./endpoint/plan.ts")).plan,
    ],
  },
  {
    name: "state-key",
    summary: "Keys for what the garden keeps of Shoots",
    verbs: [async () => (await import("./state-key/add.ts")).add],
  },
  {
    name: "completion",
    summary: "Print what completes these command lines in a shell",
    load: async () => (await import("./completion/completion.ts")).createCompletion("perennial", () => registry),
  },
  { name: "version", summary: "Print the version", load: async () => (await import("./version.ts")).version },
];

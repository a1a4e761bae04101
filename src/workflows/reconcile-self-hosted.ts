import type { AppliedKind } from "../api/extensions/kinds.ts";
import type { ComponentName } from "../components/index.ts";
import { defineFlow, type Condition, type Step } from "../flow/flow.ts";

/** The facts about a cluster that carries its own control plane which decide what is done in it. Read once, when a run begins. */
export interface SelfHostedRun {
  /** No node has a pod network yet: what manages the cluster begins on the host of its first node. */
  readonly podNetworkMissing: boolean;
  /** Services are kube-proxy's. */
  readonly hasKubeProxy: boolean;
  /** The kinds for which an extension is registered, of those that the Shoot asks for. */
  readonly offered: readonly AppliedKind[];
  /** Backups of etcd go into an object store. */
  readonly hasBackup: boolean;
}

/** What a step does, as data. Each looks first, and leaves alone what is as it should be. */
export type SelfHostedAction =
  | { readonly verb: "deploy"; readonly component: SelfHostedComponent }
  | { readonly verb: "apply"; readonly kind: SelfHostedKind }
  | { readonly verb: "call"; readonly activity: SelfHostedCall };

/** The components that nothing but their objects belongs to. */
export type SelfHostedComponent = Extract<ComponentName, "node-bootstrap" | "kube-proxy" | "coredns">;

/** The kinds that are asked of extensions, and of which nothing else follows. */
export type SelfHostedKind = Extract<AppliedKind, "Network" | "OperatingSystemConfig" | "ControlPlane">;

/** What is done by a name of its own. */
export type SelfHostedCall =
  | "defineKinds"
  | "prepareNamespaces"
  | "syncCluster"
  | "deploySecrets"
  | "startNodeAgent"
  | "deployResourceManagers"
  | "deployExtensions"
  | "moveResourceManagers"
  | "moveExtensions"
  | "exposeControlPlane"
  | "deployBackupEntry"
  | "confirmMembers"
  | "deployEtcdBackup"
  | "rollOutNodes"
  | "awaitNodes"
  | "checkRoutes";

const deploy = (component: SelfHostedComponent): SelfHostedAction => ({ verb: "deploy", component });
const apply = (kind: SelfHostedKind): SelfHostedAction => ({ verb: "apply", kind });
const call = (activity: SelfHostedCall): SelfHostedAction => ({ verb: "call", activity });

const when = (text: string, holds: (run: SelfHostedRun) => boolean): Condition<SelfHostedRun> => ({ text, holds });
const podNetworkMissing = when("no node has a pod network yet", (run) => run.podNetworkMissing);
const hasKubeProxy = when("the Shoot has kube-proxy", (run) => run.hasKubeProxy);
const hasBackup = when("a backup of etcd is asked for", (run) => run.hasBackup);
const offers = (kind: AppliedKind): Condition<SelfHostedRun> =>
  when(`an extension is registered for its ${kind}`, (run) => run.offered.includes(kind));

const define = <const Name extends string>(
  title: string,
  rows: { readonly [N in Name]: Step<SelfHostedRun, SelfHostedAction, NoInfer<Name>> },
) => defineFlow(title, rows);

/**
 * Brings a cluster that carries its own control plane to the state that its Shoot asks for, from inside: on day one after
 * `startControlPlane`, and as often as it is asked for from then on. Every step is safe to repeat.
 */
// prettier-ignore
export const reconcileSelfHosted = define("Reconcile self-hosted Shoot", {
  // The ground: kinds, namespaces, keys
  crds:                  { do: call("defineKinds") },
  namespaces:            { do: call("prepareNamespaces") },
  cluster:               { do: call("syncCluster"),              after: ["crds"] },
  secrets:               { do: call("deploySecrets"),            after: ["namespaces"] },

  // Nodes keep themselves as the cluster says, and may read what is theirs
  nodeAccess:            { do: deploy("node-bootstrap"),         after: ["namespaces"] },
  nodeAgent:             { do: call("startNodeAgent"),           after: ["nodeAccess", "secrets"] },

  // What manages the cluster, on the host of its first node until there is a pod network
  resourceManager:       { do: call("deployResourceManagers"),   after: ["crds", "secrets", "namespaces"] },
  extensions:            { do: call("deployExtensions"),         after: ["resourceManager", "cluster"] },
  kubeProxy:             { do: deploy("kube-proxy"),             after: ["namespaces"],                      when: [hasKubeProxy] },
  network:               { do: apply("Network"),                 after: ["extensions", "kubeProxy"],         when: [offers("Network")] },
  coreDns:               { do: deploy("coredns"),                after: ["network"] },
  resourceManagerInPods: { do: call("moveResourceManagers"),     after: ["coreDns"],                         when: [podNetworkMissing] },
  extensionsInPods:      { do: call("moveExtensions"),           after: ["resourceManagerInPods"],           when: [podNetworkMissing] },

  // What extensions add to machines and to the control plane
  operatingSystemConfig: { do: apply("OperatingSystemConfig"),   after: ["extensionsInPods"],                when: [offers("OperatingSystemConfig")] },
  controlPlane:          { do: apply("ControlPlane"),            after: ["extensionsInPods"],                when: [offers("ControlPlane")] },

  // Where others find it, and where its backups are
  exposure:              { do: call("exposeControlPlane"),       after: ["extensionsInPods", "secrets"] },
  backupEntry:           { do: call("deployBackupEntry"),        after: ["extensionsInPods"],                when: [hasBackup, offers("BackupEntry")] },

  // The control plane's own nodes, one after another
  etcdManaged:           { do: call("confirmMembers"),           after: ["secrets", "backupEntry"] },
  etcdBackup:            { do: call("deployEtcdBackup"),         after: ["namespaces", "etcdManaged"],       when: [hasBackup] },
  staticPods:            { do: call("rollOutNodes"),             after: ["nodeAgent", "operatingSystemConfig", "controlPlane", "exposure", "etcdManaged"] },
  nodesReady:            { do: call("awaitNodes"),               after: ["staticPods"] },
  routes:                { do: call("checkRoutes"),              after: ["nodesReady"] },
});

/** An action for a reader. */
export function describeSelfHostedAction(action: SelfHostedAction): { readonly does: string } {
  if (action.verb === "deploy") return { does: deploys[action.component] };
  return { does: action.verb === "apply" ? applies[action.kind] : calls[action.activity] };
}

const deploys: Readonly<Record<SelfHostedComponent, string>> = {
  "node-bootstrap": "lets nodes into the cluster, and the agents of each pool read what their machines are to be",
  "kube-proxy": "runs kube-proxy on all nodes, which makes Services reachable",
  coredns: "runs CoreDNS, and waits until it answers",
};

const applies: Readonly<Record<SelfHostedKind, string>> = {
  Network: "has an extension make the pod network",
  OperatingSystemConfig: "has the operating system's extension say what its machines need besides",
  ControlPlane: "has the provider's extension add its part to the control plane",
};

const calls: Readonly<Record<SelfHostedCall, string>> = {
  defineKinds: "defines the kinds that extensions and resource managers work with",
  prepareNamespaces: "makes namespaces and priority classes, and says to machines that join which cluster this is",
  syncCluster: "says in Cluster kube-system what the Shoot is: extensions and nodes read it there",
  deploySecrets: "makes certificates that are missing or due; authorities that are gone are not made a second time",
  startNodeAgent: "waits until the agent of this node is at work",
  deployResourceManagers: "runs both resource managers, on the host's network while no node has a pod network",
  deployExtensions: "installs the extensions, on the host's network while no node has a pod network",
  moveResourceManagers: "moves the resource managers from the host's network into the pods'",
  moveExtensions: "moves the extensions from the host's network into the pods'",
  exposeControlPlane: "leads to the control plane from elsewhere, by DNS or an extension, where that is asked for",
  deployBackupEntry: "has an extension make the bucket, and the Shoot's part of it",
  confirmMembers: "sees that each node has its member in both etcds, with a vote, and leaves their data as they are",
  deployEtcdBackup: "has the cluster take snapshots of its etcd, each with the sealed bundle beside it",
  rollOutNodes: "says what the machines are to be; those of the control plane become it one after another",
  awaitNodes: "waits until all nodes of the control plane are ready",
  checkRoutes: "waits until the API server reaches pods, as webhooks, aggregated APIs and logs need it",
};

import { clauses } from "../../src/conformance/clauses/index.ts";
import { examplePool } from "../../src/conformance/objects.ts";
import type { Subject } from "../../src/conformance/subject.ts";
import { upstreamZone } from "../../src/local/process/dns.ts";
import type { LocalController } from "./upstream-controllers.ts";

/** A controller of upstream's, and what is known of how it keeps the contract. */
export interface UpstreamSubject extends Pick<Subject, "kind" | "type" | "spec" | "failingConfig" | "cluster"> {
  /** Of provider-local, unless it is a program of its own. */
  readonly controller: LocalController | "networking-calico";
  /** What has to be there besides a seed; nothing unless told. */
  readonly needs?: "a program of its own" | "a name server" | "a Shoot";
  /** In ms: how long it is waited for; 20 s unless told. */
  readonly patience?: number;
  /** What it writes into the Shoot is of the same name in each, and the Shoots of a trial are one cluster. */
  readonly oneByOne?: true;
  /** Clauses that it breaks, by how it does so. */
  readonly breaks?: Findings;
  /** Clauses by which it is not judged, by why not. */
  readonly unjudged: Findings;
}

/** Ids of clauses by what is said of them. */
export type Findings = Readonly<Record<string, readonly string[]>>;

const stateless: Findings = { "it keeps no state": ["migrate.state", "restore.state", "wait-for-state.written"] };
const bare: Findings = { "it reports neither state nor providerStatus": ["retrigger.kept"] };
const codeless: Findings = { "its error has no code": ["error.codes"] };
const faultless: Findings = {
  "it succeeds without the credentials, and no configuration is known that fails": idsWhere(/^error\./),
};
const shootless: Findings = {
  "it belongs to no Shoot": ["failed-shoot.left-alone", "failed-shoot.resumed", "force-deletion.gone"],
};
const unmoved: Findings = { "no flow moves it": idsWhere(/^(migrate|migrated|wait-for-state|restore)\./) };
/** Upstream's library for its kind: the Secret is looked up before the part that reports errors. */
const silent: Findings = {
  "it says nothing while the Secret of its credentials is missing, and only tries again": [
    "error.operation",
    "error.described",
    "error.generation-seen",
  ],
};

/** What upstream's provider looks up in the CloudProfile: images, which nothing pulls here. */
const profiled = {
  cloudProfile: {
    spec: {
      providerConfig: {
        apiVersion: "local.provider.extensions.gardener.cloud/v1alpha1",
        kind: "CloudProfileConfig",
        machineImages: [{ name: "local", versions: [{ version: "1.0.0", image: "example.org/not-pulled:v1" }] }],
        loadBalancer: { image: "example.org/not-pulled:v1" },
      },
    },
  },
};

/** It has no machine: of each that is there, upstream's controller executes a command, for which it takes a kubelet. */
const emptyPool = { ...examplePool, minimum: 0, maximum: 0 };

/** Each controller that can be asked without machines. `test/upstream` holds this table true; docs/verified.md is made of it. */
export const upstreamSubjects: readonly UpstreamSubject[] = [
  {
    kind: "Infrastructure",
    type: "local",
    controller: "infrastructure",
    breaks: { "it needs the Shoot's credentials, by force as well": ["force-deletion.gone"] },
    unjudged: { ...bare, ...stateless, ...codeless },
  },
  {
    kind: "ControlPlane",
    type: "local",
    controller: "controlplane",
    needs: "a Shoot",
    patience: 60_000,
    oneByOne: true,
    cluster: profiled,
    unjudged: { ...bare, ...stateless, ...codeless },
  },
  {
    kind: "Worker",
    type: "local",
    controller: "worker",
    needs: "a Shoot",
    patience: 60_000,
    cluster: profiled,
    spec: { pools: [emptyPool] },
    unjudged: { "it keeps no state": ["migrate.state"], ...codeless },
  },
  {
    kind: "Network",
    type: "calico",
    controller: "networking-calico",
    needs: "a program of its own",
    failingConfig: {
      apiVersion: "calico.networking.extensions.gardener.cloud/v1alpha1",
      kind: "NetworkConfig",
      vethMTU: "much",
    },
    unjudged: { ...stateless, ...codeless },
  },
  {
    kind: "OperatingSystemConfig",
    type: "local",
    controller: "operatingsystemconfig",
    unjudged: { ...bare, ...stateless, ...faultless },
  },
  {
    kind: "DNSRecord",
    type: "local",
    controller: "dnsrecord",
    needs: "a name server",
    spec: { name: `api.verify.${upstreamZone}` },
    unjudged: { ...bare, ...stateless, ...faultless },
  },
  {
    kind: "BackupBucket",
    type: "local",
    controller: "backupbucket",
    breaks: silent,
    unjudged: { ...bare, ...codeless, ...shootless, ...unmoved },
  },
  {
    kind: "BackupEntry",
    type: "local",
    controller: "backupentry",
    breaks: silent,
    unjudged: { ...bare, ...stateless, ...codeless, ...shootless },
  },
  {
    kind: "Extension",
    type: "local-ext-seed",
    controller: "local-ext-seed",
    unjudged: { ...bare, ...stateless, ...faultless },
  },
  {
    kind: "Extension",
    type: "local-ext-shoot",
    controller: "local-ext-shoot",
    unjudged: { ...bare, ...stateless, ...faultless },
  },
];

function idsWhere(pattern: RegExp): string[] {
  return clauses.map(({ id }) => id).filter((id) => pattern.test(id));
}

import { execa } from "execa";
import { expect, test } from "vitest";
import { parse } from "yaml";
import type { KubeObject } from "../../src/api/index.ts";
import { withGardenerDefaults } from "../../src/components/gardener-defaults.ts";
import { poolsOf } from "../../src/components/index.ts";
import { wantedEncryption } from "../../src/components/kubernetes/encryption-configuration.ts";
import { kubeApiServerCommand } from "../../src/components/kubernetes/kube-apiserver-command.ts";
import { kubeControllerManager } from "../../src/components/kubernetes/kube-controller-manager.ts";
import { kubeProxy } from "../../src/components/kubernetes/kube-proxy.ts";
import { kubeScheduler } from "../../src/components/kubernetes/kube-scheduler.ts";
import { kubeletConfiguration } from "../../src/components/node/kubelet-config.ts";
import type { BinaryName } from "../../src/local/binary/versions.ts";
import { findBinary } from "../support/binary.ts";
import { exampleContext, exampleShoot } from "../support/control-plane-context.ts";

// What extensions are told of a Shoot whose author has left it out is compared with what is deployed for that Shoot. What is not
// deployed is compared with the defaults of Kubernetes' programs, as these print them.

const bare = exampleShoot({ kubernetes: { version: "1.34.4" } });
const context = exampleContext({ shoot: bare });
const [pool] = poolsOf(context);
if (pool === undefined) throw new Error("the example has no pool");

const apiServer = kubeApiServerCommand(context);
const controllerManager = commandIn(kubeControllerManager(context));
const kubelet = parse(kubeletConfiguration(context, pool)) as Record<string, unknown>;
const proxy = configurationIn(kubeProxy(context));
const scheduler = configurationOf(kubeScheduler(context));

/** What runs, by the field that tells of it. */
const running: Readonly<Record<string, () => unknown>> = {
  "kubernetes.kubeAPIServer.requests.maxNonMutatingInflight": () => flag("kube-apiserver", "max-requests-inflight"),
  "kubernetes.kubeAPIServer.requests.maxMutatingInflight": () =>
    flag("kube-apiserver", "max-mutating-requests-inflight"),
  "kubernetes.kubeAPIServer.eventTTL": () => flag("kube-apiserver", "event-ttl"),
  "kubernetes.kubeAPIServer.logging.verbosity": async () => (await flag("kube-apiserver", "v")) ?? 0,
  "kubernetes.kubeAPIServer.encryptionConfig.provider.type": () => wantedEncryption(bare).provider,
  "kubernetes.kubeAPIServer.defaultNotReadyTolerationSeconds": () =>
    flag("kube-apiserver", "default-not-ready-toleration-seconds"),
  "kubernetes.kubeAPIServer.defaultUnreachableTolerationSeconds": () =>
    flag("kube-apiserver", "default-unreachable-toleration-seconds"),
  "kubernetes.kubeControllerManager.nodeCIDRMaskSize": () => flag("kube-controller-manager", "node-cidr-mask-size"),
  "kubernetes.kubeControllerManager.nodeMonitorGracePeriod": () =>
    flag("kube-controller-manager", "node-monitor-grace-period"),
  "kubernetes.kubeScheduler.profile": () => (scheduler?.["profiles"] === undefined ? "balanced" : "other"), // upstream's name of Kubernetes' own
  "kubernetes.kubeProxy.enabled": () => proxy !== undefined,
  "kubernetes.kubeProxy.mode": () => ({ iptables: "IPTables", ipvs: "IPVS" })[String(proxy?.["mode"])],
  "kubernetes.kubelet.failSwapOn": () => kubelet["failSwapOn"],
  "kubernetes.kubelet.imageGCHighThresholdPercent": () => kubelet["imageGCHighThresholdPercent"],
  "kubernetes.kubelet.imageGCLowThresholdPercent": () => kubelet["imageGCLowThresholdPercent"],
  "kubernetes.kubelet.imageMinimumGCAge": async () =>
    kubelet["imageMinimumGCAge"] ?? (await defaultOf("kubelet", "minimum-image-ttl-duration")),
  "kubernetes.kubelet.imageMaximumGCAge": () => kubelet["imageMaximumGCAge"] ?? "0s", // no flag has it; in Kubernetes' documentation
  "kubernetes.kubelet.serializeImagePulls": () => kubelet["serializeImagePulls"],
  // Nothing changes versions but the Shoot's author.
  "maintenance.autoUpdate.kubernetesVersion": () => false,
  "maintenance.autoUpdate.machineImageVersion": () => false,
  "networking.ipFamilies": () => (String(proxy?.["clusterCIDR"]).includes(":") ? ["IPv6"] : ["IPv4"]),
  "provider.workersSettings.sshAccess.enabled": () => true, // `test/unit/components/machine-documents.test.ts`
};

test("what extensions are told of a Shoot is what runs", async () => {
  const told = leavesOf(withGardenerDefaults(bare).spec, bare.spec);
  const runs = await Promise.all(
    Object.keys(told).map(async (field) => [field, numeric(await running[field]?.())] as const),
  );
  expect(Object.fromEntries(runs)).toEqual(told);
  expect(Object.keys(told).toSorted()).toEqual(Object.keys(running).toSorted());
});

/** A flag in what is deployed, or else the program's own default; undefined where it has none. */
async function flag(program: "kube-apiserver" | "kube-controller-manager", name: string): Promise<string | undefined> {
  const command = program === "kube-apiserver" ? apiServer : controllerManager;
  const found = command.find((word) => word.startsWith(`--${name}=`));
  return found?.slice(name.length + 3) ?? (await defaultOf(program, name));
}

async function defaultOf(program: BinaryName, name: string): Promise<string | undefined> {
  const { stdout } = await execa(await findBinary(program), ["--help"]);
  const line = stdout.split("\n").find((one) => new RegExp(`^ +(?:-\\w, )?--${name}\\s`).test(one));
  if (line === undefined) throw new Error(`${program} has no flag --${name}`);
  return /\(default (\S+?)\)/.exec(line)?.[1];
}

const numeric = (value: unknown): unknown => (typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value);

/** The fields that `whole` has and `part` does not, by their paths, with their values. */
function leavesOf(whole: object, part: object, path: readonly string[] = []): Record<string, unknown> {
  const had = new Map<string, unknown>(Object.entries(part));
  return Object.fromEntries(
    Object.entries(whole).flatMap(([name, value]: [string, unknown]) => {
      const before = had.get(name);
      if (isFields(value)) return Object.entries(leavesOf(value, isFields(before) ? before : {}, [...path, name]));
      return before === undefined ? [[[...path, name].join("."), value]] : [];
    }),
  );
}

const isFields = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

interface Workload {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly { command?: string[] }[] } } };
}

function commandIn(objects: readonly KubeObject[]): readonly string[] {
  const workload = objects.find(({ kind }) => kind === "Deployment") as unknown as Workload | undefined;
  return workload?.spec.template.spec.containers[0]?.command ?? [];
}

/** The configuration of kube-proxy, where it runs on nodes. */
function configurationIn(objects: readonly KubeObject[]): Readonly<Record<string, unknown>> | undefined {
  const set = objects.find(({ kind }) => kind === "DaemonSet") as unknown as
    { readonly spec: { readonly template: { readonly spec: { readonly nodeSelector?: object } } } } | undefined;
  if (set === undefined || set.spec.template.spec.nodeSelector !== undefined) return undefined;
  return configurationOf(objects);
}

function configurationOf(objects: readonly KubeObject[]): Readonly<Record<string, unknown>> | undefined {
  const data = objects.find(({ kind }) => kind === "ConfigMap")?.["data"] as Record<string, string> | undefined;
  return parse(data?.["config.yaml"] ?? "") as Readonly<Record<string, unknown>>;
}

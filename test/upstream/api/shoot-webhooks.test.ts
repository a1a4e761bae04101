import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { issueAuthority, issueCertificate } from "../../../src/activities/secrets/pki.ts";
import { ManagedResource, type KubeObject } from "../../../src/api/index.ts";
import { components } from "../../../src/components/index.ts";
import { Deployment, Pod, refTo } from "../../../src/kube/index.ts";
import { applyUpstreamCrds } from "../../../src/local/cluster/manifests.ts";
import { exampleContext } from "../../support/control-plane-context.ts";
import { startControlPlane, type ControlPlane } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { startResourceManager, type LocalResourceManager } from "../../support/resource-manager.ts";

/**
 * The webhooks of upstream's resource manager as we register them in a Shoot. The manager runs on this machine, so that
 * address and certificate are this machine's; the pool of the example has the taint `dedicated=a`.
 */
const namespace = "shoot--dev--hooked";
const now = new Date();
let directory: string;
let seed: ControlPlane;
let shoot: ControlPlane;
let manager: LocalResourceManager;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "perennial-upstream-"));
  [seed, shoot] = await Promise.all([startControlPlane(), startControlPlane()]);
  await applyUpstreamCrds(seed.client);
  await seed.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const authority = await issueAuthority("kubernetes", now);
  const context = exampleContext({ namespace, authority: authority.certificate });
  manager = await startManager(
    components["resource-manager"].objects(context).find(({ kind }) => kind === "ConfigMap"),
    await issueCertificate(authority, { commonName: "local", hosts: ["127.0.0.1"], usages: ["server"] }, now),
  );
  await shoot.client.apply(node("tainted", { "worker.gardener.cloud/system-components": "true" }, "late"));
  await shoot.client.apply(node("for-users", {}, "for-users-only"));
  for (const namespace of ["kube-system", "default"]) {
    const metadata = { name: "provisioner", namespace };
    await shoot.client.apply({ ...account, metadata, automountServiceAccountToken: false });
    await shoot.client.apply({ ...account, metadata: { ...metadata, name: "mounting" } });
  }
  for (const object of components["resource-manager-webhooks"].objects(context))
    await shoot.client.apply(atManager(object));
  // An API server goes by a registration a moment after it has stored it.
  await eventually(async () =>
    expect(await shoot.client.apply(pod("first"), { dryRun: true })).toMatchObject({ spec: withToken }),
  );
});

afterAll(async () => {
  await manager.kill();
  await Promise.all([seed, shoot].map((cluster) => cluster.stop()));
  await rm(directory, { recursive: true });
});

test("a pod of a system namespace whose account mounts no token gets one that is bound to it", async () => {
  const { spec } = await make(pod("provisioner"));
  expect(spec).toMatchObject(withToken);
  expect(spec).toMatchObject({
    containers: [{ volumeMounts: [{ mountPath: "/var/run/secrets/kubernetes.io/serviceaccount", readOnly: true }] }],
  });
});

test.for([
  ["of users", { namespace: "default" }, {}],
  ["whose account mounts tokens", {}, { serviceAccountName: "mounting" }],
  ["that says itself that it wants none", {}, { automountServiceAccountToken: false }],
  ["that refuses by label", { labels: { "projected-token-mount.resources.gardener.cloud/skip": "true" } }, {}],
] as const)("a pod %s gets no token from it", async ([, metadata, spec]) => {
  const made = await shoot.client.apply(pod("none", { metadata, spec }), { dryRun: true });
  expect(made).not.toMatchObject({ spec: withToken });
});

test("a pod that an extension puts there goes to the pools for system components, and bears their taints", async () => {
  const { labels } = (await managedDeployment()).spec.template.metadata;
  const { spec } = await make(pod("system", { metadata: { labels } }));
  expect(spec.nodeSelector).toEqual({ "worker.gardener.cloud/system-components": "true" });
  const keys = spec.tolerations?.map(({ key }) => key).filter((key) => !key.startsWith("node.kubernetes.io/"));
  expect(keys?.sort()).toEqual(["dedicated", "late"]);
  expect(spec.tolerations).toContainEqual({ key: "dedicated", operator: "Equal", value: "a", effect: "NoSchedule" });
  expect((await make(pod("plain"))).spec.nodeSelector).toBeUndefined();
});

// The last: the resource manager is gone after it.
test("without the resource manager no pod is made in a system namespace, and all else goes on", async () => {
  await manager.kill();
  await expect(make(pod("refused"))).rejects.toThrow(/failed calling webhook "projected-token-mount/);
  await make(pod("static", { metadata: { labels: { "static-pod": "true" } } }));
  await make(pod("users", { metadata: { namespace: "default" } }));
  await shoot.client.remove(refTo(Pod, { namespace: "kube-system", name: "provisioner" }));
});

const account = { apiVersion: "v1", kind: "ServiceAccount" };

/** What the resource manager adds. */
const withToken = {
  volumes: [{ name: "kube-api-access-gardener", projected: { sources: [{ serviceAccountToken: {} }, {}, {}] } }],
};

interface MadePod extends KubeObject {
  readonly spec: {
    readonly nodeSelector?: object;
    readonly tolerations?: readonly { readonly key: string }[];
  };
}

const make = async (object: KubeObject): Promise<MadePod> => (await shoot.client.apply(object)) as MadePod;

function pod(name: string, { metadata = {}, spec = {} }: { readonly metadata?: object; readonly spec?: object } = {}) {
  const containers = [{ name, image: "example.com/provisioner:1" }];
  return {
    ...{ apiVersion: "v1", kind: "Pod" },
    metadata: { name, namespace: "kube-system", ...metadata },
    spec: { serviceAccountName: "provisioner", containers, ...spec },
  };
}

const node = (name: string, labels: Record<string, string>, key: string): KubeObject => ({
  ...{ apiVersion: "v1", kind: "Node", metadata: { name, labels } },
  spec: {
    taints: [
      { key, effect: "NoSchedule" },
      { key: "node.kubernetes.io/unreachable", effect: "NoExecute" },
    ],
  },
});

/** The pods that a Deployment would make which a ManagedResource brings into the Shoot. */
async function managedDeployment() {
  const metadata = { name: "local-path-provisioner", namespace: "kube-system" };
  const labels = { app: metadata.name };
  const template = { metadata: { labels }, spec: pod("any").spec };
  const deployment = {
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata },
    spec: { selector: { matchLabels: labels }, template },
  };
  const secret = { name: "extension-shoot", namespace };
  const data = { "a.yaml": Buffer.from(stringify(deployment)).toString("base64") };
  await seed.client.apply({ apiVersion: "v1", kind: "Secret", metadata: secret, data });
  const { apiVersion, kind } = ManagedResource;
  await seed.client.apply({ apiVersion, kind, metadata: secret, spec: { secretRefs: [{ name: secret.name }] } });
  return await eventually(async () => {
    const found = await shoot.client.read(refTo(Deployment, metadata));
    return (found ?? expect.fail("it is not there yet")) as typeof deployment;
  });
}

/** The same registration, with the address of the manager on this machine. */
function atManager(configuration: KubeObject): KubeObject {
  const text = JSON.stringify(configuration);
  const address = `https://gardener-resource-manager.${namespace}:443`;
  expect(text).toContain(address);
  return JSON.parse(text.replaceAll(address, manager.webhooks)) as KubeObject;
}

async function startManager(configMap: KubeObject | undefined, pair: { certificate: string; key: string }) {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  return await startResourceManager(join(directory, "manager"), configMap, {
    source: seed.kubeconfigFile,
    target: shoot.kubeconfigFile,
    server: { "tls.crt": base64(pair.certificate), "tls.key": base64(pair.key) },
  });
}

import { expect } from "vitest";
import {
  CLEANUP_EXTENDED_APIS_GRACE_ANNOTATION,
  CLEANUP_KUBERNETES_RESOURCES_GRACE_ANNOTATION,
  SKIP_CLEANUP_ANNOTATION,
} from "../../src/api/annotations.ts";
import { MANAGED_BY_LABEL, NO_CLEANUP_LABEL, ROLE_LABEL } from "../../src/api/labels.ts";
import { cleanUpLimits } from "../../src/activities/teardown/clean-up-limits.ts";
import { free } from "../../src/activities/teardown/users-objects.ts";
import { createResourceCleaner } from "../../src/activities/teardown/shoot-resources.ts";
import { toFailure } from "../../src/activities/failure.ts";
import type { KubeObject } from "../../src/api/schema/meta.ts";
import { isNotFound, KubeError, refOf, type KubeClient } from "../../src/kube/index.ts";
import { ownClusterTest } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { installWidgets, Widget, widget } from "../support/widget.ts";

// On the shared cluster it would remove the CustomResourceDefinitions and namespaces of all files.
const test = ownClusterTest({ flags: ["--allow-privileged=true"] });
let controlPlane: ControlPlane;
test.beforeAll(({ cluster }) => void (controlPlane = cluster));

let looks = 0;
const limits = (annotations: Record<string, string> = {}) =>
  cleanUpLimits({ name: "cleaned", namespace: "garden-dev", annotations });
const cleanable = (annotations?: Record<string, string>, deadline = 2_000) =>
  createResourceCleaner(controlPlane.client, limits(annotations), () => void (looks += 1), { deadline, interval: 200 });
const apply = (object: KubeObject) => controlPlane.client.apply(object);
const exists = async (object: KubeObject) => (await controlPlane.client.read(refOf(object))) !== undefined;
const kept = { labels: { [NO_CLEANUP_LABEL]: "true" } };
const definitionType = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" } as const;
const definition = { ...definitionType, metadata: { name: "widgets.test.perennial.dev" } };

test("webhooks go first, ours stay", async () => {
  const users = await apply(webhook("users"));
  const ours = await apply(webhook("ours", kept));
  await cleanable().webhooks();
  expect(await exists(users)).toBe(false);
  expect(await exists(ours)).toBe(true);
});

test("custom resources and their definitions go; aggregated APIs go, built-in ones stay", async () => {
  await installWidgets(controlPlane.client);
  await apply(widget("default", "users"));
  const aggregated = await apply(apiService);
  await cleanable().extendedApis();
  expect(await exists(definition)).toBe(false);
  expect(await exists(aggregated)).toBe(false);
  expect(
    await exists({ apiVersion: "apiregistration.k8s.io/v1", kind: "APIService", metadata: { name: "v1.apps" } }),
  ).toBe(true);
});

test("what a finalizer holds is named, with the code that asks the user, and the rest goes all the same", async () => {
  await installWidgets(controlPlane.client);
  const held = widget("default", "held");
  await apply({ ...held, metadata: { ...held.metadata, finalizers: ["test.perennial.dev/never"] } });
  await apply(widget("default", "free"));
  looks = 0;
  const failure = await cleanable().extendedApis().catch(toFailure);
  expect(failure).toMatchObject({
    message: "cannot clean up custom resources: still there after 2 s: Widget default/held",
    details: [{ codes: ["ERR_CLEANUP_CLUSTER_RESOURCES"] }],
  });
  expect(looks).toBeGreaterThan(3); // so that the activity heartbeats
  expect(await exists(widget("default", "free"))).toBe(false);
  expect(await exists(definition)).toBe(true);

  await controlPlane.client.patch(refOf(held), { metadata: { finalizers: null } });
  await cleanable().extendedApis();
  expect(await exists(definition)).toBe(false);
});

test("workloads and services go; the cluster's own and ours stay", async () => {
  const own = { apiVersion: "v1", kind: "Service", metadata: { name: "kubernetes", namespace: "default" } };
  await eventually(() => exists(own)); // the API server makes it some time after its start
  const users = await Promise.all([deployment("users"), service("users"), pod("users"), job].map(apply));
  const ours = await Promise.all([deployment("ours", kept), service("ours", kept), pod("ours", kept)].map(apply));
  await cleanable().kubernetesResources();
  expect(await Promise.all(users.map(exists))).toEqual(users.map(() => false));
  expect(await Promise.all(ours.map(exists))).toEqual(ours.map(() => true));
  expect(await exists(own)).toBe(true);
});

test("users' namespaces go last; one that stays is named", async () => {
  const namespace: KubeObject = { apiVersion: "v1", kind: "Namespace", metadata: { name: "users" } };
  await apply(namespace); // the controller that would finalize it does not run here
  await expect(cleanable().kubernetesResources()).rejects.toThrow(
    "cannot clean up namespaces: still there after 2 s: Namespace users",
  );
  expect((await controlPlane.client.read(refOf(namespace)))?.metadata.deletionTimestamp).toBeDefined();
  await controlPlane.etcdctl("del", "/registry/namespaces/users");
});

test("a definition that another client deletes meanwhile is no error", async () => {
  await installWidgets(controlPlane.client);
  const { client } = controlPlane;
  const late: KubeClient = {
    ...client,
    async list(type, o) {
      if (type.kind !== Widget.kind) return client.list(type, o);
      await client.remove(refOf(definition));
      await eventually(() => client.list(type).then(() => false, isNotFound));
      return client.list(type, o);
    },
  };
  await createResourceCleaner(late, limits(), () => {}, { deadline: 2_000, interval: 200 }).extendedApis();
});

test("custom resources of a spared definition stay: a pod network's own are needed while nodes run", async () => {
  await installWidgets(controlPlane.client);
  const own = widget("default", "own");
  await apply(own);
  for (const labels of [kept.labels, { [ROLE_LABEL]: "system-component" }, { [MANAGED_BY_LABEL]: "gardener" }]) {
    await controlPlane.client.patch(refOf(definition), { metadata: { labels } });
    await cleanable().extendedApis();
    expect([await exists(own), await exists(definition)], JSON.stringify(labels)).toEqual([true, true]);
    const none = Object.fromEntries(Object.keys(labels).map((label) => [label, null]));
    await controlPlane.client.patch(refOf(definition), { metadata: { labels: none } });
  }
  await cleanable().extendedApis();
  expect(await exists(definition)).toBe(false);
});

test("what the cluster's system or a manager of resources has put there stays", async () => {
  const system = await apply(deployment("system", { labels: { [ROLE_LABEL]: "system-component" } }));
  const managed = await apply(deployment("managed", { labels: { [MANAGED_BY_LABEL]: "gardener" } }));
  const users = await apply(deployment("users", { labels: { [ROLE_LABEL]: "mine" } }));
  await cleanable().kubernetesResources();
  expect(await Promise.all([system, managed, users].map(exists))).toEqual([true, true, false]);
});

test("finalizers are removed when their grace is over, and not before", async () => {
  await installWidgets(controlPlane.client);
  const held = widget("default", "held");
  await apply({ ...held, metadata: { ...held.metadata, finalizers: ["test.perennial.dev/never"] } });
  await expect(cleanable({ [CLEANUP_KUBERNETES_RESOURCES_GRACE_ANNOTATION]: "0" }).extendedApis()).rejects.toThrow(
    "Widget default/held",
  );
  expect((await controlPlane.client.read(refOf(held)))?.metadata.finalizers).toEqual(["test.perennial.dev/never"]);
  await cleanable({ [CLEANUP_EXTENDED_APIS_GRACE_ANNOTATION]: "1" }, 10_000).extendedApis();
  expect(await exists(definition)).toBe(false);
});

test("a later object of the same name keeps its finalizers", async () => {
  const held = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "later", namespace: "default" } };
  const object = { ...held, metadata: { ...held.metadata, finalizers: ["test.perennial.dev/never"] } };
  const earlier = await apply(object);
  const stale = { ...earlier, metadata: { ...earlier.metadata, uid: "00000000-0000-4000-8000-000000000000" } };
  await expect(free(controlPlane.client, stale)).rejects.toThrow("uid");
  expect((await controlPlane.client.read(refOf(earlier)))?.metadata.finalizers).toEqual(object.metadata.finalizers);
  await free(controlPlane.client, earlier);
  await controlPlane.client.remove(refOf(earlier));
});

test("a pod whose kubelet does not answer goes when its grace is over", async () => {
  const lost = pod("lost");
  await apply({ ...lost, spec: { ...template, nodeName: "burnt", terminationGracePeriodSeconds: 1 } });
  await cleanable({ [CLEANUP_KUBERNETES_RESOURCES_GRACE_ANNOTATION]: "1" }, 10_000).kubernetesResources();
  expect(await exists(lost)).toBe(false);
});

test("claims are deleted; volumes are left to their provisioners, which are waited for", async () => {
  const users = await apply(claim);
  const kept = await apply(volume("kept", "Retain"));
  const soon = { [CLEANUP_KUBERNETES_RESOURCES_GRACE_ANNOTATION]: "1" };
  looks = 0;
  await cleanable(soon, 10_000).kubernetesResources();
  expect(await exists(users)).toBe(false);
  const before = looks;
  const going = await apply(volume("going", "Delete"));
  await cleanable(soon, 10_000).kubernetesResources();
  expect(looks - before).toBeGreaterThanOrEqual(4); // no provisioner runs here
  for (const one of [kept, going]) {
    expect((await controlPlane.client.read(refOf(one)))?.metadata.deletionTimestamp).toBeUndefined();
    await controlPlane.client.patch(refOf(one), { metadata: { finalizers: null } });
    await controlPlane.client.remove(refOf(one));
  }
});

test("a clean-up that is to be skipped deletes services and claims, and nothing else", async () => {
  await installWidgets(controlPlane.client);
  const outside = await Promise.all([service("users"), claim].map(apply));
  const inside = await Promise.all([deployment("users"), widget("default", "users")].map(apply));
  const skipped = cleanable(
    { [SKIP_CLEANUP_ANNOTATION]: "true", [CLEANUP_KUBERNETES_RESOURCES_GRACE_ANNOTATION]: "0" },
    10_000,
  );
  await skipped.extendedApis();
  await skipped.kubernetesResources();
  expect(await Promise.all(outside.map(exists))).toEqual([false, false]);
  expect(await Promise.all(inside.map(exists))).toEqual([true, true]);
  await cleanable().extendedApis();
});

test("a namespace that its controller does not take away is let be when its grace is over", async () => {
  const namespace: KubeObject = { apiVersion: "v1", kind: "Namespace", metadata: { name: "stuck" } };
  await apply(namespace);
  await cleanable({ [CLEANUP_KUBERNETES_RESOURCES_GRACE_ANNOTATION]: "1" }, 10_000).kubernetesResources();
  expect((await controlPlane.client.read(refOf(namespace)))?.metadata.deletionTimestamp).toBeDefined();
  await controlPlane.etcdctl("del", "/registry/namespaces/stuck");
});

test("what a namespace held that was removed by force goes, and with it the namespace that is restored for that", async () => {
  const { client } = controlPlane;
  await installWidgets(client);
  const metadata = { name: "forced", finalizers: ["test.perennial.dev/never"], namespace: "gone" };
  const namespace: KubeObject = { apiVersion: "v1", kind: "Namespace", metadata: { name: "gone" } };
  await apply(namespace);
  const left = [
    await apply({ ...widget("gone", "forced"), metadata }),
    await apply({ ...service("forced"), metadata }),
    await apply(widget("gone", "free")),
  ];
  await controlPlane.etcdctl("del", "/registry/namespaces/gone");
  const refused = /namespaces "gone" not found/;
  await eventually(() => expect(apply(widget("gone", "refused"))).rejects.toThrow(refused));
  const soon = {
    [CLEANUP_EXTENDED_APIS_GRACE_ANNOTATION]: "1",
    [CLEANUP_KUBERNETES_RESOURCES_GRACE_ANNOTATION]: "1",
  };
  const cleaner = cleanable(soon, 10_000);
  await cleaner.extendedApis();
  await cleaner.kubernetesResources();
  expect(await Promise.all(left.map(exists))).toEqual(left.map(() => false));
  expect((await client.read(refOf(namespace)))?.metadata.deletionTimestamp).toBeDefined();
  await controlPlane.etcdctl("del", "/registry/namespaces/gone");
});

test("custom resources whose conversion webhook is dead go when their grace is over, and are named before", async () => {
  const { client } = controlPlane;
  await installWidgets(client);
  await apply(widget("default", "users"));
  const { spec } = (await client.read(refOf(definition))) as unknown as { spec: { versions: readonly object[] } };
  const [v1] = spec.versions;
  const versions = [
    { ...v1, storage: false },
    { ...v1, name: "v2" },
  ];
  await client.patch(refOf(definition), { spec: { versions, conversion } });
  await eventually(
    async () => await client.list({ ...Widget, apiVersion: "test.perennial.dev/v2" }).then(() => false, isRefused),
  );
  const failure = await cleanable().extendedApis().catch(toFailure);
  expect(failure).toMatchObject({
    message: expect.stringMatching(/Widget, of which the API server says: .*conversion webhook for .* failed/),
    details: [{ codes: ["ERR_CLEANUP_CLUSTER_RESOURCES"] }],
  });
  await cleanable({ [CLEANUP_EXTENDED_APIS_GRACE_ANNOTATION]: "1" }, 30_000).extendedApis();
  expect(await exists(definition)).toBe(false);
});

test("custom resources that their own schema keeps from losing a finalizer go with their definition", async () => {
  const { client } = controlPlane;
  await installWidgets(client);
  const held = widget("default", "held", { size: 1 });
  await apply({ ...held, metadata: { ...held.metadata, finalizers: ["test.perennial.dev/never"] } });
  const { spec } = (await client.read(refOf(definition))) as unknown as { spec: { versions: readonly object[] } };
  const rule = { "x-kubernetes-validations": [{ rule: "!has(self.spec)", message: "nothing is right" }] };
  const schema = { openAPIV3Schema: { type: "object", ...rule, properties: { spec: { type: "object" } } } };
  await client.patch(refOf(definition), { spec: { versions: [{ ...spec.versions[0], schema }] } });
  await eventually(
    async () => await client.apply(widget("default", "probe", { size: 2 })).then(() => false, isRefused),
  );
  await cleanable({ [CLEANUP_EXTENDED_APIS_GRACE_ANNOTATION]: "1" }, 30_000).extendedApis();
  expect(await exists(definition)).toBe(false);
  await controlPlane.etcdctl("del", "--prefix", "/registry/test.perennial.dev");
});

test("a policy that refuses deletions goes, also when it comes after the webhooks went", async () => {
  const { client } = controlPlane;
  await installWidgets(client);
  const users = widget("default", "users");
  await cleanable().webhooks();
  await apply(policy);
  await apply(policyBinding);
  await eventually(async () => {
    await apply(users);
    return await client.remove(refOf(users)).then(() => false, isRefused);
  });
  await cleanable({}, 20_000).extendedApis();
  expect(await Promise.all([users, policy, policyBinding].map(exists))).toEqual([false, false, false]);
});

const isRefused = (error: unknown): boolean => error instanceof KubeError && error.status >= 400;

const conversion = {
  strategy: "Webhook",
  webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: "https://127.0.0.1:1" } },
};

const policyGroup = { apiVersion: "admissionregistration.k8s.io/v1" } as const;
const policy: KubeObject = {
  ...{ ...policyGroup, kind: "ValidatingAdmissionPolicy", metadata: { name: "never-delete" } },
  spec: {
    failurePolicy: "Fail",
    matchConstraints: {
      resourceRules: [
        { apiGroups: ["test.perennial.dev"], apiVersions: ["*"], operations: ["DELETE"], resources: ["widgets"] },
      ],
    },
    validations: [{ expression: "false", message: "widgets stay" }],
  },
};
const policyBinding: KubeObject = {
  ...{ ...policyGroup, kind: "ValidatingAdmissionPolicyBinding", metadata: { name: "never-delete" } },
  spec: { policyName: "never-delete", validationActions: ["Deny"] },
};

const meta = (name: string, more: object = {}) => ({ name, namespace: "default", ...more });
const template = { containers: [{ name: "a", image: "a" }] };
const labels = { app: "a" };
const pod = (name: string, more?: object): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: meta(name, more),
  spec: template,
});
const service = (name: string, more?: object): KubeObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: meta(name, more),
  spec: { ports: [{ port: 1 }] },
});
const deployment = (name: string, more?: object): KubeObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: meta(name, more),
  spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: template } },
});
const job: KubeObject = {
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: meta("users"),
  spec: { template: { spec: { ...template, restartPolicy: "Never" } } },
};
const claim: KubeObject = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: meta("users"),
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};
const volume = (name: string, persistentVolumeReclaimPolicy: string): KubeObject => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name },
  spec: {
    persistentVolumeReclaimPolicy,
    accessModes: ["ReadWriteOnce"],
    capacity: { storage: "1Gi" },
    claimRef: { namespace: "default", name: "users" },
    csi: { driver: "disks.example.com", volumeHandle: name },
  },
});
const apiService: KubeObject = {
  apiVersion: "apiregistration.k8s.io/v1",
  kind: "APIService",
  metadata: { name: "v1.metrics.example.com" },
  spec: {
    group: "metrics.example.com",
    version: "v1",
    groupPriorityMinimum: 100,
    versionPriority: 100,
    insecureSkipTLSVerify: true,
    service: { name: "none", namespace: "default" },
  },
};
function webhook(name: string, more: object = {}): KubeObject {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name, ...more },
    webhooks: [
      {
        name: `${name}.example.com`,
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        clientConfig: { url: "https://127.0.0.1:1" },
        failurePolicy: "Ignore",
      },
    ],
  };
}

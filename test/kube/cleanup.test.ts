import { expect } from "vitest";
import { NO_CLEANUP_LABEL } from "../../src/api/labels.ts";
import { createResourceCleaner } from "../../src/activities/teardown/shoot-resources.ts";
import { toFailure } from "../../src/activities/failure.ts";
import type { KubeObject } from "../../src/api/schema/meta.ts";
import { isNotFound, refOf, type KubeClient } from "../../src/kube/index.ts";
import { ownClusterTest } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { installWidgets, Widget, widget } from "../support/widget.ts";

const test = ownClusterTest({ flags: ["--allow-privileged=true"] });
let controlPlane: ControlPlane;
test.beforeAll(({ cluster }) => void (controlPlane = cluster));

let looks = 0;
const cleanable = () =>
  createResourceCleaner(controlPlane.client, () => void (looks += 1), { deadline: 2_000, interval: 200 });
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
  await createResourceCleaner(late, () => {}, { deadline: 2_000, interval: 200 }).extendedApis();
});

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

import { expect } from "vitest";
import { createShootClients } from "../../src/activities/shoot/clients.ts";
import {
  ConfigMap,
  createKubeClient,
  createReflector,
  Secret,
  typeMeta,
  type KubeClient,
} from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";

/*
 * Users of a Shoot make as many objects in it as they like, and as large as an API server takes, and the worker of a seed reads them
 * for all Shoots. So each Shoot may take a bounded part of that worker's memory.
 */
const log = createLogger({ name: "test", level: "silent" });
const namespace = "large-shoot";
const COUNT = 30;
let kubeconfig: string;
let shoot: KubeClient;

test.beforeAll(async ({ cluster }) => {
  await cluster.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  for (let index = 0; index < COUNT; index += 1) await cluster.client.create(large(`large-${index}`));
  kubeconfig = cluster.kubeconfig;
  const data = { kubeconfig: Buffer.from(kubeconfig).toString("base64") };
  await cluster.client.create({ ...typeMeta(Secret), metadata: { name: "gardener-internal", namespace }, data });
  const clients = createShootClients(cluster.client, log);
  shoot = await clients.get(namespace);
});

const large = (name: string) => ({
  ...typeMeta(ConfigMap),
  metadata: { name, namespace, annotations: { large: "x".repeat(200_000) } },
});
const briefly = ({ apiVersion, kind, metadata: { name, resourceVersion, uid } }: ConfigMap): ConfigMap => ({
  ...{ apiVersion, kind, metadata: { name, namespace, resourceVersion, uid } },
});
const isLarge = ({ metadata: { name } }: { metadata: { name: string } }) => name.startsWith("large-");

test("a worker reads no answer of a Shoot that is longer than two objects", async () => {
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  await expect(shoot.get(path)).rejects.toThrow("longer than 4194304 bytes");
});

test("objects that are larger than one answer together are listed whole, and so is their metadata", async () => {
  const listed = await shoot.list(ConfigMap, { namespace });
  expect(listed.filter(isLarge)).toHaveLength(COUNT);
  const names: string[] = [];
  for await (const object of shoot.metadata(ConfigMap, { namespace })) names.push(object.metadata.name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => isLarge({ metadata: { name } }))).toHaveLength(COUNT);
});

test("of a list, no more is kept than is allowed: what is reduced fits in, and what is not does not", async () => {
  expect((await shoot.list(ConfigMap, { namespace, most: 20_000, keep: briefly })).filter(isLarge)).toHaveLength(COUNT);
  await expect(shoot.list(ConfigMap, { namespace, most: 1_000_000 })).rejects.toThrow(
    "the cluster has more of kind ConfigMap than is read of it: 1 MB",
  );
});

test("a watch keeps no more than is allowed either, and follows again once there is less", async () => {
  const client = createKubeClient({ kubeconfig }, { log });
  const fieldSelector = "metadata.name=grows";
  const grows = (size: number) => ({ ...large("grows"), data: { text: "x".repeat(size) } });
  await client.apply(grows(1));
  const reflector = createReflector(client, ConfigMap, { namespace, fieldSelector, most: 300_000, log });
  reflector.start();
  await reflector.synced();
  const lengthKept = () => (reflector.get("grows", namespace)?.data?.["text"] ?? "").length;
  expect(lengthKept()).toBe(1);
  await client.apply(grows(200_000));
  await eventually(() =>
    expect(reflector.failure()?.error).toMatchObject({ message: expect.stringMatching(/more of kind/) }),
  );
  expect(lengthKept()).toBe(1);
  await client.apply(grows(2));
  await eventually(() => expect(lengthKept()).toBe(2));
  await reflector.stop();
  await client.close();
});

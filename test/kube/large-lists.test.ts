import { expect } from "vitest";
import { ConfigMap, createReflector, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { createCredentialSource } from "../../src/kube/credentials.ts";
import { createDiscovery } from "../../src/kube/discovery.ts";
import { listAll } from "../../src/kube/requests.ts";
import { createTransport, type Transport } from "../../src/kube/transport.ts";
import { createLogger } from "../../src/log.ts";
import { test } from "../support/cluster-test.ts";

/*
 * Users make as many objects as they like, each of a megabyte, and processes with little memory list them: hundreds at once would be more than
 * these have room for.
 */
const log = createLogger({ name: "test", level: "silent" });
const namespace = "large-lists";
const COUNT = 24;
const MEGABYTE = 1_000_000;
let client: KubeClient;

test.beforeAll(async ({ cluster }) => {
  ({ client } = cluster);
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  for (let index = 0; index < COUNT; index += 1)
    await client.create<ConfigMap>({
      ...typeMeta(ConfigMap),
      metadata: { name: `large-${index}`, namespace },
      data: { text: "x".repeat(MEGABYTE) },
    });
});

test("a client without a limit of its own lists large objects in small pages", async ({ cluster }) => {
  const credentials = createCredentialSource({ kubeconfig: cluster.kubeconfig });
  const transport = createTransport({ credentials, userAgent: "test" });
  const lengths: number[] = [];
  const measuring: Transport = {
    ...transport,
    call: async (call) => {
      const answer = await transport.call(call);
      if (call.what.startsWith("list ConfigMap")) lengths.push(JSON.stringify(answer).length);
      return answer;
    },
  };
  const connection = { transport: measuring, discovery: createDiscovery(transport), fieldManager: "test" };
  const { items } = await listAll(connection, ConfigMap, { namespace });
  expect(items.length).toBeGreaterThanOrEqual(COUNT);
  expect(Math.max(...lengths)).toBeLessThan(16 * 2 ** 20);
  await transport.close();
});

test("listeners are called with what is kept of listed objects, so that no list is in memory as a whole", async () => {
  const seen: number[] = [];
  const reflector = createReflector(client, ConfigMap, {
    namespace,
    log,
    keep: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }),
    onEvent: ({ object }) => void seen.push(JSON.stringify(object).length),
  });
  reflector.start();
  await reflector.synced();
  expect(Math.max(...seen)).toBeLessThan(10_000);
  await reflector.stop();
});

import { expect } from "vitest";
import type { Shoot } from "../../src/api/index.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { admissionTest as test, refusalOf } from "../support/admission-lab.ts";
import { exampleObjects } from "../support/examples.ts";

let client: KubeClient;
let example: Shoot;

test.beforeAll(async ({ admissionLab }) => {
  client = admissionLab.client;
  example = (await exampleObjects()).find(({ kind }) => kind === "Shoot") as Shoot;
});

const pool = (name: string, more: object = {}) => ({
  ...{ name, minimum: 1, maximum: 1, machine: { type: "local", image: { name: "local", version: "1.0.0" } } },
  ...more,
});
const pools = (count: number) => Array.from({ length: count }, (_, n) => pool(`p${n}`));

const create = async (spec: object, workers: readonly object[] = [pool("a")]): Promise<string | false> => {
  const provider = { ...example.spec.provider, workers };
  const object = {
    ...example,
    metadata: { name: "bounded", namespace: "garden-dev" },
    spec: { ...example.spec, dns: { domain: "bounded.example.com" }, provider, ...spec },
  };
  return await refusalOf(client.create(object, { dryRun: true }));
};

test("a hundred worker pools are admitted, a thousand are not", async () => {
  expect(await create({}, pools(100))).toBe(false);
  expect(await create({}, pools(1000))).toMatch(
    /cannot create Shoot garden-dev\/bounded: .*spec\.provider\.workers: Too many: 1000: must have at most 100 items/,
  );
});

test.each([
  ["extensions", { extensions: Array.from({ length: 2500 }, (_, n) => ({ type: `t${n}` })) }, "must have at most 100"],
  ["a text", { region: "r".repeat(100_000) }, "may not be more than 4096 bytes"],
  [
    "gates",
    { kubernetes: { version: "1.34.4", kubelet: { featureGates: numbered(2500, true) } } },
    "must have at most 200",
  ],
])("%s without measure is refused", async (_, spec, message) => {
  expect(await create(spec)).toContain(message);
});

test.each([
  ["a label with another line", { labels: { a: "b\nExecStartPre=/bin/touch" } }, "spec.provider.workers[0].labels"],
  ["a label's key with another line", { labels: { "a\nExecStartPre=/x": "b" } }, "spec.provider.workers[0].labels"],
  [
    "a taint with a blank",
    { taints: [{ key: "a b", effect: "NoSchedule" }] },
    "spec.provider.workers[0].taints[0].key",
  ],
  ["a version with another line", { kubernetes: { version: "1.34.4\nX=y" } }, "workers[0].kubernetes.version"],
  [
    "a version that is none",
    { kubernetes: { version: "1.99" } },
    "workers[0].kubernetes.version: must be a full version",
  ],
  ["a runtime with a blank", { cri: { name: "a b" } }, "spec.provider.workers[0].cri.name"],
])("a pool with %s is refused", async (_, change, message) => {
  expect(await create({}, [pool("a", change)])).toContain(message);
});

test("what promises security and is not there is refused by name", async () => {
  const kubeAPIServer = {
    auditConfig: { auditPolicy: { configMapRef: { name: "audit" } } },
    structuredAuthentication: { configMapName: "authentication" },
    enableAnonymousAuthentication: true,
    oidcConfig: { issuerURL: "https://example.com", clientID: "a" },
  };
  const refusal = await create({ kubernetes: { version: "1.34.4", kubeAPIServer } });
  for (const field of Object.keys(kubeAPIServer))
    expect(refusal).toContain(`spec.kubernetes.kubeAPIServer.${field}: is not supported: leave it out`);
});

function numbered(count: number, value: unknown): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`Gate${n}`, value]));
}

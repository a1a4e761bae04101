import { expect, test } from "vitest";
import { examine } from "../../../src/activities/shoot/health.ts";
import { tunnelReadiness } from "../../../src/activities/waits/tunnel.ts";
import { KubeError, type KubeClient } from "../../../src/kube/index.ts";

const agent = "/api/v1/namespaces/kube-system/services/konnectivity-agent:8134/proxy/readyz";
const told = "The API server does not reach nodes, pods and Services through the tunnel: ";
const broken = (why: string) => ({ reached: false, message: told + why, reason: "TunnelConnectionBroken" });
const refusal = new KubeError("cannot get it: no endpoints available", {
  ...{ status: 503, reason: "ServiceUnavailable", retryable: true },
});

const node = (ready: boolean) => ({ status: { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] } });
const nodes = (...ready: boolean[]) => ({ list: (async () => ready.map(node)) as unknown as KubeClient["list"] });

test("a tunnel is there when an agent answers the API server", async () => {
  const asked: string[] = [];
  const get = async (path: string) => (asked.push(path), "ok");
  expect(await tunnelReadiness({ get, ...nodes(true) })).toEqual({ reached: true });
  expect(asked).toEqual([agent]);
});

test("a tunnel is broken when the API server says that it reaches no agent, or says nothing in time", async () => {
  expect(await tunnelReadiness({ get: () => Promise.reject(refusal), ...nodes(false, true) })).toEqual(
    broken(refusal.message),
  );
  const silent = { get: () => new Promise<never>(() => undefined), ...nodes(true) };
  expect(await tunnelReadiness(silent, 10)).toEqual(broken("its agents do not answer in time"));
});

test("a tunnel is not missed while no node is ready: nothing is behind it", async () => {
  for (const behind of [nodes(), nodes(false)])
    expect(await tunnelReadiness({ get: () => Promise.reject(refusal), ...behind })).toEqual({ reached: true });
});

test.for([
  [
    "has one, by upstream's reason",
    [{ name: "konnectivity-server" }],
    { reached: false, reason: "TunnelConnectionBroken" },
  ],
  ["has none", [], { reached: true }],
] as const)("that a tunnel is down is a Shoot's condition where it %s", async ([, initContainers, expected]) => {
  const template = { spec: { initContainers } };
  const deployment = {
    kind: "Deployment",
    metadata: { name: "kube-apiserver" },
    spec: { replicas: 0, template },
    status: {},
  };
  const seed = { list: async ({ kind }: { kind: string }) => (kind === "Deployment" ? [deployment] : []) };
  const get = async (path: string) => (path === "/readyz" ? "ok" : Promise.reject(refusal));
  const unready = { kind: "Deployment", metadata: { name: "konnectivity-agent" }, spec: { replicas: 2 }, status: {} };
  const inShoot: Record<string, object[]> = {
    Node: [{ ...node(true), metadata: { name: "a" } }],
    Deployment: initContainers.length > 0 ? [unready] : [],
  };
  const shoot = { list: async ({ kind }: { kind: string }) => inShoot[kind] ?? [], get } as unknown as KubeClient;
  const { SystemComponentsHealthy } = await examine({ seed: seed as unknown as KubeClient, shoot }, "shoot--a");
  expect(SystemComponentsHealthy).toMatchObject(expected);
});

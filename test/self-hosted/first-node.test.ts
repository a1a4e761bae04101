import { afterAll, beforeAll, expect, test } from "vitest";
import { isReady } from "../../src/activities/waits/readiness.ts";
import { Node } from "../../src/kube/index.ts";
import type { BareGround } from "../support/bare-machines.ts";
import { OPERATORS_FILES, plantOperatorsFiles, podNetworkFiles } from "../support/operators-pod-network.ts";
import { differenceFromPlan } from "../support/written-by-init.ts";
import { INIT, MADE_ONCE, startGardenadmMachines, type GardenadmMachine } from "../support/gardenadm-machine.ts";

let ground: BareGround;
let machines: Readonly<Record<"a" | "w", GardenadmMachine>>;

beforeAll(async () => {
  ({ ground, machines } = await startGardenadmMachines("test-first", ["a", "w"]));
  await plantOperatorsFiles(machines.w);
});

afterAll(async () => {
  await ground.stop();
});

test("a bare machine becomes a ready node that carries its control plane, and init again leaves its keys alone", async () => {
  await machines.a.succeed(INIT);
  const known = await machines.a.identity();
  expect(Object.keys(known)).toEqual(MADE_ONCE);
  await machines.a.succeed(INIT);
  expect(await machines.a.identity()).toEqual(known);
  const [node] = await machines.a.asAdministrator(async (client) => await client.list(Node));
  expect(node?.metadata.labels).toHaveProperty(["node-role.kubernetes.io/control-plane"]);
  expect(node && isReady(node)).toBe(true);
});

test("tokens name an issuer that pods can ask for its keys, with or without a name in DNS", async () => {
  const issuer = "https://kubernetes.default.svc";
  await machines.a.asAdministrator(async (client) => {
    const said = await client.get("/.well-known/openid-configuration");
    expect(said).toMatchObject({ issuer, jwks_uri: `${issuer}/openid/v1/jwks` });
  });
});

test("init writes what its plan names, each row its own, and nothing else", async () => {
  expect(await differenceFromPlan(machines.a)).toEqual({ unnamed: [], notThere: [] });
});

test("a worker joins by a token, and is ready", async () => {
  await machines.w.succeed(await machines.a.invite("worker"));
  const nodes = await machines.a.asAdministrator(async (client) => await client.list(Node));
  expect(nodes.filter(isReady).map(({ metadata }) => metadata.name)).toEqual(["a", "w"]);
});

test("a worker that is no node any more has what its operator had of pod networks, and no more", async () => {
  expect(Object.keys(await podNetworkFiles(machines.w)).length).toBeGreaterThan(Object.keys(OPERATORS_FILES).length);
  await machines.w.succeed({ words: ["reset", "--machine-only"] });
  expect(await podNetworkFiles(machines.w)).toEqual(OPERATORS_FILES);
});

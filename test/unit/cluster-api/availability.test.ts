import { expect, test } from "vitest";
import { Shoot } from "../../../src/api/index.ts";
import { advertisedEndpoint, currentEndpoint } from "../../../src/cluster-api/shoot/address.ts";
import { availabilityOf } from "../../../src/cluster-api/shoot/availability.ts";
import { covers } from "../../../src/cluster-api/objects/covers.ts";
import { renderKubeconfig } from "../../../src/kube/index.ts";

const now = Date.parse("2026-01-01T00:10:00Z");
const ago = (seconds: number) => new Date(now - seconds * 1000).toISOString();

const condition = (type: string, status: "True" | "False" | "Unknown" | "Progressing", since = ago(600)) => ({
  ...{ type, status, reason: "Seen", message: `it is ${status}` },
  ...{ lastTransitionTime: since, lastUpdateTime: since },
});

const good = [condition("APIServerAvailable", "True"), condition("ControlPlaneHealthy", "True")];

function shootWith(status: Shoot["status"], spec: Partial<Shoot["spec"]> = {}): Shoot {
  return {
    apiVersion: Shoot.apiVersion,
    kind: Shoot.kind,
    metadata: { namespace: "garden-dev", name: "one" },
    spec: {
      region: "local",
      kubernetes: { version: "1.34.4" },
      provider: { type: "local" },
      seedName: "seed-1",
      ...spec,
    },
    status: { seedName: "seed-1", ...status },
  };
}

const moving = (conditions = good) => shootWith({ conditions }, { seedName: "seed-2" });

test.each([
  ["both conditions True", shootWith({ conditions: good }), "True", "Available"],
  [
    "one Progressing, which is the Shoot's own grace",
    shootWith({
      conditions: [condition("APIServerAvailable", "Progressing"), condition("ControlPlaneHealthy", "True")],
    }),
    "True",
    "Available",
  ],
  [
    "an API server that does not answer",
    shootWith({ conditions: [condition("APIServerAvailable", "False"), condition("ControlPlaneHealthy", "True")] }),
    "False",
    "Seen",
  ],
  [
    "a control plane that is not healthy",
    shootWith({ conditions: [condition("APIServerAvailable", "True"), condition("ControlPlaneHealthy", "False")] }),
    "False",
    "Seen",
  ],
  ["no word of the Shoot yet", shootWith({}), "Unknown", "NotYetKnown"],
  [
    "a Shoot that hibernates",
    shootWith({ conditions: good }, { hibernation: { enabled: true } }),
    "False",
    "Hibernated",
  ],
] as const)("with %s, a control plane says so", (_, shoot, status, reason) => {
  expect(availabilityOf(shoot, { now })).toMatchObject({ status, reason });
});

test("a control plane that moves stays available as long as its API server is away for less than fifty seconds", () => {
  const before = { status: "True" } as const;
  expect(availabilityOf(moving(), { before, now })).toMatchObject({ status: "True", reason: "Moving" });
  expect(availabilityOf(moving(), { before, now, silentSince: now - 49_000 })).toMatchObject({
    status: "True",
    reason: "Moving",
  });
  expect(availabilityOf(moving(), { before, now, silentSince: now - 51_000 })).toMatchObject({
    status: "False",
    reason: "Moving",
  });
});

test("a control plane that moves stays unavailable if it was, and its Shoot's trouble counts from its beginning", () => {
  const fresh = [condition("APIServerAvailable", "False", ago(20)), good[1]].flatMap((one) => one ?? []);
  const old = [condition("APIServerAvailable", "False", ago(80)), good[1]].flatMap((one) => one ?? []);
  expect(availabilityOf(moving(), { before: { status: "False" }, now })).toMatchObject({
    status: "False",
    reason: "Moving",
  });
  expect(availabilityOf(moving(fresh), { before: { status: "True" }, now })).toMatchObject({
    status: "True",
    reason: "Moving",
  });
  expect(availabilityOf(moving(old), { before: { status: "True" }, now })).toMatchObject({
    status: "False",
    reason: "Seen",
  });
});

test.each([
  [["external", "https://api.one.test"], { host: "api.one.test", port: 443 }],
  [["external", "https://api.one.test:6443/path"], { host: "api.one.test", port: 6443 }],
  [["external", "https://[2001:db8::1]:6443"], { host: "2001:db8::1", port: 6443 }],
  [["unmanaged", "https://10.0.0.1"], { host: "10.0.0.1", port: 443 }],
  [["external", "no URL"], undefined],
] as const)("of the advertised address %j, host and port are taken", ([name, url], endpoint) => {
  expect(advertisedEndpoint({ status: { advertisedAddresses: [{ name, url }] } })).toEqual(endpoint);
});

test("the external address goes before the internal one, and that before the unmanaged one", () => {
  const addresses = ["unmanaged", "internal", "external"].map((name) => ({ name, url: `https://${name}.test` }));
  const hostOf = (advertisedAddresses: typeof addresses) =>
    advertisedEndpoint({ status: { advertisedAddresses } })?.host;
  expect([hostOf(addresses), hostOf(addresses.slice(0, 2)), hostOf(addresses.slice(0, 1)), hostOf([])]).toEqual([
    "external.test",
    "internal.test",
    "unmanaged.test",
    undefined,
  ]);
});

test("a Shoot that moves keeps its old address until its kubeconfig leads to the new one", () => {
  const advertisedAddresses = [{ name: "external", url: "https://10.0.0.2" }];
  const settled = shootWith({ advertisedAddresses });
  const moves = shootWith({ advertisedAddresses }, { seedName: "seed-2" });
  const [before, after] = [
    { host: "10.0.0.1", port: 443 },
    { host: "10.0.0.2", port: 443 },
  ];
  const [old, fresh] = [before, after].map(({ host }) => renderKubeconfig({ server: `https://${host}`, ca: "ca" }));
  expect(currentEndpoint(moves, before, old)).toEqual(before);
  expect(currentEndpoint(moves, before, fresh)).toEqual(after);
  expect(currentEndpoint(settled, before, old)).toEqual(after);
  expect(currentEndpoint(moves, undefined, old)).toEqual(after);
});

test.each([
  ["more fields", { a: 1, b: 2 }, { a: 1 }, true],
  ["another value", { a: 2 }, { a: 1 }, false],
  ["further rows of others", [{ name: "x", n: 1 }, { name: "y" }], [{ name: "x" }], true],
  ["no row of that name", [{ name: "y" }], [{ name: "x" }], false],
  ["a longer list of texts", ["a", "b"], ["a"], false],
  ["nothing", undefined, { a: 1 }, false],
] as const)("whether %s cover what is wanted", (_, present, wanted, answer) => {
  expect(covers(present, wanted)).toBe(answer);
});

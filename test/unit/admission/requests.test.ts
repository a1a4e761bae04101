import { expect, it } from "vitest";
import { seedNetworkCauses, tunnelCauses } from "../../../src/admission/seed.ts";
import { requestCauses } from "../../../src/admission/shoot/requests.ts";
import type { Shoot } from "../../../src/api/index.ts";

const asking = (annotations?: Record<string, string>): Shoot => ({
  apiVersion: "core.gardener.cloud/v1beta1",
  kind: "Shoot",
  metadata: { name: "local", namespace: "garden-dev", ...(annotations && { annotations }) },
  spec: { region: "local", kubernetes: { version: "1.34.4" }, provider: { type: "local" } },
});
const operation = "gardener.cloud/operation";
const tasks = "shoot.gardener.cloud/tasks";
const tunnel = "perennial.dev/tunnel";
const maintenance = "maintenance.gardener.cloud/operation";

it.each([
  [operation, "reconcile"],
  [operation, "retry"],
  [operation, "reconcile;retry"],
  [tunnel, "true"],
  [tunnel, "false"],
  [tasks, "deployInfrastructure,deployDNSRecordInternal,deployDNSRecordExternal"],
])("a Shoot can be asked for what flows do: %s=%s", (annotation, value) => {
  expect(requestCauses(asking({ [annotation]: value }), asking())).toEqual([]);
});

it.each([
  [operation, "explode", '"explode" is not supported: choose one of reconcile, retry'],
  [operation, "reconcile;rotate-ca-start", '"rotate-ca-start" is not supported: choose one of reconcile, retry'],
  [operation, "", '"" is not supported: choose one of reconcile, retry'],
  [
    tasks,
    "deployInfrastructure,restartCoreAddons",
    '"restartCoreAddons" is not supported: choose one of deployDNSRecordInternal, deployDNSRecordExternal, deployInfrastructure',
  ],
  [tunnel, "no", '"no" is not supported: choose one of true, false'],
  [
    maintenance,
    "reconcile",
    '"reconcile" is not supported: nothing runs in a maintenance time window; set gardener.cloud/operation',
  ],
])("what no flow does is refused by its name: %s=%s", (annotation, value, message) => {
  const causes = [{ field: `metadata.annotations[${annotation}]`, message }];
  expect(requestCauses(asking({ [annotation]: value }), undefined)).toEqual(causes);
  expect(requestCauses(asking({ [annotation]: value }), asking({ [annotation]: "retry" }))).toEqual(causes);
});

it("a Seed says of its tunnels true or false, or nothing", () => {
  const causes = (annotations: Record<string, string>) => tunnelCauses({ metadata: { name: "seed-1", annotations } });
  for (const annotations of [{}, { [tunnel]: "true" }, { [tunnel]: "false" }]) expect(causes(annotations)).toEqual([]);
  const message = '"off" is not supported: choose one of true, false';
  expect(causes({ [tunnel]: "off" })).toEqual([{ field: `metadata.annotations[${tunnel}]`, message }]);
});

it("what a Shoot was asked for before keeps it from nothing", () => {
  const before = asking({ [operation]: "rotate-ca-start" });
  expect(requestCauses(before, before)).toEqual([]);
  expect(requestCauses(asking({ [operation]: "rotate-ca-start;retry" }), before)).toEqual([]);
});

it("what a Seed blocks has to be a network for every reader", () => {
  const causes = (...blockCIDRs: string[]) =>
    seedNetworkCauses({
      spec: { networks: { pods: "10.1.0.0/16", services: "10.2.0.0/16", blockCIDRs } },
    } as Parameters<typeof seedNetworkCauses>[0]);
  expect(causes("169.254.169.254/32", "fd00::/8")).toEqual([]);
  expect(causes("169.254.169.254/32", "::ffff:169.254.169.254/128")).toEqual([
    expect.objectContaining({
      field: "spec.networks.blockCIDRs",
      message: expect.stringContaining("is not a network"),
    }),
  ]);
});

import { expect, test } from "vitest";
import { parse } from "yaml";
import { components, type ControlPlaneContext } from "../../../src/components/index.ts";
import { exampleContext } from "../../support/control-plane-context.ts";

const machines = { managerReplicas: 1, deployments: [] };

/** How a Shoot's resource manager judges requests for certificates. */
function approverOf(context: ControlPlaneContext): unknown {
  const [configMap] = components["resource-manager"].objects(context).filter(({ kind }) => kind === "ConfigMap");
  const text = (configMap as { data?: Record<string, string> } | undefined)?.data?.["config.yaml"] ?? "";
  return (parse(text) as { controllers: { csrApprover: unknown } }).controllers.csrApprover;
}

test("where machine-controller-manager makes the machines, only those get certificates", () => {
  const context = exampleContext({ managesResources: true, machines });
  expect(approverOf(context)).toMatchObject({ enabled: true, machineNamespace: context.namespace });
});

test("where another makes them, Nodes get certificates, as there are no Machines to go by", () => {
  expect(approverOf(exampleContext({ managesResources: true }))).toEqual({ enabled: true, concurrentSyncs: 5 });
});

import { expect, test } from "vitest";
import type { SelfHostedShootExposure } from "../../../src/api/index.ts";
import { createExposureActuator } from "../../../src/provider-local/self-hosted/exposure.ts";

const { reconcile } = createExposureActuator();

async function expose(endpoints: SelfHostedShootExposure["spec"]["endpoints"]) {
  const object = {
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "SelfHostedShootExposure",
    metadata: { name: "root", namespace: "kube-system" },
    spec: { type: "local", port: 443, endpoints },
  } satisfies SelfHostedShootExposure;
  // @ts-expect-error -- it asks its context for nothing
  return await reconcile(object, undefined, {});
}

test("a control plane is reached at each of its nodes, at the address for those outside where it has one", async () => {
  const endpoints = [
    { nodeName: "a", addresses: [{ type: "InternalIP", address: "10.0.0.1" }] },
    {
      nodeName: "b",
      addresses: [
        { type: "InternalIP", address: "10.0.0.2" },
        { type: "ExternalIP", address: "192.0.2.2" },
      ],
    },
    { nodeName: "c", addresses: [{ type: "Hostname", address: "c" }] },
  ];
  expect(await expose(endpoints)).toEqual({ status: { ingress: [{ ip: "10.0.0.1" }, { ip: "192.0.2.2" }] } });
});

test("a control plane without an address is not called reachable", async () => {
  await expect(expose([])).rejects.toMatchObject({
    message: expect.stringContaining("spec.endpoints names no node with an address"),
    codes: ["ERR_CONFIGURATION_PROBLEM"],
  });
});

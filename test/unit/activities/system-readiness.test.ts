import { expect, it } from "vitest";
import { systemReady } from "../../../src/activities/waits/system-readiness.ts";

const metadata = { namespace: "kube-system", generation: 3 };
const node = (status: string) => ({
  ...{ apiVersion: "v1", kind: "Node", metadata: { name: "one" } },
  status: { conditions: [{ type: "Ready", status }] },
});
const proxy = (status: object) => ({
  ...{ apiVersion: "apps/v1", kind: "DaemonSet", metadata: { ...metadata, name: "kube-proxy" } },
  status: { observedGeneration: 3, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberReady: 2, ...status },
});
const dns = (status: object) => ({
  ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { ...metadata, name: "coredns" }, spec: { replicas: 2 } },
  status: { observedGeneration: 3, replicas: 2, updatedReplicas: 2, readyReplicas: 2, ...status },
});

it.each<[string, Parameters<typeof systemReady>, string | undefined]>([
  ["runs everywhere", [[node("True")], [proxy({}), dns({})]], undefined],
  [
    "runs on one node, while another is broken",
    [[node("True")], [proxy({ numberReady: 1 }), dns({ readyReplicas: 1 })]],
    undefined,
  ],
  ["was not deployed", [[node("True")], []], undefined],
  ["has no node that is ready", [[node("False")], [proxy({ numberReady: 0 }), dns({ readyReplicas: 0 })]], undefined],
  [
    "is wanted on no node",
    [[node("True")], [proxy({ desiredNumberScheduled: 0, updatedNumberScheduled: 0, numberReady: 0 })]],
    undefined,
  ],
  [
    "runs on no node",
    [[node("True")], [proxy({ numberReady: 0 }), dns({})]],
    "no node runs DaemonSet kube-system/kube-proxy",
  ],
  [
    "runs as before only",
    [[node("True")], [proxy({}), dns({ updatedReplicas: 0 })]],
    "no node runs Deployment kube-system/coredns",
  ],
  [
    "was not seen by its controller",
    [[node("True")], [proxy({ observedGeneration: 2 }), dns({ observedGeneration: undefined })]],
    "no node runs DaemonSet kube-system/kube-proxy and Deployment kube-system/coredns",
  ],
])("of what pods need, something %s", (_, given, message) => {
  expect(systemReady(...given)).toEqual(message === undefined ? { reached: true } : { reached: false, message });
});

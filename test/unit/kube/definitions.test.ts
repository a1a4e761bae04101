import { expect, test } from "vitest";
import { define } from "../../../src/kube/definitions.ts";
import type { KubeClient } from "../../../src/kube/index.ts";
import { KubeError } from "../../../src/kube/index.ts";

const crd = {
  ...{
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "lamps.example.com" },
  },
  spec: {
    group: "example.com",
    names: { kind: "Lamp" },
    versions: [
      { name: "v1", served: true },
      { name: "v0", served: false },
    ],
  },
  status: { conditions: [{ type: "Established", status: "True" }] },
};
const notFound = new KubeError("there is none", { status: 404, reason: "NotFound", retryable: false });

test("a definition counts as served once discovery names its kind, not when it is established", async () => {
  const answers = [
    () => Promise.reject(notFound),
    () => ({ resources: [] }),
    () => ({ resources: [{ name: "chairs", kind: "Chair" }] }),
    () => ({
      resources: [
        { name: "chairs", kind: "Chair" },
        { name: "lamps", kind: "Lamp" },
      ],
    }),
  ];
  const asked: string[] = [];
  const get = async (path: string) => (asked.push(path), await answers[asked.length - 1]?.());
  const client = { read: async () => crd, apply: async () => crd, get } as unknown as KubeClient;
  await define(client, [crd]);
  expect(asked).toEqual(answers.map(() => "/apis/example.com/v1"));
});

test("an API server that does not answer discovery is told as it is", async () => {
  const get = () =>
    Promise.reject(
      new KubeError("cannot GET: it is overloaded", { status: 500, reason: "InternalError", retryable: true }),
    );
  const client = { read: async () => crd, apply: async () => crd, get } as unknown as KubeClient;
  await expect(define(client, [crd])).rejects.toThrow("it is overloaded");
});

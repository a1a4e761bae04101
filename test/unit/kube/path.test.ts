import { expect, test } from "vitest";
import { inWords, pathOf, queryOf, refOf } from "../../../src/kube/path.ts";

const verbs: string[] = [];
const deployment = { apiVersion: "apps/v1", kind: "Deployment", plural: "deployments", namespaced: true, verbs };
const node = { apiVersion: "v1", kind: "Node", plural: "nodes", namespaced: false, verbs };

test.each([
  [deployment, { namespace: "ns", name: "a" }, undefined, "/apis/apps/v1/namespaces/ns/deployments/a"],
  [deployment, { namespace: "ns", name: "a" }, "status", "/apis/apps/v1/namespaces/ns/deployments/a/status"],
  [deployment, { namespace: "ns" }, undefined, "/apis/apps/v1/namespaces/ns/deployments"],
  [deployment, {}, undefined, "/apis/apps/v1/deployments"],
  [node, { name: "n" }, undefined, "/api/v1/nodes/n"],
  [node, { name: "system:n/1" }, undefined, "/api/v1/nodes/system%3An%2F1"],
  [node, { namespace: "ignored", name: "n" }, undefined, "/api/v1/nodes/n"],
])("the path of %o %o %s is %s", (type, target, subresource, path) => {
  expect(pathOf(type, target, subresource, "read it")).toBe(path);
});

test("a namespaced object without a namespace has no path", () => {
  expect(() => pathOf(deployment, { name: "a" }, undefined, "read Deployment a")).toThrow(
    "cannot read Deployment a: Deployment needs a namespace",
  );
});

test.each(["", ".", "..", "x".repeat(1025)])("a name %j, which would lead to another path, has none", (name) => {
  const path = () => pathOf(deployment, { namespace: "ns", name }, undefined, "read it");
  expect(path).toThrow(`cannot read it: "${name.slice(0, 80)}" is no name`);
  expect(() => pathOf(deployment, { namespace: name }, undefined, "list it")).toThrow("is no name");
});

test("a query leaves out what is undefined and encodes the rest", () => {
  expect(queryOf({})).toBe("");
  expect(queryOf({ a: undefined, labelSelector: "x=y,z", limit: 5, force: true })).toBe(
    "?labelSelector=x%3Dy%2Cz&limit=5&force=true",
  );
});

test("an object is referred to by kind, namespace and name", () => {
  const ref = refOf({ apiVersion: "v1", kind: "Secret", metadata: { namespace: "ns", name: "s", uid: "u" } });
  expect(ref).toEqual({ apiVersion: "v1", kind: "Secret", namespace: "ns", name: "s" });
  expect(inWords(ref)).toBe("Secret ns/s");
  expect(inWords({ apiVersion: "v1", kind: "Node", name: "n" })).toBe("Node n");
});

import { expect, test } from "vitest";
import { createDiscovery, isApiVersion, type KnownVersions } from "../../../src/kube/discovery.ts";
import { KubeError } from "../../../src/kube/errors.ts";
import type { Transport } from "../../../src/kube/transport.ts";

/** A server that serves ConfigMaps only, and the paths that it was asked for. */
function serverOfConfigMaps(): { transport: Transport; paths: string[] } {
  const paths: string[] = [];
  const resources = [{ name: "configmaps", kind: "ConfigMap", namespaced: true, verbs: ["get"] }];
  const call: Transport["call"] = async ({ path }) => {
    paths.push(path);
    if (path === "/api/v1") return { resources };
    throw new KubeError("cannot discover it: not found", { status: 404, reason: "NotFound", retryable: false });
  };
  return { transport: { call } as Transport, paths };
}

test.each(["v1", "apps/v1", "core.gardener.cloud/v1beta1", "x/v2alpha1-1"])("%s is an API version", (text) => {
  expect(isApiVersion(text)).toBe(true);
});

const malformed = [
  ...["", "/", "/v1", "v1/", "..", "../..", "v1/..", "a/b/c", "v1/namespaces/kube-system/secrets", "V1", "v1 "],
  ...["v1?limit=1", "v1#a", "v1%2f..", "a..b/v1", "v1\n", "-v1", `v${"1".repeat(63)}`, `${"a.".repeat(127)}/v1`],
];

test.each(malformed)("%j is none, and the server is asked nothing", async (apiVersion) => {
  const { transport, paths } = serverOfConfigMaps();
  const error = await createDiscovery(transport)
    .find({ apiVersion, kind: "Secret" }, "read Secret a/b")
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({ status: 400, retryable: false });
  expect(String(error)).toContain(`cannot read Secret a/b: ${JSON.stringify(apiVersion)} is no API version`);
  expect(paths).toEqual([]);
});

test("only versions that the server serves are remembered", async () => {
  const { transport, paths } = serverOfConfigMaps();
  const known: KnownVersions = new Map();
  const discovery = createDiscovery(transport, known);
  for (let n = 0; n < 300; n += 1) {
    const unknown = discovery.find({ apiVersion: `group-${n}.example.com/v1`, kind: "Secret" }, "read it");
    await expect(unknown).rejects.toThrow("the API server has no kind Secret");
  }
  await discovery.find({ apiVersion: "v1", kind: "ConfigMap" }, "read it");
  await discovery.find({ apiVersion: "v1", kind: "ConfigMap" }, "read it");
  expect([...known.keys()]).toEqual(["v1"]);
  expect(paths.filter((path) => path === "/api/v1")).toHaveLength(1);
});

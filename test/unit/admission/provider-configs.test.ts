import { expect, test } from "vitest";
import type { KubeObject } from "../../../src/api/index.ts";
import { judge, type AdmissionRequest } from "../../../src/admission/index.ts";
import { createConfigBound } from "../../../src/admission/provider-configs.ts";

const bound = createConfigBound()(async () => judge([]));

const shoot = (...configs: readonly object[]): KubeObject => ({
  apiVersion: "core.gardener.cloud/v1beta1",
  kind: "Shoot",
  metadata: { name: "a", namespace: "garden-dev" },
  spec: { extensions: configs.map((providerConfig, n) => ({ type: `e${n}`, providerConfig })) },
});

const ask = (object: KubeObject, oldObject?: KubeObject) => {
  const [group = "", version = ""] = object.apiVersion.split("/");
  return bound({
    operation: "UPDATE",
    kind: { group, version, kind: object.kind },
    object,
    oldObject,
  } as AdmissionRequest);
};

const text = (length: number) => ({ text: "x".repeat(length) });
const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) });
const wide = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]));

test.each([
  ["long", text(200_000), "has 200011 bytes and may have 131072"],
  ["long in bytes", { text: "é".repeat(70_000) }, "has 140011 bytes and may have 131072"],
  ["wide", wide(6_000), "has more than the 5000 values"],
  ["deep", nested(40), "is nested more than 32 levels deep"],
])("a configuration that is too %s is refused with its field, the limit and the remedy", async (_, config, message) => {
  expect(await ask(shoot({}, config))).toMatchObject({
    allowed: false,
    causes: [
      {
        field: "spec.extensions[1].providerConfig",
        message: expect.stringMatching(new RegExp(`${message}.*: leave out what no provider reads`)) as string,
      },
    ],
  });
});

test("configurations that are too large only together are refused", async () => {
  const causes = [{ field: "spec", message: expect.stringContaining("may have 524288") as string }];
  expect(await ask(shoot(...Array.from({ length: 5 }, () => text(120_000))))).toMatchObject({ causes });
  const exactly = (bytes: number) => shoot(...Array.from({ length: 4 }, () => text(bytes - '{"text":""}'.length)));
  expect(await ask(exactly(128 * 1024))).toMatchObject({ allowed: true });
});

test("a configuration that was there before stands against no change of the rest", async () => {
  expect(await ask(shoot(text(200_000), {}), shoot(text(200_000)))).toMatchObject({ allowed: true });
});

test("kinds of the garden's operators have no bounds of this kind", async () => {
  const profile = { apiVersion: "core.gardener.cloud/v1beta1", kind: "CloudProfile", metadata: { name: "a" } };
  expect(await ask({ ...profile, spec: { providerConfig: text(200_000) } })).toMatchObject({ allowed: true });
});

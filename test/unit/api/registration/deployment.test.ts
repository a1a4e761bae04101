import { expect, test } from "vitest";
import type { ControllerDeployment } from "../../../../src/api/index.ts";
import { readDeployment, readInlineDeployment } from "../../../../src/api/registration/deployment.ts";
import type { ControllerRegistration } from "../../../../src/api/index.ts";

const typed = (providerConfig: unknown) =>
  readDeployment({ metadata: { name: "one" }, type: "helm", providerConfig } as unknown as ControllerDeployment);
const inline = (providerConfig: unknown) =>
  readInlineDeployment({ spec: { deployment: { type: "helm", providerConfig } } } as Pick<
    ControllerRegistration,
    "spec"
  >);

test.each<[string, unknown, RegExp]>([
  ["nothing", {}, /names no chart/],
  ["an empty registry", { ociRepository: null }, /names no chart/],
  ["a number for a reference", { ociRepository: { ref: 5 } }, /providerConfig\.ociRepository\.ref cannot be read/],
  [
    "an empty pull Secret",
    { ociRepository: { ref: "r/c:1", pullSecretRef: null } },
    /providerConfig\.ociRepository\.pullSecretRef cannot be read/,
  ],
  ["a text for a registry", { ociRepository: "r/c:1" }, /providerConfig\.ociRepository cannot be read/],
  ["values that are a list", { chart: "Y2g=", values: [] }, /values is no map/],
])("a deployment with %s says what is wrong, and nothing throws", (_, providerConfig, problem) => {
  for (const read of [typed, inline])
    expect(read(providerConfig)).toMatchObject({ is: "invalid", problem: expect.stringMatching(problem) });
});

test("empty values are none", () => {
  const helm = { chart: { in: "object", base64: "Y2g=" }, values: {} };
  for (const read of [typed, inline]) expect(read({ chart: "Y2g=", values: null })).toMatchObject({ is: "helm", helm });
});

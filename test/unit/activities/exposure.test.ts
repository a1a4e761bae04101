import { expect, test } from "vitest";
import { readExposure } from "../../../src/activities/control-plane/exposure.ts";
import { toFailure } from "../../../src/activities/failure.ts";
import { components } from "../../../src/components/index.ts";
import { parseConfig } from "../../../src/config.ts";
import type { KubeClient } from "../../../src/kube/index.ts";
import { exampleContext } from "../../support/control-plane-context.ts";

const garden = {
  read: async (_: unknown, { name }: { readonly name: string }) =>
    name === "internal" ? { metadata: { name }, handler: "dmz" } : undefined,
} as unknown as KubeClient;

const example = exampleContext();
const shootOf = (exposureClassName: string) => ({
  ...example.shoot,
  spec: { ...example.shoot.spec, exposureClassName },
});
const context = { ...example, shoot: shootOf("internal") };

test("the API server's Service bears the annotations that the seed's worker has for the handler", async () => {
  const annotations = { "example.com/internal": "true" };
  const exposure = await readExposure(garden, context, { dmz: annotations, other: { a: "b" } });
  const [service] = components["kube-apiserver-service"].objects({ ...context, ...exposure });
  expect(service?.metadata.annotations).toEqual(annotations);
});

test("a Shoot without a class is exposed as before, and nothing is asked for", async () => {
  expect(await readExposure({} as KubeClient, example, { dmz: { a: "b" } })).toEqual({});
});

test("a seed that does not know the handler says which, and where to add it", async () => {
  const error: unknown = await readExposure(garden, context, { other: {} }).catch((one: unknown) => one);
  const message =
    `Seed ${example.seed.metadata.name} does not know handler dmz of ExposureClass internal: ` +
    "add it to PERENNIAL_EXPOSURE_HANDLERS of the seed's worker";
  expect(toFailure(error)).toMatchObject({
    nonRetryable: true,
    details: [{ message, codes: ["ERR_CONFIGURATION_PROBLEM"], retryable: false }],
  });
});

test("a class that is gone is a configuration problem, and a caller that is not the worker knows no handlers", async () => {
  const gone = { ...example, shoot: shootOf("gone") };
  await expect(readExposure(garden, gone, {})).rejects.toThrow("ExposureClass gone does not exist");
  await expect(readExposure(garden, context, undefined)).rejects.toThrow("only the worker of Seed");
});

const required = {
  ...{ PERENNIAL_GARDEN_KUBECONFIG: "garden.yaml", PERENNIAL_STATE_KEYS_FILE: "keys.json" },
  ...{ PERENNIAL_SEED_NAME: "one", PERENNIAL_SEED_KUBECONFIG: "seed.yaml" },
};
const handlersFrom = (text: string) =>
  parseConfig({ ...required, PERENNIAL_EXPOSURE_HANDLERS: text }, "seed worker").exposureHandlers;

test("a seed's worker is told its handlers as JSON, and does not start with anything else", () => {
  expect(handlersFrom('{"dmz":{"a":"b"}}')).toEqual({ dmz: { a: "b" } });
  expect(parseConfig(required, "seed worker").exposureHandlers).toEqual({});
  for (const wrong of ["dmz", "[]", '{"dmz":"a"}', '{"dmz":{"a":1}}'])
    expect(() => handlersFrom(wrong)).toThrow("PERENNIAL_EXPOSURE_HANDLERS");
});

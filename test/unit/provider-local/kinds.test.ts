import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { appliedKinds } from "../../../src/api/extensions/kinds.ts";
import { projectFolder } from "../../support/pages.ts";

const read = (path: string): string => readFileSync(join(projectFolder, path), "utf8");

it("the local provider has a controller for every kind that flows write", () => {
  const controllers = [...read("src/provider-local/provider.ts").matchAll(/extension\(\{ kind: "(\w+)"/g)];
  expect(controllers.map(([, kind]) => kind)).toEqual(expect.arrayContaining([...appliedKinds]));
});

it("the local provider's ControllerRegistration is in charge of every kind that flows write", () => {
  const { spec } = parse(read("deploy/examples/controller-registration.yaml")) as {
    spec: { resources: readonly { kind: string }[] };
  };
  expect(spec.resources.map(({ kind }) => kind)).toEqual(expect.arrayContaining([...appliedKinds]));
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { appliedKinds } from "../../../src/api/extensions/kinds.ts";
import { projectFolder } from "../../support/pages.ts";

const read = (path: string): string => readFileSync(join(projectFolder, path), "utf8");

const controlledIn = (path: string) =>
  [...read(path).matchAll(/extension\(\{\s*kind: "(\w+)"/g)].map(([, kind = ""]) => kind);

const registeredIn = (path: string) =>
  (parse(read(path)) as { spec: { resources: readonly { kind: string }[] } }).spec.resources.map(({ kind }) => kind);

it("the local provider has a controller for every kind that flows write", () => {
  expect(controlledIn("src/provider-local/provider.ts")).toEqual(expect.arrayContaining([...appliedKinds]));
});

it("the local provider's ControllerRegistration is in charge of every kind that flows write", () => {
  const registered = registeredIn("deploy/examples/controller-registration.yaml");
  expect(registered).toEqual(expect.arrayContaining([...appliedKinds]));
});

it("the local provider of a self-hosted cluster has a controller for just what it is registered for there", () => {
  const registered = registeredIn("deploy/examples/self-hosted/controller-registration.yaml");
  expect(controlledIn("src/provider-local/self-hosted/provider.ts")).toEqual(registered);
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { endpointTypes } from "../../../src/api/cluster-api/index.ts";
import { projectFolder } from "../../support/pages.ts";

interface Definition {
  readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[] };
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly enum?: readonly string[];
}

test("the definition takes the types of one table, and no other", () => {
  const file = join(projectFolder, "deploy/cluster-api/crds/cluster.x-k8s.io_clusterendpoints.yaml");
  const { versions } = (parse(readFileSync(file, "utf8")) as Definition).spec;
  const type = versions[0]?.schema.openAPIV3Schema.properties?.["spec"]?.properties?.["type"];
  expect(type?.enum).toEqual(Object.keys(endpointTypes));
});

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { clusterApiResources } from "../../../src/api/cluster-api/index.ts";
import type { KubeObject } from "../../../src/api/index.ts";
import { projectFolder, readPage } from "../../support/pages.ts";

const folder = "deploy/examples/cluster-api";
const files = readdirSync(join(projectFolder, folder));

it.each(files)("the page of Cluster API says how %s is applied", (file) => {
  expect(readPage("docs/cluster-api.md")).toContain(`${folder}/${file}`);
});

it.each(files)("what %s says of our kinds is what their schemas take, and nothing else", (file) => {
  const objects = parseAllDocuments(readFileSync(join(projectFolder, folder, file), "utf8")).map(
    (document) => document.toJS() as KubeObject,
  );
  expect(objects).not.toEqual([]);
  for (const { metadata, ...rest } of objects) {
    const object = { ...rest, metadata: { namespace: "default", ...metadata } };
    const found = clusterApiResources.find(({ kind }) => kind === object.kind);
    if (found !== undefined) expect(found.parse(object)).toEqual(object);
  }
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";

const file = join(import.meta.dirname, "../../../deploy/cluster-api/shoots-rbac.yaml");

interface Rule {
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const rules = parseAllDocuments(readFileSync(file, "utf8"))
  .map((document) => document.toJS() as { kind: string; rules?: readonly Rule[] })
  .flatMap(({ rules = [] }) => rules);

const verbsOn = (resource: string) =>
  rules.flatMap(({ resources, verbs }) => (resources.includes(resource) ? verbs : []));

it.each(["shootclusters", "shootbootstrapconfigs"])(
  "process cluster-api may write of %s the status only",
  (resource) => {
    expect(verbsOn(resource)).toEqual(["get", "list", "watch"]);
    expect(verbsOn(`${resource}/status`)).toEqual(["patch"]);
  },
);

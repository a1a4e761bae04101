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

it("process cluster-api may write of ShootBootstrapConfigs the status only", () => {
  expect(verbsOn("shootbootstrapconfigs")).toEqual(["get", "list", "watch"]);
  expect(verbsOn("shootbootstrapconfigs/status")).toEqual(["patch"]);
});

it("process cluster-api may make and take away reservations of domains, and change none", () => {
  expect(verbsOn("domainreservations")).toEqual(["get", "list", "watch", "create", "delete"]);
});

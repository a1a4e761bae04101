import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { appliedKinds, extensionKinds } from "../../../src/api/extensions/kinds.ts";

const file = join(import.meta.dirname, "../../../deploy/seed/worker-rbac.yaml");

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const rules = parseAllDocuments(readFileSync(file, "utf8"))
  .map((document) => document.toJS() as { kind: string; rules?: readonly Rule[] })
  .flatMap(({ kind, rules = [] }) => (kind === "ClusterRole" ? rules : []))
  .filter(({ apiGroups }) => apiGroups.includes("extensions.gardener.cloud"));

const verbsOn = (resource: string): string[] =>
  rules.flatMap(({ resources, verbs }) => (resources.includes(resource) ? verbs : [])).sort();

it.each(Object.values(extensionKinds))(
  "the seed's worker may do to every $kind what the table of kinds asks for",
  (kind) => {
    const written = kind.contract.writer === "other" ? [] : ["create"];
    expect(verbsOn(kind.plural)).toEqual(["get", "list", "watch", ...written, "patch", "delete"].sort());
  },
);

it("the seed's worker may give their state back to the kinds that flows write, and to no others", () => {
  const restored = appliedKinds.filter((kind) => extensionKinds[kind].contract.stateful);
  const given = rules.flatMap(({ resources }) => resources.filter((resource) => resource.endsWith("/status")));
  expect(given.sort()).toEqual(restored.map((kind) => `${extensionKinds[kind].plural}/status`).sort());
});

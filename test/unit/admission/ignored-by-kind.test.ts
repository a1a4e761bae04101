import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { judgeProject } from "../../../src/admission/project.ts";
import { createFieldWarner } from "../../../src/admission/unknown-fields.ts";
import { ignoredByKind } from "../../../src/api/ignored.ts";
import type { KubeObject } from "../../../src/api/index.ts";

const api = await readFile(join(import.meta.dirname, "../../../docs/api.md"), "utf8");
const admitted = createFieldWarner()(async () => ({ allowed: true }));

async function warningsOn(kind: string, spec: object, before?: object): Promise<readonly string[]> {
  const [object, oldObject] = [spec, before].map(
    (one) => one && { apiVersion: "core.gardener.cloud/v1beta1", kind, spec: one },
  );
  const request = {
    operation: "UPDATE",
    kind: { group: "core.gardener.cloud", version: "v1beta1", kind },
    object,
    oldObject,
  };
  const answer = await admitted(request as never);
  return answer.allowed ? (answer.warnings ?? []) : [];
}

describe.each(Object.entries(ignoredByKind))("a field of a %s on which nothing acts", (kind, fields) => {
  const section = api.slice(api.indexOf(`\n## ${kind} (core.gardener.cloud/v1beta1)`));
  const own = section.slice(0, section.indexOf("\n## ", 2));

  test.each(Object.keys(fields))("is marked in the reference: %s", (field) => {
    expect(own).toMatch(new RegExp(`\\| \`${field.replaceAll(/[[\]{}.]/g, "\\$&")}\`.*\\*\\*Ignored\\*\\*`));
  });
});

test.each([
  ["Seed", { settings: { dependencyWatchdog: { weeder: { enabled: true } } } }, "spec.settings.dependencyWatchdog"],
  ["Seed", { extensions: [{ type: "backup" }] }, "spec.extensions"],
  ["Seed", { volume: { minimumSize: "20Gi" } }, "spec.volume.minimumSize"],
  ["Project", { members: [{ kind: "User", name: "alice", roles: ["admin"] }] }, "spec.members"],
])("a %s with %j is admitted with a warning, once", async (kind, spec, field) => {
  expect(await warningsOn(kind, spec)).toEqual([expect.stringMatching(`^${field}: nothing acts on this field: `)]);
  expect(await warningsOn(kind, { ...spec, description: "a" }, spec)).not.toContainEqual(
    expect.stringContaining(field),
  );
});

/** What is warned of when an object gets these annotations. */
async function warnedAnnotations(kind: string, annotations: object, before: object = {}): Promise<readonly string[]> {
  const [object, oldObject] = [annotations, before].map((one) => ({
    ...{ apiVersion: "core.gardener.cloud/v1beta1", kind, metadata: { name: "a", annotations: one }, spec: {} },
  }));
  const type = { group: "core.gardener.cloud", version: "v1beta1", kind };
  const answer = await admitted({ operation: "UPDATE", kind: type, object, oldObject } as never);
  return answer.allowed ? (answer.warnings ?? []) : [];
}

test.each([
  ["Shoot", "shoot.gardener.cloud/skip-readiness"],
  ["Shoot", "alpha.control-plane.scaling.shoot.gardener.cloud/scale-down-disabled"],
  ["Shoot", "authentication.gardener.cloud/issuer"],
  ["Seed", "seed.gardener.cloud/accelerated-vpn"],
  ["Seed", "gardener.cloud/operation"],
  ["Project", "project.gardener.cloud/skip-stale-check"],
])("annotation of Gardener on a %s on which nothing acts is warned of, once: %s", async (kind, key) => {
  const warning = `metadata.annotations[${key}]: nothing acts on this annotation, unless an extension does`;
  expect(await warnedAnnotations(kind, { [key]: "true" })).toEqual([warning]);
  expect(await warnedAnnotations(kind, { [key]: "true", a: "b" }, { [key]: "true" })).toEqual([]);
});

test("annotations that act, that extensions define, or that are others' are not warned of", async () => {
  const acting = ["gardener.cloud/operation", "shoot.gardener.cloud/ignore", "shoot.gardener.cloud/tasks"];
  const others = [
    "provider.extensions.gardener.cloud/a",
    "perennial.dev/a",
    "example.com/gardener.cloud",
    "notgardener.cloud/a",
  ];
  const annotations = Object.fromEntries([...acting, ...others].map((key) => [key, "x"]));
  expect(await warnedAnnotations("Shoot", annotations)).toEqual([]);
  expect(await warnedAnnotations("Seed", { "shoot.gardener.cloud/emergency-stop-reconciliations": "true" })).toEqual(
    [],
  );
});

test("a Seed with settings that act gets no warning", async () => {
  const settings = { scheduling: { visible: false }, zoneSelection: { mode: "Enforce" } };
  expect(await warningsOn("Seed", { settings })).toEqual([]);
});

test("a Project that wants a second person for deletions is refused, and one that has it may change otherwise", async () => {
  const project = (spec: object): KubeObject => ({
    ...{ apiVersion: "core.gardener.cloud/v1beta1", kind: "Project", metadata: { name: "dev" } },
    spec,
  });
  const dual = { dualApprovalForDeletion: [{ resource: "shoots" }] };
  const judged = async (object: KubeObject, oldObject?: KubeObject) =>
    (await judgeProject({ operation: "UPDATE", object, oldObject } as never)).allowed;
  expect(await judged(project(dual))).toBe(false);
  expect(await judged(project({}))).toBe(true);
  expect(await judged(project({ ...dual, purpose: "a" }), project(dual))).toBe(true);
  expect(await judged(project({ ...dual, purpose: "a" }), project({}))).toBe(false);
});

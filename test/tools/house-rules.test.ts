import { Linter } from "eslint";
import tseslint from "typescript-eslint";
import { describe, expect, test } from "vitest";
import { house } from "../../scripts/house-rules.ts";

describe("an export", () => {
  test.each([
    "export const a = 1;",
    "export function a(): void {}",
    "export interface A { readonly b: string }",
    "// not a docstring\nexport type A = string;",
  ])("without a docstring is refused: %s", (code) => {
    expect(faults("documented-exports", code)).toHaveLength(1);
  });

  test.each([
    "/** Says what. */\nexport const a = 1;",
    "/** Says what. */\n// prettier-ignore\nexport const a = 1;",
    'export { a } from "./a.ts";',
    "export type A = z.infer<typeof A>;",
    "/** Says what. */\nexport function a(b: string): void;\nexport function a(b: number): void;\nexport function a(): void {}",
    "const a = 1;",
  ])("with a docstring, or that needs none, passes: %s", (code) => {
    expect(faults("documented-exports", code)).toEqual([]);
  });
});

describe("an exception from a rule", () => {
  test.each([
    "// eslint-disable-next-line\nconst a = 1;",
    "// eslint-disable-next-line no-var\nconst a = 1;",
    "/* eslint-disable */",
    "// oxlint-disable-next-line typescript/no-floating-promises\nsend();",
    "/* oxlint-disable */",
    "// @ts-ignore\nconst a = 1;",
    "// @ts-expect-error\nconst a = 1;",
  ])("without its rule or its reason is refused: %s", (code) => {
    expect(faults("explained-exceptions", code)).toHaveLength(1);
  });

  test("with its rule and its reason passes", () => {
    expect(faults("explained-exceptions", "// eslint-disable-next-line no-var -- the API's own\nvar a = 1;")).toEqual(
      [],
    );
  });
});

describe("a file name", () => {
  test.each(["src/kube/utils.ts", "src/api/types.ts", "src/kubeClient.ts"])(
    "that is no kebab-case word of the domain is refused: %s",
    (file) => {
      expect(faults("file-names", "", file)).toHaveLength(1);
    },
  );

  test.each(["src/kube/kube-client.ts", "test/unit/a-b.test.ts", "vitest.config.ts"])(
    "of kebab-case words passes: %s",
    (file) => {
      expect(faults("file-names", "", file)).toEqual([]);
    },
  );
});

describe("a client of a cluster", () => {
  test.each(["createKubeClient({ file });", "createKubeClient({ file }, { log });", "createKubeClient({ file }, o);"])(
    "whose users are not said to be bounded is refused: %s",
    (code) => {
      expect(faults("bounded-clients", code)).toHaveLength(1);
    },
  );

  test.each(["createKubeClient({ file }, { log, bounds: untrusted });", "createClusterClient({ file }, { log });"])(
    "whose bounds are said passes: %s",
    (code) => {
      expect(faults("bounded-clients", code)).toEqual([]);
    },
  );
});

describe("the name of a test", () => {
  test.each([
    'test("moved", () => {});',
    'test("says why", () => {});',
    'describe("entries", () => { it("move", () => {}); });',
    'describe("a Shoot", () => { it("waits until somebody asks", () => {}); });',
    'it.each([1])("a Shoot moves to whoever takes %i", () => {});',
    'test("a Shoot moves to another Seed.", () => {});',
  ])("that does not stand alone is refused: %s", (code) => {
    expect(faults("test-names", code)).toHaveLength(1);
  });

  test.each([
    'test("a Shoot moves to another Seed", () => {});',
    'describe("a Shoot", () => { it("moves to another Seed", () => {}); });',
    'describe("a Shoot", () => { describe("on its way", () => { it.each([1])(`waits for ${1}`, () => {}); }); });',
    "test.beforeAll(() => {});",
  ])("that is a sentence passes: %s", (code) => {
    expect(faults("test-names", code)).toEqual([]);
  });
});

describe("a read names its kind by the kind's definition", () => {
  test.each([
    'client.read<Shoot>({ apiVersion: core, kind: "Seed", name });',
    "client.read<Shoot>({ ...core, kind, name });",
    'client.read({ apiVersion: "v1", kind: "Secret", namespace, name });',
    "client.list<Secret>(secretType, { namespace });",
    'client.remove({ kind: "Secret", ...ref });',
    'client.patch({ apiVersion: "v1", kind: "Node", name }, { spec });',
    'createReflector(client, { apiVersion: "v1", kind: "Pod" }, { onEvent });',
    "createReflector<Pod>(client, podType, { onEvent });",
  ])("%s", (code) => {
    expect(faults("typed-reads", code)).not.toEqual([]);
  });

  test.each([
    "client.read(Secret, { namespace, name });",
    "client.list({ apiVersion, kind }, { namespace });",
    "client.remove(refTo(Secret, { namespace, name }));",
    'client.patch(ref, { spec: { kind: "Secret" } });',
    'client.apply({ apiVersion: "v1", kind: "Secret", metadata });',
    "new Map<string, string>(list);",
  ])("not: %s", (code) => {
    expect(faults("typed-reads", code)).toEqual([]);
  });
});

function faults(rule: keyof typeof house.rules, code: string, file = "src/a.ts"): Linter.LintMessage[] {
  const config: Linter.Config = {
    files: ["**/*.ts"],
    languageOptions: { parser: tseslint.parser },
    plugins: { house },
    rules: { [`house/${rule}`]: "error" },
  };
  return new Linter().verify(code, config, file).filter(({ ruleId }) => ruleId === `house/${rule}`);
}

describe("keys, command lines and activity ids are spelled in one file", () => {
  test.each([
    'const role = "gardener.cloud/role";',
    'const selector = "gardener.cloud/role=shoot";',
    "const label = `extensions.gardener.cloud/${type}`;",
    'const labels = { "worker.gardener.cloud/pool": pool };',
    'const message = "its annotation perennial.dev/wait is no JSON";',
    "const remedy = `try again with: perennial shoot retry ${name}`;",
    "const id = `${step}/wait/${name}`;",
  ])("%s", (code) => {
    expect(faults("spelled-once", code)).toHaveLength(1);
  });

  test.each([
    'const api = "extensions.gardener.cloud/v1alpha1";',
    'const image = "perennial.dev/hello:1";',
    'const group = "core.gardener.cloud";',
    'defineCommand({ examples: ["perennial shoot list"] });',
    'const path = "/opt/bin/apply";',
    "// gardener.cloud/role says what a namespace is for\nconst a = 1;",
  ])("not: %s", (code) => {
    expect(faults("spelled-once", code)).toEqual([]);
  });
});

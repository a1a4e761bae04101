import tseslint from "typescript-eslint";
import { house } from "./scripts/house-rules.ts";

const correctness = {
  "array-callback-return": "error",
  "default-case-last": "error",
  eqeqeq: ["error", "always", { null: "ignore" }],
  "for-direction": "error",
  "getter-return": "error",
  "no-async-promise-executor": "error",
  "no-case-declarations": "error",
  "no-compare-neg-zero": "error",
  "no-cond-assign": "error",
  "no-constant-binary-expression": "error",
  "no-constant-condition": "error",
  "no-constructor-return": "error",
  "no-debugger": "error",
  "no-dupe-else-if": "error",
  "no-duplicate-case": "error",
  "no-empty": "error",
  "no-empty-pattern": "error",
  "no-ex-assign": "error",
  "no-extra-boolean-cast": "error",
  "no-fallthrough": "error",
  "no-irregular-whitespace": "error",
  "no-loss-of-precision": "error",
  "no-misleading-character-class": "error",
  "no-new-wrappers": "error",
  "no-prototype-builtins": "error",
  "no-self-assign": "error",
  "no-self-compare": "error",
  "no-sparse-arrays": "error",
  "no-unreachable-loop": "error",
  "no-unsafe-finally": "error",
  "no-useless-backreference": "error",
  "no-useless-catch": "error",
  "no-useless-escape": "error",
  "no-useless-return": "error",
  "no-var": "error",
  "object-shorthand": "error",
  "prefer-const": "error",
  "preserve-caught-error": "error",
  "require-atomic-updates": "off", // reports every `x = await f(x)` on a closure's own variable
  "require-yield": "error",
  "use-isnan": "error",
  "valid-typeof": "error",
};

const shape = {
  complexity: ["error", 12],
  "max-depth": ["error", 3],
  "max-lines": ["error", { max: 300, skipBlankLines: true, skipComments: true }],
  "max-params": ["error", 4],
  "no-else-return": "error",
  "no-nested-ternary": "error",
  "no-warning-comments": ["error", { terms: ["todo", "fixme", "xxx"], location: "anywhere" }],
};

const types = {
  "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "separate-type-imports" }],
  "@typescript-eslint/no-explicit-any": "error",
  "@typescript-eslint/no-import-type-side-effects": "error",
  "@typescript-eslint/no-non-null-assertion": "error",
  "@typescript-eslint/no-unused-vars": ["error", { ignoreRestSiblings: true }],
};

/** All rules that need no types, complexity bounded, each exception named and explained. oxlint checks the others (.oxlintrc.json). */
export default tseslint.config(
  { ignores: ["dist/", "node_modules/", "coverage/", "templates/", ".dependency-cruiser.cjs"] },
  tseslint.configs.recommended,
  {
    files: ["**/*.{ts,js}"],
    linterOptions: { reportUnusedDisableDirectives: "error", reportUnusedInlineConfigs: "error" },
    plugins: { house },
    rules: {
      ...correctness,
      ...shape,
      ...types,
      "house/explained-exceptions": "error",
      "house/file-names": "error",
      "house/typed-reads": "error",
    },
  },
  {
    files: ["src/**/*.ts"],
    rules: { "house/documented-exports": "error", "no-console": "error" },
  },
  {
    files: ["src/**/*.ts"],
    ignores: ["src/api/{annotations,labels,names,command-lines,activity-ids}.ts"],
    rules: { "house/spelled-once": "error" },
  },
  {
    files: ["src/**/*.ts"],
    // What they connect to is the operators': a garden, a seed, a management cluster, or what this machine runs.
    ignores: ["src/{cluster-api,fence,manager,provider-local,worker}/main.ts", "src/{cli,extension,kube,local}/**"],
    rules: { "house/bounded-clients": "error" },
  },
  {
    files: ["src/**/*.ts"],
    ignores: ["src/config.ts", "src/**/main.ts", "src/{cli,kube,local}/**"], // the doors: they start or are started by others
    rules: {
      "no-restricted-properties": [
        "error",
        { object: "process", property: "env", message: "The environment is parsed once, in src/config.ts." },
      ],
    },
  },
  {
    files: ["src/{activities,admission,client,controllers,extension,kube,manager,provider-local,worker}/**/*.ts"],
    rules: {
      "no-restricted-syntax": [
        "error",
        {
          selector: "CallExpression[callee.object.name='JSON'][callee.property.name='parse']",
          message: "Its errors quote what was parsed: parseJson of src/parsing.ts.",
        },
      ],
    },
  },
  {
    files: ["src/{workflows,flow}/**/*.ts"],
    rules: {
      "no-restricted-syntax": [
        "error",
        {
          selector: ":matches(Program, ExportNamedDeclaration) > VariableDeclaration[kind='let']",
          message: "All workflows of a worker share their modules: what changes belongs to a run.",
        },
      ],
    },
  },
  {
    files: ["test/**/*.ts", "bench/**/*.ts", "scripts/**/*.ts"],
    rules: {
      "max-lines": ["error", { max: 450, skipBlankLines: true, skipComments: true }],
      "max-params": ["error", 5],
      "house/test-names": "error",
      "no-restricted-syntax": [
        "error",
        {
          selector: "CallExpression[callee.object.name='vi'][callee.property.name=/^(mock|doMock|hoisted)$/]",
          message: "no module mocks",
        },
        {
          selector:
            "MemberExpression[object.name=/^(describe|it|test|suite)$/][property.name=/^(only|skip|skipIf|todo)$/]",
          message: "every test runs, always",
        },
      ],
    },
  },
  {
    files: ["test/{unit,kube,flow,e2e}/**/*.ts"],
    rules: {
      "no-restricted-imports": ["error", { name: "fast-check", message: "Tests by chance are in test/property." }],
    },
  },
);

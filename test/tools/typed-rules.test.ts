import { execa } from "execa";
import tseslint from "typescript-eslint";
import { expect, test } from "vitest";

const PREFIX = "@typescript-eslint/";

/** Rules of the preset that are off: an async function may do without waiting, and our closures need no `this`. */
const OFF = ["require-await", "unbound-method"];

const ADDED = ["return-await", "switch-exhaustiveness-check"];

test("oxlint checks the rules of the recommended preset that need types", async () => {
  const preset = tseslint.configs.recommendedTypeCheckedOnly
    .flatMap(({ rules = {} }) => Object.entries(rules))
    .flatMap(([name, level]) => (name.startsWith(PREFIX) && level === "error" ? [name.slice(PREFIX.length)] : []));
  const { stdout } = await execa("oxlint", ["--print-config"], { preferLocal: true });
  const { rules } = JSON.parse(stdout) as { rules: Record<string, unknown> };
  const names = Object.keys(rules).map((name) => name.slice("typescript/".length));
  expect(names.sort()).toEqual([...preset.filter((name) => !OFF.includes(name)), ...ADDED].sort());
});

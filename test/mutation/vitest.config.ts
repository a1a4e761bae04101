import { defineConfig } from "vitest/config";

const { MUTATION_TESTS } = process.env;

/**
 * The tests that a mutation run asks: those that need nothing but Node, unless `MUTATION_TESTS` names others, separated by
 * commas. Tests with an API server see the most of `fence`, `leadership` and `state`; each mutant takes them seconds.
 */
export default defineConfig({
  test: {
    include: MUTATION_TESTS?.split(",") ?? ["test/unit/**/*.test.ts"],
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});

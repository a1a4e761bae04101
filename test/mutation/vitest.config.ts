import { defineConfig } from "vitest/config";

/** The tests that a mutation run asks: those that need nothing but Node. */
export default defineConfig({ test: { include: ["test/unit/**/*.test.ts"], testTimeout: 20_000 } });

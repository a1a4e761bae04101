import { defineConfig } from "vitest/config";

/** Four projects, named by what their tests need: nothing; etcd + kube-apiserver; Temporal; everything. */
export default defineConfig({
  test: {
    projects: [
      { test: { name: "unit", include: ["test/unit/**/*.test.ts"], testTimeout: 20_000 } },
      {
        test: {
          name: "kube",
          include: ["test/kube/**/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: "flow",
          include: ["test/flow/**/*.test.ts"],
          setupFiles: ["test/support/quiet-runtime.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          globalSetup: ["test/support/e2e-setup.ts"],
          testTimeout: 900_000,
          hookTimeout: 1_500_000,
          maxWorkers: 1,
          fileParallelism: false,
        },
      },
    ],
  },
});

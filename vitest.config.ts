import { defineConfig } from "vitest/config";
import { seconds } from "./test/support/patience.ts";

/** How long `expect.poll` asks: a second, unless told otherwise, is no time on a busy machine. */
const polling = { expect: { poll: { timeout: seconds(20) } } };

/**
 * Projects, named by what their tests need: nothing; seconds of chance, and Go; the tools of development; etcd + kube-apiserver;
 * Temporal; bare machines; everything; programs of others. Importing a file does nothing, so that files can share a process and what it has imported.
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          ...polling,
          include: ["test/unit/**/*.test.ts"],
          isolate: false,
          testTimeout: seconds(20),
          hookTimeout: seconds(60),
        },
      },
      {
        test: {
          name: "property",
          ...polling,
          include: ["test/property/**/*.test.ts"],
          isolate: false,
          testTimeout: seconds(60),
        },
      },
      {
        test: {
          name: "tools",
          ...polling,
          include: ["test/tools/**/*.test.ts"],
          isolate: false,
          testTimeout: seconds(60),
        },
      },
      {
        test: {
          name: "kube",
          ...polling,
          include: ["test/kube/**/*.test.ts"],
          isolate: false,
          testTimeout: seconds(60),
          hookTimeout: seconds(120),
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: "flow",
          ...polling,
          include: ["test/flow/**/*.test.ts"],
          setupFiles: ["test/support/quiet-runtime.ts"],
          testTimeout: seconds(120),
          hookTimeout: seconds(120),
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: "self-hosted",
          ...polling,
          include: ["test/self-hosted/**/*.test.ts"],
          testTimeout: seconds(600),
          hookTimeout: seconds(900),
          maxWorkers: 1,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: "self-hosted-whole",
          ...polling,
          include: ["test/self-hosted-whole/**/*.test.ts"],
          testTimeout: seconds(900),
          hookTimeout: seconds(1800),
          maxWorkers: 1,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: "e2e",
          ...polling,
          include: ["test/e2e/**/*.test.ts"],
          globalSetup: ["test/support/e2e-setup.ts"],
          testTimeout: seconds(900),
          hookTimeout: seconds(1500),
          maxWorkers: 1,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: "kill-matrix",
          ...polling,
          include: ["test/kill-matrix/*.test.ts"],
          testTimeout: seconds(900),
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: "upstream-api",
          ...polling,
          include: ["test/upstream/api/*.test.ts"],
          testTimeout: seconds(180),
          hookTimeout: seconds(180),
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: "cluster-api",
          ...polling,
          include: ["test/cluster-api/**/*.test.ts"],
          testTimeout: seconds(120),
          hookTimeout: seconds(120),
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: "cluster-api-whole",
          ...polling,
          include: ["test/cluster-api-whole/**/*.test.ts"],
          globalSetup: ["test/support/cluster-api-setup.ts"],
          testTimeout: seconds(600),
          hookTimeout: seconds(900),
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: "upstream",
          ...polling,
          include: ["test/upstream/*.test.ts"],
          testTimeout: seconds(180),
          hookTimeout: seconds(180),
          maxWorkers: 1,
        },
      },
    ],
  },
});

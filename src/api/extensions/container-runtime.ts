import { z } from "zod";
import { labelSelector } from "../schema/references.ts";
import { object } from "../schema/fields.ts";
import { defaultSpec, defaultStatus } from "./defaults.ts";
import { defineExtension, minutes, seconds } from "./define-extension.ts";

const containerRuntimeWorkerPool = object({
  name: z
    .string()
    .describe("Name specifies the name of the worker pool the container runtime should be available for."),
  selector: labelSelector.describe(
    "Selector is the label selector used by the extension to match the nodes belonging to the worker pool.",
  ),
});

const containerRuntimeSpec = object({
  ...defaultSpec.shape,
  binaryPath: z
    .string()
    .describe(
      "BinaryPath is the Worker's machine path where container runtime extensions should copy the binaries to.",
    ),
  workerPool: containerRuntimeWorkerPool.describe("WorkerPool identifies the worker pool of the Shoot."),
});

const containerRuntimeStatus = object({
  ...defaultStatus.shape,
});

/** An additional container runtime on the machines of a worker pool. */
export const ContainerRuntime = defineExtension({
  kind: "ContainerRuntime",
  plural: "containerruntimes",
  shortNames: ["cr"],
  scope: "Namespaced",
  description: "An additional container runtime on the machines of a worker pool.",
  content: { spec: containerRuntimeSpec, status: containerRuntimeStatus.optional() },
  columns: [
    { name: "Type", path: ".spec.type" },
    { name: "Status", path: ".status.lastOperation.state" },
  ],
  contract: {
    writer: "flow",
    stateful: true,
    cluster: "always",
    admission: "none",
    types: ({ shoot }) =>
      (shoot.spec.provider.workers ?? []).flatMap(({ cri }) => (cri?.containerRuntimes ?? []).map(({ type }) => type)),
    severeAfter: seconds(30),
    deadline: minutes(3),
    trigger: "always",
  },
});

/** An additional container runtime on the machines of a worker pool. */
export type ContainerRuntime = z.infer<typeof ContainerRuntime.schema>;

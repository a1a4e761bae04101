import { expect, it } from "vitest";
import type { ShootClient } from "../../../src/client/shoots.ts";
import type { FlowProgress } from "../../../src/api/shoot/run.ts";
import type { Context } from "../../../src/cli/context.ts";
import { flowColumns } from "../../../src/cli/flow/list.ts";
import { show } from "../../../src/cli/flow/show.ts";
import type { KubeClient } from "../../../src/kube/index.ts";
import { fakeTerminal } from "./fake-terminal.ts";

const id = "shoot/garden-dev/local/5f0c/clean-up/seed-1";

const progress: FlowProgress = {
  operation: "Migrate",
  title: "Clean up Seed",
  percent: 16,
  startedAt: "2026-11-21T10:00:00Z",
  steps: [
    { name: "fence", state: "done", since: "2026-11-21T10:00:01Z" },
    {
      ...{ name: "workloads", state: "retrying", since: "2026-11-21T10:00:02Z", attempt: 1 },
      error: { message: "Pod shoot--dev--local/etcd-main-0 is not gone", codes: [] },
    },
  ],
};

it("the verb show finds an operation by the name of its workflow, such as a clean-up that is in no Shoot's status", async () => {
  const { context, terminal } = contextOf({ [id]: progress });
  await show.run({ args: { shoot: id }, options: noOptions, context });
  expect(terminal.out.text()).toContain(`Migrate ${id}: 1 of 2 steps done, 60s\n`);
  expect(terminal.out.text()).toMatch(/^workloads +retrying +58s +attempt 1: Pod .*etcd-main-0 is not gone$/m);
});

it("the verb show says where workflows are named when there is none of that name", async () => {
  const { context } = contextOf({});
  await expect(show.run({ args: { shoot: id }, options: noOptions, context })).rejects.toThrow(
    `workflow ${id} does not exist: see 'perennial flow list -o wide'`,
  );
});

it("the verb show finds the flow of an installation by the word that the list has for it", async () => {
  const found = { "installation/one-0a1b/uid-1": progress };
  const client = {
    read: async (_: unknown, { name }: { name: string }) => installations[name],
  } as unknown as KubeClient;
  const { context, terminal } = contextOf(found);
  const there: Context = { ...context, garden: async () => ({ client, namespace: undefined }) };
  const [subject] = flowColumns(context.now()).filter(({ title }) => title === "SHOOT");
  const listed = subject?.value({ ...listing, workflowId: "installation/one-0a1b/uid-1" });
  expect(listed).toBe("installation/one-0a1b");
  await show.run({ args: { shoot: String(listed) }, options: noOptions, context: there });
  expect(terminal.out.text()).toMatch(/^workloads +retrying/m);
  const asked = show.run({ args: { shoot: "installation/two" }, options: noOptions, context: there });
  await expect(asked).rejects.toThrow("there is no ControllerInstallation two");
});

const installations: Readonly<Record<string, object>> = {
  "one-0a1b": { metadata: { name: "one-0a1b", uid: "uid-1" } },
};
const listing = { runId: "run", type: "installation", status: "RUNNING", startedAt: new Date(0) };

const noOptions = {
  namespace: undefined,
  output: undefined,
  kubeconfig: undefined,
  temporal: undefined,
  temporalNamespace: undefined,
};

function contextOf(flows: Readonly<Record<string, FlowProgress>>) {
  const terminal = fakeTerminal();
  const client: Pick<ShootClient, "progressOf"> = { progressOf: async (workflowId) => flows[workflowId] };
  const context: Context = {
    terminal,
    variables: {},
    signal: new AbortController().signal,
    now: () => Date.parse("2026-11-21T10:01:00Z"),
    garden: () => Promise.reject(new Error("a workflow's id needs no garden")),
    seed: async () => undefined,
    processes: async () => [],
    flows: async () => client as ShootClient,
    management: () => Promise.reject(new Error("no verb here asks for a management cluster")),
    installations: () => Promise.reject(new Error("no verb here asks for installations")),
    leaders: () => Promise.reject(new Error("no verb here asks who leads")),
    gardenRegister: () => Promise.reject(new Error("no verb here asks for a register")),
  };
  return { context, terminal };
}

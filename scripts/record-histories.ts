import { mkdir, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ApplicationFailure } from "@temporalio/common";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import { cleanUpWorkflowId, flowWorkflowId, shootWorkflowId } from "../src/workflows/contract.ts";
import { startFlowLab, type World } from "../test/support/flow-lab.ts";

/**
 * Records what the replay test replays: a create, one with a parked and resumed step, a delete, one that is forced while a
 * step is parked, and a move. Run it for each release, or with the names of those that are new; histories of earlier
 * releases stay, because their workflows may still be open.
 */
const wanted = process.argv.slice(2);
const checkout = fileURLToPath(new URL("..", import.meta.url));
const directory = new URL("../test/flow/histories/", import.meta.url);
await mkdir(directory, { recursive: true });
const lab = await startFlowLab();

const save = async (name: string, workflowId: string) => {
  if (wanted.length > 0 && !wanted.includes(name)) return;
  const history = await lab.client.workflow.getHandle(workflowId).fetchHistory();
  const text = JSON.stringify(JSON.parse(historyToJSON(history))).replaceAll(checkout, ""); // stacks say where that is
  await writeFile(new URL(`${name}.json`, directory), `${text}\n`);
};
const until = async (condition: () => boolean) => {
  while (!condition()) await sleep(50);
};
const failing = (world: World, call: string) => {
  world.fail[call] = ApplicationFailure.nonRetryable("no", "StepError", {
    message: "no",
    codes: ["ERR_CONFIGURATION_PROBLEM"],
    retryable: false,
  });
};

const created = lab.world();
await lab.shoots.nudge(created.ref);
await until(() => created.status?.state === "Succeeded");
await save("reconcile-create", flowWorkflowId(created.ref, "reconcile"));
created.view.deleting = true;
await lab.shoots.nudge(created.ref);
await lab.client.workflow.getHandle(shootWorkflowId(created.ref)).result();
await save("deleteShoot-after-create", flowWorkflowId(created.ref, "delete"));
await save("shoot-create-delete", shootWorkflowId(created.ref));

const parked = lab.world();
failing(parked, "deployComponent etcd");
await lab.shoots.nudge(parked.ref);
await until(() => parked.status?.state === "Failed");
delete parked.fail["deployComponent etcd"];
await lab.shoots.retry(parked.ref);
await until(() => parked.status?.state === "Succeeded");
await save("reconcile-parked-and-retried", flowWorkflowId(parked.ref, "reconcile"));
await parked.gone();

const forced = lab.world();
failing(forced, "removeExtension Worker");
forced.view.deleting = true;
await lab.shoots.nudge(forced.ref);
await until(() => forced.status?.state === "Failed");
forced.fail = {};
Object.assign(forced.view.run ?? {}, { forced: true });
await lab.shoots.nudge(forced.ref);
await lab.client.workflow.getHandle(shootWorkflowId(forced.ref)).result();
await save("deleteShoot-parked-and-forced", flowWorkflowId(forced.ref, "delete"));
await save("forceDelete", flowWorkflowId(forced.ref, "force-delete"));

const moved = lab.world({ leaseSeconds: 1, dnsTtl: 1 });
const migration = { source: "seed-1", destination: "seed-2", takeover: false };
Object.assign(moved.view, { moving: "Migrate", run: { ...moved.view.run, migration } });
await lab.shoots.nudge(moved.ref);
await until(() => moved.calls.includes("leaveSeed seed-1"));
await save("migrate", flowWorkflowId(moved.ref, "migrate"));
await save("restore", flowWorkflowId(moved.ref, "restore"));
await lab.client.workflow.getHandle(cleanUpWorkflowId(moved.ref, "seed-1")).result();
await save("cleanUp", cleanUpWorkflowId(moved.ref, "seed-1"));
await moved.gone();
await save("shoot-moved", shootWorkflowId(moved.ref));
await lab.stop();

import { Shoot } from "../../src/api/index.ts";
import { findShoot, shootRef } from "../../src/cli/find-shoot.ts";
import { followShoot } from "../../src/cli/display/follow.ts";
import type { Context } from "../../src/cli/context.ts";
import type { Exit } from "../../src/cli/exit.ts";
import { findEnvironment } from "../../src/local/environment/file.ts";
import { readManifest } from "../../src/manifests.ts";
import type { UpResult } from "../../src/local/environment/up.ts";
import { flowWorkflowId } from "../../src/workflows/contract.ts";
import type { ShootClient } from "../../src/client/shoots.ts";

/** Twenty minutes, in ms: far more than a Shoot takes, on a slow machine too. */
const timeout = 1_200_000;

/** Applies deploy/examples/shoot.yaml and follows its flow until the Shoot is ready. */
export async function createShoot(context: Context, environment: UpResult): Promise<Exit> {
  const garden = await context.garden({});
  const flows = await context.flows({});
  const { out } = context.terminal;
  const example = await readExample(environment);
  const { namespace, name } = example.metadata;
  const before = await garden.client.read(Shoot, { namespace, name });
  if (before?.metadata.deletionTimestamp) {
    out.write(`Shoot ${namespace}/${name} is being deleted; a new one follows when it is gone.\n`);
    const exit = await followShoot(context, { garden, flows, shoot: before, timeout });
    if (exit !== "done") return exit;
  }
  await garden.client.apply(example);
  const shoot = await findShoot(garden, { shoot: name, namespace });
  out.write(
    `Applied deploy/examples/shoot.yaml: Shoot ${namespace}/${name} on ${shoot.spec.seedName ?? "no seed yet"}\n`,
  );
  out.write(`Its workflow: ${workflowUrl(environment, flowWorkflowId(shootRef(shoot), "reconcile"))}\n\n`);
  const exit = await followShoot(context, { garden, flows, shoot, timeout });
  if (exit === "done")
    out.write(`This flow in the Temporal UI: ${await latestFlowUrl(flows, environment, `${namespace}/${name}`)}\n`);
  return exit;
}

/** The example as it is for the environment called local; elsewhere with that environment's domain and network. */
async function readExample({ name, stateDir }: UpResult): Promise<Shoot> {
  const [example] = await readManifest("examples/shoot.yaml");
  const environment = await findEnvironment({ name, stateDir });
  if (!example || !environment)
    throw new Error("cannot create the Shoot: deploy/examples/shoot.yaml is empty, or the environment is down");
  const text = JSON.stringify(example)
    .replaceAll("perennial.test", environment.domain)
    .replaceAll("172.30.0.0/16", environment.network);
  return JSON.parse(text) as Shoot;
}

/** The page of the operation's own run, whose history stays when later ones begin. */
async function latestFlowUrl(flows: ShootClient, environment: UpResult, shoot: string): Promise<string> {
  const [latest] = await flows.flows(shoot);
  return latest
    ? `${workflowUrl(environment, latest.workflowId)}/${latest.runId}/history`
    : (environment.temporal?.ui ?? "");
}

function workflowUrl({ temporal }: UpResult, workflowId: string): string {
  return `${temporal?.ui ?? ""}/namespaces/default/workflows/${encodeURIComponent(workflowId)}`;
}

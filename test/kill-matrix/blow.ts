import { setTimeout as sleep } from "node:timers/promises";
import { cleanUpWorkflowId, flowWorkflowId } from "../../src/workflows/contract.ts";
import type { Killable, Lab, ProcessName } from "./lab.ts";
import type { LabShoot } from "./shoots.ts";
import { armStrike, type Durations, type Strike } from "./strike.ts";

/** The flows of a migration, in their order. */
export const flowNames = ["migrate", "restore", "clean-up"] as const;

/** One of the flows of a migration. */
export type FlowName = (typeof flowNames)[number];

/** Our own processes, by their part in a migration. */
export const ownParts = ["garden", "source", "destination", "manager"] as const;

/**
 * The servers that everybody works with. `dns` is every server of the zone, `dns-primary` only the one that takes
 * updates.
 */
export const serverParts = ["dns", "dns-primary", "temporal", "garden-api", "source-api", "destination-api"] as const;

/** What can be killed. */
export type Part = (typeof ownParts)[number] | (typeof serverParts)[number];

/** What dies at which step, and when it is there again. */
export interface Blow {
  readonly flow: FlowName;
  readonly step: string;
  readonly part: Part;
  /** In ms: how long after the step has begun. */
  readonly delay: number;
  /** In ms: how long it stays away. */
  readonly away: number;
}

/** From which seed to which. */
export interface Route {
  readonly source: string;
  readonly destination: string;
}

/** Has the blow fall on the Shoot's next migration along the route. */
export async function armBlow(lab: Lab, shoot: LabShoot, route: Route, blow: Blow): Promise<Strike> {
  const { flow, step, part, delay, away } = blow;
  const workflowId = flow === "clean-up" ? cleanUpWorkflowId(shoot, route.source) : flowWorkflowId(shoot, flow);
  const victim = victimOf(lab, part, route);
  return armStrike(lab.temporal.client, { workflowId, step }, durationsIn(lab), async () => {
    await sleep(delay);
    await victim.kill();
    await sleep(away);
    await victim.restart();
  });
}

/** What the lab's processes are told, by which steps that only wait are known. */
const durationsIn = ({ leaseSeconds }: Lab): Durations => ({ oldAddressForgotten: 1, leases: 2 * leaseSeconds });

function victimOf(lab: Lab, part: Part, route: Route): Killable {
  const victims: Record<Part, Killable | undefined> = {
    garden: lab.processes.get("worker-garden"),
    source: lab.processes.get(`worker-${route.source}` as ProcessName),
    destination: lab.processes.get(`worker-${route.destination}` as ProcessName),
    manager: lab.processes.get("manager"),
    dns: lab.zone,
    "dns-primary": lab.dns,
    temporal: lab.temporal,
    "garden-api": lab.garden,
    "source-api": lab.seeds.get(route.source),
    "destination-api": lab.seeds.get(route.destination),
  };
  const victim = victims[part];
  if (victim === undefined) throw new Error(`there is no ${part}`);
  return victim;
}

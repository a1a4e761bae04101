import type { Client } from "@temporalio/client";
import type { ShootRef } from "../src/api/shoot/run.ts";
import { askedFor, fetchHistory, type HistoryEvent } from "../src/client/history.ts";
import type { Pod } from "../src/kube/index.ts";
import { flowWorkflowId, type FlowKind } from "../src/workflows/contract.ts";

/** Something that lasted, or a moment; ms since the epoch. */
export interface Span {
  readonly what: string;
  readonly begin: number;
  readonly end?: number;
}

/** Every activity and timer of a flow's steps, from when it was asked for until it was done. */
export async function readSteps(client: Client, ref: ShootRef, flow: FlowKind): Promise<Span[]> {
  const history = await fetchHistory(client, flowWorkflowId(ref, flow));
  if (history === undefined) throw new Error(`there is no history of ${flow}`);
  const ends = new Map(history.events.flatMap((event) => endOf(event)));
  const begins = new Map(history.events.map((event) => [Number(event.eventId), timeOf(event)]));
  return askedFor(history).flatMap(({ event, what, step }) => {
    const [begin, end] = [begins.get(event), ends.get(event)];
    if (begin === undefined || end === undefined || step === undefined) return [];
    return [{ what: `${flow}: ${what.includes("/") ? what : `${step}, ${what}`}`, begin, end }];
  });
}

/** The event with which what was asked for ended, and when. */
function endOf(event: HistoryEvent): [number, number][] {
  const { activityTaskCompletedEventAttributes: activity, timerFiredEventAttributes: timer } = event;
  const began = activity?.scheduledEventId ?? (timer as { startedEventId?: string } | undefined)?.startedEventId;
  return began === undefined ? [] : [[Number(began), timeOf(event)]];
}

const timeOf = (event: HistoryEvent): number => Date.parse(String(event["eventTime"]));

/** What a pod has come to, as its status says it: names of moments. */
export function momentsOf({ metadata, status }: Pod): string[] {
  const { phase, conditions = [], initContainerStatuses = [], containerStatuses = [] } = status ?? {};
  const containers = [...initContainerStatuses, ...containerStatuses].flatMap(({ name, state }) => {
    if (state?.terminated) return [`${name} runs`, `${name} has ended`];
    return state && !state.waiting ? [`${name} runs`] : [];
  });
  const isReady = conditions.some((one) => one.type === "Ready" && one.status === "True");
  const others = [
    ...(metadata.deletionTimestamp === undefined ? [] : ["is to end"]),
    ...(isReady ? ["is ready"] : []),
    ...(phase === "Succeeded" || phase === "Failed" ? [`has ${phase.toLowerCase()}`] : []),
  ];
  return ["is made", ...containers, ...others].map((moment) => `pod ${metadata.name} ${moment}`);
}

/** Prints spans in the order of their beginnings; seconds from `zero`, and how long each lasted. */
export function printTimeline(spans: readonly Span[], zero: number): void {
  const seconds = (ms: number) => (ms / 1_000).toFixed(2).padStart(8);
  for (const { what, begin, end } of spans.toSorted((a, b) => a.begin - b.begin))
    console.log(`${seconds(begin - zero)} ${end === undefined ? "        " : seconds(end - begin)}  ${what}`);
}

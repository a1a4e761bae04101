import { isGrpcServiceError, type Client } from "@temporalio/client";
import type { temporal } from "@temporalio/proto";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { RegisterVersion, BindingRegister } from "../binding/register.ts";
import { formatRevision, parseRevision } from "../binding/revision.ts";
import { parseJson } from "../parsing.ts";

/** The schedule that is a garden's register. It is paused and starts nothing: its notes are what counts. */
export const GARDEN_SCHEDULE = "perennial-garden";

/** A garden's schedule, as of one version; without one while there is no schedule. */
type Version = Uint8Array | undefined;

/**
 * The register of a garden: the notes of a paused schedule in Temporal's namespace. A schedule is all of Temporal's that
 * changes by compare-and-swap without a worker: an update that names another version than the latest is dropped.
 */
export function createGardenRegister(client: Client): BindingRegister<Version> {
  const { workflowService: service } = client;
  const { namespace } = client.options;
  const scheduleId = GARDEN_SCHEDULE;

  const describe = async () => {
    try {
      return await service.describeSchedule({ namespace, scheduleId });
    } catch (error) {
      if (isGrpcServiceError(error) && Number(error.code) === NOT_FOUND) return undefined;
      throw error;
    }
  };

  const read = async (): Promise<RegisterVersion<Version>> => {
    const found = await describe();
    if (found === undefined) return { revision: undefined, rebindTo: undefined, version: undefined };
    const { revision, rebindTo } = parseNotes(found.schedule?.state?.notes);
    return { revision: parseRevision(revision), rebindTo: parseRevision(rebindTo), version: found.conflictToken };
  };

  const create = async (schedule: temporal.api.schedule.v1.ISchedule): Promise<boolean> => {
    try {
      await service.createSchedule({ namespace, scheduleId, schedule, requestId: randomUUID() });
      return true;
    } catch (error) {
      if (isGrpcServiceError(error) && Number(error.code) === ALREADY_EXISTS) return false;
      throw error;
    }
  };

  /** The server accepts an update before it compares versions: what it made of it shows in the schedule a moment later. */
  const update = async (schedule: temporal.api.schedule.v1.ISchedule, conflictToken: Uint8Array): Promise<boolean> => {
    await service.updateSchedule({ namespace, scheduleId, schedule, conflictToken, requestId: randomUUID() });
    for (let attempt = 1; attempt <= MOST_LOOKS; attempt += 1) {
      const found = await describe();
      if (found?.schedule?.state?.notes === schedule.state?.notes) return true;
      if (found === undefined || !isSame(found.conflictToken, conflictToken)) return false;
      await sleep(PAUSE);
    }
    throw new Error(`Temporal has not acted on an update of schedule ${scheduleId}`);
  };

  const write = async (version: Version, notes: Notes): Promise<boolean> => {
    const schedule = scheduleOf(notes);
    return version === undefined ? await create(schedule) : await update(schedule, version);
  };

  return {
    read,
    take: ({ version }, revision) => write(version, { revision: formatRevision(revision) }),
    rebind: ({ version, revision }, to) =>
      write(version, { ...(revision && { revision: formatRevision(revision) }), rebindTo: formatRevision(to) }),
    claim: async () => {}, // operators decide for a garden with its kubeconfig, and so with its revision
  };
}

interface Notes {
  readonly revision?: string;
  readonly rebindTo?: string;
}

function parseNotes(text: string | null | undefined): Notes {
  const { revision, rebindTo } = parseJson(text ?? "{}", `the notes of schedule ${GARDEN_SCHEDULE}`) as Record<
    string,
    unknown
  >;
  return { ...(typeof revision === "string" && { revision }), ...(typeof rebindTo === "string" && { rebindTo }) };
}

/** A schedule needs something to start; it is paused, has no times, and nothing polls the queue. */
const scheduleOf = (notes: Notes): temporal.api.schedule.v1.ISchedule => ({
  spec: {},
  state: { paused: true, notes: JSON.stringify(notes) },
  action: {
    startWorkflow: {
      workflowId: GARDEN_SCHEDULE,
      workflowType: { name: GARDEN_SCHEDULE },
      taskQueue: { name: GARDEN_SCHEDULE },
    },
  },
});

const isSame = (one: Uint8Array, other: Uint8Array): boolean => Buffer.from(one).equals(other);

/** Codes of gRPC. */
const [NOT_FOUND, ALREADY_EXISTS] = [5, 6];

/** How often, and after which pause in ms, the schedule is read until it shows what became of an update. */
const [MOST_LOOKS, PAUSE] = [100, 100];

import { isFragmented, type EtcdReading } from "../../activities/etcd/reading.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { DEFRAG_CONTAINER, defragmentation, type EtcdRole } from "../../components/index.ts";
import type { CronJob } from "../../kube/index.ts";

/** What is to be done about an etcd's room: nothing, defragment it, or also compact it first and take its alarm back. */
export type RoomTask = "nothing" | "defragment" | "relieve";

/** What a reading asks for. An alarm that is not about room is for people. */
export function taskOf(reading: EtcdReading): RoomTask {
  if (reading.alarms.includes("CORRUPT")) return "nothing";
  if (reading.alarms.includes("NOSPACE")) return "relieve";
  return isFragmented(reading) ? "defragment" : "nothing";
}

/** What a Job for this etcd is made from. */
export interface RoomRequest {
  readonly role: EtcdRole;
  readonly schedule: CronJob;
  readonly task: Exclude<RoomTask, "nothing">;
  readonly reading: EtcdReading;
  /** Nothing older is left to compact: a Job before this one has done that, and not come to its end. */
  readonly compacted: boolean;
}

/**
 * The Job that makes room, out of the CronJob in the seed. An API server cannot compact an etcd that takes no writes, because it writes
 * down what it has compacted. The alarm is taken back last, so that objects can be deleted also where there is hardly room: some of them are
 * changed before they go.
 */
export function roomJob({ role, schedule, task, reading, compacted }: RoomRequest): KubeObject {
  const { metadata, spec } = schedule.spec.jobTemplate as JobTemplate;
  const { containers, initContainers = [] } = spec.template.spec;
  const defrag = initContainers.find(({ name }) => name === DEFRAG_CONTAINER);
  const { namespace } = schedule.metadata;
  if (defrag === undefined)
    throw new Error(`CronJob ${namespace}/${schedule.metadata.name} has no step ${DEFRAG_CONTAINER}`);
  const step = (name: string, ...words: string[]) => ({ ...defrag, name, command: asking(defrag.command, words) });
  const before = task === "relieve" && !compacted ? [step(COMPACT_CONTAINER, "compact", String(reading.revision))] : [];
  const after = task === "relieve" ? [step("disarm", "alarm", "disarm")] : [];
  const template = {
    ...spec.template,
    spec: { ...spec.template.spec, initContainers: [...before, ...initContainers, ...after], containers },
  };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { ...metadata, name: defragmentation(role), namespace },
    spec: { ...spec, template },
  };
}

/** The container that gives up old revisions. */
export const COMPACT_CONTAINER = "compact";

interface JobTemplate {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly initContainers?: readonly Container[];
        readonly containers: readonly Container[];
      };
    };
  };
}

interface Container {
  readonly name: string;
  readonly command: readonly string[];
}

/** The same program with the flags by which it finds etcd, and other words. */
const asking = ([program = "", ...rest]: readonly string[], words: readonly string[]): string[] => [
  program,
  ...words,
  ...rest.filter((word) => /^--(?:endpoints|cacert|cert|key)=/.test(word)),
];

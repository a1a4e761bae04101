import { ETCD_CHECK_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/index.ts";
import { commandLine, subcommand } from "../command-line.ts";
import type { ControlPlaneContext } from "../context.ts";
import { controlPlaneRole } from "../workload.ts";
import { ETCDS, type EtcdRole } from "./addresses.ts";
import { clientFiles, clientFlags } from "./client.ts";
import { pod, type Step } from "./backup-pod.ts";
import { snapshotPeriod } from "./backup-period.ts";
import { etcdStep } from "./step.ts";

/** The CronJob that asks both etcds of a Shoot in a seed how full they are and what alarms they have raised. */
export const ETCD_CHECK = "etcd-check";

/** The CronJob, never due, whose Jobs defragment an etcd; the seed's worker makes them, and an operator may. */
export const defragmentation = (role: EtcdRole): string => `etcd-${role}-defrag`;

/** The containers of these Jobs' pods that print the status of an etcd are named after it. */
export const statusContainer = (role: EtcdRole): string => `etcd-${role}`;

/** The container that defragments, by whose command others ask the same etcd. */
export const DEFRAG_CONTAINER = "defrag";

/**
 * What looks after the etcds of a Shoot in a seed: a check every twenty minutes, halfway between snapshots, so that a defragmentation that
 * follows it is over when the next one begins; and what these defragmentations are made from.
 */
export function etcdChecks(context: ControlPlaneContext): KubeObject[] {
  const { namespace, shoot } = context;
  const asking = (role: EtcdRole) => askStep(context, role, statusContainer(role), STATUS);
  const schedule = `${checkMinute(context)}-59/20 * * * *`;
  const check = { activeDeadlineSeconds: 120, template: checkPod(context, [asking("main")], [asking("events")]) };
  const making = (role: EtcdRole) => ({
    activeDeadlineSeconds: startWithin(context),
    ttlSecondsAfterFinished: 86_400,
    template: checkPod(context, [
      askStep(context, role, DEFRAG_CONTAINER, ["defrag", "--command-timeout=10m"]),
      asking(role),
    ]),
  });
  return [
    cronJob(ETCD_CHECK, { namespace, suspend: shoot.spec.hibernation?.enabled === true, schedule }, check),
    ...ETCDS.map((role) => cronJob(defragmentation(role), { namespace, suspend: true, schedule: NEVER }, making(role))),
  ];
}

const STATUS = ["endpoint", "status", "--write-out=json"];

/** A day that comes every four years, for what is suspended anyway. */
const NEVER = "0 0 29 2 *";

/** Its label lets it reach both etcds, and nothing else. */
const checkPod = (context: ControlPlaneContext, steps: readonly Step[], beside: readonly Step[] = []) => ({
  ...pod(clientFiles(context).volumes, steps, beside),
  metadata: { labels: { app: ETCD_CHECK, ...controlPlaneRole } },
});

interface Schedule {
  readonly namespace: string;
  readonly suspend: boolean;
  readonly schedule: string;
}

function cronJob(name: string, { namespace, ...schedule }: Schedule, job: object): KubeObject {
  return {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name, namespace, labels: controlPlaneRole },
    spec: {
      ...schedule,
      concurrencyPolicy: "Forbid",
      startingDeadlineSeconds: 300,
      successfulJobsHistoryLimit: 1,
      failedJobsHistoryLimit: 1,
      jobTemplate: {
        metadata: { labels: { ...controlPlaneRole, [ETCD_CHECK_LABEL]: name } },
        spec: { ...job, backoffLimit: 0, podReplacementPolicy: "Failed" },
      },
    },
  };
}

/** Halfway between two snapshots; the minute differs from Shoot to Shoot, as theirs does. */
function checkMinute(context: ControlPlaneContext): number {
  const { minute, period } = snapshotPeriod(context);
  return (minute + Math.ceil(Math.min(period, 10) / 2)) % 10;
}

/** In seconds: a pod that starts later than this after its check would still defragment when the next snapshot begins. */
function startWithin(context: ControlPlaneContext): number {
  return Math.max(60, Math.floor(Math.min(snapshotPeriod(context).period, 10) / 2) * 60 - 60);
}

function askStep(context: ControlPlaneContext, role: EtcdRole, name: string, words: readonly string[]): Step {
  const command = subcommand(commandLine("etcdctl", clientFlags(role, context)), ...words);
  return etcdStep(context, name, command, clientFiles(context).volumeMounts);
}

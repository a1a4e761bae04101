import type { Condition } from "../../api/index.ts";
import type { Readiness } from "../waits/readiness.ts";

/** What an extension object says of its part of a Shoot. */
export interface ExtensionReport {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly conditions: readonly (Condition & { readonly propagate?: boolean })[];
  /** When its controller was last heard of, ms since the epoch; undefined where nothing is known of its heartbeat. */
  readonly heardAt?: number | undefined;
}

/** In ms: what an extension says counts for so long after its last heartbeat (upstream: staleExtensionHealthChecks). */
export const STALE_AFTER = 300_000;

/**
 * What extensions say of one aspect of a Shoot's health, by conditions of the same type (Gardener: CheckExtensionCondition).
 * What a silent controller has said once is not known any more.
 */
export function reportedReadiness(type: string, reports: readonly ExtensionReport[], now: Date): Readiness {
  const said = reports.flatMap((report) =>
    report.conditions.filter((condition) => condition.type === type).map((condition) => ({ report, condition })),
  );
  const stale = said.find(({ report }) => isStale(report, now));
  if (stale !== undefined) return { reached: false, unknown: true, message: silence(stale.report) };
  const bad = said.find(({ condition }) => condition.status !== "True");
  if (bad === undefined) return { reached: true };
  return { reached: false, message: `${inWords(bad.report)} reports: ${bad.condition.message}` };
}

/**
 * The conditions that extensions want to have in the Shoot as they are (GEP-1: `propagate: true`), but for those of
 * `reserved`, which others write. Of several with one type, the first that is not True counts; a silent controller's is Unknown.
 */
export function propagatedConditions(
  reports: readonly ExtensionReport[],
  reserved: ReadonlySet<string>,
  now: Date,
): Condition[] {
  const byType = new Map<string, Condition>();
  for (const report of reports)
    for (const { propagate, ...condition } of report.conditions) {
      if (propagate !== true || reserved.has(condition.type)) continue;
      const next = isStale(report, now) ? unknown(condition, report) : condition;
      const before = byType.get(condition.type);
      if (before === undefined || (before.status === "True" && next.status !== "True"))
        byType.set(condition.type, next);
    }
  return [...byType.values()];
}

const isStale = ({ heardAt }: ExtensionReport, now: Date): boolean =>
  heardAt !== undefined && now.getTime() - heardAt > STALE_AFTER;

/** It has been so since the controller counts as silent, which is the same time whenever it is looked at. */
function unknown(condition: Condition, report: ExtensionReport): Condition {
  const time = new Date((report.heardAt ?? 0) + STALE_AFTER).toISOString().replace(/\.\d+Z$/, "Z");
  const times = { lastTransitionTime: time, lastUpdateTime: time };
  return { ...condition, status: "Unknown", reason: "OutdatedHealthCheckReport", message: silence(report), ...times };
}

function silence(report: ExtensionReport): string {
  const since = report.heardAt ? `since ${new Date(report.heardAt).toISOString()}` : "ever";
  return `The controller of ${inWords(report)} was not heard of ${since}: how its part is, is not known.`;
}

const inWords = ({ kind, namespace, name }: ExtensionReport): string => `${kind} ${namespace}/${name}`;

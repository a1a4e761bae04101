import { commandLines } from "../../api/command-lines.ts";
import type { Shoot } from "../../api/index.ts";
import type { Condition, LastError, LastOperation } from "../../api/schema/meta.ts";
import { moveOf, type Move } from "../../api/placement/move.ts";
import type { FlowProgress } from "../../api/shoot/run.ts";
import type { Blocking } from "./blocking.ts";
import { renderCleanUps, type CleanUpReport } from "./clean-ups.ts";
import { inner, renderFields } from "../display/fields.ts";
import { renderTable } from "../display/table.ts";
import { health } from "./columns.ts";
import { hibernation, wakeUp } from "./hibernation.ts";
import type { ObjectReport, StepOwner } from "./step-owner.ts";
import { paint } from "../display/style.ts";
import type { Output } from "../display/terminal.ts";
import { formatAge, formatAgo, formatSince } from "../display/time.ts";
import { wrap } from "../display/wrap.ts";

/** Everything `shoot describe` knows; `-o json` and `-o yaml` print it as it is. */
export interface ShootDescription {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
  readonly created: string | undefined;
  readonly deleting: string | undefined;
  readonly status: string;
  readonly hibernation: ReturnType<typeof hibernation>;
  readonly provider: string;
  readonly region: string;
  readonly kubernetes: string;
  readonly seed: string | undefined;
  readonly technicalID: string | undefined;
  /** The seed that the Shoot is on its way to, or has come from and is not yet restored on. */
  readonly moving: string | undefined;
  readonly leadership: Leadership | undefined;
  /** Seeds that still hold something of the Shoot, but do not lead. */
  readonly leftovers: readonly string[];
  readonly takeover: Takeover | undefined;
  readonly address: string | undefined;
  readonly requests: readonly string[];
  readonly lastOperation: LastOperation | undefined;
  readonly blocking: (Blocking & StepOwner & { readonly report?: ObjectReport }) | undefined;
  /** The clean-ups of these seeds. */
  readonly cleanUps: readonly CleanUpReport[];
  readonly conditions: readonly Condition[];
  readonly lastErrors: readonly LastError[];
  readonly progress: FlowProgress | undefined;
  /** Why the flow could not be asked, where it could not. */
  readonly unanswered: string | undefined;
  /** Why an operation that the Shoot waits for has not begun. */
  readonly idle?: string | undefined;
  /** The processes of the local environment that do nothing, each with the remedy. */
  readonly ailing?: readonly string[];
}

/** What the Shoot itself says. */
export function describeShoot(shoot: Shoot) {
  const { metadata, spec } = shoot;
  const annotations = Object.entries(metadata.annotations ?? {});
  const verbs = annotations.filter(([key]) =>
    /^((shoot|confirmation|maintenance)\.)?gardener\.cloud\/(?!created-by)|^perennial\.dev\/(cancel-migration|force-takeover)$/.test(
      key,
    ),
  );
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid,
    created: metadata.creationTimestamp,
    hibernation: hibernation(shoot),
    deleting: metadata.deletionTimestamp,
    provider: spec.provider.type,
    region: spec.region,
    kubernetes: spec.kubernetes.version ?? "",
    requests: verbs.map(([key, value]) => `${key}=${value}`),
    ...describeStatus(shoot),
  };
}

function describeStatus(shoot: Shoot) {
  const status = shoot.status ?? {};
  return {
    status: health(shoot),
    seed: status.seedName ?? shoot.spec.seedName,
    technicalID: status.technicalID,
    moving: describeWay(moveOf(shoot)),
    leadership: status.leadership,
    leftovers: leftoversOf(shoot),
    takeover: status.takeover,
    address: status.advertisedAddresses?.[0]?.url,
    lastOperation: status.lastOperation,
    conditions: status.conditions ?? [],
    lastErrors: status.lastErrors ?? [],
  };
}

/** The seeds that may still hold something of the Shoot, but neither lead nor are about to. */
export function leftoversOf(shoot: Shoot): string[] {
  const move = moveOf(shoot);
  const inUse = [move.leader, move.is === "leaving" ? move.destination : undefined];
  return (shoot.status?.seeds ?? []).filter((seed) => !inUse.includes(seed));
}

/** The description as text: what it is, what was done, what is in the way, how it is. */
export function renderDescription(out: Output, shoot: ShootDescription, now: number): string {
  const { blocking, lastOperation: last } = shoot;
  const lines = [
    ...renderFields(
      {
        Name: shoot.name,
        Namespace: shoot.namespace,
        UID: shoot.uid,
        Created: formatAgo(shoot.created, now),
        "Deletion asked": shoot.deleting && formatAgo(shoot.deleting, now),
        Provider: `${shoot.provider}, region ${shoot.region}`,
        Kubernetes: shoot.kubernetes,
        Seed: [shoot.seed ?? "<none>", shoot.technicalID && `namespace ${shoot.technicalID}`]
          .filter(Boolean)
          .join(", "),
        Moving: shoot.moving,
        Leadership: shoot.leadership && describeLeadership(shoot.leadership, now),
        "Leftovers on": shoot.leftovers.join(", ") || undefined,
        "Taken over": shoot.takeover && describeTakeover(shoot.takeover, now),
        "API server": shoot.address,
        Requests: shoot.requests.join(", ") || undefined,
        Status: shoot.status,
        Hibernation: describeSleep(shoot),
        "Last operation": last
          ? `${last.type} ${last.state} (${last.progress}%), ${formatAgo(last.lastUpdateTime, now)}`
          : "<none>",
        "": last?.description,
      },
      out.width,
    ),
    ...(blocking ? ["", ...renderBlocking(out, shoot, blocking, now)] : []),
    ...renderNotes(out, sentence("No operation runs", shoot.idle)),
    ...renderCleanUps(out, `${shoot.namespace}/${shoot.name}`, shoot.cleanUps, now),
    ...renderNotes(out, sentence("The flow does not answer", shoot.unanswered)),
    ...renderNotes(out, shoot.ailing),
  ];
  return `${lines.join("\n")}\n${renderConditions(out, shoot.conditions, now)}${renderErrors(out, shoot.lastErrors, now)}`;
}

/** How the Shoot sleeps, and what wakes it up; undefined for one that is awake. */
function describeSleep({ hibernation, namespace, name }: ShootDescription): string | undefined {
  if (hibernation === "Awake") return undefined;
  return hibernation === "Waking Up" ? hibernation : `${hibernation}; ${wakeUp(namespace, name)}`;
}

/** Sentences that ask for attention, behind an empty line. */
function renderNotes(out: Output, notes: readonly string[] = []): string[] {
  return notes.length === 0 ? [] : ["", ...notes.map((note) => paint(out, "attention", wrap(note, out.width)))];
}

const sentence = (head: string, rest: string | undefined): string[] => (rest === undefined ? [] : [`${head}: ${rest}`]);

/** From where to where, and whether there is a way back; undefined for a Shoot that stays. */
function describeWay(move: Move): string | undefined {
  switch (move.is) {
    case "settled":
      return undefined;
    case "leaving":
      return `from ${move.source} to ${move.destination}; can be called back until the flip`;
    case "arriving":
      return `from ${move.source} to ${move.destination}; only forward from here`;
    case "returning":
      return `called back to ${move.leader}`;
  }
}

function describeLeadership({ seed, epoch, record, since, leaseSeconds }: Leadership, now: number): string {
  const lease = `lease ${leaseSeconds}s`;
  return [`${seed}, epoch ${epoch}`, since && formatSince(since, now), lease, `record ${record}`]
    .filter(Boolean)
    .join(", ");
}

function describeTakeover({ by, reason, at, sourceIsOff }: Takeover, now: number): string {
  const relied = sourceIsOff ? "on the word that the old seed is off" : "on the old seed's own fence";
  return `approved by ${by}, ${formatAgo(at, now)}, relying ${relied}: ${reason}`;
}

type Leadership = NonNullable<NonNullable<Shoot["status"]>["leadership"]>;
type Takeover = NonNullable<NonNullable<Shoot["status"]>["takeover"]>;
type Obstacle = NonNullable<ShootDescription["blocking"]>;

function renderBlocking(out: Output, shoot: ShootDescription, blocking: Obstacle, now: number): string[] {
  const { step, state, since, attempt, error } = blocking;
  const waits = state === "running";
  const length = since ? ` ${formatSince(since, now)}` : "";
  const subject = `${shoot.namespace}/${shoot.name}`;
  const details = renderFields(
    {
      Owner: blocking.owner,
      Object: renderObject(shoot, blocking),
      "It says": renderReport(blocking.report, now),
      Attempt: attempt === undefined ? undefined : String(attempt),
      Error: error?.message,
      Codes: error?.codes.join(", "),
      Remedy: state === "parked" ? `mend the cause, then: ${commandLines.retryStep(subject, step)}` : undefined,
    },
    inner(out),
  );
  const headline = `${waits ? "Waiting for" : "Blocked by"} step ${step}: ${state}${length}`;
  return [paint(out, waits ? "strong" : "bad", headline), ...details.map((line) => `  ${line}`)];
}

function renderObject(
  { technicalID = "?" }: ShootDescription,
  { kind, object, type, report }: Obstacle,
): string | undefined {
  if (kind === undefined) return undefined;
  const name = report?.object ?? object;
  return [kind, name && `${technicalID}/${name}`, type && `of type ${type}`].filter(Boolean).join(" ");
}

function renderReport(report: ObjectReport | undefined, now: number): string | undefined {
  if (!report) return undefined;
  const { state, lastUpdateTime, description } = report;
  return [state, lastUpdateTime && formatAgo(lastUpdateTime, now), description].filter(Boolean).join(", ");
}

function renderConditions(out: Output, conditions: readonly Condition[], now: number): string {
  if (conditions.length === 0) return "";
  return `\nConditions:\n${indent(
    renderTable(
      conditions,
      [
        { title: "TYPE", value: (one) => one.type },
        { title: "STATUS", value: (one) => one.status },
        { title: "SINCE", rank: 1, value: (one) => formatAge(one.lastTransitionTime, now) },
        { title: "REASON", rank: 2, value: (one) => one.reason },
        { title: "MESSAGE", value: (one) => one.message },
      ],
      inner(out),
    ),
  )}`;
}

function renderErrors(out: Output, errors: readonly LastError[], now: number): string {
  if (errors.length === 0) return "";
  return `\nLast errors:\n${indent(
    renderTable(
      errors,
      [
        { title: "STEP", value: (one) => one.taskID },
        { title: "SEEN", rank: 2, value: (one) => formatAge(one.lastUpdateTime, now) },
        { title: "CODES", rank: 1, value: (one) => one.codes?.join(",") },
        { title: "DESCRIPTION", value: (one) => one.description },
      ],
      inner(out),
    ),
  )}`;
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, "  ");
}

import { isDeepStrictEqual } from "node:util";
import { needsTrigger } from "../../activities/extensions/trigger.ts";
import { TASKS_ANNOTATION } from "../../api/annotations.ts";
import { contractOf, definitionOf, type AppliedKind, type ExtensionObject } from "../../api/extensions/kinds.ts";
import { Cluster } from "../../api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { clusterObject, components, infrastructureObject, type ControlPlaneContext } from "../../components/index.ts";
import { inWords, refOf, refTo, type KubeClient } from "../../kube/index.ts";
import type { PlannedStep } from "../../flow/plan.ts";
import type { Action, ShootFlow } from "../../workflows/actions.ts";
import { explainFully } from "../exit.ts";

/** What a step would do: change objects, ask an extension's controller to act, or look and find everything in place. */
export interface Judgement {
  readonly would: "change" | "ask" | "look";
  readonly why?: string;
}

/**
 * From where a step is judged: the seed's cluster, by the run's fenced client, because a seed refuses dry runs of earlier
 * epochs as well; and what the Shoot's objects are made from.
 */
export interface Judging {
  readonly seedClient: Pick<KubeClient, "read" | "apply" | "list">;
  readonly context: ControlPlaneContext;
}

/** A step of a plan with what it would do, as far as that is known beforehand. */
export type JudgedStep = PlannedStep & Partial<Judgement>;

/** The steps, each that is not skipped with what it would do; where a dry run is refused, the step says so. */
export async function judgeSteps(
  judging: Judging,
  { steps: rows }: ShootFlow,
  steps: readonly PlannedStep[],
): Promise<JudgedStep[]> {
  return await Promise.all(
    steps.map(async (step): Promise<JudgedStep> => {
      const action = rows.get(step.step)?.do;
      if (step.skipped || action === undefined) return step;
      const judgement = await judge(judging, action).catch((error: unknown) => ({
        why: `not known: ${explainFully(error)}`,
      }));
      return { ...step, ...judgement };
    }),
  );
}

/**
 * Judges what a step of Reconcile would do, and touches nothing: its objects are applied as dry runs and compared with those
 * that are there. Undefined for a step of which only a run can tell.
 */
export async function judge(judging: Judging, action: Action): Promise<Judgement | undefined> {
  if (action.verb === "deploy") return await judgeComponent(judging, components[action.component]);
  if (action.verb === "apply") return await judgeExtension(judging, action.kind);
  return action.verb === "call" && action.activity === "syncCluster" ? await judgeCluster(judging) : undefined;
}

/** What runs in the Shoot's own cluster is not compared: no client of it is at hand. */
async function judgeComponent(judging: Judging, { target, objects }: (typeof components)[keyof typeof components]) {
  if (target === "shoot") return undefined;
  const found = await Promise.all(objects(judging.context).map((object) => compare(judging, object)));
  return asChange(found.flat());
}

async function judgeExtension(judging: Judging, kind: AppliedKind): Promise<Judgement> {
  if (contractOf(kind).trigger === "always") return { would: "ask", why: "its controller is asked in every operation" };
  const { context, seedClient } = judging;
  const existing = await seedClient.list(definitionOf(kind), { namespace: context.namespace });
  const wanted = kind === "Infrastructure" ? [led(infrastructureObject(context), existing)] : [];
  const changes = (await Promise.all(wanted.map((object) => compare(judging, object)))).flat();
  const tasks = (context.shoot.metadata.annotations?.[TASKS_ANNOTATION] ?? "").split(",");
  const asked = tasks.some((task) => task.startsWith(`deploy${kind}`));
  const unsettled = existing.find((object) => needsTrigger({ kind, existing: object, asked }));
  if (changes.length > 0 || unsettled === undefined) return asChange(changes);
  const { state = "missing" } = unsettled.status?.lastOperation ?? {};
  return {
    would: "ask",
    why: asked ? `the Shoot asks for it (${TASKS_ANNOTATION})` : `its last operation is ${state}`,
  };
}

/** Who leads stays as it is in a Reconcile. */
function led(object: KubeObject, existing: readonly ExtensionObject[]): KubeObject {
  const found = existing.find(({ metadata }) => metadata.name === object.metadata.name);
  const { leadership } = (found?.["spec"] ?? {}) as { leadership?: unknown };
  return leadership === undefined ? object : { ...object, spec: { ...(object["spec"] as object), leadership } };
}

async function judgeCluster({ seedClient, context }: Judging): Promise<Judgement> {
  const { namespace } = context;
  const { shoot, seed, cloudProfile } = clusterObject(context).spec;
  const cluster = await seedClient.read(refTo(Cluster, { name: namespace }));
  if (cluster === undefined) return { would: "change", why: `Cluster ${namespace} is made` };
  const known = cluster.spec;
  const fields = [
    ...differences(known.shoot.spec, shoot.spec, ["shoot", "spec"]),
    ...differences(known.seed?.spec, seed?.spec, ["seed", "spec"]),
    ...differences(known.cloudProfile.spec, cloudProfile.spec, ["cloudProfile", "spec"]),
  ];
  return asChange(fields.length === 0 ? [] : [`Cluster ${namespace}: ${fields.join(", ")}`]);
}

/** What applying an object would change of it. */
async function compare({ seedClient }: Judging, object: KubeObject): Promise<string[]> {
  const ref = refOf(object);
  const existing = await seedClient.read(ref);
  if (existing === undefined) return [`${inWords(ref)} is made`];
  const applied = await seedClient.apply(object, { dryRun: true });
  const fields = differences(lasting(existing), lasting(applied));
  return fields.length === 0 ? [] : [`${inWords(ref)}: ${fields.join(", ")}`];
}

/** Of an object, what is neither the API server's nor notes of those who wait for it. */
function lasting({ metadata: { labels }, status: _, ...rest }: KubeObject & { status?: unknown }): object {
  return { ...rest, metadata: { labels } };
}

/** The fields in which two values differ, as paths, the details of each left out. */
function differences(before: unknown, after: unknown, path: readonly string[] = []): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (path.length === DEPTH || !isFields(before) || !isFields(after)) return [path.join(".")];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => differences(before[key], after[key], [...path, key]));
}

const DEPTH = 4;

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const asChange = (changes: readonly string[]): Judgement =>
  changes.length === 0 ? { would: "look" } : { would: "change", why: changes.join("; ") };

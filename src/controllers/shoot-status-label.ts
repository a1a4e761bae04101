import { SHOOT_STATUS_LABEL } from "../api/labels.ts";
import { Shoot } from "../api/index.ts";
import { createObjectController, defineKind, refOf, typeMeta, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";

/** The words of the label, the worst last. */
const words = ["healthy", "progressing", "unknown", "unhealthy"] as const;

type Word = (typeof words)[number];

/** Keeps the label by which users see and select the health of Shoots (Gardener: the Shoot Status Label controller). */
export function createShootStatusLabelController(deps: { readonly gardenClient: KubeClient; readonly log: Logger }) {
  const { gardenClient, log } = deps;
  return createObjectController({
    name: "shoot-status-label",
    client: gardenClient,
    kind: LabelledShoot,
    keep: essential,
    log,
    async reconcile(shoot) {
      const { labels = {}, uid } = shoot.metadata;
      const { word } = shoot;
      if (word === undefined || labels[SHOOT_STATUS_LABEL] === word) return undefined;
      await gardenClient.patch(refOf(shoot), { metadata: { uid, labels: { [SHOOT_STATUS_LABEL]: word } } });
      return undefined;
    },
  });
}

/** The health of a Shoot in one word: the worst of its operation and its conditions. Pure. */
export function statusOf({ status = {} }: Pick<LabelledShoot, "status">): Word {
  const { lastOperation, lastErrors = [], conditions = [] } = status;
  if (lastErrors.length > 0) return "unhealthy";
  // While a Shoot is made or deleted, its conditions say nothing that matters.
  if (lastOperation === undefined || isMadeOrDeleted(lastOperation)) return "healthy";
  const worst = Math.max(0, ...conditions.map((condition) => words.indexOf(wordOf(condition.status))));
  return words[worst] ?? "unknown";
}

/** One that was made keeps operation Create, which has succeeded, until the next one. */
const isMadeOrDeleted = ({ type, state }: Pick<LastOperation, "type" | "state">): boolean =>
  type === "Delete" || (type === "Create" && state !== "Succeeded");

type LastOperation = NonNullable<NonNullable<Shoot["status"]>["lastOperation"]>;

function wordOf(status: string): Word {
  if (status === "True") return "healthy";
  if (status === "Progressing") return "progressing";
  return status === "False" ? "unhealthy" : "unknown";
}

interface LabelledShoot extends Pick<Shoot, "apiVersion" | "kind" | "metadata" | "status"> {
  /** How it is, once it is remembered. Its status is not: its seed may write anything there. */
  readonly word?: Word;
  readonly [field: string]: unknown;
}

/** Shoots, of which this is all that is looked at: a garden has thousands. */
const LabelledShoot = defineKind<LabelledShoot>({ ...typeMeta(Shoot), scope: "Namespaced" });

function essential({ apiVersion, kind, metadata, status }: LabelledShoot): LabelledShoot {
  const { name, namespace, uid, labels = {} } = metadata;
  const label = labels[SHOOT_STATUS_LABEL];
  const kept = { name, namespace, ...(uid && { uid }), ...(label && { labels: { [SHOOT_STATUS_LABEL]: label } }) };
  return { apiVersion, kind, metadata: kept, word: statusOf({ status }) };
}

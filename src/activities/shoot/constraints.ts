import { listed } from "../../api/counted.ts";
import type { Condition } from "../../api/index.ts";
import { MANAGED_BY_LABEL, NO_CLEANUP_LABEL } from "../../api/labels.ts";
import { constraintTypes } from "../../api/shoot/health.ts";
import { selectsLabels } from "../../api/schema/label-selector.ts";
import type { KubeClient } from "../../kube/index.ts";
import { Namespace } from "../../kube/kinds.ts";
import type { Readiness } from "../waits/readiness.ts";
import { unlessSame } from "./health.ts";
import {
  toJudgedConfiguration,
  webhookConfigurations,
  type JudgedRule,
  type JudgedWebhook,
  type WebhookConfiguration,
} from "./judged-webhooks.ts";
import { LONGEST_FOR_LEASES, neededWrites, writingNamespaces, type NeededWrite } from "./needed-writes.ts";

/**
 * Whether a Shoot could wake up again, and get new nodes: a webhook that refuses what nodes and system components write while its own
 * pods do not run, or lets it pass when these have long given up, keeps them from ever running (Gardener: IsProblematicWebhook).
 */
export async function examineConstraints(shoot: Pick<KubeClient, "list">): Promise<Readiness> {
  const [namespaces, ...configurations] = await Promise.all([
    shoot.list(Namespace, { labelSelector: `${NAME_LABEL} in (${writingNamespaces.join(",")})` }),
    ...webhookConfigurations.map((type) => shoot.list(type, { keep: toJudgedConfiguration })),
  ]);
  const places = new Map(namespaces.map(({ metadata: { name, labels = {} } }) => [name, labels]));
  const faults = configurations.flat().flatMap((one) => obstaclesIn(one, places));
  if (faults.length === 0) return { reached: true };
  return {
    reached: false,
    message: `Nodes could not join, or system components not start, without webhooks that refuse requests, or hold them up for long, while they do not answer: ${listed(faults.sort(), MOST_NAMED)}. Let them ignore failures, with a timeoutSeconds of at most ${LONGEST_FOR_LEASES}, or leave out kube-system, default and kube-node-lease by their namespaceSelector, and what the Shoot needs in no namespace, such as nodes, by their rules.`,
  };
}

const MOST_NAMED = 5;

/** The label by which the API server gives each namespace its name. */
const NAME_LABEL = "kubernetes.io/metadata.name";

type Labels = Readonly<Record<string, string>>;

/** The labels of the namespaces that a Shoot needs to write to, by name. */
type Places = ReadonlyMap<string, Labels>;

function obstaclesIn({ kind, metadata, webhooks = [] }: WebhookConfiguration, places: Places): string[] {
  if (isOurs(metadata.labels)) return [];
  return webhooks.flatMap((webhook) => {
    const resource = blockedBy(webhook, places);
    return resource === undefined ? [] : [`webhook ${webhook.name} of ${kind} ${metadata.name} for ${resource}`];
  });
}

const isOurs = (labels: Labels = {}): boolean =>
  labels[NO_CLEANUP_LABEL] === "true" || labels[MANAGED_BY_LABEL] !== undefined;

/** What is needed first of all that the webhook can refuse. */
function blockedBy(webhook: JudgedWebhook, places: Places): string | undefined {
  const { objectSelector, namespaceSelector } = webhook;
  const rules = (webhook.rules ?? []).filter(isAboutWrites);
  if (rules.length === 0) return undefined;
  const within = new Set(writingNamespaces.filter((name) => selectsLabels(namespaceSelector, labelsOf(name, places))));
  const hit = neededWrites.find(
    (one) =>
      failsWrongly(webhook, one) &&
      (one.namespace === undefined || within.has(one.namespace)) &&
      rules.some((rule) => covers(rule, one)) &&
      selectsLabels(objectSelector, isNamespace(one) ? labelsOf(one.namespace, places) : one.labels),
  );
  if (hit === undefined) return undefined;
  return hit.namespace === undefined ? hit.resource : `${hit.resource} in ${hit.namespace}`;
}

const labelsOf = (name: string, places: Places): Labels => places.get(name) ?? { [NAME_LABEL]: name };

const isNamespace = (one: NeededWrite): one is NeededWrite & Required<Pick<NeededWrite, "namespace">> =>
  one.namespace !== undefined && one.group === "" && one.resource.split("/")[0] === "namespaces";

/** Whether a webhook that does not answer has the request refused, or given up by who sent it. */
const failsWrongly = (
  { failurePolicy, timeoutSeconds = 10 }: JudgedWebhook,
  { longest = LONGEST }: NeededWrite,
): boolean => failurePolicy !== "Ignore" || timeoutSeconds > longest;

/** In seconds. */
const LONGEST = 15;

const isAboutWrites = ({ operations = [] }: JudgedRule): boolean =>
  operations.some((operation) => ["CREATE", "UPDATE", "*"].includes(operation));

function covers({ apiGroups = [], resources = [], scope = "*" }: JudgedRule, one: NeededWrite): boolean {
  if (!apiGroups.some((group) => group === one.group || group === "*")) return false;
  const [main = "", part] = one.resource.split("/");
  const forms = part === undefined ? [main, "*", "*/*"] : [one.resource, `${main}/*`, `*/${part}`, "*/*"];
  return (
    resources.some((resource) => forms.includes(resource)) &&
    ["*", one.namespace === undefined || isNamespace(one) ? "Cluster" : "Namespaced"].includes(scope)
  );
}

/**
 * The constraints of a Shoot after this look; of one that hibernates nothing was looked at. While its API server does not answer, and
 * where others write them, they stay.
 */
export function constraintsAfter(
  before: readonly Condition[],
  seen: Readiness | "hibernated" | undefined,
  now: Date,
): readonly Condition[] {
  if (seen === undefined) return before;
  const own = constraintTypes.map((type) => {
    const earlier = before.find((one) => one.type === type);
    return unlessSame(earlier, { type, ...wordsOn(seen) }, now);
  });
  return [...own, ...before.filter(({ type }) => !constraintTypes.some((one) => one === type))];
}

function wordsOn(seen: Readiness | "hibernated"): Pick<Condition, "status" | "reason" | "message"> {
  if (seen === "hibernated")
    return { status: "True", reason: "ConstraintNotChecked", message: "The Shoot is hibernated." };
  if (!seen.reached) return { status: "False", reason: "ProblematicWebhooks", message: seen.message };
  return { status: "True", reason: "NoProblematicWebhooks", message: "No webhook keeps nodes from joining." };
}

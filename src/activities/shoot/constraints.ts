import { listed } from "../../api/counted.ts";
import type { Condition } from "../../api/index.ts";
import { MANAGED_BY_LABEL, NO_CLEANUP_LABEL } from "../../api/labels.ts";
import { SYSTEM_NAMESPACE } from "../../api/names.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { constraintTypes } from "../../api/shoot/health.ts";
import { selectsLabels, type LabelSelector } from "../../api/schema/label-selector.ts";
import type { TypeRef } from "../../api/schema/kind.ts";
import type { KubeClient } from "../../kube/index.ts";
import { Namespace } from "../../kube/kinds.ts";
import type { Readiness } from "../waits/readiness.ts";
import { unlessSame } from "./health.ts";

/** A webhook of a Shoot's users, as far as it can refuse what nodes and system components need. */
interface UsersWebhook {
  readonly name: string;
  readonly failurePolicy?: string;
  readonly timeoutSeconds?: number;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly rules?: readonly Rule[];
}

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly operations?: readonly string[];
  readonly scope?: string;
}

/** A webhook configuration of either kind. */
export interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly UsersWebhook[];
}

const admission = { apiVersion: "admissionregistration.k8s.io/v1" } as const;

/** The kinds of webhook configurations. */
export const webhookConfigurations: readonly TypeRef<WebhookConfiguration>[] = [
  { ...admission, kind: "ValidatingWebhookConfiguration" },
  { ...admission, kind: "MutatingWebhookConfiguration" },
];

/**
 * Whether a Shoot could wake up again, and get new nodes: a webhook that refuses what nodes and system components write while its own
 * pods do not run, or lets it pass when these have long given up, keeps them from ever running (Gardener: IsProblematicWebhook).
 */
export async function examineConstraints(shoot: Pick<KubeClient, "list">): Promise<Readiness> {
  const [namespaces, ...configurations] = await Promise.all([
    shoot.list(Namespace),
    ...webhookConfigurations.map((type) => shoot.list(type)),
  ]);
  const labelsOf = (namespace: string) =>
    namespaces.find(({ metadata }) => metadata.name === namespace)?.metadata.labels ?? {};
  const faults = configurations.flat().flatMap((one) => obstaclesIn(one, labelsOf));
  if (faults.length === 0) return { reached: true };
  return {
    reached: false,
    message: `Nodes could not join, or system components not start, without webhooks that refuse requests, or hold them up for long, while they do not answer: ${listed(faults.sort(), MOST_NAMED)}. Let them ignore failures, with a timeoutSeconds of at most ${LONGEST_FOR_LEASES}, or leave out kube-system by their namespaceSelector and nodes by their rules.`,
  };
}

const MOST_NAMED = 5;

function obstaclesIn(
  { kind, metadata, webhooks = [] }: WebhookConfiguration,
  labelsOf: (namespace: string) => Labels,
): string[] {
  if (isOurs(metadata.labels)) return [];
  return webhooks.flatMap((webhook) => {
    const resource = blockedBy(webhook, labelsOf);
    return resource === undefined ? [] : [`webhook ${webhook.name} of ${kind} ${metadata.name} for ${resource}`];
  });
}

type Labels = Readonly<Record<string, string>>;

const isOurs = (labels: Labels = {}): boolean =>
  labels[NO_CLEANUP_LABEL] === "true" || labels[MANAGED_BY_LABEL] !== undefined;

/** What is needed first of all that the webhook can refuse. */
function blockedBy(webhook: UsersWebhook, labelsOf: (namespace: string) => Labels): string | undefined {
  const { objectSelector, namespaceSelector, rules = [] } = webhook;
  const hit = needed.find(
    (one) =>
      failsWrongly(webhook, one) &&
      (one.namespace === undefined || selectsLabels(namespaceSelector, labelsOf(one.namespace))) &&
      selectsLabels(objectSelector, one.labels) &&
      rules.some((rule) => covers(rule, one)),
  );
  if (hit === undefined) return undefined;
  return hit.namespace === undefined ? hit.resource : `${hit.resource} in ${hit.namespace}`;
}

/** Whether a webhook that does not answer has the request refused, or given up by who sent it. */
const failsWrongly = ({ failurePolicy, timeoutSeconds = 10 }: UsersWebhook, { longest = LONGEST }: Needed): boolean =>
  failurePolicy !== "Ignore" || timeoutSeconds > longest;

function covers({ apiGroups = [], resources = [], operations = [], scope = "*" }: Rule, one: Needed): boolean {
  const [main = "", part] = one.resource.split("/");
  const forms = part === undefined ? [main, "*", "*/*"] : [one.resource, `${main}/*`, `*/${part}`, "*/*"];
  return (
    operations.some((operation) => ["CREATE", "UPDATE", "*"].includes(operation)) &&
    apiGroups.some((group) => group === one.group || group === "*") &&
    resources.some((resource) => forms.includes(resource)) &&
    ["*", one.namespace === undefined ? "Cluster" : "Namespaced"].includes(scope)
  );
}

interface Needed {
  readonly group: string;
  readonly resource: string;
  /** Undefined for what is in none. */
  readonly namespace?: string;
  /** Those that the objects have at least. */
  readonly labels: Labels;
  /** In seconds: for how long a webhook may hold up the request; 15 unless told otherwise, as upstream. */
  readonly longest?: number;
}

/** In seconds. */
const LONGEST = 15;

/** In seconds: a controller gives up the request by which it stays the leader after 5, as upstream. */
const LONGEST_FOR_LEASES = 3;

/** In seconds: a kubelet gives up a heartbeat after 10. */
const LONGEST_FOR_HEARTBEATS = 9;

const leases = { group: "coordination.k8s.io", resource: "leases", labels: {} };

const deployed = { [NO_CLEANUP_LABEL]: "true" };

/** What a Shoot writes on its way to ready nodes with a network and DNS: kubelets, flows, controllers. */
const needed: readonly Needed[] = [
  { group: "", resource: "nodes", labels: {} },
  { group: "", resource: "nodes/status", labels: {}, longest: LONGEST_FOR_HEARTBEATS },
  { group: "certificates.k8s.io", resource: "certificatesigningrequests", labels: {} },
  { ...leases, namespace: "kube-node-lease", longest: LONGEST_FOR_HEARTBEATS },
  { ...leases, namespace: SYSTEM_NAMESPACE, longest: LONGEST_FOR_LEASES },
  { group: "rbac.authorization.k8s.io", resource: "clusterroles", labels: deployed },
  { group: "rbac.authorization.k8s.io", resource: "clusterrolebindings", labels: deployed },
  ...["configmaps", "pods", "pods/binding", "pods/status", "secrets", "serviceaccounts", "services"].map(
    (resource) => ({ group: "", resource, namespace: SYSTEM_NAMESPACE, labels: deployed }),
  ),
  ...["daemonsets", "deployments", "replicasets"].map((resource) => ({
    ...{ group: "apps", resource, namespace: SYSTEM_NAMESPACE, labels: deployed },
  })),
];

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

import {
  CANCEL_MIGRATION_ANNOTATION,
  CREATED_BY_ANNOTATION,
  FORCE_TAKEOVER_ANNOTATION,
  KUBECONFIG_REVOCATION_ANNOTATION,
  MACHINE_CONTROLLER_MANAGER_ANNOTATION,
  OWN_PREFIX,
  RESOURCE_MANAGER_ANNOTATION,
  TUNNEL_ANNOTATION,
} from "../api/annotations.ts";
import {
  BackupEntry,
  CredentialsBinding,
  DomainReservation,
  NamespacedCloudProfile,
  Quota,
  SecretBinding,
  Shoot,
  ShootBastion,
  ShootState,
  type KubeObject,
} from "../api/index.ts";
import { GARDEN_CREDENTIALS_LABEL } from "../api/labels.ts";

/**
 * The keys with our prefix that users may write, by the kind of object; each is a documented request, and what it asks for is judged
 * by the rule that is named here. All other keys are written by our processes, which rely on them.
 */
export const userKeys: Readonly<Record<string, readonly string[]>> = {
  [Shoot.plural]: [
    CANCEL_MIGRATION_ANNOTATION, // shoot/migration.ts
    FORCE_TAKEOVER_ANNOTATION, // shoot/migration.ts
    KUBECONFIG_REVOCATION_ANNOTATION, // revokes kubeconfigs of this Shoot only
    MACHINE_CONTROLLER_MANAGER_ANNOTATION, // "true" counts, and is for this Shoot only
    RESOURCE_MANAGER_ANNOTATION, // "true" counts, and is for this Shoot only
    TUNNEL_ANNOTATION, // shoot/requests.ts
  ],
  secrets: [GARDEN_CREDENTIALS_LABEL], // the Secret's author lends it to ShootClusters of its namespace
};

/** Kinds whose objects users write, or could be given the right to write, next to our processes. */
const kinds = [
  BackupEntry,
  CredentialsBinding,
  DomainReservation,
  NamespacedCloudProfile,
  Quota,
  SecretBinding,
  Shoot,
  ShootBastion,
  ShootState,
];

/** Kinds of which the author is written down. */
const signed = [Shoot, ShootBastion];

/** The right that our processes have, and users who may do everything. The resource does not exist. */
const right = { group: "perennial.dev", resource: "reservedkeys", verb: "update" } as const;

/**
 * The garden's policy for what objects of users state about themselves: annotations, labels and finalizers with our prefix are
 * written by our processes, but for {@link userKeys}, and who created an object stays what it is. A policy and not a webhook: Secrets
 * and ConfigMaps are written often, and must be writable while no manager runs.
 */
export function reservedKeysPolicy(): readonly KubeObject[] {
  const name = "perennial-reserved-keys";
  return [
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicy",
      metadata: { name },
      spec: {
        failurePolicy: "Fail",
        matchConstraints: { resourceRules: rules() },
        variables: [
          { name: "open", expression: `${JSON.stringify(userKeys)}[?request.resource.resource].orValue([])` },
          ...["annotations", "labels"].flatMap(variablesOfMap),
          { name: "finalizers", expression: "object.?metadata.?finalizers.orValue([])" },
          { name: "oldFinalizers", expression: ofOld("finalizers", "[]") },
          { name: "reserved", expression: reservedKeys },
        ],
        validations: [
          {
            expression: `variables.reserved.size() == 0 || ${isOurs}`,
            reason: "Forbidden",
            messageExpression: `"metadata: " + variables.reserved.join(", ") + ": keys that begin with ${OWN_PREFIX} are written by Perennial's processes: leave them as they are" + ${openInWords}`,
          },
          {
            expression: `!(request.resource.resource in ${JSON.stringify(signed.map(({ plural }) => plural))}) || ${keepsCreator}`,
            reason: "Forbidden",
            messageExpression: `"metadata.annotations[${CREATED_BY_ANNOTATION}]: names who created the object, and cannot be changed: leave it as it is"`,
          },
        ],
      },
    },
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name },
      spec: { policyName: name, validationActions: ["Deny"] },
    },
    ...rights(),
  ];
}

function rules(): object[] {
  const groups = Map.groupBy(kinds, ({ group }) => group);
  const ofGroup = ([group, members]: readonly [string, readonly { readonly plural: string }[]]) =>
    rule(
      group,
      members.map(({ plural }) => plural),
    );
  return [rule("", ["configmaps", "secrets"]), ...[...groups].map(ofGroup)];
}

const rule = (group: string, resources: readonly string[]) => ({
  apiGroups: [group],
  apiVersions: ["*"],
  operations: ["CREATE", "UPDATE"],
  resources,
});

const ofOld = (field: string, none: string): string =>
  `oldObject == null ? ${none} : oldObject.?metadata.?${field}.orValue(${none})`;

const oldName = (field: string): string => `old${field.charAt(0).toUpperCase()}${field.slice(1)}`;

const variablesOfMap = (field: string) => [
  { name: field, expression: `object.?metadata.?${field}.orValue({})` },
  { name: oldName(field), expression: ofOld(field, "{}") },
];

const isReserved = `k.startsWith("${OWN_PREFIX}") && !(k in variables.open)`;

const touched = (field: string): string => {
  const [now, before] = [`variables.${field}`, `variables.${oldName(field)}`];
  return [
    `${now}.filter(k, ${isReserved} && ${before}[?k] != ${now}[?k])`,
    `${before}.filter(k, ${isReserved} && !(k in ${now}))`,
  ].join(" + ");
};

/** Keys that a request sets, changes or removes. */
const reservedKeys = [
  touched("annotations"),
  touched("labels"),
  `variables.finalizers.filter(k, ${isReserved} && !(k in variables.oldFinalizers))`,
  `variables.oldFinalizers.filter(k, ${isReserved} && !(k in variables.finalizers))`,
].join(" + ");

const isOurs = `authorizer.group("${right.group}").resource("${right.resource}").namespace(object.metadata.?namespace.orValue("")).check("${right.verb}").allowed()`;

const openInWords = '(variables.open.size() == 0 ? "" : "; users may write " + variables.open.join(", "))';

const createdBy = `[?"${CREATED_BY_ANNOTATION}"]`;

const keepsCreator = `(oldObject == null ? variables.annotations${createdBy}.orValue(request.userInfo.username) == request.userInfo.username : variables.annotations${createdBy} == variables.oldAnnotations${createdBy})`;

/** Who of the garden has the right: its processes, and its seeds for the objects that they may write at all. */
function rights(): KubeObject[] {
  const name = "perennial:reserved-keys";
  const apiGroup = "rbac.authorization.k8s.io";
  return [
    {
      apiVersion: `${apiGroup}/v1`,
      kind: "ClusterRole",
      metadata: { name },
      rules: [{ apiGroups: [right.group], resources: [right.resource], verbs: [right.verb] }],
    },
    {
      apiVersion: `${apiGroup}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name },
      roleRef: { apiGroup, kind: "ClusterRole", name },
      subjects: [
        ...["manager", "worker-garden"].map((account) => ({
          kind: "ServiceAccount",
          name: account,
          namespace: "perennial",
        })),
        { apiGroup, kind: "Group", name: "system:serviceaccounts:perennial-seeds" },
      ],
    },
  ];
}

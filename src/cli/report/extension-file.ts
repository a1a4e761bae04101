import { ControllerRegistration, type KubeObject, type Raw } from "../../api/index.ts";
import { isNamedObject } from "../../api/schema/meta.ts";

/**
 * What a file of manifests installs: ControllerRegistrations and ControllerDeployments as they are, and an `Extension` of upstream's operator
 * (operator.gardener.cloud) as the two that upstream's operator makes of it. Other objects are refused by name: they are for
 * another cluster, or for another tool.
 */
export function toRegistrations(documents: readonly unknown[]): readonly KubeObject[] {
  return documents.flatMap((object, index) => {
    if (!isNamedObject(object))
      throw new Error(`document ${index + 1} is no object: apiVersion, kind or metadata.name is missing`);
    if (object.apiVersion === "operator.gardener.cloud/v1alpha1" && object.kind === "Extension")
      return fromOperator(object);
    if (registrable.has(object.kind) && object.apiVersion.split("/")[0] === ControllerRegistration.group)
      return [{ ...object, apiVersion: ControllerRegistration.apiVersion }];
    throw new Error(
      `${object.kind} ${object.metadata.name} of ${object.apiVersion} is no registration of an extension`,
    );
  });
}

/** What of a file is not installed, in sentences: an admission webhook of upstream's operator runs in the garden's own cluster. */
export function droppedParts(documents: readonly unknown[]): readonly string[] {
  return documents
    .filter(isNamedObject)
    .filter(({ apiVersion, kind }) => apiVersion === "operator.gardener.cloud/v1alpha1" && kind === "Extension")
    .filter((object) => (object as OperatorExtension).spec?.deployment?.admission !== undefined)
    .map(({ metadata }) => `spec.deployment.admission of Extension ${metadata.name} is left out: install it yourself`);
}

const registrable: ReadonlySet<string> = new Set(["ControllerRegistration", "ControllerDeployment"]);

interface OperatorExtension extends KubeObject {
  readonly spec?: {
    readonly resources?: readonly Raw[];
    readonly deployment?: {
      readonly admission?: Raw;
      readonly extension?: {
        readonly helm?: { readonly ociRepository?: Raw };
        readonly values?: Raw;
        readonly policy?: string;
        readonly seedSelector?: Raw;
        readonly injectGardenKubeconfig?: boolean;
      };
    };
  };
}

/** The parts for the garden's own cluster (`admission`, `runtimeClusterValues`) are the operator's: they stay behind. */
function fromOperator({ metadata: { name }, spec }: OperatorExtension): KubeObject[] {
  const { helm, values, policy, seedSelector, injectGardenKubeconfig } = spec?.deployment?.extension ?? {};
  const core = { apiVersion: ControllerRegistration.apiVersion, metadata: { name } };
  if (helm?.ociRepository === undefined)
    throw new Error(`Extension ${name} has no chart for seeds: spec.deployment.extension.helm`);
  return [
    {
      ...core,
      kind: "ControllerDeployment",
      helm: { ociRepository: helm.ociRepository, ...(values && { values }) },
      ...(injectGardenKubeconfig === undefined ? {} : { injectGardenKubeconfig }),
    },
    {
      ...core,
      kind: "ControllerRegistration",
      spec: {
        resources: spec?.resources ?? [],
        deployment: { deploymentRefs: [{ name }], ...(policy && { policy }), ...(seedSelector && { seedSelector }) },
      },
    },
  ];
}

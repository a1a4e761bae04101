import type { KubeObject } from "../../api/schema/meta.ts";
import { components, mainVolumeClaim, type ControlPlaneContext } from "../../components/index.ts";
import type { KubeClient } from "../../kube/index.ts";

/**
 * The claim of etcd's volume as its StatefulSet would make it: webhooks of providers may have given that set's template
 * another size or storage class, so the API server is asked by a dry run.
 */
export async function volumeClaim(seedClient: KubeClient, context: ControlPlaneContext): Promise<KubeObject> {
  const claim = mainVolumeClaim(context);
  const set = components.etcd.objects(context).find(({ kind, metadata }) => isMain(kind, metadata.name));
  if (set === undefined)
    throw new Error(`cannot describe etcd's volume of ${context.namespace}: there is no etcd-main`);
  const { volumeClaimTemplates = [] } = (await seedClient.apply(set, { dryRun: true }))["spec"] as Templates;
  const template = volumeClaimTemplates.find(({ metadata }) => claim.metadata.name === `${metadata.name}-etcd-main-0`);
  return template === undefined ? claim : { ...claim, spec: template.spec };
}

interface Templates {
  readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string }; readonly spec: object }[];
}

const isMain = (kind: string, name: string): boolean => kind === "StatefulSet" && name === "etcd-main";

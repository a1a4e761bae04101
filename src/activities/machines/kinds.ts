import type { KubeObject, NamespacedMeta } from "../../api/schema/meta.ts";
import { defineKind } from "../../kube/index.ts";

/** An object of machine-controller-manager's API, as far as it is kept: status and owners are made anew. */
export interface MachineObject extends KubeObject {
  readonly metadata: NamespacedMeta;
  readonly spec?: { readonly replicas?: number; readonly providerID?: string };
  readonly status?: { readonly replicas?: number };
}

const define = (kind: string) =>
  defineKind<MachineObject>({ apiVersion: "machine.sapcloud.io/v1alpha1", kind, scope: "Namespaced" });

/** Machines of one sort that are replaced by others little by little; made by a provider's Worker controller. */
export const MachineDeployment = define("MachineDeployment");

/** One version of a MachineDeployment. */
export const MachineSet = define("MachineSet");

/** A machine: once it has a provider's id, something outside stands for it. */
export const Machine = define("Machine");

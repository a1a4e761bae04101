import type { KubeObject, NamespacedMeta } from "../../src/api/schema/meta.ts";
import { defineKind, type KubeClient } from "../../src/kube/index.ts";
import { eventually } from "./eventually.ts";

/** A custom resource of the tests: it has a status, a schema and a rule. */
export interface Widget extends KubeObject {
  readonly metadata: NamespacedMeta;
  readonly spec: { readonly size?: number; readonly colour?: string };
  readonly status?: { readonly ready?: boolean };
}

/** The kind of {@link Widget}. */
export const Widget = defineKind<Widget>({ apiVersion: "test.perennial.dev/v1", kind: "Widget", scope: "Namespaced" });

/** Another kind of the same shape. */
export const Gadget = defineKind<Widget>({ apiVersion: "test.perennial.dev/v1", kind: "Gadget", scope: "Namespaced" });

/** A widget, not yet in any cluster. */
export function widget(namespace: string, name: string, spec: Widget["spec"] = {}): Widget {
  return { apiVersion: Widget.apiVersion, kind: Widget.kind, metadata: { namespace, name }, spec };
}

/** Installs the kind of widgets and waits until the server serves it. */
export const installWidgets = (client: KubeClient): Promise<void> => installKind(client, Widget);

/** Installs one of the two kinds and waits until the server serves it. */
export async function installKind(client: KubeClient, kind: typeof Widget): Promise<void> {
  await client.apply(definition(kind.kind));
  await eventually(() => client.list(kind));
}

const spec = {
  type: "object",
  properties: { size: { type: "integer", maximum: 100 }, colour: { type: "string" } },
  "x-kubernetes-validations": [
    { rule: "!has(self.colour) || self.colour != 'none'", message: "a widget has a colour" },
  ],
};

const definition = (kind: string) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${kind.toLowerCase()}s.test.perennial.dev` },
  spec: {
    group: "test.perennial.dev",
    scope: "Namespaced",
    names: { plural: `${kind.toLowerCase()}s`, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: { spec, status: { type: "object", properties: { ready: { type: "boolean" } } } },
          },
        },
      },
    ],
  },
});

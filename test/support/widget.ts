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

/** A widget, not yet in any cluster. */
export function widget(namespace: string, name: string, spec: Widget["spec"] = {}): Widget {
  return { apiVersion: Widget.apiVersion, kind: Widget.kind, metadata: { namespace, name }, spec };
}

/** Installs the kind and waits until the server serves it. */
export async function installWidgets(client: KubeClient): Promise<void> {
  await client.apply(definition);
  await eventually(() => client.list(Widget));
}

const spec = {
  type: "object",
  properties: { size: { type: "integer", maximum: 100 }, colour: { type: "string" } },
  "x-kubernetes-validations": [
    { rule: "!has(self.colour) || self.colour != 'none'", message: "a widget has a colour" },
  ],
};

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.test.perennial.dev" },
  spec: {
    group: "test.perennial.dev",
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
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
};

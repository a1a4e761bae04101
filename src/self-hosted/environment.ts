import { literal } from "../components/index.ts";
import type { Container, EnvironmentSource, EnvironmentVariable } from "./pod.ts";
import type { Refuse } from "./refusal.ts";
import type { Content, Lookup } from "./sources.ts";

/**
 * The variables of a container with the values of its ConfigMaps in their place. Refuses Secrets: the API server shows what
 * stands in the manifest to all who may read Pods.
 */
export function resolveEnvironment(container: Container, lookup: Lookup, refuse: Refuse): Container {
  const { env = [], envFrom = [], ...others } = container;
  const of = `of container ${container.name}`;
  const variables = new Map<string, EnvironmentVariable>();
  for (const source of envFrom)
    for (const each of allOf(source, `envFrom ${of}`, lookup, refuse)) variables.set(each.name, each);
  for (const variable of env)
    for (const each of resolved(variable, `env ${variable.name} ${of}`, lookup, refuse)) variables.set(each.name, each);
  return variables.size === 0 ? others : { ...others, env: [...variables.values()] };
}

function allOf(source: EnvironmentSource, field: string, lookup: Lookup, refuse: Refuse): EnvironmentVariable[] {
  const { prefix = "", configMapRef, secretRef } = source;
  if (secretRef !== undefined) return refuseSecret(secretRef.name, field, refuse);
  if (configMapRef === undefined) return refuse(field, "names no ConfigMap", "name one");
  const content = lookup("ConfigMap", configMapRef, field);
  const data = content === undefined ? {} : forAllNodes(content, configMapRef.name, field, refuse);
  return Object.keys(data)
    .toSorted()
    .map((key) => ({ name: `${prefix}${key}`, value: textOf(data[key]) }));
}

function resolved(
  variable: EnvironmentVariable,
  field: string,
  lookup: Lookup,
  refuse: Refuse,
): readonly EnvironmentVariable[] {
  const { configMapKeyRef, ...other } = variable.valueFrom ?? {};
  const secret = other["secretKeyRef"] as { readonly name: string } | undefined;
  if (secret !== undefined) return refuseSecret(secret.name, field, refuse);
  if (configMapKeyRef === undefined) return [variable];
  const { name, key, optional } = configMapKeyRef;
  const content = lookup("ConfigMap", configMapKeyRef, field);
  const value = content && forAllNodes(content, name, field, refuse)[key];
  if (value !== undefined) return [{ name: variable.name, value: textOf(value) }];
  if (optional === true) return [];
  return refuse(field, `names key ${key} of ConfigMap ${name}, which has no such key`, "add it");
}

function forAllNodes(content: Content, name: string, field: string, refuse: Refuse) {
  if (content.of === "all") return content.data;
  return refuse(field, `names ConfigMap ${name}, which differs by node`, "mount it as a file: the manifest is one");
}

function refuseSecret(name: string, field: string, refuse: Refuse): never {
  return refuse(field, `names Secret ${name}, which all who may read Pods would see`, "mount it as a file");
}

/** Kubernetes expands `$(NAME)` in values, and does not in those of ConfigMaps. */
const textOf = (value = ""): string => literal(Buffer.from(value, "base64").toString());

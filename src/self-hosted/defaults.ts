import type { Container, EnvironmentVariable, PodSpec } from "./pod.ts";

/**
 * The spec without the values that an API server puts in where none are given. A workload of a file and the same one out of an
 * API server become one static pod, which therefore goes on running when its workload moves into the cluster.
 */
export function withoutDefaults(spec: PodSpec): PodSpec {
  const { containers, initContainers, volumes, ...others } = spec;
  return {
    ...without(others, { restartPolicy: "Always", terminationGracePeriodSeconds: 30 }),
    ...(initContainers && { initContainers: initContainers.map(container) }),
    containers: containers.map(container),
    ...(volumes && { volumes }),
  };
}

function container(given: Container): Container {
  const { ports, env, ...others } = given;
  const probes = PROBES.flatMap((name) => (name in given ? [[name, probe(given[name] as object)] as const] : []));
  return {
    ...without(others, { terminationMessagePath: "/dev/termination-log", terminationMessagePolicy: "File" }),
    ...(ports !== undefined && {
      ports: (ports as readonly object[]).map((port) => without(port, { protocol: "TCP" })),
    }),
    ...(env !== undefined && { env: env.map(variable) }),
    ...Object.fromEntries(probes),
  } as unknown as Container;
}

function variable(given: EnvironmentVariable): object {
  const { fieldRef, ...others } = given.valueFrom ?? {};
  if (fieldRef === undefined) return given;
  return { ...given, valueFrom: { ...others, fieldRef: without(fieldRef, { apiVersion: "v1" }) } };
}

const PROBES = ["startupProbe", "livenessProbe", "readinessProbe"];

function probe(given: object): object {
  const kept = without(given, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 });
  const { httpGet } = kept as { readonly httpGet?: object };
  return httpGet === undefined ? kept : { ...kept, httpGet: without(httpGet, { path: "/", scheme: "HTTP" }) };
}

function without(given: object, defaults: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(given).filter(([key, value]) => defaults[key] !== value));
}

import { dirname, resolve } from "node:path";
import { parse } from "yaml";

/** A compose file as far as ours goes: each field of a service that it has is acted on, and another one is refused. */
export interface ComposeFile {
  readonly project: string;
  readonly services: Readonly<Record<string, Service>>;
}

/** A service of it. */
export interface Service {
  readonly image: string;
  readonly build?: object;
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly network_mode?: "host";
  readonly restart?: string;
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: Condition }>>;
}

/** What a service waits for in another one. */
export type Condition = "service_started" | "service_healthy" | "service_completed_successfully";

/** Reads a compose file, with its variables put in as compose does it: those set, else what stands behind `:-`. */
export function readComposeFile(text: string, variables: Readonly<Record<string, string | undefined>>): ComposeFile {
  const put = (value: string) =>
    value.replaceAll(/\$\{(\w+):-([^}]*)\}/g, (_, name: string, otherwise: string) => variables[name] || otherwise);
  const reviver = (_: unknown, value: unknown) => (typeof value === "string" ? put(value) : value);
  const { name, services } = parse(text, reviver, { merge: true }) as { name: string } & Pick<ComposeFile, "services">;
  for (const [service, fields] of Object.entries(services))
    for (const field of Object.keys(fields))
      if (!knownFields.has(field)) throw new Error(`cannot start service ${service}: nothing acts on its ${field}`);
  return { project: name, services };
}

/** The services, each after those that it depends on. */
export function startOrder(services: ComposeFile["services"]): string[] {
  const ordered = new Set<string>();
  const add = (name: string, path: readonly string[]): void => {
    if (path.includes(name)) throw new Error(`services depend on each other: ${[...path, name].join(", ")}`);
    for (const other of Object.keys(services[name]?.depends_on ?? {})) add(other, [...path, name]);
    ordered.add(name);
  };
  for (const name of Object.keys(services)) add(name, []);
  return [...ordered];
}

/** What `podman run` is told of a service; paths are relative to the compose file. */
export function podmanArguments(name: string, { project, services }: ComposeFile, file: string): string[] {
  const service = services[name];
  if (service === undefined) throw new Error(`there is no service ${name}`);
  const each = (option: string, values: readonly string[] = []) => values.flatMap((value) => [option, value]);
  const mount = (volume: string) => {
    const [source = "", ...rest] = volume.split(":");
    const from = /^[./]/.test(source) ? resolve(dirname(file), source) : `${project}_${source}`;
    return [from, ...rest].join(":");
  };
  const network = service.network_mode ?? project;
  return [
    ...["--detach", "--name", `${project}-${name}`, "--network", network],
    ...(network === "host" ? [] : ["--network-alias", name]),
    ...each(
      "--env",
      Object.entries(service.environment ?? {}).map(([key, value]) => `${key}=${value}`),
    ),
    ...each("--volume", service.volumes?.map(mount)),
    ...each("--publish", service.ports),
    ...each("--restart", service.restart === undefined ? [] : [service.restart]),
    ...(service.read_only === true ? ["--read-only"] : []),
    ...each("--tmpfs", service.tmpfs),
    ...each("--cap-drop", service.cap_drop),
    ...each(
      "--security-opt",
      service.security_opt?.map((option) => option.replace(/:true$/, "")),
    ),
    ...(service.entrypoint === undefined ? [] : ["--entrypoint", JSON.stringify(service.entrypoint)]),
    service.image,
    ...(service.command ?? []),
  ];
}

const knownFields = new Set<string>([
  ...["image", "build", "command", "entrypoint", "environment", "volumes", "ports", "network_mode", "restart"],
  ...["read_only", "tmpfs", "cap_drop", "security_opt", "healthcheck", "depends_on"],
]);

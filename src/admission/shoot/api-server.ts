import semver from "semver";
import { forbiddenPlugins, requiredPlugins } from "../../api/shoot/admission-plugins.ts";
import { secondsOf } from "../../api/schema/duration.ts";
import type { Shoot } from "../../api/index.ts";
import type { Cause } from "../review.ts";
import { shorten, suggestion } from "../text.ts";
import { twiceCauses } from "./lists.ts";
import { admissionPlugins, apiGroups, KNOWN_MINOR, pluginsWithConfiguration } from "./kubernetes-names.ts";

const field = "spec.kubernetes.kubeAPIServer";

type Config = NonNullable<Shoot["spec"]["kubernetes"]["kubeAPIServer"]>;

/** Why kube-apiserver would not start with what it is asked for. Names are judged up to the version whose names are known here. */
export function apiServerCauses({ spec }: Shoot): Cause[] {
  const config = spec.kubernetes.kubeAPIServer ?? {};
  const isKnown = (semver.coerce(spec.kubernetes.version)?.minor ?? 0) <= KNOWN_MINOR;
  return [
    ...pluginCauses(config.admissionPlugins ?? [], isKnown),
    ...(isKnown ? groupCauses(config.runtimeConfig ?? {}) : []),
    ...rangeCauses("eventTTL", config.eventTTL, eventLives),
    ...rangeCauses(
      "serviceAccountConfig.maxTokenExpiration",
      config.serviceAccountConfig?.maxTokenExpiration,
      tokenLives,
    ),
    ...issuerCauses(config.serviceAccountConfig?.issuer),
    ...requestCauses(config.requests ?? {}),
  ];
}

function pluginCauses(plugins: NonNullable<Config["admissionPlugins"]>, isKnown: boolean): Cause[] {
  const at = (index: number) => `${field}.admissionPlugins[${index}].name`;
  const twice = twiceCauses(
    plugins.map(({ name }) => name),
    at,
  );
  const unknown = plugins.flatMap(({ name }, index) =>
    isKnown && !admissionPlugins.includes(name) ? [{ name, index }] : [],
  );
  const unknownCauses = unknown.slice(0, mostNamed).map(({ name, index }) => ({
    field: at(index),
    message: `${shorten(name)} is no admission plugin of Kubernetes${suggestion(name, admissionPlugins)}`,
  }));
  const unconfigured = plugins.flatMap(({ name, disabled }, index): Cause[] => {
    if (!pluginsWithConfiguration.includes(name) || disabled) return [];
    return [{ field: at(index), message: `${name} needs a configuration, which is not supported: leave it out` }];
  });
  const misused = plugins.flatMap(({ name, disabled = false }, index): Cause[] => {
    if (disabled && requiredPlugins.includes(name))
      return [{ field: at(index), message: `${name} cannot be disabled: leave it out` }];
    if (!disabled && forbiddenPlugins.includes(name))
      return [{ field: at(index), message: `${name} cannot be enabled, as no API server runs with it: leave it out` }];
    return [];
  });
  return [...twice, ...unknownCauses, ...unconfigured, ...misused];
}

/** A refusal is for people, and each suggestion is a search. */
const mostNamed = 10;

function groupCauses(runtimeConfig: NonNullable<Config["runtimeConfig"]>): Cause[] {
  const unknown = Object.keys(runtimeConfig).flatMap((api) => {
    const [group = "", version] = api.split("/");
    return (version === undefined ? group === "v1" : apiGroups.includes(group)) ? [] : [{ api, group }];
  });
  return unknown.slice(0, mostNamed).map(({ api, group }) => ({
    field: `${field}.runtimeConfig[${shorten(api)}]`,
    message: apiGroups.includes(group)
      ? `names no version: write ${group}/v1, or api/all for all of them`
      : `is no API of Kubernetes${suggestion(group, apiGroups)}: write api/all or apps/v1`,
  }));
}

interface Range {
  readonly least: string;
  readonly most: string;
}

/** More than a week of Events fills etcd. */
const eventLives: Range = { least: "1s", most: "168h" };
/** What kube-apiserver takes: at least an hour, and seconds that fit into 32 bits. */
const tokenLives: Range = { least: "1h", most: "1193046h" };

function rangeCauses(name: string, duration: string | undefined, { least, most }: Range): Cause[] {
  if (duration === undefined) return [];
  const seconds = secondsOf(duration);
  if (seconds >= secondsOf(least) && seconds <= secondsOf(most)) return [];
  return [{ field: `${field}.${name}`, message: `must be between ${least} and ${most}, not ${duration}` }];
}

/** What has a colon is taken for a URL. */
const isIssuer = (text: string): boolean =>
  text !== "" && (!text.includes(":") || (text.startsWith("https://") && URL.canParse(text)));

function issuerCauses(issuer: string | undefined): Cause[] {
  if (issuer === undefined || isIssuer(issuer)) return [];
  const message =
    "must be a URL such as https://issuer.example.com, or a name without a colon: leave it out for the API server's own address";
  return [{ field: `${field}.serviceAccountConfig.issuer`, message }];
}

function requestCauses({ maxMutatingInflight, maxNonMutatingInflight }: NonNullable<Config["requests"]>): Cause[] {
  if (maxMutatingInflight !== 0 || maxNonMutatingInflight !== 0) return [];
  return [{ field: `${field}.requests`, message: "must not be 0 both: no request could be answered" }];
}

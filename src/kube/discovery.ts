import type { TypeRef } from "../api/schema/kind.ts";
import { isNotFound } from "./errors.ts";
import { errorOnTheWay, malformedError, unknownKindError } from "./refusal.ts";
import type { Transport } from "./transport.ts";

/** How an API server serves a kind. */
export interface ResourceType extends TypeRef {
  readonly plural: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

/** The kinds that an API server serves; each API version is asked for when a call first needs it. */
export interface Discovery {
  /** How the kind is served; asks the server again for a kind not seen before, so CRDs may come later. */
  find(type: TypeRef, what: string): Promise<ResourceType>;
  /** Every kind served, each in the version that the server prefers, as of now. */
  all(): Promise<ResourceType[]>;
}

/** The answers of an API server, by API version. */
export type KnownVersions = Map<string, Promise<ResourceType[]>>;

/**
 * Discovery over a transport; one request per API version, shared by concurrent callers. Only what the server serves is
 * remembered, so that names which come from users do not pile up.
 */
export function createDiscovery(transport: Transport, versions: KnownVersions = new Map()): Discovery {
  const ask = (apiVersion: string): Promise<ResourceType[]> =>
    readVersion((path) => transport.call({ what: `discover ${apiVersion}`, path }), apiVersion);

  function refresh(apiVersion: string): Promise<ResourceType[]> {
    const answer = ask(apiVersion);
    const forget = () => versions.get(apiVersion) === answer && versions.delete(apiVersion);
    versions.set(apiVersion, answer);
    answer.then((served) => served.length === 0 && forget(), forget);
    return answer;
  }

  return {
    async find(type, what) {
      if (!isApiVersion(type.apiVersion))
        throw malformedError(what, `${JSON.stringify(type.apiVersion)} is no API version`);
      const isIt = (candidate: ResourceType) => candidate.kind === type.kind;
      try {
        const before = versions.get(type.apiVersion);
        const known = (await (before ?? refresh(type.apiVersion))).find(isIt);
        const found = known ?? (before && (await refresh(type.apiVersion)).find(isIt));
        if (found !== undefined) return found;
      } catch (error) {
        throw errorOnTheWay(what, error);
      }
      throw unknownKindError(what, type, transport.server);
    },
    async all() {
      const [core, groups] = await Promise.all(["/api", "/apis"].map((path) => askAll(transport, path)));
      return [...(core ?? []), ...(groups ?? [])];
    },
  };
}

/** Asks an API server for the kinds of an API version; it has none of one that it does not serve. */
export async function readVersion(
  get: (path: string) => Promise<unknown>,
  apiVersion: string,
): Promise<ResourceType[]> {
  const answer = await get(versionPath(apiVersion)).catch((error: unknown) => {
    if (isNotFound(error)) return { resources: [] };
    throw error;
  });
  return (answer as ResourceList).resources.filter(isWhole).map((resource) => ({
    apiVersion,
    kind: resource.kind,
    plural: resource.name,
    namespaced: resource.namespaced,
    verbs: resource.verbs,
  }));
}

/** Whether a text is an API version, such as `v1` or `apps/v1`: it becomes a part of a path, unescaped. */
export function isApiVersion(text: string): boolean {
  const [version = "", group, ...rest] = text.split("/").reverse();
  return rest.length === 0 && isLabel(version) && (group === undefined || isSubdomain(group));
}

const isLabel = (text: string): boolean => text.length <= 63 && /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(text);

const isSubdomain = (text: string): boolean => text.length <= 253 && text.split(".").every(isLabel);

/** Where an API version is served: `/api/v1`, `/apis/apps/v1`. */
export function versionPath(apiVersion: string): string {
  return apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

interface ResourceList {
  readonly resources: readonly { name: string; kind: string; namespaced: boolean; verbs: readonly string[] }[];
}

function isWhole({ name }: { name: string }): boolean {
  return !name.includes("/");
}

async function askAll(transport: Transport, path: string): Promise<ResourceType[]> {
  const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const answer = (await transport.call({ what: "discover the API", path, accept })) as GroupList;
  return answer.items.flatMap(({ metadata, versions }) => {
    const kinds = new Map<string, ResourceType>();
    for (const { version, resources = [] } of versions.toReversed()) {
      const apiVersion = metadata?.name === undefined ? version : `${metadata.name}/${version}`;
      for (const { resource, responseKind, scope, verbs } of resources) {
        const kind = responseKind?.kind;
        if (kind === undefined) continue;
        kinds.set(kind, { apiVersion, kind, plural: resource, namespaced: scope === "Namespaced", verbs });
      }
    }
    return [...kinds.values()];
  });
}

interface GroupList {
  readonly items: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources?: readonly {
        readonly resource: string;
        readonly responseKind?: { readonly kind: string };
        readonly scope: "Namespaced" | "Cluster";
        readonly verbs: readonly string[];
      }[];
    }[];
  }[];
}

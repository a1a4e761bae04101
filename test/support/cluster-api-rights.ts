import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { isNamedObject, type KubeObject } from "../../src/api/schema/meta.ts";

const folder = join(import.meta.dirname, "../../deploy/cluster-api");

/** The objects that give process `cluster-api` its rights in a cluster; in one that is management cluster and garden unless told otherwise. */
export async function clusterApiRoles(
  clusters: readonly ("management" | "garden")[] = ["management", "garden"],
): Promise<readonly KubeObject[]> {
  const clusterOf = (file: string) => (file === "garden-rbac.yaml" ? "garden" : "management");
  const all = (await readdir(folder)).filter((file) => file.endsWith("rbac.yaml")).sort();
  const files = all.filter((file) => clusters.includes(clusterOf(file)));
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
  return texts
    .flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as unknown))
    .filter(isNamedObject);
}

/** A verb on a kind of objects, such as `patch cluster.x-k8s.io/clusters/status`; with a name where a role names one. */
export type Right = string;

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** The rights that roles which are bound give, each once. */
export function rightsIn(objects: readonly KubeObject[]): readonly Right[] {
  const bound = new Set(objects.flatMap((one) => (one as { roleRef?: { name: string } }).roleRef?.name ?? []));
  const rules = objects
    .filter(({ kind, metadata }) => kind.endsWith("Role") && bound.has(metadata.name))
    .flatMap((role) => (role as unknown as { rules: readonly Rule[] }).rules);
  return [
    ...new Set(
      rules.flatMap(({ apiGroups, resources, resourceNames = [""], verbs }) =>
        verbs.flatMap((verb) =>
          apiGroups.flatMap((group) =>
            resources.flatMap((resource) => resourceNames.map((name) => rightOf({ verb, group, resource, name }))),
          ),
        ),
      ),
    ),
  ].sort();
}

/** One request that an API server has answered, as its audit log has it. */
interface Entry {
  readonly verb: string;
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource: string;
    readonly subresource?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number; readonly message?: string };
}

/** What an API server's audit log says of requests. */
export interface Use {
  /** Of these rights, those that no request that was granted has needed: each needs the narrowest that covers it. */
  readonly unused: readonly Right[];
  /** The requests that were forbidden. */
  readonly forbidden: readonly Right[];
}

/** Reads in an audit log how rights were used. An apply that has made its object has used the right to create, too. */
export async function readUse(file: string, rights: readonly Right[]): Promise<Use> {
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line !== "");
  const entries = lines.map((line) => JSON.parse(line) as Entry);
  const used = new Set(
    entries
      .filter((one) => !isForbidden(one))
      .flatMap((one) => verbsOf(one).map((verb) => covering(one, verb).find((right) => rights.includes(right)))),
  );
  const forbidden = entries.filter(isForbidden).flatMap((one) => covering(one, one.verb).slice(0, 1));
  return { unused: rights.filter((right) => !used.has(right)), forbidden: [...new Set(forbidden)] };
}

const isForbidden = ({ responseStatus }: Entry): boolean => responseStatus?.code === 403;

const verbsOf = ({ verb, responseStatus }: Entry): readonly string[] =>
  verb === "patch" && responseStatus?.code === 201 ? ["patch", "create"] : [verb];

/** The rights that would grant a request, the narrowest first. */
function covering({ objectRef }: Entry, verb: string): readonly Right[] {
  if (objectRef === undefined) return [];
  const { apiGroup: group = "", resource, subresource, name = "" } = objectRef;
  const full = subresource === undefined ? resource : `${resource}/${subresource}`;
  return [
    rightOf({ verb, group, resource: full, name }),
    rightOf({ verb, group, resource: full, name: "" }),
    rightOf({ verb, group, resource: "*", name: "" }),
  ];
}

function rightOf(o: Record<"verb" | "group" | "resource" | "name", string>): Right {
  return `${o.verb} ${o.group}/${o.resource}${o.name === "" ? "" : ` ${o.name}`}`;
}

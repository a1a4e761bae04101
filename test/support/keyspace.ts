/** All that an API server keeps in its etcd, as it was at one moment. */
export interface Keyspace {
  /** The keys that are new, gone or other than at that moment; the API server's own notes are left out. */
  changes(): Promise<Change[]>;
  /** Makes everything as it was at that moment, but keys that contain `except`. The API server and its watches see it as any other change. */
  restore(o?: { readonly except?: string }): Promise<void>;
}

/** A key whose value is not what it was. */
export interface Change {
  readonly key: string;
  readonly isNew: boolean;
}

/** Remembers all that the API server of this etcd keeps now. */
export async function rememberKeyspace(etcdUrl: string): Promise<Keyspace> {
  const entries = await range(etcdUrl, {});
  const remembered = new Map<string, Omit<Entry, "key">>(entries.map(({ key, ...entry }) => [key, entry]));

  const compare = async () => {
    const now = new Map((await range(etcdUrl, { keys_only: true })).map((entry) => [entry.key, entry.mod_revision]));
    const added = [...now.keys()].filter((key) => !remembered.has(key));
    const changed = [...remembered].filter(([key, { mod_revision }]) => now.get(key) !== mod_revision);
    return { added: added.filter(isOurs), changed: changed.map(([key]) => key).filter(isOurs) };
  };

  return {
    async changes() {
      const { added, changed } = await compare();
      const changes = [
        ...added.map((key) => ({ key: decode(key), isNew: true })),
        ...changed.map((key) => ({ key: decode(key), isNew: false })),
      ];
      return changes.sort((a, b) => a.key.localeCompare(b.key));
    },
    async restore({ except } = {}) {
      const compared = await compare();
      const isMeant = (key: string) => except === undefined || !decode(key).includes(except);
      const [added, changed] = [compared.added.filter(isMeant), compared.changed.filter(isMeant)];
      const deletions = added.map((key): Operation => ({ request_delete_range: { key } }));
      const puts = changed.map((key): Operation => ({ request_put: { key, value: remembered.get(key)?.value } }));
      for (const operations of inBatches([...deletions, ...puts])) {
        const { header } = await post<{ header: { revision: string } }>(etcdUrl, "txn", { success: operations });
        for (const { request_put: put } of operations) {
          if (put) remembered.set(put.key, { value: put.value, mod_revision: header.revision });
        }
      }
    },
  };
}

/** Keys and values are in base64, revisions are decimal. */
interface Entry {
  readonly key: string;
  readonly value?: string | undefined;
  readonly mod_revision: string;
}

interface Operation {
  readonly request_delete_range?: { readonly key: string };
  readonly request_put?: { readonly key: string; readonly value: string | undefined };
}

const encode = (text: string): string => Buffer.from(text).toString("base64");
const decode = (text: string): string => Buffer.from(text, "base64").toString();

/** What an API server writes by itself, again and again. */
const own = ["leases/kube-system/apiserver-", "masterleases/", "flowschemas/", "prioritylevelconfigurations/"];

const isOurs = (key: string): boolean => !own.some((prefix) => decode(key).startsWith(`/registry/${prefix}`));

async function range(etcdUrl: string, options: object): Promise<readonly Entry[]> {
  const everything = { key: encode("/registry/"), range_end: encode("/registry0") };
  const { kvs = [] } = await post<{ kvs?: Entry[] }>(etcdUrl, "range", { ...everything, ...options });
  return kvs;
}

/** etcd's own gateway from JSON to its API. */
async function post<T>(etcdUrl: string, method: "range" | "txn", body: object): Promise<T> {
  const response = await fetch(`${etcdUrl}/v3/kv/${method}`, { method: "POST", body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`etcd refuses ${method}: ${await response.text()}`);
  return (await response.json()) as T;
}

/** etcd takes 128 operations at once. */
function* inBatches<T>(list: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < list.length; start += 128) yield list.slice(start, start + 128);
}

import type { KubeClient, ObjectRef, TypeRef, WriteOptions } from "../src/kube/index.ts";

/** How many requests of each sort were made, by words such as `seed apply Deployment` and `garden read Shoot`. */
export type Requests = Record<string, number>;

/**
 * The same client, counted in `requests`: each call is a request. (A list of more than 500 objects would be several, and
 * those of discovery, once per process, are not counted.)
 */
export function counting(client: KubeClient, cluster: string, requests: Requests): KubeClient {
  return new Proxy(client, {
    get(target, name, receiver) {
      const method: unknown = Reflect.get(target, name, receiver);
      if (typeof method !== "function" || name === "close" || name === "types") return method;
      return (subject: ObjectRef | TypeRef | string, ...rest: unknown[]) => {
        const sort = `${cluster} ${verbOf(String(name), rest)} ${typeof subject === "string" ? subject : subject.kind}`;
        requests[sort] = (requests[sort] ?? 0) + 1;
        return (method as (...args: unknown[]) => unknown).call(target, subject, ...rest);
      };
    },
  });
}

/** Whether such requests write; a dry run does not. */
export const isWrite = (sort: string): boolean =>
  [
    "apply",
    "applyStatus",
    "create",
    "createSubresource",
    "replace",
    "replaceStatus",
    "patch",
    "remove",
    "removeAll",
  ].some((verb) => sort.split(" ")[1] === verb);

/** Whether such requests are watches, or the lists with which these begin. */
export const isWatch = (sort: string): boolean => ["watch", "snapshot"].includes(sort.split(" ")[1] ?? "");

function verbOf(method: string, [options]: readonly unknown[]): string {
  const { dryRun = false } = (options ?? {}) as WriteOptions;
  return dryRun ? `dry-run-${method}` : method;
}

/** Whether such requests are asked of a Shoot's API server to see whether it answers. */
export const isProbe = (sort: string): boolean => sort.endsWith("get /readyz");

/** What has come to counts since. */
export const since = (before: Requests, after: Requests): Requests =>
  Object.fromEntries(
    Object.entries(after).flatMap(([sort, count]) => {
      const more = count - (before[sort] ?? 0);
      return more > 0 ? [[sort, more]] : [];
    }),
  );

/** What several processes have asked, together. */
export function sumOf(processes: Readonly<Record<string, Requests>>): Requests {
  const sum: Requests = {};
  for (const [sort, count] of Object.values(processes).flatMap(Object.entries<number>))
    sum[sort] = (sum[sort] ?? 0) + count;
  return sum;
}

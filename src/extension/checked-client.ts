import type { KubeClient } from "../kube/index.ts";

/** The client, with `check` before every call: what it throws is thrown instead of calling. */
export function checkedClient(client: KubeClient, check: () => void): KubeClient {
  return new Proxy(client, {
    get(target, property, receiver) {
      const member: unknown = Reflect.get(target, property, receiver);
      if (typeof member !== "function" || property === "close") return member;
      return (...args: unknown[]): unknown => {
        check();
        return Reflect.apply(member, target, args);
      };
    },
  });
}

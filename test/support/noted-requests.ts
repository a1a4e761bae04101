import type { KubeClient } from "../../src/kube/index.ts";

/** The client, which notes each call that is made of it. */
export const noteRequests = (client: KubeClient, asked: string[]): KubeClient =>
  new Proxy(client, {
    get(target, name, receiver) {
      const method: unknown = Reflect.get(target, name, receiver);
      if (typeof method !== "function") return method;
      return (...o: unknown[]) => {
        asked.push(String(name));
        return (method as (...args: unknown[]) => unknown).apply(target, o);
      };
    },
  });

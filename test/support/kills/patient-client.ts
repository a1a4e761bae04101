import { KubeError, type KubeClient } from "../../../src/kube/index.ts";
import { eventually } from "../eventually.ts";

/**
 * A user's client who tries again while a webhook is away: the core manager serves those of Clusters, and is killed, and the API server
 * refuses meanwhile. Nothing has been written then. Any other error is thrown at once.
 */
export function patientClient(client: KubeClient): KubeClient {
  return new Proxy(client, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      if (!["create", "patch", "apply", "remove"].includes(String(name)) || typeof member !== "function") return member;
      return async (...args: unknown[]) => {
        let failure: Error | undefined;
        const { outcome } = await eventually(async () => {
          try {
            return { outcome: (await Reflect.apply(member, target, args)) as unknown };
          } catch (error) {
            if (isForWebhook(error)) return false;
            failure = error as Error;
            return { outcome: undefined };
          }
        }, 90_000);
        if (failure !== undefined) throw failure;
        return outcome;
      };
    },
  });
}

const isForWebhook = (error: unknown): boolean =>
  error instanceof KubeError && error.status === 500 && error.message.includes("failed calling webhook");

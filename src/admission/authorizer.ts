import type { KubeObject } from "../api/index.ts";
import type { KubeClient } from "../kube/index.ts";
import type { UserInfo } from "./review.ts";

/** What a user would like to do, in the words of a SubjectAccessReview. */
export interface Access {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly verb: string;
  readonly namespace: string;
  readonly name: string;
}

/** Whether a user may do something, as the API server's own authorizer sees it. */
export type Authorizer = (user: UserInfo, access: Access) => Promise<boolean>;

/** Asks the API server with a SubjectAccessReview for each question. */
export function createAuthorizer(client: KubeClient): Authorizer {
  return async ({ username, uid, groups, extra }, resourceAttributes) => {
    const review = await client.create<KubeObject>({
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      metadata: { name: "" },
      spec: { user: username, uid, groups, extra, resourceAttributes },
    });
    return (review["status"] as { allowed?: boolean } | undefined)?.allowed === true;
  };
}

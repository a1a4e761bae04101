import type { KubeObject } from "./meta.ts";

/** Whether objects of a kind live in a namespace. */
export type Scope = "Namespaced" | "Cluster";

/** What names a kind: `{ apiVersion: "apps/v1", kind: "Deployment" }`. `T` is what its objects are known to be. */
export interface TypeRef<T = KubeObject, S extends Scope = Scope> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly scope?: S;
  /** Carries `T` for the compiler; no object has it. */
  readonly "~object"?: T;
}

/** A kind known at compile time: it names the kind, types its objects, and says where they live. */
export interface Kind<T = KubeObject, S extends Scope = Scope> extends TypeRef<T, S> {
  readonly scope: S;
}

/** Names an object of a namespaced kind. */
export interface NamespacedKey {
  readonly namespace: string;
  readonly name: string;
}

/** Names an object of a cluster-scoped kind. */
export interface ClusterKey {
  readonly namespace?: never;
  readonly name: string;
}

/** Which object of a kind is meant: with its namespace exactly when its kind has one. */
export type KeyOf<S extends Scope> = S extends "Namespaced" ? NamespacedKey : ClusterKey;

/** Which object of a kind is meant. */
export type Key = KeyOf<Scope>;

import type { JsonLimits } from "../json-measure.ts";

/**
 * What a request to a webhook may have: in bytes both objects together, of which etcd takes 1.5 MiB each; in values and levels what it
 * brings (`measureReview`). A pool of workers has some 60 values, so that 100 pools have a fifth of what is allowed here.
 */
export const requestLimits: JsonLimits = { bytes: 3.5 * 2 ** 20, values: 20_000, depth: 100 };

/** In bytes: larger requests are judged one after the other, smaller ones between them. */
export const largeRequest = 256 * 2 ** 10;

/**
 * In bytes: how much larger requests may have together that arrive, or wait for their turn; more are refused for now. The 18 largest
 * are judged in 4 s, and an API server waits 10 s.
 */
export const waitingRequests = 64 * 2 ** 20;

/** What each part of an object that is left to a provider may have. */
export const configLimits: JsonLimits = { bytes: 128 * 2 ** 10, values: 5_000, depth: 32 };

/** How many bytes all parts of an object that are left to providers may have together. */
export const allConfigs = 512 * 2 ** 10;

/** What is recorded while the leader of a cluster changes. All instants are of one monotonic clock, in ms. */
export {};
//# sourceMappingURL=samples.js.map
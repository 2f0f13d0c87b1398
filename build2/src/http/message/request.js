/** Methods that change nothing. Each gets the same status (seeds/node-api.md, "Health checks"). */
export const safeMethods = ["GET", "HEAD", "OPTIONS"];
/** The Allow header of a path that only has safe methods. */
export const safeMethodsAllowed = safeMethods.join(", ");
//# sourceMappingURL=request.js.map
/** Returns the message of anything that was thrown. */
export function errorMessage(error) {
    return error instanceof Error ? error.message : String(error);
}
//# sourceMappingURL=error-message.js.map
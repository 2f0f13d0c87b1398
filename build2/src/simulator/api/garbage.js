const hugeBytes = 16 * 1024 * 1024;
/**
 * Sends an invalid response: truncated JSON, bytes that are not HTTP, an HTML page with status 200, or a document of
 * 16 MiB.
 */
export function garbage(style, response) {
    switch (style) {
        case "json":
            response.writeHead(200, { "Content-Type": "application/json", Connection: "close" });
            response.end(`{"state": "running", "role": "primary", "xlog": {"location": 1`);
            return;
        case "http":
            response.socket?.write("\u0016\u0003\u0001 this is not HTTP\r\n\r\n");
            response.socket?.destroySoon();
            return;
        case "html":
            response.writeHead(200, { "Content-Type": "text/html", Connection: "close" });
            response.end("<html><body><h1>It works!</h1></body></html>");
            return;
        case "huge":
            response.writeHead(200, { "Content-Type": "application/json", Connection: "close" });
            response.end(`{"state": "running", "role": "primary", "padding": "${"x".repeat(hugeBytes)}"}`);
            return;
    }
}
//# sourceMappingURL=garbage.js.map
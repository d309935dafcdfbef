// Checks one release of npm @modelcontextprotocol/sdk, version 1.x:
//   SDK_FOLDER=<where it is installed> node sdk.mjs <URL> <http | sse | websocket> <revision>

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { allPages, run, sessionStream } from './checks.mjs';

const sdk = createRequire(join(process.env.SDK_FOLDER, 'package.json'));
const { Client } = sdk('@modelcontextprotocol/sdk/client/index.js');
const { ToolListChangedNotificationSchema } = sdk('@modelcontextprotocol/sdk/types.js');

const [url, kind, revision] = process.argv.slice(2);
const client = new Client({ name: 'sdk-check', version: '1.0.0' }, { capabilities: {} });
const streamOpen = kind === 'http' ? sessionStream() : Promise.resolve();

await run({
    connect: () => client.connect(transport()),
    tools: () => allPages((cursor) => client.listTools({ cursor })),
    call: (name, args, onprogress) => client.callTool({ name, arguments: args }, undefined, { onprogress }),
    watchTools: (changed) => {
        client.setNotificationHandler(ToolListChangedNotificationSchema, changed);
        return streamOpen;
    },
    ping: () => client.ping(),
    close: () => client.close(),
}, revision);

function transport() {
    switch (kind) {
        case 'http': {
            const { StreamableHTTPClientTransport } = sdk('@modelcontextprotocol/sdk/client/streamableHttp.js');
            return new StreamableHTTPClientTransport(new URL(url));
        }
        case 'sse': {
            // Releases up to 1.1 were written for browsers and take `EventSource` from there.
            globalThis.EventSource ??= sdk('eventsource').EventSource;
            const { SSEClientTransport } = sdk('@modelcontextprotocol/sdk/client/sse.js');
            return new SSEClientTransport(new URL('/sse', url));
        }
        case 'websocket': {
            const { WebSocketClientTransport } = sdk('@modelcontextprotocol/sdk/client/websocket.js');
            return new WebSocketClientTransport(new URL(url.replace('http', 'ws')));
        }
        default:
            throw new Error(`unknown transport ${kind}`);
    }
}

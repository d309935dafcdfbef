// Checks one release of npm @modelcontextprotocol/client, version 2.x:
//   SDK_FOLDER=<where it is installed> node client.mjs <URL> <transport>-<mode> <revision>
// where the transport is `http` or `sse`, and the mode `legacy` (initialize), `modern` (2026-07-28 and nothing else)
// or `auto` (asks the server).

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { run, sessionStream } from './checks.mjs';

const sdk = createRequire(join(process.env.SDK_FOLDER, 'package.json'));
const { Client, SSEClientTransport, StreamableHTTPClientTransport } = sdk('@modelcontextprotocol/client');

const [url, kind, revision] = process.argv.slice(2);
const [transport, mode] = kind.split('-');
const client = new Client(
    { name: 'sdk-check', version: '1.0.0' },
    { capabilities: {}, versionNegotiation: { mode: mode === 'modern' ? { pin: revision } : mode } },
);
const legacy = mode === 'legacy';
const streamOpen = transport === 'http' && legacy ? sessionStream() : Promise.resolve();

await run({
    connect: () => client.connect(
        transport === 'http'
            ? new StreamableHTTPClientTransport(new URL(url))
            : new SSEClientTransport(new URL('/sse', url)),
    ),
    tools: async () => (await client.listTools()).tools,
    call: (name, args, onprogress) => client.callTool({ name, arguments: args }, { onprogress }),
    watchTools: async (changed) => {
        client.setNotificationHandler('notifications/tools/list_changed', changed);
        await (legacy ? streamOpen : client.listen({ toolsListChanged: true }));
    },
    ping: legacy ? () => client.ping() : undefined,
    close: () => client.close(),
}, revision);

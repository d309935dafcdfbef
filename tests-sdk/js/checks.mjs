// What every JavaScript client must see of the fixture server. One line per check on stdout: `ok <what>` or
// `not ok <what>: <why>`. It does not know which SDK the client comes from.
//
// A client is an object with
//   connect()                         opens the connection
//   tools()                           every tool, whatever the number of pages
//   call(name, arguments, onprogress) the result of `tools/call`
//   watchTools(changed)               resolves when a change of the list would reach `changed`
//   ping()                            absent where the revision has no ping
//   close()

import assert from 'node:assert/strict';

const CHECK_SECONDS = 10;
const PROGRAM_SECONDS = 60;

let failed = false;

async function check(what, run) {
    try {
        await within(CHECK_SECONDS, run());
        console.log(`ok ${what}`);
    } catch (error) {
        failed = true;
        console.log(`not ok ${what}: ${String(error?.message ?? error).replaceAll(/\s+/g, ' ')}`);
    }
}

function within(seconds, promise) {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`nothing came within ${seconds} s`)), seconds * 1000);
    });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** The tools of a client that lists page by page; the fixture server is started with more than one page of them. */
export async function allPages(list) {
    const tools = [];
    let pages = 0;
    let cursor;
    do {
        const page = await list(cursor);
        tools.push(...page.tools);
        cursor = page.nextCursor;
        pages += 1;
    } while (cursor !== undefined);
    assert.ok(pages > 1, 'all tools came on one page');
    return tools;
}

/**
 * Resolves when the event stream of a Streamable HTTP session is open. The SDKs open it on their own, some time after
 * `connect`; call this before.
 */
export function sessionStream() {
    const plain = globalThis.fetch;
    return new Promise((resolve) => {
        globalThis.fetch = async (url, init) => {
            const response = await plain(url, init);
            if ((init?.method ?? 'GET') === 'GET' && response.ok) resolve();
            return response;
        };
    });
}

/** Runs every check and ends the program: 0 when all of them held. */
export async function run(client, revision) {
    setTimeout(() => {
        console.log(`not ok the whole program: did not end within ${PROGRAM_SECONDS} s`);
        process.exit(1);
    }, PROGRAM_SECONDS * 1000);

    await check('connect', () => client.connect());
    if (failed) process.exit(1);
    await checkTools(client, revision);
    await checkErrors(client);
    await checkChange(client);
    if (client.ping) await check('ping', () => client.ping());
    await check('close', () => client.close());
    process.exit(failed ? 1 : 0);
}

async function checkTools(client, revision) {
    await check('tools/list', async () => {
        const names = (await client.tools()).map((tool) => tool.name);
        for (const name of ['device_info', 'echo', 'test_simple_text']) assert.ok(names.includes(name), `no ${name}`);
        assert.ok(names.length > 100, `${names.length} tools`);
        assert.deepEqual(names, [...new Set(names)].sort());
    });
    await check(`revision ${revision}`, async () => {
        assert.equal(JSON.parse(text(await client.call('caller', {}))).revision, revision);
    });
    await check('a text', async () => {
        const result = await client.call('test_simple_text', {});
        assert.equal(text(result), 'This is a simple text response for testing.');
    });
    await check('arguments', async () => {
        const said = 'Grüße, "\\" 漢字 \u{1f680}\n\u2028 end';
        assert.equal(text(await client.call('echo', { text: said })), said);
    });
    await check('structured content', async () => {
        const result = await client.call('device_info', {});
        const told = JSON.parse(text(result));
        assert.equal(typeof told.os.name, 'string');
        if (revision >= '2025-06-18') assert.deepEqual(result.structuredContent, told);
    });
    await check('progress', async () => {
        const seen = [];
        await client.call('test_tool_with_progress', {}, ({ progress, total }) => seen.push([progress, total]));
        assert.deepEqual(seen, [[0, 100], [50, 100], [100, 100]]);
    });
}

async function checkErrors(client) {
    await check('a tool error', async () => {
        const result = await client.call('test_error_handling', {});
        assert.equal(result.isError, true);
        assert.ok(text(result).length > 0);
    });
    await check('an unknown tool', async () => {
        await assert.rejects(client.call('no_such_tool', {}), (error) => {
            assert.equal(error.code, -32602, error.message);
            assert.match(error.message, /no_such_tool/);
            return true;
        });
    });
}

async function checkChange(client) {
    await check('tools/list_changed', async () => {
        const present = async () => (await client.tools()).some((tool) => tool.name === 'test_changed_tool');
        const before = await present();
        let arrived;
        const changed = new Promise((resolve) => { arrived = resolve; });
        await client.watchTools(arrived);
        await client.call('test_trigger_tool_change', {});
        await changed;
        assert.equal(await present(), !before, 'the list is the same after the change');
    });
}

function text(result) {
    assert.equal(result.content[0].type, 'text');
    return result.content[0].text;
}

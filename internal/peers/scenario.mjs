// What a client does with the servers behind an address, on any SDK: it calls, cancels, answers and reads, and writes
// down in one line of JSON each what came of it. The server's half of the story is in the servers' own journals. With
// an empty prefix there is only one server.

import { setTimeout as delay } from 'node:timers/promises';

const say = event => process.stdout.write(JSON.stringify(event) + '\n');
const textOf = result => result.content?.map(c => c.text ?? c.type).join('\n');

// play runs the scenario. client: { list, call(name, args, { signal, onprogress }), prompts, prompt(name), resources,
// read(uri), close }. questions are those of answering, whose handlers the client uses.
export async function play(client, prefix, questions) {
    const step = async (name, run) => {
        try {
            say({ step: name, ...(await run()) });
        } catch (error) {
            say({ step: name, error: String(error?.message ?? error) });
        }
    };
    const call = async (tool, args, options) => ({ text: textOf(await client.call(prefix + tool, args, options)) });

    await step('list', async () => {
        let tools = [];
        const listed = () => tools.includes(prefix + 'slow') && (!prefix || tools.some(t => !t.startsWith(prefix)));
        do { // a server that is still starting, ours or the one beside it, is listed later
            if (tools.length) await delay(100);
            tools = (await client.list()).map(t => t.name).sort();
        } while (!listed());
        return { tools };
    });
    await step('progress', async () => {
        let heard = 0;
        const { text } = await call('slow', { ms: 200, steps: 4 }, { onprogress: () => heard++ });
        return { text, heard };
    });
    await step('cancel', async () => {
        const stop = new AbortController();
        let heard = 0;
        const timer = setTimeout(() => stop.abort('seen enough'), 5000); // a server without progress
        const options = { signal: stop.signal, onprogress: () => heard++ || stop.abort('seen enough') };
        try {
            return { ...(await call('slow', { ms: 600_000, steps: 6000 }, options)), heard };
        } finally {
            clearTimeout(timer);
        }
    });
    await step('after', () => call('slow', { ms: 1, steps: 1 }));
    await step('ask', () => call('ask', { about: 'it' }));
    await step('sample', () => call('sample', { prompt: 'Hello' }));
    await step('withdraw', async () => {
        questions.hold = true; // this question is not answered
        const result = await call('ask_then_withdraw', { after: 1000, reason: 'too late' });
        // A client of 2026-07-28 learns of it at its next try, and not before.
        return { ...result, taken: await Promise.race([questions.taken, delay(1000, '')]) };
    });
    questions.hold = false;
    await step('prompt', async () => {
        const prompts = (await client.prompts()).map(p => p.name);
        const name = prompts.find(p => p.endsWith('simple-prompt') || p.endsWith('simple_prompt'));
        const { messages } = await client.prompt(name);
        return { name, messages: messages.length };
    });
    await step('resource', async () => {
        const resources = await client.resources();
        const { contents } = await client.read(resources[0].uri);
        return { resources: resources.length > 0 && (contents[0].text ?? contents[0].blob).length > 0 };
    });
    await step('unknown', () => call('no_such_tool', {}));
    await client.close();
    say({ step: 'end' });
}

// answering gives the handlers of a client: a form is answered at once, unless the question is to be taken back.
export function answering() {
    const questions = { hold: false };
    questions.taken = new Promise(resolve => (questions.take = resolve));
    return {
        questions,
        elicit: signal => {
            const answer = { action: 'accept', content: { name: 'Ada' } };
            if (!questions.hold) return answer;
            return new Promise((resolve, reject) => {
                setTimeout(resolve, 1500, answer).unref(); // too late
                const gone = () => {
                    questions.take(String(signal.reason?.message ?? signal.reason));
                    reject(new Error('withdrawn'));
                };
                if (signal.aborted) gone();
                else signal.addEventListener('abort', gone);
            });
        },
        sample: () => ({ model: 'a model', role: 'assistant', content: { type: 'text', text: 'Hello from the model' } }),
    };
}

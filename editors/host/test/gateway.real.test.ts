import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayApproval, HubError } from '../dist/contract.js';
import { realBinary, stage } from './stage.js';

test('a host lists tools for a model, calls one by its name there, and opens a gateway', async (t) => {
  const hub = stage(t).hub({});
  await hub.start();
  const text = JSON.stringify({
    mcpServers: { demo: { command: realBinary(), args: ['demo-server'], alwaysAllow: ['*'] } },
  });
  await hub.servers.reloadConfig({ sources: [{ path: 'host.json', scope: 'host', json: text }] });
  await hub.servers.startServer({ server: 'demo' });

  const listed = await hub.models.listModelTools({});
  const echo = listed.tools.find((tool) => tool.tool === 'echo');
  assert.equal(echo?.name, 'demo__echo');
  const answer = await hub.requests.callTool({
    modelName: echo.name,
    argumentsJson: JSON.stringify({ text: 'x'.repeat(5000) }),
    view: { maxTokens: 200 },
  });
  assert.equal(answer.view?.cut, true);
  const rest = await hub.models.readResult({ resultId: answer.view.resultId, offset: 4990n });
  assert.equal(rest.text, 'x'.repeat(10));

  const { gateway, token } = await hub.gateways.openGateway({ approval: GatewayApproval.CLIENT });
  assert.ok(gateway);
  const post = (authorization: string): Promise<Response> =>
    fetch(gateway.url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'Accept': 'application/json, text/event-stream',
        'Authorization': authorization,
        'MCP-Protocol-Version': '2026-07-28',
        'Mcp-Method': 'tools/call',
        'Mcp-Name': 'demo__echo',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: 'demo__echo',
          arguments: { text: 'through the gateway' },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }),
    });
  assert.equal((await post('Bearer guessed')).status, 401);
  assert.match(await (await post(`Bearer ${token}`)).text(), /through the gateway/);
  assert.equal((await hub.gateways.listGateways({})).gateways.length, 1);
  await hub.gateways.closeGateway({ gatewayId: gateway.gatewayId });
  await assert.rejects(post(`Bearer ${token}`), 'its address is closed');
  await assert.rejects(
    hub.gateways.openGateway({ profile: 'none' }),
    (error: unknown) => error instanceof HubError && error.reason === 'PROFILE_NOT_FOUND',
  );
});

// The words of the status bar item.
import type { HubState } from '@mcphub/host';

export interface StatusCounts {
  readonly hub: HubState;
  readonly responsive: boolean;
  readonly message: string; // what the host package says of the state
  readonly running: number;
  readonly prompts: number;
}

export interface StatusWords {
  readonly text: string; // with icons
  readonly tooltip: string;
  readonly label: string; // for a screen reader
  readonly prominence: 'plain' | 'warning' | 'error';
}

export function statusWords(counts: StatusCounts): StatusWords {
  const { hub, responsive, running, prompts, message } = counts;
  if (hub === 'failed') {
    return words('$(error) MCP', `McpHub does not run. ${message}`.trim(), 'error');
  }
  if (hub === 'starting') {
    return words('$(loading~spin) MCP', 'McpHub is starting.', 'plain');
  }
  if (hub === 'restarting') {
    return words('$(loading~spin) MCP', `McpHub is being started anew. ${message}`.trim(), 'warning');
  }
  if (hub === 'stopped') {
    return words('$(plug) MCP', 'McpHub is stopped.', 'plain');
  }
  if (!responsive) {
    return words('$(warning) MCP', 'McpHub does not answer.', 'warning', 'Click to open McpHub, and to restart it.');
  }
  const parts = [
    ...(running > 0 ? [plural(running, 'request runs', 'requests run')] : []),
    ...(prompts > 0 ? [plural(prompts, 'question waits for you', 'questions wait for you')] : []),
  ];
  const numbers = [...(running > 0 ? [String(running)] : []), ...(prompts > 0 ? [`$(question) ${prompts}`] : [])];
  const icon = running > 0 ? '$(sync~spin)' : '$(plug)';
  return words(
    [icon, 'MCP', ...numbers].join(' '),
    parts.length === 0 ? 'Nothing runs.' : `${parts.join(', ')}.`,
    prompts > 0 ? 'warning' : 'plain',
    prompts > 0 ? 'Click to see the question.' : undefined,
  );
}

function words(
  text: string,
  tooltip: string,
  prominence: StatusWords['prominence'],
  click = 'Click to open McpHub.',
): StatusWords {
  return { text, tooltip: `${tooltip} ${click}`, label: `McpHub: ${tooltip}`, prominence };
}

function plural(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`;
}

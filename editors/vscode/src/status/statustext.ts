// The texts of the status bar item.
import * as vscode from 'vscode';
import type { HubState } from '@mcphub/host/contract';

export interface StatusCounts {
  readonly hub: HubState;
  readonly responsive: boolean;
  readonly message: string; // the text of the host package about the state
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
    return words('$(error) MCP', vscode.l10n.t('McpHub is not running. {0}', message).trim(), 'error');
  }
  if (hub === 'starting') {
    return words('$(loading~spin) MCP', vscode.l10n.t('McpHub is starting.'), 'plain');
  }
  if (hub === 'restarting') {
    return words('$(loading~spin) MCP', vscode.l10n.t('McpHub is restarting. {0}', message).trim(), 'warning');
  }
  if (hub === 'stopped') {
    return words('$(plug) MCP', vscode.l10n.t('McpHub is stopped.'), 'plain');
  }
  if (!responsive) {
    return words(
      '$(warning) MCP',
      vscode.l10n.t('McpHub is not responding.'),
      'warning',
      vscode.l10n.t('Click to open McpHub and restart it.'),
    );
  }
  const parts = [
    ...(running > 0
      ? [running === 1 ? vscode.l10n.t('1 request is running') : vscode.l10n.t('{0} requests are running', running)]
      : []),
    ...(prompts > 0
      ? [
          prompts === 1
            ? vscode.l10n.t('1 question waits for you')
            : vscode.l10n.t('{0} questions wait for you', prompts),
        ]
      : []),
  ];
  const numbers = [...(running > 0 ? [String(running)] : []), ...(prompts > 0 ? [`$(question) ${prompts}`] : [])];
  const icon = running > 0 ? '$(sync~spin)' : '$(plug)';
  return words(
    [icon, 'MCP', ...numbers].join(' '),
    parts.length === 0 ? vscode.l10n.t('Nothing is running.') : `${parts.join(', ')}.`,
    prompts > 0 ? 'warning' : 'plain',
    prompts > 0 ? vscode.l10n.t('Click to show the question.') : undefined,
  );
}

function words(
  text: string,
  tooltip: string,
  prominence: StatusWords['prominence'],
  click = vscode.l10n.t('Click to open McpHub.'),
): StatusWords {
  return { text, tooltip: `${tooltip} ${click}`, label: `McpHub: ${tooltip}`, prominence };
}

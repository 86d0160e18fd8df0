// What the extension's own window says of itself to the hub.
import { PromptKind } from '@mcphub/host/contract';
import type { WindowHello } from '@mcphub/host/contract';

/** The client capability that says that views (MCP Apps) are shown. */
const appsExtension = '{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}';

/** `views` is whether servers are told that views of tools (MCP Apps) are shown. */
export function hello(views: boolean): WindowHello {
  return {
    title: 'editor',
    // All of them: for a kind that the extension cannot ask itself, it asks the user to open the page. So no question
    // is refused for lack of a window.
    promptKinds: [
      PromptKind.TOOL_APPROVAL,
      PromptKind.SAMPLING,
      PromptKind.ELICITATION_FORM,
      PromptKind.ELICITATION_URL,
      PromptKind.SIGN_IN,
      PromptKind.SERVER_LAUNCH,
      PromptKind.CONFIG_INPUT,
    ],
    maxProgressRate: 4,
    // The page shows views and can be opened at any time. If this were declared later, idle servers would be connected
    // again.
    extensionsJson: views ? appsExtension : '',
  };
}

/** The error of what is asked of the hub while there is none. */
export const notRunning = 'McpHub is not running. Start it with the command “McpHub: Restart McpHub”.';

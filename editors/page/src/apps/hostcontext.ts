// The context that a view gets of the page (MCP Apps 2026-01-26, HostContext). Its theme has the names of the
// specification and the colours of the editor.

import { wantedLocale } from '../language.js';
import type { Dict, DisplayMode } from './bridge.js';

/** The editor's colour for each name of the specification's list. */
const colours: Record<string, string> = {
  'background-primary': '--vscode-editor-background',
  'background-secondary': '--vscode-sideBar-background',
  'background-tertiary': '--vscode-textCodeBlock-background',
  'background-inverse': '--vscode-foreground',
  'background-ghost': 'transparent',
  'background-info': '--vscode-inputValidation-infoBackground',
  'background-danger': '--vscode-inputValidation-errorBackground',
  'background-success': '--vscode-diffEditor-insertedTextBackground',
  'background-warning': '--vscode-inputValidation-warningBackground',
  'background-disabled': '--vscode-textCodeBlock-background',
  'text-primary': '--vscode-foreground',
  'text-secondary': '--vscode-descriptionForeground',
  'text-tertiary': '--vscode-descriptionForeground',
  'text-inverse': '--vscode-editor-background',
  'text-ghost': '--vscode-descriptionForeground',
  'text-info': '--vscode-textLink-foreground',
  'text-danger': '--vscode-errorForeground',
  'text-success': '--vscode-charts-green',
  'text-warning': '--vscode-foreground',
  'text-disabled': '--vscode-descriptionForeground',
  'border-primary': '--vscode-panel-border',
  'border-secondary': '--vscode-panel-border',
  'border-tertiary': '--vscode-panel-border',
  'border-inverse': '--vscode-foreground',
  'border-ghost': 'transparent',
  'border-info': '--vscode-inputValidation-infoBorder',
  'border-danger': '--vscode-inputValidation-errorBorder',
  'border-success': '--vscode-charts-green',
  'border-warning': '--vscode-inputValidation-warningBorder',
  'border-disabled': '--vscode-panel-border',
  'ring-primary': '--vscode-focusBorder',
  'ring-secondary': '--vscode-focusBorder',
  'ring-inverse': '--vscode-focusBorder',
  'ring-info': '--vscode-focusBorder',
  'ring-danger': '--vscode-inputValidation-errorBorder',
  'ring-success': '--vscode-focusBorder',
  'ring-warning': '--vscode-inputValidation-warningBorder',
};

/** Sizes of fonts: name, multiple of the editor's text size, line height. */
const sizes: [string, number, number][] = [
  ['text-xs', 0.85, 1.4],
  ['text-sm', 0.92, 1.4],
  ['text-md', 1, 1.45],
  ['text-lg', 1.15, 1.45],
  ['heading-xs', 1, 1.3],
  ['heading-sm', 1.1, 1.3],
  ['heading-md', 1.25, 1.3],
  ['heading-lg', 1.5, 1.25],
  ['heading-xl', 1.75, 1.2],
  ['heading-2xl', 2.1, 1.2],
  ['heading-3xl', 2.5, 1.15],
];

function themeNow(): 'light' | 'dark' {
  const { classList } = document.body;
  if (classList.contains('vscode-light') || classList.contains('vscode-high-contrast-light')) return 'light';
  if (classList.contains('vscode-dark') || classList.contains('vscode-high-contrast')) return 'dark';
  return matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark';
}

/** Returns the values for all names of the specification's list: it wants all or none of them. */
function styleVariables(): Record<string, string> {
  const probe = document.createElement('span');
  probe.hidden = true;
  document.body.append(probe);
  const style = getComputedStyle(probe);
  const all: Record<string, string> = {};
  for (const [name, from] of Object.entries(colours)) {
    probe.style.setProperty('color', from.startsWith('--') ? `var(${from})` : from);
    all[`--color-${name}`] = style.color;
  }
  const body = getComputedStyle(document.body);
  const size = parseFloat(body.fontSize) || 13;
  for (const [name, times, line] of sizes) {
    all[`--font-${name}-size`] = `${(size * times).toFixed(1)}px`;
    all[`--font-${name}-line-height`] = String(line);
  }
  probe.style.setProperty('font-family', 'var(--vscode-editor-font-family, monospace)');
  Object.assign(all, {
    '--font-sans': body.fontFamily,
    '--font-mono': style.fontFamily,
    '--font-weight-normal': '400',
    '--font-weight-medium': '500',
    '--font-weight-semibold': '600',
    '--font-weight-bold': '700',
    '--border-radius-xs': '2px',
    '--border-radius-sm': '3px',
    '--border-radius-md': '4px',
    '--border-radius-lg': '6px',
    '--border-radius-xl': '8px',
    '--border-radius-full': '9999px',
    '--border-width-regular': '1px',
    '--shadow-hairline': 'none',
    '--shadow-sm': 'none',
    '--shadow-md': 'none',
    '--shadow-lg': 'none',
  });
  probe.remove();
  return all;
}

const boundsOf = (place: Element, maxHeight: number) => ({ width: Math.max(1, place.clientWidth), maxHeight });

/**
 * @param place of the frame
 * @param maxHeight of the frame
 */
export function hostContext(place: Element, maxHeight: number, displayMode: DisplayMode) {
  return {
    theme: themeNow(),
    styles: { variables: styleVariables() },
    displayMode,
    availableDisplayModes: ['inline', 'fullscreen'],
    containerDimensions: boundsOf(place, maxHeight),
    locale: wantedLocale,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    userAgent: 'McpHub',
    platform: 'desktop',
    deviceCapabilities: {
      touch: matchMedia('(pointer: coarse)').matches,
      hover: matchMedia('(hover: hover)').matches,
    },
    safeAreaInsets: { top: 0, right: 0, bottom: 0, left: 0 },
  };
}

/**
 * Calls changed with what has changed of the theme and of the size of place.
 * @returns stops that
 */
export function followContext(place: Element, maxHeight: number, changed: (context: Dict) => void): () => void {
  const themed = () => changed({ theme: themeNow(), styles: { variables: styleVariables() } });
  const follow = new MutationObserver(themed);
  follow.observe(document.body, { attributes: true, attributeFilter: ['class'] });
  const scheme = matchMedia('(prefers-color-scheme: light)'); // the theme of a plain browser
  scheme.addEventListener('change', themed);
  const sizes = new ResizeObserver(() => changed({ containerDimensions: boundsOf(place, maxHeight) }));
  sizes.observe(place);
  return () => {
    follow.disconnect();
    scheme.removeEventListener('change', themed);
    sizes.disconnect();
  };
}

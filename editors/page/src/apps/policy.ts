// The Content-Security-Policy of a view, made from its resource's metadata (MCP Apps 2026-01-26, _meta.ui.csp). A view
// reaches only origins that its metadata names, and only plain origins are accepted.

import { t } from '../words/t.js';
export type Kind = 'connectDomains' | 'resourceDomains' | 'frameDomains' | 'baseUriDomains';

/** refused: as the resource spells it */
export type Named = { domains: Record<Kind, string[]>; refused: string[] };

const kinds: Kind[] = ['connectDomains', 'resourceDomains', 'frameDomains', 'baseUriDomains'];
const mostOfAKind = 32;
const mostPolicy = 6000;
// A text that matches has no blanks, quotes, ";" or ",", so it cannot add a directive to the policy.
const origin = /^(?:https|wss):\/\/(?:\*\.)?[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}(?::[0-9]{1,5})?$/;

/** @param csp _meta.ui.csp as it came */
export function namedBy(csp: unknown): Named {
  const named: Named = {
    domains: { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] },
    refused: [],
  };
  if (typeof csp !== 'object' || csp === null) return named;
  for (const kind of kinds) {
    const list = (csp as Record<string, unknown>)[kind];
    if (!Array.isArray(list)) continue;
    for (const one of list as unknown[]) {
      const text = typeof one === 'string' ? one.trim().toLowerCase().replace(/\/$/, '') : '';
      const secure = text.startsWith('https:') || kind === 'connectDomains';
      if (origin.test(text) && secure && named.domains[kind].length < mostOfAKind) named.domains[kind].push(text);
      else if (named.refused.length < mostOfAKind)
        named.refused.push(typeof one === 'string' ? one.slice(0, 200) : '?');
    }
  }
  return named;
}

/** Returns all origins that a view may reach, each of them once. */
export const outside = ({ domains }: Named) => [...new Set(kinds.flatMap((kind) => domains[kind]))];

/**
 * Returns the policy. Scripts and styles may be inline, since a view is one file. 'self', which is in the default of
 * the specification, is left out: a view has no origin of its own.
 */
export function policyOf({ domains }: Named) {
  const from = domains.resourceDomains.map((one) => ` ${one}`).join('');
  const or = (list: string[]) => (list.length > 0 ? list.join(' ') : "'none'");
  const policy = [
    "default-src 'none'",
    `script-src 'unsafe-inline'${from}`,
    `style-src 'unsafe-inline'${from}`,
    `img-src data:${from}`,
    `media-src data:${from}`,
    `font-src${from || " 'none'"}`,
    `connect-src ${or(domains.connectDomains)}`,
    `frame-src ${or(domains.frameDomains)}`,
    `base-uri ${or(domains.baseUriDomains)}`,
    "object-src 'none'",
    "form-action 'none'",
  ].join('; ');
  if (policy.length > mostPolicy) throw new Error(t('It names too many addresses to connect to.'));
  return policy;
}

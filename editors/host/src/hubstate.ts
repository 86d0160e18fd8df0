// How a hub stands, for whoever watches one.

/** `stopped` also before the first start. */
export type HubState = 'starting' | 'ready' | 'restarting' | 'failed' | 'stopped';

export type StateListener = (state: HubState, detail: { message: string }) => void;

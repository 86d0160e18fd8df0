// How a hub stands, for whoever watches one.

/** `stopped` also before the first start. */
export type HubState = 'starting' | 'ready' | 'restarting' | 'failed' | 'stopped';

/** `responsive` is false when a hub that is there has stopped answering, and true when it answers again. */
export type ResponseListener = (responsive: boolean) => void;

export type StateListener = (state: HubState, detail: { message: string }) => void;

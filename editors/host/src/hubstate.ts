// The states of a hub.

/** `stopped` is also the state before the first start. */
export type HubState = 'starting' | 'ready' | 'restarting' | 'failed' | 'stopped';

/** `responsive` is false when a running hub has stopped answering, and true when it answers again. */
export type ResponseListener = (responsive: boolean) => void;

export type StateListener = (state: HubState, detail: { message: string }) => void;

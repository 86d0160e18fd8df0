// An extension that does nothing: VS Code runs tests only for one.
export function activate() {}

export const socket = JSON.parse(document.documentElement.dataset.surface).socket;
